// SPDX-License-Identifier: Apache-2.0
// One ssh process and its three streams: until the other side is ready, what
// ssh and it say is judged; afterward it is passed on.
#pragma once

#include <csignal>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/line_splitter.h"
#include "finding/finding.h"
#include "remote/ssh.h"
#include "sys/env.h"
#include "sys/process/spawner.h"
#include "sys/terminal/console.h"
#include "sys/time/loop.h"

namespace muster::remote {

// Bytes that several sessions send.
using SharedBytes = std::shared_ptr<const std::string>;
SharedBytes Share(std::string bytes);

// Loop's thread.
class SshSession {
 public:
  static constexpr int kLost = 255;  // of ssh: the connection

  // What all sessions have in common; outlives them.
  struct Place {
    sys::Loop& loop;
    sys::Spawner& spawner;
    const sys::Env& env;
    Duration limit;         // for being ready
    sys::Console& console;  // where its lines go
  };
  struct Listener {
    // What the other side says before it is ready.
    std::function<void(const SshAnswer&)> answered;
    // A line without its end, once it is ready.
    std::function<void(sys::Console::Stream, std::string_view)> line;
    std::function<void()> changed;
  };

  SshSession(const Place& place, SshLogin login, Listener listener);

  // `remote` is for the login shell there, `options` for ssh.
  // program-not-found: there is no ssh here.
  Status Start(const std::string& remote,
               const std::vector<std::string>& options = {});
  void Send(SharedBytes bytes);
  // The other side reads the end of its input.
  void Close();
  // Not ready so far: it failed.
  void GiveUp(Duration waited);
  void Fail(Finding finding);
  void FailAsAnswered();
  void Kill();

  const SshLogin& login() const { return login_; }
  bool decided() const { return ready_ || failed_; }
  bool ready() const { return ready_; }
  // Why it did not get ready.
  const std::optional<Finding>& failed() const { return failed_; }
  // ssh has ended, and all that came over it was read: also where something
  // that it has started (ProxyCommand) keeps its streams open.
  bool ended() const {
    return code_ && !IsRead(out_readable_) && !IsRead(err_readable_);
  }
  int code() const { return code_.value_or(kLost); }
  // The connection was lost after it was ready.
  bool lost() const {
    return ready_ && code_ == kLost && (killed_ || SaysLost(said_));
  }

 private:
  void Read(sys::Console::Stream stream);
  void StopReading();
  static bool IsRead(const std::unique_ptr<sys::Console::Source>& source) {
    return source && source->active();
  }
  void Line(sys::Console::Stream stream, std::string_view line);
  void Flush();
  void Ended(const wire::Exit& exit);
  void MaybeFail();
  SshEnd End() const;

  const Place& place_;
  const SshLogin login_;
  const Listener listener_;
  int pid_ = 0;
  sys::Fd in_, out_fd_, err_fd_;
  LineSplitter out_, err_;
  std::string said_;  // by ssh, the last of it
  std::optional<SshAnswer> answer_;
  std::deque<SharedBytes> pending_;
  std::size_t sent_ = 0;  // of the first
  bool ready_ = false;
  bool killed_ = false;  // ssh was, by a signal
  std::optional<Finding> failed_;
  std::optional<int> code_;
  sys::Loop::Handle writable_, held_open_;
  std::unique_ptr<sys::Console::Source> out_readable_, err_readable_;
};

}  // namespace muster::remote
