// SPDX-License-Identifier: Apache-2.0
// Any server of gRPC that is none of the others; what grpc.health.v1 says of
// it, where it has that service.
#include <algorithm>
#include <array>

#include "channel/tcp_probe.h"
#include "identify/service_probe.h"
#include "wire/proto_fields.h"

namespace muster::identify::plain_grpc {
namespace {

std::string HealthIn(const std::string& body) {
  std::uint64_t status = 0;
  for (wire::FieldReader at(body); at.Next();) {
    status = at.number() == 1 ? at.value() : status;
  }
  constexpr std::array kWords{"UNKNOWN", "SERVING", "NOT_SERVING",
                              "SERVICE_UNKNOWN"};
  return status < kWords.size() ? kWords[status] : "of unknown status";
}

std::string TextOf(const channel::CallReply& reply) {
  switch (reply.code) {
    case channel::kCallOk:
      return "a gRPC server whose health is " + HealthIn(reply.body);
    case channel::kCallUnimplemented:
      return "a gRPC server of unknown services";
    case channel::kCallDeadline:
    case channel::kCallUnavailable:
      return "a gRPC server that does not respond to calls (" +
             NameOfStatus(reply.code) + ")";
    case channel::kCallDenied:
    case channel::kCallUnauthenticated:
      return "a gRPC server that requires credentials (" +
             NameOfStatus(reply.code) + ")";
    default:
      return "a gRPC server that returns " + NameOfStatus(reply.code);
  }
}

std::optional<ServerIdentity> Ask(ProbeConnection& wire, ProbeReply& heard) {
  const auto reply = wire.Call("/grpc.health.v1.Health/Check", "");
  return ServerIdentity{
      .protocol = "grpc",
      .mute = reply && (reply->code == channel::kCallDeadline ||
                        reply->code == channel::kCallUnavailable),
      .unasked = !reply,
      .text =
          reply ? TextOf(*reply)
                : channel::NameOfAnswer(heard.bytes) +
                      ", which this muster cannot query (built without gRPC)"};
}

}  // namespace

extern const Protocol kProtocol;
constinit const Protocol kProtocol{.name = "grpc",
                                   .title = "a gRPC server",
                                   .port = 8470,
                                   .speaks = Speaks::kInCalls,
                                   .order = 90,
                                   .ask = Ask};

}  // namespace muster::identify::plain_grpc
