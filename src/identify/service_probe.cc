// SPDX-License-Identifier: Apache-2.0
#include "identify/service_probe.h"

#include <algorithm>

#include "base/status_code.h"
#include "channel/tcp_probe.h"

namespace muster::identify {
namespace {

ServerIdentity Unidentified(const ProbeReply& heard) {
  if (!heard.bytes.empty()) {
    return {.protocol = "unknown", .text = channel::NameOfAnswer(heard.bytes)};
  }
  if (heard.closed) {
    return {.protocol = "closed",
            .text = "a server that accepts connections and closes them"};
  }
  return {.protocol = "silent",
          .text = "a server that accepts connections and sends nothing"};
}

std::vector<const Protocol*> ThatSpeak(Speaks speaks,
                                       std::string_view expected) {
  std::vector<const Protocol*> some;
  for (const Protocol* one : AllProtocols()) {
    if (one->speaks == speaks) {
      some.insert(one->name == expected ? some.begin() : some.end(), one);
    }
  }
  return some;
}

std::optional<ServerIdentity> Try(std::span<const Protocol* const> protocols,
                                  ProbeConnection& wire, ProbeReply& heard) {
  for (const Protocol* protocol : protocols) {
    ProbeReply said = heard;
    auto server = protocol->ask(wire, said);
    if (server) {
      return server;
    }
    if (!said.bytes.empty() || heard.bytes.empty()) {
      heard = std::move(said);
    }
    if (protocol->speaks == Speaks::kAsked && channel::IsHttp2(heard.bytes)) {
      break;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string NameOfStatus(int code) {
  const auto name = NameOfStatusCode(code);
  return name ? std::string(*name) : "status " + std::to_string(code);
}

int Accelerators(std::span<const ServedDevice> devices) {
  return static_cast<int>(std::count_if(
      devices.begin(), devices.end(),
      [](const auto& one) { return one.type == "TPU" || one.type == "GPU"; }));
}

std::string_view ToString(TaskState state) {
  switch (state) {
    case TaskState::kMissing:
      return "missing";
    case TaskState::kRegistered:
      return "registered";
    case TaskState::kConnected:
      return "connected";
    case TaskState::kFailed:
      return "failed";
  }
  return "?";
}

std::string ServedTask::Text() const {
  return "task " + std::to_string(index) + (job.empty() ? "" : " of " + job);
}

const Protocol* FindProtocol(std::string_view name) {
  const auto all = AllProtocols();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto* one) {
    return one->name == name;
  });
  return found == all.end() ? nullptr : *found;
}

ServerIdentity Recognize(ProbeConnection& wire, std::string_view expected) {
  ProbeReply heard = wire.Greeting();
  if (heard.bytes.empty()) {
    if (auto server = Try(ThatSpeak(Speaks::kAsked, expected), wire, heard)) {
      return *std::move(server);
    }
  }
  if (auto server = Try(ThatSpeak(Speaks::kFirst, {}), wire, heard)) {
    return *std::move(server);
  }
  if (channel::IsHttp2(heard.bytes)) {
    if (auto server = Try(ThatSpeak(Speaks::kInCalls, {}), wire, heard)) {
      server->grpc = true;
      return *std::move(server);
    }
  }
  return Unidentified(heard);
}

}  // namespace muster::identify
