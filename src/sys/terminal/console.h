// SPDX-License-Identifier: Apache-2.0
// Our own stdout and stderr while ranks run: never waits for a slow terminal.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "muster/deadline.h"
#include "sys/time/loop.h"

namespace muster::sys {

// Text goes out at once if the other side takes it, else from a queue when it
// does; beyond the limit the rest of the text is dropped and counted, and the
// count is written when there is room again. Keeps one live line at the bottom
// of a terminal. The loop's thread only.
class Console {
 public:
  enum class Stream { kOut, kErr };
  struct Options {
    int out_fd = 1;
    int err_fd = 2;
    std::size_t limit = 8U << 20;  // bytes that may wait, per stream
    bool raw = false;  // what programs write is not filtered on a terminal
  };

  Console(Loop& loop, Options options);
  ~Console();

  // Our own lines, made Printable (TextForm::kPage).
  void Write(Stream stream, std::string_view page);
  // What a program wrote, in pieces: as it is on a pipe or in a file, through a
  // TerminalFilter on a terminal.
  void WriteOutput(Stream stream, std::string_view bytes);
  // Shows one line below all others until it is replaced or emptied. Nothing
  // happens where stderr is no terminal.
  void SetLive(std::string_view line);
  bool terminal() const;  // stderr is one
  // Writes what waits, blocking up to the deadline; for the end of a run.
  void Drain(Deadline deadline);
  std::uint64_t dropped_bytes() const;

 private:
  void Show(Stream stream, std::string_view text);
  struct Inner;
  std::unique_ptr<Inner> inner_;
};

}  // namespace muster::sys
