// SPDX-License-Identifier: Apache-2.0
#include "wire/guardian_frame.h"

#include <cstdlib>

#include "muster/error.h"
#include "wire/frame.h"

namespace muster::wire {
namespace {

FrameBuilder Packer(GuardianOp op) {
  return FrameBuilder(static_cast<std::uint8_t>(op));
}

}  // namespace

std::string Pack(const StartRequest& message) {
  return Packer(GuardianOp::kStart)
      .Number(message.id)
      .Texts(message.argv)
      .Texts(message.environment)
      .Texts(message.programs)
      .Text(message.directory)
      .Numbers(message.targets)
      .Numbers(message.cores)
      .Finish();
}

StartRequest UnpackStart(std::string_view body) {
  BodyReader from(body);
  StartRequest message;
  message.id = from.Number();
  message.argv = from.Texts();
  message.environment = from.Texts();
  message.programs = from.Texts();
  message.directory = from.Text();
  message.targets = from.Numbers();
  message.cores = from.Numbers();
  MUSTER_CHECK(from.Complete());
  return message;
}

std::string Pack(const SignalRequest& message) {
  return Packer(GuardianOp::kSignal)
      .Number(message.pid)
      .Number(message.signal)
      .Finish();
}

SignalRequest UnpackSignal(std::string_view body) {
  BodyReader from(body);
  SignalRequest message;
  message.pid = from.Number();
  message.signal = from.Number();
  MUSTER_CHECK(from.Complete());
  return message;
}

std::string PackKillAll(std::int64_t id) {
  return Packer(GuardianOp::kKillAll).Number(id).Finish();
}

std::int64_t UnpackKillAll(std::string_view body) {
  BodyReader from(body);
  const auto id = from.Number();
  MUSTER_CHECK(from.Complete());
  return id;
}

std::string Pack(const StartReply& message) {
  return Packer(GuardianOp::kStarted)
      .Number(message.id)
      .Number(message.pid)
      .Number(message.pidfd)
      .Number(message.affinity_errno)
      .Number(message.cgroup_errno)
      .Finish();
}

StartReply UnpackStarted(std::string_view body) {
  BodyReader from(body);
  StartReply message;
  message.id = from.Number();
  message.pid = from.Number();
  message.pidfd = from.Number();
  message.affinity_errno = from.Number();
  message.cgroup_errno = from.Number();
  MUSTER_CHECK(from.Complete());
  return message;
}

std::string Pack(const StartFailure& message) {
  return Packer(GuardianOp::kNotStarted)
      .Number(message.id)
      .Number(static_cast<std::int64_t>(message.stage))
      .Number(message.error_number)
      .Number(message.program)
      .Finish();
}

StartFailure UnpackNotStarted(std::string_view body) {
  BodyReader from(body);
  StartFailure message;
  message.id = from.Number();
  message.stage = static_cast<StartStage>(from.Number());
  message.error_number = from.Number();
  message.program = from.Number();
  MUSTER_CHECK(from.Complete());
  return message;
}

std::string Pack(const Exit& message) {
  constexpr double kMicro = 1e6;
  return Packer(GuardianOp::kExited)
      .Number(message.pid)
      .Number(message.wait_status)
      .Number(message.at.time_since_epoch().count())
      .Number(static_cast<std::int64_t>(message.user_s * kMicro))
      .Number(static_cast<std::int64_t>(message.system_s * kMicro))
      .Number(message.max_rss_bytes)
      .Finish();
}

Exit UnpackExited(std::string_view body) {
  BodyReader from(body);
  Exit message;
  message.pid = static_cast<int>(from.Number());
  message.wait_status = static_cast<int>(from.Number());
  message.at = WallTime(std::chrono::microseconds(from.Number()));
  message.user_s = static_cast<double>(from.Number()) / 1e6;
  message.system_s = static_cast<double>(from.Number()) / 1e6;
  message.max_rss_bytes = from.Number();
  MUSTER_CHECK(from.Complete());
  return message;
}

std::string Pack(const KillReply& message) {
  return Packer(GuardianOp::kKilled)
      .Number(message.id)
      .Number(message.killed)
      .Number(message.remaining)
      .Finish();
}

KillReply UnpackKilled(std::string_view body) {
  BodyReader from(body);
  KillReply message;
  message.id = from.Number();
  message.killed = from.Number();
  message.remaining = from.Number();
  MUSTER_CHECK(from.Complete());
  return message;
}

std::optional<GuardianFrame> TakeFrame(std::string& buffer) {
  const auto frame = PeekFrame(buffer, {}).value();
  if (!frame) {
    return std::nullopt;
  }
  GuardianFrame taken{.op = static_cast<GuardianOp>(frame->kind),
                      .body = std::string(frame->body)};
  buffer.erase(0, frame->size);
  return taken;
}

bool Exit::exited() const {
  return WIFEXITED(wait_status);
}
int Exit::code() const {
  return WEXITSTATUS(wait_status);
}
std::optional<int> Exit::signal() const {
  return WIFSIGNALED(wait_status) ? std::optional(WTERMSIG(wait_status))
                                  : std::nullopt;
}

}  // namespace muster::wire
