// SPDX-License-Identifier: Apache-2.0
#include "remote/ssh_session.h"

#include <algorithm>

#include "base/text.h"
#include "sys/net/net.h"
#include "sys/net/stream.h"

namespace muster::remote {
namespace {

using sys::Console;

// Of the limit ssh has a third for reaching a host, and no more than this.
constexpr auto kMaxForConnecting = std::chrono::seconds(10);
// What ssh says is kept for the finding.
constexpr std::size_t kMaxSaid = 16U << 10;
// When ssh has ended, what it wrote is there to be read. What is open for
// longer is held by something that ssh has started and that outlives it.
constexpr auto kHeldOpen = std::chrono::seconds(2);

}  // namespace

SharedBytes Share(std::string bytes) {
  return std::make_shared<const std::string>(std::move(bytes));
}

SshSession::SshSession(const Place& place, SshLogin login, Listener listener)
    : place_(place),
      login_(std::move(login)),
      listener_(std::move(listener)),
      out_(
          [this](std::string_view line) { Line(Console::Stream::kOut, line); }),
      err_([this](std::string_view line) {
        Line(Console::Stream::kErr, line);
      }) {}

Status SshSession::Start(const std::string& remote,
                         const std::vector<std::string>& options) {
  MUSTER_ASSIGN(auto in, sys::SocketPair());
  MUSTER_ASSIGN(auto out, sys::MakePipe());
  MUSTER_ASSIGN(auto err, sys::MakePipe());
  const Duration connecting =
      std::min<Duration>(kMaxForConnecting, place_.limit / 3);
  std::vector<std::string> argv = SshCommand(login_, connecting, remote);
  argv.insert(argv.begin() + 1, options.begin(), options.end());
  MUSTER_ASSIGN(pid_, place_.spawner.Start(
                          {.argv = std::move(argv),
                           .environment = place_.env.All(),
                           .directory = {},
                           .descriptors = {{0, in.second.get()},
                                           {1, out.write.get()},
                                           {2, err.write.get()}},
                           .cores = {}},
                          [this](const wire::Exit& exit) { Ended(exit); }));
  in_ = std::move(in.first);
  out_fd_ = std::move(out.read);
  err_fd_ = std::move(err.read);
  using Stream = Console::Stream;
  out_readable_ = place_.console.OnReadable(Stream::kOut, out_fd_.get(),
                                            [this] { Read(Stream::kOut); });
  err_readable_ = place_.console.OnReadable(Stream::kErr, err_fd_.get(),
                                            [this] { Read(Stream::kErr); });
  return Ok();
}

void SshSession::Read(Console::Stream stream) {
  const bool out = stream == Console::Stream::kOut;
  LineSplitter& lines = out ? out_ : err_;
  std::string bytes;
  const auto arrived = sys::ReadNow(out ? out_fd_.get() : err_fd_.get(), bytes);
  lines.Feed(bytes, std::chrono::steady_clock::now());
  if (!arrived || *arrived == sys::Arrived::kEnd) {
    lines.Finish();
    (out ? out_readable_ : err_readable_)->Cancel();
    MaybeFail();
    listener_.changed();
  }
}

// Nobody waits for the end of streams that ssh has left to others.
void SshSession::StopReading() {
  using Stream = Console::Stream;
  for (const Stream stream : {Stream::kOut, Stream::kErr}) {
    auto& readable = stream == Stream::kOut ? out_readable_ : err_readable_;
    if (IsRead(readable)) {
      Read(stream);  // all that a pipe holds, where the loop was late
    }
    if (IsRead(readable)) {
      (stream == Stream::kOut ? out_ : err_).Finish();
      readable->Cancel();
    }
  }
  MaybeFail();
  listener_.changed();
}

void SshSession::Line(Console::Stream stream, std::string_view line) {
  if (stream == Console::Stream::kErr) {
    said_ += std::string(line) + "\n";
    said_.erase(0, said_.size() - std::min(said_.size(), kMaxSaid));
  }
  if (ready_) {
    listener_.line(stream, line);
    return;
  }
  auto answer =
      stream == Console::Stream::kOut ? ReadSshAnswer(line) : std::nullopt;
  if (!answer) {
    return;
  }
  answer_ = *std::move(answer);
  if (answer_->kind == SshAnswer::Kind::kReady) {
    ready_ = true;
    // What ssh has changed here is nothing to keep quiet about.
    for (const std::string& said : Split(said_, '\n')) {
      if (said.find("Permanently added") != std::string::npos) {
        listener_.line(Console::Stream::kErr, said);
      }
    }
    said_.clear();
    listener_.changed();
  }
  listener_.answered(*answer_);
}

void SshSession::Send(SharedBytes bytes) {
  if (!in_) {
    return;
  }
  pending_.push_back(std::move(bytes));
  if (!writable_.active()) {
    writable_ = place_.loop.OnWritable(in_.get(), [this] { Flush(); });
  }
}

void SshSession::Flush() {
  while (!pending_.empty()) {
    const std::string_view rest =
        std::string_view(*pending_.front()).substr(sent_);
    const auto sent = sys::SendNow(in_.get(), rest, {});
    if (!sent) {
      Close();  // ssh says why, and ends
      return;
    }
    if (*sent == 0 && !rest.empty()) {
      return;
    }
    sent_ += *sent;
    if (*sent == rest.size()) {
      pending_.pop_front();
      sent_ = 0;
    }
  }
  writable_.Cancel();
}

void SshSession::Close() {
  writable_.Cancel();
  in_.Close();
}

void SshSession::Ended(const wire::Exit& exit) {
  killed_ = !exit.exited();
  code_ = killed_ ? kLost : exit.code();
  Close();
  if (!ended()) {
    held_open_ = place_.loop.After(kHeldOpen, [this] { StopReading(); });
  }
  MaybeFail();
  listener_.changed();
}

// Once everything that was said has come.
void SshSession::MaybeFail() {
  if (ended() && !decided()) {
    FailAsAnswered();
  }
}

SshEnd SshSession::End() const {
  return {.login = login_, .said = said_, .answer = answer_, .code = code()};
}

void SshSession::FailAsAnswered() {
  Fail(WhyNotStarted(End()));
}

void SshSession::GiveUp(Duration waited) {
  if (!ready_ && !code_) {
    SshEnd end = End();
    end.waited = waited;
    Fail(WhyNotStarted(end));
  }
}

void SshSession::Fail(Finding finding) {
  failed_ = std::move(finding);
  Kill();
  listener_.changed();
}

void SshSession::Kill() {
  if (!code_ && pid_ != 0) {
    (void)place_.spawner.Signal(pid_, SIGKILL).has_value();
  }
}

}  // namespace muster::remote
