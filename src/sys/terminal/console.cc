// SPDX-License-Identifier: Apache-2.0
#include "sys/terminal/console.h"

#include "base/log.h"
#include "base/text.h"
#include "sys/file/fd.h"
#include "sys/net/net.h"
#include "sys/net/stream.h"
#include "sys/terminal/terminal_filter.h"

namespace muster::sys {
namespace {

constexpr std::string_view kClearLine = "\r\x1b[K";

// One of our two streams.
struct Pipe {
  Fd fd;  // none: nobody reads it any more
  bool terminal = false;
  TerminalFilter filter;  // of a terminal, unless it is to be raw
  std::string pending;
  std::uint64_t dropped_now = 0;  // since the last notice
  Loop::Handle writable;
};

}  // namespace

struct Console::Inner {
  Inner(Loop& l, const Options& options)
      : loop(l), limit(options.limit), raw(options.raw) {}

  void Open(Pipe& pipe, int fd);
  void Put(Pipe& pipe, std::string_view text);
  void Flush(Pipe& pipe);
  static Status WriteWhatFits(Pipe& pipe);
  void TellDropped(Pipe& pipe);
  void HideLive();
  void ShowLive();

  Loop& loop;
  std::size_t limit;
  bool raw;
  Pipe out;
  Pipe err;
  std::uint64_t dropped = 0;
  std::string live;
  bool live_shown = false;
  bool at_line_start = true;
};

void Console::Inner::Open(Pipe& pipe, int fd) {
  auto opened = OpenWithoutWaiting(fd);
  if (!opened) {
    MUSTER_LOG(kDebug, "an output stream is closed", {{"fd", fd}});
    return;
  }
  pipe.fd = std::move(*opened);
  pipe.terminal = IsTerminal(fd);
}

void Console::Inner::Put(Pipe& pipe, std::string_view text) {
  if (!pipe.fd || text.empty()) {
    return;
  }
  if (pipe.pending.size() + text.size() > limit) {
    pipe.dropped_now += text.size();
    dropped += text.size();
    return;
  }
  pipe.pending += text;
  if (!pipe.writable.active()) {
    Flush(pipe);
  }
}

// As much of what is pending as the stream takes now.
Status Console::Inner::WriteWhatFits(Pipe& pipe) {
  std::size_t done = 0;
  while (done < pipe.pending.size()) {
    MUSTER_ASSIGN(
        const std::size_t written,
        WriteNow(pipe.fd.get(), std::string_view(pipe.pending).substr(done)));
    if (written == 0) {
      break;
    }
    done += written;
  }
  pipe.pending.erase(0, done);
  return Ok();
}

void Console::Inner::Flush(Pipe& pipe) {
  if (const Status written = WriteWhatFits(pipe); !written) {
    // The reader has gone (`muster run | head`): the files go on.
    MUSTER_LOG(kDebug, "an output stream has ended",
               {{"error", written.error().ToString()}});
    pipe.writable.Cancel();
    pipe.pending.clear();
    pipe.fd.Close();
    return;
  }
  if (!pipe.pending.empty()) {
    if (!pipe.writable.active()) {
      pipe.writable =
          loop.OnWritable(pipe.fd.get(), [this, &pipe] { Flush(pipe); });
    }
    return;
  }
  pipe.writable.Cancel();
  TellDropped(pipe);
}

void Console::Inner::TellDropped(Pipe& pipe) {
  if (pipe.dropped_now > 0) {
    const auto bytes = std::exchange(pipe.dropped_now, 0);
    Put(err, "muster: " + BytesText(bytes) +
                 " of output were not shown because the terminal is too slow "
                 "(the log files are complete)\n");
  }
}

void Console::Inner::HideLive() {
  if (std::exchange(live_shown, false)) {
    Put(err, kClearLine);
  }
}

void Console::Inner::ShowLive() {
  if (!live.empty() && at_line_start && err.terminal) {
    Put(err, live);
    live_shown = true;
  }
}

Console::Console(Loop& loop, Options options)
    : inner_(std::make_unique<Inner>(loop, options)) {
  inner_->Open(inner_->out, options.out_fd);
  inner_->Open(inner_->err, options.err_fd);
}

Console::~Console() = default;

void Console::Write(Stream stream, std::string_view page) {
  // A sequence that a program began ends with it, and takes no line of ours.
  (stream == Stream::kOut ? inner_->out : inner_->err).filter.Reset();
  Show(stream, Printable(page, TextForm::kPage));
}

void Console::WriteOutput(Stream stream, std::string_view bytes) {
  Pipe& pipe = stream == Stream::kOut ? inner_->out : inner_->err;
  if (pipe.terminal && !inner_->raw) {
    Show(stream, pipe.filter.Filter(bytes));
  } else {
    Show(stream, bytes);
  }
}

void Console::Show(Stream stream, std::string_view text) {
  if (text.empty()) {
    return;
  }
  Pipe& pipe = stream == Stream::kOut ? inner_->out : inner_->err;
  // The live line stands on the terminal; a file or a pipe is another place.
  if (!pipe.terminal) {
    inner_->Put(pipe, text);
    return;
  }
  inner_->HideLive();
  inner_->Put(pipe, text);
  inner_->at_line_start = text.ends_with('\n') || text.ends_with('\r');
  inner_->ShowLive();
}

void Console::SetLive(std::string_view line) {
  inner_->HideLive();
  inner_->live = Printable(line, TextForm::kPage);
  inner_->ShowLive();
}

bool Console::terminal() const {
  return inner_->err.terminal;
}

void Console::Drain(Deadline deadline) {
  for (Pipe* pipe : {&inner_->out, &inner_->err}) {
    while (pipe->fd && !pipe->pending.empty()) {
      if (!AwaitWritable(pipe->fd.get(), deadline)) {
        break;
      }
      inner_->Flush(*pipe);
    }
  }
}

std::uint64_t Console::dropped_bytes() const {
  return inner_->dropped;
}

}  // namespace muster::sys
