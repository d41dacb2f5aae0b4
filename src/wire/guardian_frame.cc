// SPDX-License-Identifier: Apache-2.0
#include "wire/guardian_frame.h"

#include <cstdlib>
#include <cstring>

#include "muster/error.h"

namespace muster::wire {
namespace {

class Packer {
 public:
  explicit Packer(GuardianOp op) {
    bytes_.resize(4);
    bytes_ += static_cast<char>(op);
  }
  Packer& Number(std::int64_t number) {
    char raw[sizeof number];
    std::memcpy(raw, &number, sizeof number);
    bytes_.append(raw, sizeof raw);
    return *this;
  }
  Packer& Text(std::string_view text) {
    Number(std::ssize(text));
    bytes_ += text;
    return *this;
  }
  Packer& Texts(const std::vector<std::string>& texts) {
    Number(std::ssize(texts));
    for (const auto& text : texts) {
      Text(text);
    }
    return *this;
  }
  Packer& Numbers(const std::vector<std::int64_t>& numbers) {
    Number(std::ssize(numbers));
    for (const auto number : numbers) {
      Number(number);
    }
    return *this;
  }
  std::string Done() {
    const auto length = static_cast<std::uint32_t>(bytes_.size() - 4);
    std::memcpy(bytes_.data(), &length, sizeof length);
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view body) : rest_(body) {}
  std::int64_t Number() {
    std::int64_t number = 0;
    MUSTER_CHECK(rest_.size() >= sizeof number);
    std::memcpy(&number, rest_.data(), sizeof number);
    rest_.remove_prefix(sizeof number);
    return number;
  }
  std::string Text() {
    const auto length = static_cast<std::size_t>(Number());
    MUSTER_CHECK(rest_.size() >= length);
    std::string text(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return text;
  }
  std::vector<std::string> Texts() {
    std::vector<std::string> texts;
    for (auto left = Number(); left > 0; --left) {
      texts.push_back(Text());
    }
    return texts;
  }
  std::vector<std::int64_t> Numbers() {
    std::vector<std::int64_t> numbers;
    for (auto left = Number(); left > 0; --left) {
      numbers.push_back(Number());
    }
    return numbers;
  }

 private:
  std::string_view rest_;
};

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
      .Done();
}

StartRequest UnpackStart(std::string_view body) {
  Unpacker from(body);
  StartRequest message;
  message.id = from.Number();
  message.argv = from.Texts();
  message.environment = from.Texts();
  message.programs = from.Texts();
  message.directory = from.Text();
  message.targets = from.Numbers();
  message.cores = from.Numbers();
  return message;
}

std::string Pack(const SignalRequest& message) {
  return Packer(GuardianOp::kSignal)
      .Number(message.pid)
      .Number(message.signal)
      .Done();
}

SignalRequest UnpackSignal(std::string_view body) {
  Unpacker from(body);
  SignalRequest message;
  message.pid = from.Number();
  message.signal = from.Number();
  return message;
}

std::string PackKillAll(std::int64_t id) {
  return Packer(GuardianOp::kKillAll).Number(id).Done();
}

std::int64_t UnpackKillAll(std::string_view body) {
  return Unpacker(body).Number();
}

std::string Pack(const StartReply& message) {
  return Packer(GuardianOp::kStarted)
      .Number(message.id)
      .Number(message.pid)
      .Number(message.pidfd)
      .Number(message.affinity_errno)
      .Done();
}

StartReply UnpackStarted(std::string_view body) {
  Unpacker from(body);
  StartReply message;
  message.id = from.Number();
  message.pid = from.Number();
  message.pidfd = from.Number();
  message.affinity_errno = from.Number();
  return message;
}

std::string Pack(const StartFailure& message) {
  return Packer(GuardianOp::kNotStarted)
      .Number(message.id)
      .Number(static_cast<std::int64_t>(message.stage))
      .Number(message.error_number)
      .Number(message.program)
      .Done();
}

StartFailure UnpackNotStarted(std::string_view body) {
  Unpacker from(body);
  StartFailure message;
  message.id = from.Number();
  message.stage = static_cast<StartStage>(from.Number());
  message.error_number = from.Number();
  message.program = from.Number();
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
      .Done();
}

Exit UnpackExited(std::string_view body) {
  Unpacker from(body);
  Exit message;
  message.pid = static_cast<int>(from.Number());
  message.wait_status = static_cast<int>(from.Number());
  message.at = WallTime(std::chrono::microseconds(from.Number()));
  message.user_s = static_cast<double>(from.Number()) / 1e6;
  message.system_s = static_cast<double>(from.Number()) / 1e6;
  message.max_rss_bytes = from.Number();
  return message;
}

std::string Pack(const KillReply& message) {
  return Packer(GuardianOp::kKilled)
      .Number(message.id)
      .Number(message.killed)
      .Number(message.remaining)
      .Done();
}

KillReply UnpackKilled(std::string_view body) {
  Unpacker from(body);
  KillReply message;
  message.id = from.Number();
  message.killed = from.Number();
  message.remaining = from.Number();
  return message;
}

std::optional<GuardianFrame> TakeFrame(std::string& buffer) {
  std::uint32_t length = 0;
  if (buffer.size() < sizeof length) {
    return std::nullopt;
  }
  std::memcpy(&length, buffer.data(), sizeof length);
  MUSTER_CHECK(length >= 1);
  if (buffer.size() < sizeof length + length) {
    return std::nullopt;
  }
  GuardianFrame frame{.op = static_cast<GuardianOp>(buffer[4]),
                      .body = buffer.substr(5, length - 1)};
  buffer.erase(0, sizeof length + length);
  return frame;
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
