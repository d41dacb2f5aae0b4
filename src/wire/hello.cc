// SPDX-License-Identifier: Apache-2.0
#include "wire/hello.h"

#include "wire/json_codec.h"

namespace muster::wire {

template <typename Io>
void Fields(Io& io, Hello& hello) {
  io("protocol", hello.protocol);
  io("messages", hello.messages);
  io("rules", hello.rules);
  io("version", hello.version);
  io("cluster_key", hello.cluster_key);
  io("members", hello.members);
  io("ranks", Natural{hello.ranks});
  io("host", hello.host);
  io("pid", Natural{hello.pid});
  io("attempt", Natural{hello.attempt});
  io("clock", hello.clock);
  io("program", hello.program);
  io("program_digest", hello.program_digest);
  io("environment_digest", hello.environment_digest);
  io("cores", Natural{hello.cores});
  io("core_ids", Natural{hello.core_ids});
  io("core_nodes", Natural{hello.core_nodes});
  io("machine", hello.machine);
  io("local_rank", hello.local_rank);
  io("devices", Natural{hello.devices});
  io("device_variable", hello.device_variable);
  io("environment", hello.environment);
  io("addresses", hello.addresses);
  io("ports", hello.ports);
  io("findings", hello.findings);
}

namespace {

// One field on its own: what does not fit is left as it is.
template <typename T>
void ReadIfThere(const Json& json, const char* name, T& into) {
  T value{};
  JsonReader reader(json);
  reader(name, value);
  if (reader.Finish()) {
    into = std::move(value);
  }
}

Error NotAHello(const std::string& field) {
  return Error(Cause::kNetWrongEndpoint,
               "a hello message without a valid `" + field + "`");
}

// "0.1" of "0.1.7".
std::string_view WithoutLastPart(std::string_view version) {
  const auto dot = version.rfind('.');
  return dot == std::string_view::npos ? version : version.substr(0, dot);
}

std::string Introduced(const Hello& hello) {
  return Who(hello) + " is muster " +
         (hello.version.empty() ? "of an unknown version"
                                : Printable(hello.version)) +
         " (protocol " + std::to_string(hello.protocol) + ", messages " +
         (hello.messages == 0 ? "unnumbered" : std::to_string(hello.messages)) +
         ", rules " +
         (hello.rules.empty() ? "unknown" : Printable(hello.rules)) + ")";
}

}  // namespace

Json ToJson(const Hello& hello) {
  Hello copy = hello;
  JsonWriter writer;
  Fields(writer, copy);
  return writer.Take();
}

Result<Hello> HelloFromJson(const Json& json) {
  if (!json.is_object()) {
    return Error(Cause::kNetWrongEndpoint,
                 "a hello message that is not an object");
  }
  Hello hello;
  JsonReader protocol(json);
  protocol("protocol", Natural{hello.protocol});
  if (!protocol.Finish()) {
    return NotAHello("protocol");
  }
  hello.messages = 0;
  ReadIfThere(json, "messages", hello.messages);
  if (hello.protocol != kProtocol || hello.messages != kMessageVersion) {
    // What else it says, and how, is not known here.
    ReadIfThere(json, "rules", hello.rules);
    ReadIfThere(json, "version", hello.version);
    ReadIfThere(json, "ranks", hello.ranks);
    ReadIfThere(json, "host", hello.host);
    ReadIfThere(json, "pid", hello.pid);
    return hello;
  }
  JsonReader reader(json);
  Fields(reader, hello);
  if (!reader.Finish()) {
    return NotAHello(reader.wrong());
  }
  return hello;
}

Result<Hello> ParseHello(std::string_view bytes) {
  MUSTER_ASSIGN(const Json json,
                ParseJson(bytes, Cause::kNetWrongEndpoint, "a hello"));
  return HelloFromJson(json);
}

std::optional<Error> Incompatible(const Hello& ours, const Hello& theirs) {
  if (ours.protocol == theirs.protocol && ours.messages == theirs.messages &&
      ours.rules == theirs.rules &&
      WithoutLastPart(ours.version) == WithoutLastPart(theirs.version)) {
    return std::nullopt;
  }
  return Error(Cause::kVerPeerMismatch,
               Introduced(theirs) + ", " + Introduced(ours) +
                   ": agents of one run must have the same protocol, messages "
                   "and rules, and may differ only in the last part of the "
                   "version");
}

std::string Who(const Hello& hello) {
  std::string text = "an agent";
  if (hello.ranks.size() == 1) {
    text = "rank " + std::to_string(hello.ranks.front());
  } else if (!hello.ranks.empty()) {
    text = "ranks " + std::to_string(hello.ranks.front()) + " to " +
           std::to_string(hello.ranks.back());
  }
  if (!hello.host.empty()) {
    text += " (host " + Printable(hello.host) + ", pid " +
            std::to_string(hello.pid) + ")";
  }
  return text;
}

}  // namespace muster::wire
