// SPDX-License-Identifier: Apache-2.0
// What one rank writes: to its log file as it is, to our own streams by line.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/line_splitter.h"
#include "muster/error.h"
#include "sys/file/fd.h"
#include "sys/file/fs.h"
#include "sys/terminal/console.h"
#include "sys/time/clock.h"
#include "sys/time/loop.h"

namespace muster::run {

// One pipe of one rank. Reads it while the console has room for it: a rank
// never waits for a terminal, and for the reader of a pipe up to the console's
// limit. The loop's thread only.
class RankOutput {
 public:
  struct Options {
    sys::Console* console = nullptr;  // null: the file only
    sys::Console::Stream stream = sys::Console::Stream::kOut;
    std::string prefix;                   // empty: bytes go through as they are
    std::unique_ptr<sys::Appender> file;  // null: none
    // Once, when the file takes nothing more; the console goes on.
    std::function<void(const Error&)> on_file_error;
  };
  static constexpr std::size_t kKeptLines = 20;
  static constexpr std::size_t kKeptBytes = 2000;  // of a line

  RankOutput(sys::Loop& loop, sys::Clock& clock, sys::Fd pipe, Options options);

  // Takes what has been written so far.
  void Drain();
  // The rank may be waiting for the reader of our own output.
  bool paused() const { return readable_->paused(); }
  // The rank and all that it started are gone: what is left, and a line that
  // has no end.
  void Finish();
  // The newest lines as plain text, oldest first; one that has no end yet too.
  std::vector<std::string> LastLines() const;

 private:
  bool Receive();
  void Take(std::string_view bytes);
  void TakeLine(std::string_view line);

  sys::Clock& clock_;
  sys::Fd pipe_;
  Options options_;
  LineSplitter shown_;
  LineSplitter kept_;
  std::deque<std::string> last_lines_;
  std::unique_ptr<sys::Console::Source> readable_;
};

}  // namespace muster::run
