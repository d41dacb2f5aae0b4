// SPDX-License-Identifier: Apache-2.0
#include "sys/terminal/console.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "sys/file/fd.h"
#include "sys/net/net.h"
#include "sys/net/stream.h"
#include "sys/terminal/terminal_filter.h"

namespace muster::sys {
namespace {

constexpr std::string_view kClearLine = "\r\x1b[K";

}  // namespace

struct Console::Inner {
  // One of our two streams.
  struct Pipe {
    Fd fd;  // none: it takes nothing any more
    const char* name = "";
    bool terminal = false;
    TerminalFilter filter;  // of a terminal, unless it is to be raw
    bool stalled = false;   // took nothing for the reader timeout
    std::string pending;
    std::uint64_t dropped_now = 0;  // since the last notice
    Loop::Handle writable;
    Loop::Handle late;
    std::set<Source::State*> sources;
  };

  Inner(Loop& l, const Options& o) : loop(l), options(o) {}

  void Open(Pipe& pipe, int fd, const char* name);
  void Put(Pipe& pipe, std::string_view text);
  void Flush(Pipe& pipe);
  static Result<std::size_t> WriteWhatFits(Pipe& pipe);
  void Expect(Pipe& pipe);
  void Stall(Pipe& pipe) const;
  void End(Pipe& pipe, const Error& why);
  void Lose(Pipe& pipe, std::size_t bytes, std::string why);
  bool IsFull(const Pipe& pipe) const {
    return !pipe.terminal && !pipe.stalled &&
           pipe.pending.size() >= options.limit;
  }
  void HoldSources(Pipe& pipe) const;
  void TellDropped(Pipe& pipe);
  void HideLive();
  void ShowLive();

  Loop& loop;
  Options options;
  Pipe out;
  Pipe err;
  Lost lost;
  std::string live;
  bool live_shown = false;
  bool at_line_start = true;
};

struct Console::Source::State {
  void Resume() {
    if (!readable.active()) {
      readable = loop.OnReadable(fd, [this] { ready(); });
    }
  }

  Loop& loop;
  Inner::Pipe* pipe;  // null: of none
  int fd;
  std::function<void()> ready;
  bool cancelled = false;
  Loop::Handle readable{};
};

void Console::Inner::Open(Pipe& pipe, int fd, const char* name) {
  pipe.name = name;
  auto opened = OpenWithoutWaiting(fd);
  if (!opened) {
    MUSTER_LOG(kDebug, "an output stream is closed", {{"fd", fd}});
    return;
  }
  pipe.fd = std::move(*opened);
  pipe.terminal = IsTerminal(fd);
}

void Console::Inner::Lose(Pipe& pipe, std::size_t bytes, std::string why) {
  pipe.dropped_now += bytes;
  lost.bytes += bytes;
  if (bytes > 0 && lost.why.empty()) {
    lost.why = std::move(why);
  }
}

void Console::Inner::Put(Pipe& pipe, std::string_view text) {
  if (text.empty()) {
    return;
  }
  if (!pipe.fd) {
    Lose(pipe, text.size(), std::string(pipe.name) + " is closed");
    return;
  }
  if ((pipe.terminal || pipe.stalled) &&
      pipe.pending.size() + text.size() > options.limit) {
    Lose(pipe, text.size(),
         pipe.terminal ? "the terminal is too slow"
                       : "the reader of " + std::string(pipe.name) +
                             " took nothing for " +
                             muster::ToString(options.reader_timeout));
    return;
  }
  pipe.pending += text;
  if (!pipe.writable.active()) {
    Flush(pipe);
  }
  HoldSources(pipe);
}

// As much of what is pending as the stream takes now; how much that was.
Result<std::size_t> Console::Inner::WriteWhatFits(Pipe& pipe) {
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
  return done;
}

void Console::Inner::Flush(Pipe& pipe) {
  const auto written = WriteWhatFits(pipe);
  if (!written) {
    End(pipe, written.error());
    return;
  }
  if (*written > 0) {
    pipe.stalled = false;
    pipe.late.Cancel();
  }
  HoldSources(pipe);
  if (!pipe.pending.empty()) {
    Expect(pipe);
    return;
  }
  pipe.writable.Cancel();
  TellDropped(pipe);
}

// Waits for the reader, and not for ever.
void Console::Inner::Expect(Pipe& pipe) {
  if (!pipe.writable.active()) {
    pipe.writable =
        loop.OnWritable(pipe.fd.get(), [this, &pipe] { Flush(pipe); });
  }
  if (!pipe.late.active() && !pipe.stalled) {
    pipe.late =
        loop.After(options.reader_timeout, [this, &pipe] { Stall(pipe); });
  }
}

void Console::Inner::Stall(Pipe& pipe) const {
  pipe.stalled = true;
  HoldSources(pipe);
}

// The reader has gone (`muster run | head`), or the disk is full.
void Console::Inner::End(Pipe& pipe, const Error& why) {
  const bool gone = why.cause() == Cause::kPeerDied;
  const std::string text =
      gone ? "the reader of " + std::string(pipe.name) + " is gone"
           : std::string(pipe.name) + " cannot be written: " + why.message();
  pipe.writable.Cancel();
  pipe.late.Cancel();
  pipe.fd.Close();
  Lose(pipe, pipe.pending.size(), text);
  pipe.pending.clear();
  HoldSources(pipe);
  if (&pipe != &err) {
    Put(err, "muster: " + text + "; the log files are complete\n");
  }
}

void Console::Inner::HoldSources(Pipe& pipe) const {
  const bool full = IsFull(pipe);
  // Half of it, so that sources do not change with every line.
  const bool room = !full && (pipe.pending.size() <= options.limit / 2 ||
                              pipe.stalled || pipe.terminal);
  for (Source::State* source : pipe.sources) {
    if (full) {
      source->readable.Cancel();
    } else if (room) {
      source->Resume();
    }
  }
}

void Console::Inner::TellDropped(Pipe& pipe) {
  if (pipe.dropped_now > 0) {
    const auto bytes = std::exchange(pipe.dropped_now, 0);
    Put(err, "muster: " + LostText({bytes, lost.why}) +
                 " (the log files are complete)\n");
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
  inner_->Open(inner_->out, options.out_fd, "standard output");
  inner_->Open(inner_->err, options.err_fd, "standard error");
}

Console::~Console() = default;

Console::Source::Source(std::unique_ptr<State> state)
    : state_(std::move(state)) {}

std::unique_ptr<Console::Source> Console::Source::Unshown(
    Loop& loop, int fd, std::function<void()> ready) {
  std::unique_ptr<Source> source(new Source(std::unique_ptr<State>(new State{
      .loop = loop, .pipe = nullptr, .fd = fd, .ready = std::move(ready)})));
  source->state_->Resume();
  return source;
}

Console::Source::~Source() {
  Cancel();
}

void Console::Source::Cancel() {
  state_->cancelled = true;
  state_->readable.Cancel();
  if (state_->pipe != nullptr) {
    state_->pipe->sources.erase(state_.get());
  }
}

bool Console::Source::active() const {
  return !state_->cancelled;
}

bool Console::Source::paused() const {
  return active() && !state_->readable.active();
}

std::unique_ptr<Console::Source> Console::OnReadable(
    Stream stream, int fd, std::function<void()> ready) {
  Inner::Pipe& pipe = stream == Stream::kOut ? inner_->out : inner_->err;
  auto source = Source::Unshown(inner_->loop, fd, std::move(ready));
  source->state_->pipe = &pipe;
  pipe.sources.insert(source->state_.get());
  inner_->HoldSources(pipe);
  return source;
}

void Console::Write(Stream stream, std::string_view page) {
  // A sequence that a program began ends with it, and takes no line of ours.
  (stream == Stream::kOut ? inner_->out : inner_->err).filter.Reset();
  Show(stream, Printable(page, TextForm::kPage));
}

void Console::WriteOutput(Stream stream, std::string_view bytes) {
  Inner::Pipe& pipe = stream == Stream::kOut ? inner_->out : inner_->err;
  if (pipe.terminal && !inner_->options.raw) {
    Show(stream, pipe.filter.Filter(bytes));
  } else {
    Show(stream, bytes);
  }
}

void Console::Show(Stream stream, std::string_view text) {
  if (text.empty()) {
    return;
  }
  Inner::Pipe& pipe = stream == Stream::kOut ? inner_->out : inner_->err;
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

void Console::Drain(Duration longest) {
  for (Inner::Pipe* pipe : {&inner_->out, &inner_->err}) {
    const Duration limit = std::min(longest, inner_->options.reader_timeout);
    while (pipe->fd && !pipe->pending.empty()) {
      if (!AwaitWritable(pipe->fd.get(), Deadline::After(limit))) {
        inner_->Lose(*pipe, pipe->pending.size(),
                     "the reader of " + std::string(pipe->name) +
                         " took nothing for " + muster::ToString(limit));
        pipe->pending.clear();
      }
      inner_->Flush(*pipe);
    }
  }
}

const Console::Lost& Console::lost() const {
  return inner_->lost;
}

std::string LostText(const Console::Lost& lost) {
  return BytesText(lost.bytes) + " of output were not shown: " + lost.why;
}

int CodeAfter(const Console::Lost& lost, int code) {
  return code == 0 && lost.bytes > 0 ? 1 : code;
}

}  // namespace muster::sys
