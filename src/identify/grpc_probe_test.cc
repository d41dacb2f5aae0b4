// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <map>

#include "channel/caller.h"
#include "identify/tcp_connection.h"
#include "identify/testing.h"
#include "wire/proto_fields.h"

namespace muster::identify {
namespace {

using identify::testing::Answer;
using identify::testing::FakeServer;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr seconds kCallTimeout{40};
const std::string kHttp2Settings("\0\0\0\x04\0\0\0\0\0", 9);

// Answers each method with bytes, and all others with UNIMPLEMENTED.
class GenericServer : public grpc::CallbackGenericService {
 public:
  explicit GenericServer(std::map<std::string, std::string> replies)
      : replies_(std::move(replies)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port_);
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
  }
  ~GenericServer() override {
    server_->Shutdown(std::chrono::system_clock::now());
  }
  Address address() const {
    return {"127.0.0.1", static_cast<std::uint16_t>(port_)};
  }

 private:
  struct Reactor : grpc::ServerGenericBidiReactor {
    void OnDone() override { delete this; }
    grpc::ByteBuffer reply;
  };
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    auto* reactor = new Reactor;
    const auto at = replies_.find(context->method());
    if (at == replies_.end()) {
      reactor->Finish(grpc::Status(grpc::StatusCode::UNIMPLEMENTED, ""));
      return reactor;
    }
    const grpc::Slice slice(at->second);
    reactor->reply = grpc::ByteBuffer(&slice, 1);
    reactor->StartWriteAndFinish(&reactor->reply, {}, grpc::Status::OK);
    return reactor;
  }

  std::map<std::string, std::string> replies_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

ServerIdentity GrpcServerAt(const Address& address,
                            Duration call = seconds(10)) {
  auto wire =
      TcpProbeConnection::Connect(address, {.connect = seconds(10),
                                            .greeting = seconds(5),
                                            .answer = milliseconds(300),
                                            .call = call,
                                            .all = seconds(20),
                                            .callers = channel::GrpcCallers()});
  EXPECT_TRUE(wire.has_value());
  return wire ? Recognize(**wire) : ServerIdentity{};
}

TEST(GrpcCaller, KnowsATensorflowWorker) {
  const GenericServer worker(
      {{"/tensorflow.WorkerService/GetStatus",
        wire::BytesField(
            1, wire::BytesField(1, "/job:ps/replica:0/task:2/device:CPU:0") +
                   wire::BytesField(2, "CPU"))}});
  EXPECT_EQ(GrpcServerAt(worker.address()).text,
            "a TensorFlow worker (task 2 of ps; 1 CPU)");
}

TEST(GrpcCaller, KnowsAServerByItsHealth) {
  const GenericServer healthy(
      {{"/grpc.health.v1.Health/Check", wire::NumberField(1, 2)}});
  EXPECT_EQ(GrpcServerAt(healthy.address()).text,
            "a gRPC server whose health is NOT_SERVING");
}

TEST(GrpcCaller, KnowsAServerOfNothing) {
  const GenericServer nothing({});
  EXPECT_EQ(GrpcServerAt(nothing.address()).text,
            "a gRPC server of unknown services");
}

TEST(GrpcCaller, RefusesAReplyThatIsTooLarge) {
  const GenericServer large({{"/a/b", std::string(3 << 20, 'x')}});
  const auto caller = channel::GrpcCallers()(large.address());
  const auto reply = caller->Call("/a/b", "", Deadline::After(seconds(20)));
  EXPECT_EQ(NameOfStatus(reply.code), "RESOURCE_EXHAUSTED");
  EXPECT_TRUE(reply.body.empty());
}

TEST(GrpcCaller, EndsWhereTheHandshakeIsAllThatComes) {
  const Deadline bound = Deadline::After(kCallTimeout);
  FakeServer half(Answer(kHttp2Settings));
  EXPECT_THAT(GrpcServerAt(half.address(), milliseconds(300)).text,
              HasSubstr("does not respond to calls"));
  EXPECT_FALSE(bound.Expired());
}

TEST(GrpcCaller, EndsWhereGarbageFollowsTheHandshake) {
  const Deadline bound = Deadline::After(kCallTimeout);
  FakeServer garbage(Answer(kHttp2Settings + std::string(50'000, '\xFE')));
  EXPECT_THAT(GrpcServerAt(garbage.address()).text,
              HasSubstr("does not respond to calls"));
  EXPECT_FALSE(bound.Expired());
}

TEST(GrpcCaller, EndsWhereBytesComeOneByOne) {
  const Deadline bound = Deadline::After(kCallTimeout);
  FakeServer drip([](const sys::Fd& fd, FakeServer& host) {
    (void)sys::SendAll(fd.get(), kHttp2Settings, {},
                       Deadline::After(seconds(1)))
        .has_value();
    while (!host.ending &&
           sys::SendAll(fd.get(), {"\0", 1}, {}, Deadline::After(seconds(1)))
               .has_value()) {
      // The pace of the peer that is played.
      std::this_thread::sleep_for(milliseconds(30));
    }
  });
  EXPECT_THAT(GrpcServerAt(drip.address(), milliseconds(500)).text,
              HasSubstr("does not respond to calls"));
  EXPECT_FALSE(bound.Expired());
}

// The channel of the first look does not outlive it.
TEST(GrpcCaller, SecondLookMeetsWhoIsThereThen) {
  const std::string method = "/tensorflow.WorkerService/GetStatus";
  auto worker = std::make_unique<GenericServer>(
      std::map<std::string, std::string>{{method, "told"}});
  auto wire = TcpProbeConnection::Connect(worker->address(),
                                          {.connect = seconds(10),
                                           .call = seconds(10),
                                           .all = seconds(20),
                                           .again = milliseconds(1),
                                           .callers = channel::GrpcCallers()});
  ASSERT_TRUE(wire.has_value());
  EXPECT_EQ((*wire)->Call(method, "")->body, "told");
  worker.reset();
  EXPECT_TRUE((*wire)->Later());
  EXPECT_EQ((*wire)->Call(method, "")->code, channel::kCallUnavailable);
}

TEST(GrpcCaller, NeverAsksAProxy) {
  const GenericServer nothing({});
  setenv("http_proxy", "http://127.0.0.1:1", 1);
  EXPECT_EQ(GrpcServerAt(nothing.address()).text,
            "a gRPC server of unknown services");
  unsetenv("http_proxy");
}

}  // namespace
}  // namespace muster::identify
