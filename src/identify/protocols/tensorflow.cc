// SPDX-License-Identifier: Apache-2.0
// A TensorFlow worker: WorkerService/GetStatus tells its devices, whose names
// hold its task. Facts: reference/tpu.md c.1; measured with TensorFlow 2.21.
#include <algorithm>

#include "base/text.h"
#include "identify/coordination_service.h"
#include "wire/proto_fields.h"

namespace muster::identify::tensorflow {
namespace {

constexpr std::size_t kMaxDevices = 65'536;
constexpr std::size_t kMaxTypes = 8;

// DeviceAttributes: 1 name, 2 type, 4 memory limit, 6 incarnation.
ServedDevice ReadDevice(std::string_view bytes) {
  ServedDevice device;
  for (wire::FieldReader at(bytes); at.Next();) {
    if (at.number() == 1) {
      device.name = Printable(at.bytes().substr(0, 200));
    } else if (at.number() == 2) {
      device.type = Printable(at.bytes().substr(0, 40));
    } else if (at.number() == 4) {
      device.memory = at.signed_value();
    } else if (at.number() == 6) {
      device.incarnation = at.value();
    }
  }
  return device;
}

// Of "/job:worker/replica:0/task:1/device:CPU:0".
std::optional<ServedTask> TaskOf(const std::string& device) {
  ServedTask task;
  bool has_index = false;
  for (const std::string& part : Split(device, '/')) {
    if (part.starts_with("job:")) {
      task.job = part.substr(4);
    } else if (part.starts_with("task:")) {
      const auto index = ParseInt(part.substr(5));
      has_index = index && *index >= 0 && *index < 1'000'000;
      task.index = has_index ? static_cast<int>(*index) : 0;
    }
  }
  return !task.job.empty() && has_index ? std::optional(task) : std::nullopt;
}

// What GetStatus came to.
struct WorkerStatus {
  int code = channel::kCallUnimplemented;
  std::vector<ServedDevice> devices;
};

WorkerStatus StatusOf(ProbeConnection& wire) {
  WorkerStatus status;
  const auto reply = wire.Call("/tensorflow.WorkerService/GetStatus", "");
  if (!reply) {
    return status;
  }
  status.code = reply->code;
  for (wire::FieldReader at(reply->body);
       reply->code == channel::kCallOk && at.Next();) {
    if (at.number() == 1 && at.has_bytes() &&
        status.devices.size() < kMaxDevices) {
      status.devices.push_back(ReadDevice(at.bytes()));
    }
  }
  return status;
}

std::vector<std::uint64_t> IncarnationsOf(
    const std::vector<ServedDevice>& devices) {
  std::vector<std::uint64_t> all;
  all.reserve(devices.size());
  for (const ServedDevice& device : devices) {
    all.push_back(device.incarnation);
  }
  std::sort(all.begin(), all.end());
  return all;
}

// The leader alone knows; it knows jobs by name only.
std::vector<ServedTask> AskLeader(ProbeConnection& wire,
                                  const std::string& own_job) {
  std::vector<std::string> jobs{own_job};
  for (const char* job : {"chief", "worker", "ps", "evaluator"}) {
    if (job != own_job) {
      jobs.emplace_back(job);
    }
  }
  std::vector<ServedTask> tasks;
  for (const std::string& job : jobs) {
    const auto some = TasksOfJob(wire, Coordination{}, job);
    tasks.insert(tasks.end(), some.begin(), some.end());
  }
  return tasks;
}

// "1 CPU, 2 GPU", and the number of those of other types than the first ones.
std::string Inventory(const std::vector<ServedDevice>& devices) {
  std::vector<std::pair<std::string_view, int>> types;
  int others = 0;
  for (const ServedDevice& device : devices) {
    const auto known =
        std::find_if(types.begin(), types.end(),
                     [&](const auto& one) { return one.first == device.type; });
    if (known != types.end()) {
      ++known->second;
    } else if (types.size() < kMaxTypes) {
      types.emplace_back(device.type, 1);
    } else {
      ++others;
    }
  }
  std::vector<std::string> parts;
  parts.reserve(types.size());
  for (const auto& [type, count] : types) {
    parts.push_back(std::to_string(count) + " " + std::string(type));
  }
  return Join(parts, ", ") +
         (others > 0 ? " and " + Count(others, "other") : "");
}

void LookAgain(ProbeConnection& wire, ServerIdentity& server) {
  if (!wire.Later()) {
    return;
  }
  const WorkerStatus again = StatusOf(wire);
  if (again.code == channel::kCallUnavailable) {
    server.restarted = "it did not respond to the second call";
  } else if (again.code != channel::kCallOk) {
    server.late = "the second call reached " + NameOfStatus(again.code);
  } else if (IncarnationsOf(again.devices) != IncarnationsOf(server.devices)) {
    server.restarted =
        "the incarnation of its devices changed between two "
        "calls";
  }
}

std::optional<ServerIdentity> Ask(ProbeConnection& wire, ProbeReply&) {
  ServerIdentity server{.protocol = "tf", .devices = StatusOf(wire).devices};
  if (server.devices.empty()) {
    return std::nullopt;
  }
  server.self = TaskOf(server.devices.front().name);
  server.text = "a TensorFlow worker (" +
                (server.self ? server.self->Text() : "of no task") + "; " +
                Inventory(server.devices) + ")";
  if (server.self) {
    server.tasks = AskLeader(wire, server.self->job);
  }
  if (!server.tasks.empty()) {
    server.text += ", the leader: " + TextOf(server.tasks);
  }
  LookAgain(wire, server);
  return server;
}

}  // namespace

extern const Protocol kProtocol;
constinit const Protocol kProtocol{.name = "tf",
                                   .title = "a TensorFlow worker",
                                   .port = 8470,
                                   .speaks = Speaks::kInCalls,
                                   .order = 10,
                                   .ask = Ask};

}  // namespace muster::identify::tensorflow
