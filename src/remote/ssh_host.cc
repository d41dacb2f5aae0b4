// SPDX-License-Identifier: Apache-2.0
#include "remote/ssh_host.h"

#include "sys/terminal/read_line.h"

namespace muster::remote {

SshHost::SshHost(const Shared& shared, SshLogin login, int rank, Handed handed,
                 OnLine on_line)
    : shared_(shared),
      rank_(rank),
      handed_(std::move(handed)),
      on_line_(std::move(on_line)),
      session_(
          shared.place, std::move(login),
          {.answered = [this](const SshAnswer& answer) { Answered(answer); },
           .line =
               [this](sys::Console::Stream stream, std::string_view line) {
                 if (!closed_) {
                   on_line_(rank_, stream, line);
                 }
               },
           .changed = shared.on_change}) {}

Status SshHost::Start() {
  return session_.Start(ShellLine(SshScript(shared_.digest), {}));
}

void SshHost::Answered(const SshAnswer& answer) {
  switch (answer.kind) {
    case SshAnswer::Kind::kHave:
      session_.Send(Share("0\n"));
      SendPlace();
      break;
    case SshAnswer::Kind::kNeed:
      if (answer.text != sys::KindOfMachine()) {
        session_.FailAsAnswered();
        return;
      }
      session_.Send(Share(std::to_string(shared_.program->size()) + "\n"));
      session_.Send(shared_.program);
      SendPlace();
      break;
    case SshAnswer::Kind::kReady:
    case SshAnswer::Kind::kFailed:
      break;  // its end tells the rest
  }
}

void SshHost::SendPlace() {
  session_.Send(Share(ToSshPlace(shared_.where)));
  if (shared_.archive != nullptr) {
    session_.Send(shared_.archive);
  }
}

}  // namespace muster::remote
