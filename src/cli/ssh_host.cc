// SPDX-License-Identifier: Apache-2.0
#include "cli/ssh_host.h"

#include <algorithm>

#include "base/text.h"
#include "sys/net.h"
#include "sys/read_line.h"
#include "sys/stream.h"

namespace muster::cli {
namespace {

using run::Console;
using run::SshAnswer;

// Of the limit ssh has a third for reaching a host, and no more than this.
constexpr auto kMostForConnecting = std::chrono::seconds(10);
// What ssh says is kept for the finding.
constexpr std::size_t kMostSaid = 16U << 10;

}  // namespace

Status SshHost::Start() {
  MUSTER_ASSIGN(auto in, sys::SocketPair());
  MUSTER_ASSIGN(auto out, sys::MakePipe());
  MUSTER_ASSIGN(auto err, sys::MakePipe());
  const Duration connecting =
      std::min<Duration>(kMostForConnecting, shared_.limit / 3);
  MUSTER_ASSIGN(pid_,
                shared_.spawner.Start(
                    {.argv = run::SshCommand(host_, connecting, shared_.digest),
                     .environment = shared_.env.All(),
                     .directory = {},
                     .descriptors = {{0, in.second.get()},
                                     {1, out.write.get()},
                                     {2, err.write.get()}},
                     .cores = {}},
                    [this](const sys::Exit& exit) { Ended(exit); }));
  in_ = std::move(in.first);
  out_fd_ = std::move(out.read);
  err_fd_ = std::move(err.read);
  out_readable_ = shared_.loop.OnReadable(out_fd_.get(), [this] { ReadOut(); });
  err_readable_ = shared_.loop.OnReadable(err_fd_.get(), [this] { ReadErr(); });
  return Ok();
}

void SshHost::ReadOut() {
  std::string bytes;
  const auto arrived = sys::ReadNow(out_fd_.get(), bytes);
  out_.Feed(bytes, std::chrono::steady_clock::now());
  if (!arrived || *arrived == sys::Arrived::kEnd) {
    out_.Finish();
    out_readable_.Cancel();
    MaybeFail();
    shared_.on_change();
  }
}

void SshHost::ReadErr() {
  std::string bytes;
  const auto arrived = sys::ReadNow(err_fd_.get(), bytes);
  err_.Feed(bytes, std::chrono::steady_clock::now());
  if (!arrived || *arrived == sys::Arrived::kEnd) {
    err_.Finish();
    err_readable_.Cancel();
    MaybeFail();
    shared_.on_change();
  }
}

void SshHost::Out(std::string_view line) {
  if (!ready_) {
    if (auto answer = run::ReadSshAnswer(line)) {
      Answered(*std::move(answer));
    }
    return;
  }
  // One document: that of the coordinator.
  if (!closed_ && (!shared_.json || rank_ == 0)) {
    shared_.console.Write(Console::Stream::kOut, std::string(line) + "\n");
  }
}

void SshHost::Err(std::string_view line) {
  if (closed_ && ready_) {
    return;
  }
  if (ready_) {
    const std::string who = rank_ == 0 ? "" : "[" + Printable(host_) + "] ";
    shared_.console.Write(Console::Stream::kErr,
                          who + std::string(line) + "\n");
  } else if (said_.size() < kMostSaid) {
    said_ += std::string(line) + "\n";
  }
}

void SshHost::Answered(SshAnswer answer) {
  answer_ = std::move(answer);
  switch (answer_->kind) {
    case SshAnswer::Kind::kHave:
      Send("0\n" + shared_.directory + "\n");
      break;
    case SshAnswer::Kind::kNeed:
      if (answer_->text != sys::KindOfMachine()) {
        Fail({});
        return;
      }
      Send(std::to_string(shared_.program->size()) + "\n");
      Send(shared_.program);
      Send(shared_.directory + "\n");
      break;
    case SshAnswer::Kind::kReady:
      ready_ = true;
      shared_.on_change();
      break;
    case SshAnswer::Kind::kFailed:
      break;  // its end tells the rest
  }
}

void SshHost::Send(Bytes bytes) {
  if (!in_) {
    return;
  }
  pending_.push_back(std::move(bytes));
  if (!writable_.active()) {
    writable_ = shared_.loop.OnWritable(in_.get(), [this] { Flush(); });
  }
}

void SshHost::Flush() {
  while (!pending_.empty()) {
    const std::string_view rest =
        std::string_view(*pending_.front()).substr(sent_);
    const auto sent = sys::SendNow(in_.get(), rest, {});
    if (!sent) {
      writable_.Cancel();  // ssh says why, and ends
      in_.Close();
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

void SshHost::Ended(const sys::Exit& exit) {
  code_ = exit.exited() ? exit.code() : kLost;
  writable_.Cancel();
  in_.Close();
  MaybeFail();
  shared_.on_change();
}

// Once everything that was said has come.
void SshHost::MaybeFail() {
  if (ended() && !decided()) {
    Fail({});
  }
}

void SshHost::Fail(run::SshEnd end) {
  end.host = host_;
  end.said = said_;
  end.answer = answer_;
  end.code = code();
  failed_ = run::WhyNotStarted(end);
  Kill();
  shared_.on_change();
}

}  // namespace muster::cli
