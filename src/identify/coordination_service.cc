// SPDX-License-Identifier: Apache-2.0
#include "identify/coordination_service.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "wire/proto_fields.h"

namespace muster::identify {
namespace {

constexpr std::size_t kMostTasks = 65'536;
constexpr std::size_t kMostNamed = 8;

std::string Method(Dialect dialect, std::string_view name) {
  return (dialect == Dialect::kTensorflow ? "/tensorflow."
                                          : "/xla.coordination.") +
         std::string("CoordinationService/") + std::string(name);
}

// CoordinatedTask: 1 job name, 2 index.
void ReadName(std::string_view bytes, ForeignTask& task) {
  for (wire::FieldReader at(bytes); at.Next();) {
    if (at.number() == 1 && at.has_bytes()) {
      task.job = Printable(at.bytes().substr(0, 64));
    } else if (at.number() == 2) {
      task.index = static_cast<int>(at.value() & 0xFFFFFFF);
    }
  }
}

TaskState StateOf(std::uint64_t number, bool came) {
  switch (number) {
    case 3:
      return TaskState::kConnected;
    case 4:
      return TaskState::kFailed;
    default:
      return came ? TaskState::kRegistered : TaskState::kMissing;
  }
}

// 1 the task (its number in XLA's dialect), 2 state, 6 incarnation, which is
// told by the task when it registers.
ForeignTask ReadTask(std::string_view bytes) {
  ForeignTask task;
  std::uint64_t state = 0;
  bool came = false;
  for (wire::FieldReader at(bytes); at.Next();) {
    if (at.number() == 1 && at.has_bytes()) {
      ReadName(at.bytes(), task);
    } else if (at.number() == 1) {
      task.index = static_cast<int>(at.value() & 0xFFFFFFF);
    } else if (at.number() == 2) {
      state = at.value();
    } else if (at.number() == 6) {
      came = at.value() != 0;
    }
  }
  task.state = StateOf(state, came);
  return task;
}

// "wrong service incarnation: requested 0, currently 6787977212126264455".
std::optional<std::uint64_t> IncarnationIn(std::string_view message) {
  constexpr std::string_view kTold = "currently ";
  const auto at = message.find(kTold);
  if (message.find("service incarnation") == message.npos ||
      at == message.npos) {
    return std::nullopt;
  }
  const std::string_view digits = message.substr(at + kTold.size());
  std::uint64_t value = 0;
  const auto read =
      std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return read.ec == std::errc() ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<Coordination> FindCoordination(Wire& wire, Dialect dialect) {
  const std::uint32_t key = dialect == Dialect::kTensorflow ? 1 : 2;
  const auto reply = wire.Call(Method(dialect, "TryGetKeyValue"),
                               wire::BytesField(key, "muster/probe"));
  if (!reply) {
    return std::nullopt;
  }
  if (reply->code == channel::kCallOk ||
      reply->code == channel::kCallNotFound) {
    return Coordination{.dialect = dialect};
  }
  const auto incarnation = IncarnationIn(reply->message);
  if (dialect != Dialect::kXla || !incarnation) {
    return std::nullopt;
  }
  return Coordination{dialect,
                      wire::BytesField(1, wire::FixedField(3, *incarnation))};
}

std::vector<ForeignTask> TasksOfJob(Wire& wire, const Coordination& service,
                                    const std::string& job) {
  const bool old = service.dialect == Dialect::kTensorflow;
  // Without a version of the state that is known, both answer at once.
  const auto reply =
      wire.Call(Method(service.dialect, old ? "WatchJobState" : "WatchTasks"),
                old ? wire::BytesField(1, job) : service.preamble);
  std::vector<ForeignTask> tasks;
  if (!reply || reply->code != channel::kCallOk) {
    return tasks;
  }
  for (wire::FieldReader at(reply->body); at.Next();) {
    if (at.number() == 1 && at.has_bytes() && tasks.size() < kMostTasks) {
      tasks.push_back(ReadTask(at.bytes()));
    }
  }
  std::sort(tasks.begin(), tasks.end(),
            [](const auto& a, const auto& b) { return a.index < b.index; });
  return tasks;
}

std::string TextOf(const std::vector<ForeignTask>& tasks) {
  std::vector<std::string> others;
  int well = 0;
  for (const ForeignTask& task : tasks) {
    if (task.state == TaskState::kConnected) {
      ++well;
    } else if (others.size() < kMostNamed) {
      others.push_back(std::string(WordOf(task.state)) + ": " + task.Text());
    }
  }
  std::string text = std::to_string(well) + " of " +
                     Count(static_cast<int>(tasks.size()), "task") +
                     " connected";
  const auto rest = tasks.size() - static_cast<std::size_t>(well);
  if (!others.empty()) {
    text += ", " + Join(others, ", ");
  }
  return rest > others.size()
             ? text + " and " + std::to_string(rest - others.size()) + " more"
             : text;
}

}  // namespace muster::identify
