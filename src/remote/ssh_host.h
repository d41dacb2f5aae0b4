// SPDX-License-Identifier: Apache-2.0
// A muster on one host, started over ssh: it gets there when it is not there
// yet, and is told what to do.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "remote/agent_bootstrap.h"
#include "remote/ssh_session.h"

namespace muster::remote {

// One host. Loop's thread.
class SshHost {
 public:
  // What all hosts of a run have in common; outlives them.
  struct Shared {
    SshSession::Place place;
    std::string digest;
    SharedBytes program;
    SshPlace where;
    SharedBytes archive;  // of where.copy
    std::function<void()> on_change;
  };
  // One line of the muster there, on one of its streams.
  using OnLine =
      std::function<void(int rank, sys::Console::Stream, std::string_view)>;

  SshHost(const Shared& shared, SshLogin login, int rank, AgentBootstrap handed,
          OnLine on_line);

  Status Start();
  // A word to the agent.
  void Tell(const std::string& word) {
    if (session_.ready()) {
      session_.Send(Share(word + "\n"));
    }
  }
  void Begin() {
    begun_ = true;
    session_.Send(Share(ToLine(handed_)));
  }
  // Another one for the same host.
  std::unique_ptr<SshHost> Replacement() const {
    return std::make_unique<SshHost>(shared_, session_.login(), rank_, handed_,
                                     on_line_);
  }
  // The other side reads the end of its input, and ends; what it says of that
  // is of no use to anybody.
  void Close() {
    closed_ = true;
    session_.Close();
  }

  SshSession& session() { return session_; }
  const SshSession& session() const { return session_; }
  int rank() const { return rank_; }
  bool begun() const { return begun_; }

 private:
  void Answered(const SshAnswer& answer);
  void SendPlace();

  const Shared& shared_;
  const int rank_;
  const AgentBootstrap handed_;
  const OnLine on_line_;
  bool begun_ = false;
  bool closed_ = false;
  SshSession session_;
};

}  // namespace muster::remote
