// SPDX-License-Identifier: Apache-2.0
// Our own stdout and stderr while ranks run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "muster/deadline.h"
#include "sys/time/loop.h"

namespace muster::sys {

// How long the rest of the output may take after Ctrl-C: a person waits.
inline constexpr Duration kDrainInterrupted = std::chrono::seconds(5);

// Text goes out at once if the other side takes it, else from a queue when it
// does. What happens when the queue is full depends on the reader:
// - a pipe, socket or file gets everything: its sources (OnReadable) pause
// until
//   there is room. When nothing was taken for the reader timeout, they go on
//   without it, and what does not fit is dropped;
// - a terminal does not hold ranks up: what does not fit is dropped.
// What is dropped is counted and reported when there is room again. So is a
// reader that has gone and a disk that is full. Keeps one live line at the
// bottom of a terminal. The loop's thread only.
class Console {
 public:
  enum class Stream { kOut, kErr };
  struct Options {
    int out_fd = 1;
    int err_fd = 2;
    std::size_t limit = 8U << 20;  // bytes that may wait, per stream
    // Shorter, and a pager that is read page by page loses text; longer, and
    // ranks stand still for a reader that will not come back.
    Duration reader_timeout = std::chrono::seconds(30);
    bool raw = false;  // what programs write is not filtered on a terminal
  };

  Console(Loop& loop, Options options);
  ~Console();

  // What is read for a stream: pauses while that is full.
  class Source {
   public:
    // One that shows nothing, and never pauses.
    static std::unique_ptr<Source> Unshown(Loop& loop, int fd,
                                           std::function<void()> ready);
    ~Source();
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;

    void Cancel();  // also from `ready`
    bool active() const;
    bool paused() const;

   private:
    friend class Console;
    struct State;
    explicit Source(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
  };
  // Calls `ready` whenever fd is readable and the stream has room. The source
  // is not to outlive the Console.
  [[nodiscard]] std::unique_ptr<Source> OnReadable(Stream stream, int fd,
                                                   std::function<void()> ready);

  // Our own lines, made Printable (TextForm::kPage).
  void Write(Stream stream, std::string_view page);
  // What a program wrote, in pieces: as it is on a pipe or in a file, through a
  // TerminalFilter on a terminal.
  void WriteOutput(Stream stream, std::string_view bytes);
  // Shows one line below all others until it is replaced or emptied. Nothing
  // happens where stderr is no terminal.
  void SetLive(std::string_view line);
  bool terminal() const;  // stderr is one
  // Writes what waits, blocking: for as long as a reader takes something within
  // its timeout, or `longest` if that is less. What is left is lost.
  void Drain(Duration longest = Duration::max());

  struct Lost {
    std::uint64_t bytes = 0;
    std::string why;  // "the reader of standard output is gone"
  };
  // Output that was not shown.
  const Lost& lost() const;

 private:
  void Show(Stream stream, std::string_view text);
  struct Inner;
  std::unique_ptr<Inner> inner_;
};

// "33.5 MiB of output were not shown: the reader of standard output is gone".
std::string LostText(const Console::Lost& lost);
// The exit code of what ended with `code`: 1 where that is 0 and output was
// lost.
int CodeAfter(const Console::Lost& lost, int code);

}  // namespace muster::sys
