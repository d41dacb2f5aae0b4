// SPDX-License-Identifier: Apache-2.0
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "channel/caller.h"

namespace muster::channel {
namespace {

constexpr int kLargestReply = 1 << 20;

std::shared_ptr<grpc::Channel> PlainChannelTo(const Address& number) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kLargestReply);
  arguments.SetInt(GRPC_ARG_MAX_METADATA_SIZE, 16 << 10);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // A channel of its own connection: a second look must not meet the first's.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const bool v6 = number.host.find(':') != std::string::npos;
  return grpc::CreateCustomChannel((v6 ? "ipv6:" : "ipv4:") + ToText(number),
                                   grpc::InsecureChannelCredentials(),
                                   arguments);
}

std::string BytesOf(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (buffer.Valid() && buffer.Dump(&slices).ok()) {
    for (const grpc::Slice& slice : slices) {
      bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
    }
  }
  return bytes;
}

class GrpcCaller : public Caller {
 public:
  explicit GrpcCaller(const Address& number) : stub_(PlainChannelTo(number)) {}

  CallReply Call(const std::string& method, const std::string& request,
                 Deadline deadline) override {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::duration_cast<std::chrono::microseconds>(
                             deadline.Remaining()));
    context.set_wait_for_ready(false);
    const grpc::Slice slice(request);
    const grpc::ByteBuffer message(&slice, 1);
    grpc::CompletionQueue queue;
    auto call = stub_.PrepareUnaryCall(&context, method, message, &queue);
    call->StartCall();
    grpc::ByteBuffer reply;
    grpc::Status status;
    call->Finish(&reply, &status, this);
    // The library ends the call at its deadline.
    void* tag = nullptr;
    bool done = false;
    queue.Next(&tag, &done);
    queue.Shutdown();
    while (queue.Next(&tag, &done)) {
    }
    return {.code = static_cast<int>(status.error_code()),
            .message = status.error_message(),
            .body = status.ok() ? BytesOf(reply) : ""};
  }

 private:
  grpc::GenericStub stub_;
};

}  // namespace

MakeCaller GrpcCallers() {
  return [](const Address& number) -> std::unique_ptr<Caller> {
    return std::make_unique<GrpcCaller>(number);
  };
}

}  // namespace muster::channel
