// SPDX-License-Identifier: Apache-2.0
// An agent on one host, started over ssh: until it is ready, what ssh and the
// other side say is judged; afterwards it is passed on.
#pragma once

#include <csignal>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/handed.h"
#include "finding/finding.h"
#include "run/console.h"
#include "run/line_splitter.h"
#include "run/ssh.h"
#include "sys/env.h"
#include "sys/loop.h"
#include "sys/spawner.h"

namespace muster::cli {

// One host: an ssh process and its three streams. Loop's thread.
class SshHost {
 public:
  static constexpr int kLost = 255;  // of ssh: the connection

  using Bytes = std::shared_ptr<const std::string>;  // shared by N hosts

  // What all hosts of a run have in common; outlives them.
  struct Shared {
    sys::Loop& loop;
    sys::Spawner& spawner;
    run::Console& console;
    const sys::Env& env;
    std::string digest;
    Bytes program;
    std::string directory;
    Duration limit;
    bool json = false;
    std::function<void()> on_change;
  };

  SshHost(const Shared& shared, std::string host, int rank, Handed handed)
      : shared_(shared),
        host_(std::move(host)),
        rank_(rank),
        handed_(std::move(handed)),
        out_([this](std::string_view line) { Out(line); }),
        err_([this](std::string_view line) { Err(line); }) {}

  Status Start();
  void Tell(const std::string& word) {
    if (ready_) {
      Send(word + "\n");
    }
  }
  void Begin() { Send(ToLine(handed_)); }
  // The other side reads the end of its input, and ends; what it says of that
  // is of no use to anybody.
  void Close() {
    closed_ = true;
    writable_.Cancel();
    in_.Close();
  }
  void GiveUp(Duration waited) {
    if (!ready_ && !code_) {
      Fail({.waited = waited});
    }
  }
  void Kill() {
    if (!code_) {
      (void)shared_.spawner.Signal(pid_, SIGKILL).has_value();
    }
  }

  bool decided() const { return ready_ || failed_; }
  bool ready() const { return ready_; }
  const std::optional<Finding>& failed() const { return failed_; }
  // ssh has ended, and all that came over it was read.
  bool ended() const {
    return code_ && !out_readable_.active() && !err_readable_.active();
  }
  int code() const { return code_.value_or(kLost); }
  const std::string& host() const { return host_; }

 private:
  void ReadOut();
  void ReadErr();
  void Out(std::string_view line);
  void Err(std::string_view line);
  void Answered(run::SshAnswer answer);
  void Send(std::string text) {
    Send(std::make_shared<const std::string>(std::move(text)));
  }
  void Send(Bytes bytes);
  void Flush();
  void Ended(const sys::Exit& exit);
  void MaybeFail();
  void Fail(run::SshEnd end);

  const Shared& shared_;
  const std::string host_;
  const int rank_;
  const Handed handed_;
  int pid_ = 0;
  sys::Fd in_, out_fd_, err_fd_;
  run::LineSplitter out_, err_;
  std::string said_;
  std::optional<run::SshAnswer> answer_;
  std::deque<Bytes> pending_;
  std::size_t sent_ = 0;  // of the first
  bool ready_ = false;
  bool closed_ = false;
  std::optional<Finding> failed_;
  std::optional<int> code_;
  sys::Loop::Handle writable_, out_readable_, err_readable_;
};

}  // namespace muster::cli
