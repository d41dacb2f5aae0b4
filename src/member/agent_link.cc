// SPDX-License-Identifier: Apache-2.0
#include "member/agent_link.h"

#include <utility>

#include "sys/net/net.h"

namespace muster {
namespace {

Error AgentGone(const Error& error) {
  if (error.cause() != Cause::kPeerDied) {
    return error;
  }
  return Error(Cause::kPeerDied,
               "the agent of this rank has exited: " + error.message());
}

Error Refusal(const wire::RankMessage& reply) {
  const auto cause = CauseFromLabel(reply.key);
  return Error(cause.value_or(Cause::kInternalError),
               cause
                   ? reply.value
                   : "the agent rejected the request with an unknown cause `" +
                         reply.key + "`: " + reply.value);
}

std::string_view NameOf(wire::RankOp op) {
  switch (op) {
    case wire::RankOp::kRegister:
      return "registration";
    case wire::RankOp::kPut:
      return "put";
    case wire::RankOp::kGet:
      return "get";
    case wire::RankOp::kAdd:
      return "add";
    case wire::RankOp::kBarrier:
      return "barrier";
    default:
      return "message";
  }
}

}  // namespace

Status AgentLink::Send(const wire::RankMessage& message, Deadline deadline) {
  const std::string bytes = wire::Encode(message);
  MUSTER_TRY(AwaitTurn(deadline));
  auto sent = sys::SendAll(fd_.get(), bytes, {}, deadline);
  MutexLock lock(send_mutex_);
  sending_ = false;
  sent_.NotifyAll();
  if (!sent) {
    // A part may be on its way: nothing that follows could be understood.
    send_failed_ = AgentGone(sent.error());
    return *send_failed_;
  }
  return sent;
}

// Not for the lock: who has it may wait for the agent longer than this caller.
Status AgentLink::AwaitTurn(Deadline deadline) {
  MutexLock lock(send_mutex_);
  while (sending_ && !deadline.Expired()) {
    sent_.WaitUntil(send_mutex_, deadline.when());
  }
  if (send_failed_) {
    return *send_failed_;
  }
  if (sending_) {
    return Error(
        Cause::kDeadlineExceeded,
        "the agent of this rank did not accept an earlier message in time");
  }
  sending_ = true;
  return Ok();
}

Status AgentLink::Tell(wire::RankMessage message, Deadline deadline) {
  message.id = 0;
  return Send(message, deadline);
}

Result<wire::RankMessage> AgentLink::Ask(wire::RankMessage message,
                                         Deadline deadline) {
  const auto op = message.op;
  const std::string key = message.key;
  message.id = ++last_id_;
  {
    MutexLock lock(mutex_);
    waiting_.insert(message.id);
  }
  std::optional<Result<wire::RankMessage>> reply;
  if (Status sent = Send(message, deadline); !sent) {
    reply = std::move(sent).error();
  }
  while (!reply) {
    bool read = false;
    reply = Look(message.id, deadline, read);
    if (read) {
      ReadOnce(deadline);
    }
  }
  {
    MutexLock lock(mutex_);
    waiting_.erase(message.id);
    replies_.erase(message.id);
  }
  if (*reply && (*reply)->op == wire::RankOp::kRefused) {
    reply = Refusal(**reply);
  }
  if (!*reply) {
    return std::move(*reply).error().While(
        "waiting for the agent's reply to a " + std::string(NameOf(op)) +
        (key.empty() ? "" : " of `" + key + "`"));
  }
  return *std::move(reply);
}

std::optional<Result<wire::RankMessage>> AgentLink::Look(std::uint64_t id,
                                                         Deadline deadline,
                                                         bool& read) {
  MutexLock lock(mutex_);
  for (;;) {
    if (const auto found = replies_.find(id); found != replies_.end()) {
      return std::move(found->second);
    }
    if (stop_ || broken_) {
      return stop_ ? *stop_ : *broken_;
    }
    if (deadline.Expired()) {
      return Error(Cause::kDeadlineExceeded,
                   "the agent of this rank did not reply in time");
    }
    if (!reading_) {
      reading_ = true;
      read = true;
      return std::nullopt;
    }
    changed_.WaitUntil(mutex_, deadline.when());
  }
}

// Only by the thread that has set reading_.
void AgentLink::ReadOnce(Deadline deadline) {
  std::string bytes;
  std::vector<sys::Fd> descriptors;
  const auto received =
      sys::ReceiveSome(fd_.get(), bytes, &descriptors, deadline);
  MutexLock lock(mutex_);
  reading_ = false;
  buffer_ += bytes;
  for (sys::Fd& descriptor : descriptors) {
    descriptors_.push_back(std::move(descriptor));
  }
  if (received) {
    Sort();
  } else if (received.error().cause() != Cause::kDeadlineExceeded) {
    broken_ = AgentGone(received.error());
  }
  changed_.NotifyAll();
}

void AgentLink::Sort() {
  for (;;) {
    auto message = wire::TakeMessage(buffer_);
    if (!message) {
      broken_ = std::move(message).error().While("reading from the agent");
      return;
    }
    if (!*message) {
      return;
    }
    wire::RankMessage& came = **message;
    if (came.op == wire::RankOp::kStop) {
      stop_ = Error(CauseFromLabel(came.key).value_or(Cause::kCancelled),
                    "the agent requested this rank to stop");
    } else if (waiting_.contains(came.id)) {
      // An answer that nobody waits for any more came after its deadline.
      wire::RankMessage& reply = replies_[came.id];
      reply = std::move(came);
    }
  }
}

std::optional<Error> AgentLink::StopReason() {
  MutexLock lock(mutex_);
  return stop_;
}

std::vector<sys::Fd> AgentLink::TakeDescriptors() {
  MutexLock lock(mutex_);
  return std::exchange(descriptors_, {});
}

}  // namespace muster
