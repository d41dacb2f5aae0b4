// SPDX-License-Identifier: Apache-2.0
#include "channel/grpc/stream.h"

#include "base/text.h"

namespace muster::channel {
namespace {

std::string TargetOf(const Address& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return (v6 ? "ipv6:" : "ipv4:") + muster::ToString(address);
}

}  // namespace

std::shared_ptr<grpc::Channel> ChannelTo(
    const Address& address,
    const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  grpc::ChannelArguments arguments;
  // An http_proxy of the environment is meant for the web. Through it an agent
  // would be sought elsewhere, and a dead proxy looks like a dead member.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // A connection of its own: a shared one remembers failures and backs off.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetMaxReceiveMessageSize(kMaxWire);
  arguments.SetMaxSendMessageSize(kMaxWire);
  return grpc::CreateCustomChannel(TargetOf(address), credentials, arguments);
}

std::chrono::system_clock::time_point ForGrpc(Deadline deadline) {
  return std::chrono::system_clock::now() +
         std::chrono::duration_cast<std::chrono::system_clock::duration>(
             deadline.Remaining());
}

Error FromGrpc(const grpc::Status& status) {
  if (auto refusal = RefusalIn(status)) {
    return *std::move(refusal);
  }
  const std::string said = Printable(status.error_message());
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
      return Error(Cause::kPeerDied, "the peer closed the connection");
    case grpc::StatusCode::UNIMPLEMENTED:
      return Error(Cause::kNetWrongEndpoint,
                   "another gRPC service responds at this address "
                   "(UNIMPLEMENTED), not muster");
    case grpc::StatusCode::FAILED_PRECONDITION:
      return Error(
          Cause::kNetWrongEndpoint,
          "an agent that is not the coordinator responds at this address");
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return Error(Cause::kNetWrongEndpoint,
                   "received an unknown message: " + said);
    default:
      return Error(Cause::kPeerDied, "the connection broke: " + said);
  }
}

}  // namespace muster::channel
