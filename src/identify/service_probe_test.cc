// SPDX-License-Identifier: Apache-2.0
#include "identify/service_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "wire/proto_fields.h"

namespace muster::identify {
namespace {

using ::testing::HasSubstr;

const std::string kSettings("\0\0\0\x04\0\0\0\0\0", 9);

// Answers by heart; what it has no answer for is silence, or UNIMPLEMENTED.
class FakeWire : public ProbeConnection {
 public:
  ProbeReply Greeting() override { return greeting; }
  ProbeReply Say(std::string_view bytes, std::size_t) override {
    said.emplace_back(bytes);
    const auto at = answers.find(std::string(bytes));
    return at == answers.end() ? otherwise : at->second;
  }
  std::optional<channel::CallReply> Call(const std::string& method,
                                         const std::string& request) override {
    called.insert(method);
    if (!has_grpc) {
      return std::nullopt;
    }
    for (const auto& replies : {looks == 0 ? calls : calls_later, calls}) {
      const auto at = replies.find({method, request});
      if (at != replies.end()) {
        return at->second;
      }
    }
    return channel::CallReply{.code = channel::kCallUnimplemented};
  }
  bool Later() override { return ++looks <= more_looks; }

  ProbeReply greeting;
  ProbeReply otherwise;
  std::map<std::string, ProbeReply> answers;
  using Calls =
      std::map<std::pair<std::string, std::string>, channel::CallReply>;
  Calls calls, calls_later;
  bool has_grpc = true;
  int more_looks = 0;
  int looks = 0;
  std::vector<std::string> said;
  std::set<std::string> called;
};

std::string DeviceOf(const std::string& name, const std::string& type,
                     std::uint64_t incarnation) {
  std::string fixed = "\x31";
  for (int i = 0; i < 8; ++i) {
    fixed += static_cast<char>(incarnation >> (8 * i));
  }
  return wire::BytesField(1, wire::BytesField(1, name) +
                                 wire::BytesField(2, type) +
                                 wire::NumberField(4, 1024) + fixed);
}

constexpr char kGetStatus[] = "/tensorflow.WorkerService/GetStatus";
constexpr char kWatchJob[] = "/tensorflow.CoordinationService/WatchJobState";
constexpr char kOldKey[] = "/tensorflow.CoordinationService/TryGetKeyValue";
constexpr char kNewKey[] =
    "/xla.coordination.CoordinationService/TryGetKeyValue";
constexpr char kWatchTasks[] =
    "/xla.coordination.CoordinationService/WatchTasks";

std::string StatusOf(int task, std::uint64_t incarnation) {
  const std::string at = "/job:worker/replica:0/task:" + std::to_string(task);
  return DeviceOf(at + "/device:CPU:0", "CPU", incarnation) +
         DeviceOf(at + "/device:GPU:0", "GPU", incarnation + 1) +
         DeviceOf(at + "/device:GPU:1", "GPU", incarnation + 2);
}

// A task in the list of a coordination service.
std::string TaskIn(const std::string& job, std::uint64_t index, int state,
                   bool came) {
  return wire::BytesField(
      1, wire::BytesField(
             1, wire::BytesField(1, job) + wire::NumberField(2, index)) +
             wire::NumberField(2, static_cast<std::uint64_t>(state)) +
             (came ? std::string("\x31\x01\0\0\0\0\0\0\0", 9) : ""));
}

FakeWire Grpc() {
  FakeWire wire;
  wire.greeting.bytes = kSettings;
  return wire;
}

TEST(Protocols, HaveNamesAndPlacesOfTheirOwn) {
  std::set<std::string_view> names;
  std::set<int> places;
  for (const Protocol* one : AllProtocols()) {
    names.insert(one->name);
    places.insert(static_cast<int>(one->speaks) * 1000 + one->order);
    EXPECT_EQ(FindProtocol(one->name), one);
  }
  EXPECT_EQ(names.size(), AllProtocols().size());
  EXPECT_EQ(places.size(), AllProtocols().size());
  EXPECT_EQ(FindProtocol("gopher"), nullptr);
}

TEST(Tensorflow, SaysWhichTaskItIsAndWhatItHas) {
  FakeWire wire = Grpc();
  wire.calls[{kGetStatus, ""}].body = StatusOf(3, 77);
  const auto server = Recognize(wire);
  EXPECT_EQ(server.protocol, "tf");
  EXPECT_TRUE(server.grpc);
  EXPECT_EQ(server.text,
            "a TensorFlow worker (task 3 of worker; 1 CPU, 2 GPU)");
  EXPECT_EQ(server.self, (ServedTask{.job = "worker", .index = 3}));
  EXPECT_EQ(Accelerators(server.devices), 2);
  EXPECT_EQ(server.devices[1].incarnation, 78U);
  EXPECT_EQ(server.devices[1].memory, 1024);
}

TEST(Tensorflow, LeaderNamesWhoIsMissing) {
  FakeWire wire = Grpc();
  wire.calls[{kGetStatus, ""}].body = StatusOf(0, 77);
  wire.calls[{kWatchJob, wire::BytesField(1, "worker")}].body =
      TaskIn("worker", 1, 2, false) + TaskIn("worker", 0, 3, true) +
      wire::NumberField(2, 2);
  const auto server = Recognize(wire);
  EXPECT_THAT(server.text,
              HasSubstr("the leader: 1 of 2 tasks connected, missing: task 1 "
                        "of worker"));
  ASSERT_EQ(server.tasks.size(), 2U);
  EXPECT_EQ(server.tasks[0].state, TaskState::kConnected);
}

TEST(Tensorflow, ThatRestartsBetweenTwoCallsIsACrashLoop) {
  FakeWire wire = Grpc();
  wire.more_looks = 1;
  wire.calls[{kGetStatus, ""}].body = StatusOf(0, 77);
  EXPECT_EQ(Recognize(wire).restarted, "");
  wire.looks = 0;
  wire.calls_later[{kGetStatus, ""}].body = StatusOf(0, 99);
  EXPECT_THAT(Recognize(wire).restarted, HasSubstr("incarnation"));
  wire.looks = 0;
  wire.calls_later[{kGetStatus, ""}] = {.code = channel::kCallUnavailable};
  EXPECT_THAT(Recognize(wire).restarted, HasSubstr("second call"));
}

TEST(Tensorflow, ThatIsLateInTheSecondCallIsNotCalledDead) {
  FakeWire wire = Grpc();
  wire.more_looks = 1;
  wire.calls[{kGetStatus, ""}].body = StatusOf(0, 77);
  wire.looks = 0;
  wire.calls_later[{kGetStatus, ""}] = {.code = channel::kCallDeadline};
  const auto server = Recognize(wire);
  EXPECT_EQ(server.restarted, "");
  EXPECT_EQ(server.late, "the second call reached DEADLINE_EXCEEDED");
}

TEST(Tensorflow, IsNotWhoeverAgreesToEverything) {
  FakeWire wire = Grpc();
  wire.calls[{kGetStatus, ""}].body = "";
  wire.calls[{"/grpc.health.v1.Health/Check", ""}].body =
      wire::NumberField(1, 1);
  EXPECT_EQ(Recognize(wire).text, "a gRPC server whose health is SERVING");
}

TEST(Tensorflow, NamesOfDevicesMayBeAnything) {
  for (const char* name : {"", "/", "/job:/task:", "/job:a/task:-1",
                           "/job:a/task:99999999999999", "\x1b[2J"}) {
    FakeWire wire = Grpc();
    wire.calls[{kGetStatus, ""}].body = DeviceOf(name, "CPU", 1);
    const auto server = Recognize(wire);
    EXPECT_EQ(server.protocol, "tf");
    EXPECT_FALSE(server.self) << name;
    EXPECT_EQ(server.devices[0].name.find('\x1b'), std::string::npos);
  }
}

TEST(Tensorflow, NamesTheFirstTypesOfManyDevices) {
  FakeWire wire = Grpc();
  for (int i = 0; i < 60'000; ++i) {
    wire.calls[{kGetStatus, ""}].body +=
        DeviceOf("/", "T" + std::to_string(i), 1);
  }
  EXPECT_EQ(Recognize(wire).text,
            "a TensorFlow worker (of no task; 1 T0, 1 T1, 1 T2, 1 T3, 1 T4, "
            "1 T5, 1 T6, 1 T7 and 59992 others)");
}

TEST(Jax, OldDialectNamesWhoIsMissing) {
  FakeWire wire = Grpc();
  wire.calls[{kOldKey, wire::BytesField(1, "muster/probe")}].code =
      channel::kCallNotFound;
  wire.calls[{kWatchJob, wire::BytesField(1, "jax_worker")}].body =
      TaskIn("jax_worker", 0, 2, true) + TaskIn("jax_worker", 1, 1, false);
  const auto server = Recognize(wire);
  EXPECT_EQ(server.protocol, "jax");
  EXPECT_EQ(server.text,
            "a JAX coordination service (0 of 2 tasks connected, registered: "
            "task 0 of jax_worker, missing: task 1 of jax_worker)");
}

TEST(Jax, NewDialectNamesWhoIsMissing) {
  FakeWire wire = Grpc();
  wire.calls[{kNewKey, wire::BytesField(2, "muster/probe")}].code =
      channel::kCallNotFound;
  wire.calls[{kWatchTasks, ""}].body =
      wire::BytesField(1, wire::NumberField(1, 0) + wire::NumberField(2, 3)) +
      wire::BytesField(1, wire::NumberField(1, 1) + wire::NumberField(2, 2));
  EXPECT_EQ(
      Recognize(wire).text,
      "a JAX coordination service (1 of 2 tasks connected, missing: task 1)");
}

// JAX 0.10.2: it tells its incarnation to who names another one.
TEST(Jax, NewDialectIsAskedWithTheIncarnationThatItTells) {
  FakeWire wire = Grpc();
  wire.calls[{kNewKey, wire::BytesField(2, "muster/probe")}] = {
      .code = 13,
      .message =
          "wrong service incarnation: requested 0, currently "
          "16787977212126264455"};
  wire.calls[{kWatchTasks,
              wire::BytesField(1, wire::FixedField(3, 16787977212126264455U))}]
      .body = wire::BytesField(1, wire::NumberField(2, 3));
  EXPECT_EQ(Recognize(wire).text,
            "a JAX coordination service (1 of 1 task connected)");
  for (const char* message :
       {"", "wrong service incarnation",
        "wrong service incarnation: currently x", "currently 7",
        "wrong service incarnation: currently 99999999999999999999"}) {
    wire.calls[{kNewKey, wire::BytesField(2, "muster/probe")}].message =
        message;
    EXPECT_EQ(Recognize(wire).protocol, "grpc") << message;
  }
}

TEST(Jax, ManyMissingTasksAreCounted) {
  FakeWire wire = Grpc();
  wire.calls[{kNewKey, wire::BytesField(2, "muster/probe")}].code =
      channel::kCallNotFound;
  for (std::uint64_t task = 0; task < 100; ++task) {
    wire.calls[{kWatchTasks, ""}].body +=
        wire::BytesField(1, wire::NumberField(1, task));
  }
  EXPECT_THAT(Recognize(wire).text, HasSubstr("and 92 more"));
}

TEST(TpuMetrics, CountsDevicesWithTheirMemory) {
  FakeWire wire = Grpc();
  const std::string service = "/tpu.monitoring.runtime.RuntimeMetricService/";
  wire.calls[{service + "ListSupportedMetrics", ""}].body =
      wire::BytesField(1, wire::BytesField(1, "tpu.a")) +
      wire::BytesField(1, wire::BytesField(1, "tpu.b"));
  std::string metrics;
  for (const std::uint64_t device : {0U, 1U, 1U, 2U}) {
    metrics += wire::BytesField(
        3,
        wire::BytesField(
            1, wire::BytesField(1, "device-id") +
                   wire::BytesField(2, wire::NumberField(3, device))) +
            wire::BytesField(3, wire::NumberField(2, std::uint64_t{16} << 30)));
  }
  wire.calls[{service + "GetRuntimeMetric",
              wire::BytesField(1, "tpu.runtime.hbm.memory.total.bytes")}]
      .body = wire::BytesField(1, metrics);
  const auto server = Recognize(wire);
  EXPECT_EQ(server.protocol, "tpu-metrics");
  EXPECT_EQ(
      server.text,
      "the metrics server of a TPU runtime (3 devices of 16.0 GiB, 2 metrics)");
  EXPECT_EQ(Accelerators(server.devices), 3);
}

TEST(PlainGrpc, SaysHowItAnswers) {
  FakeWire wire = Grpc();
  EXPECT_EQ(Recognize(wire).text, "a gRPC server of unknown services");
  const std::pair<std::string, std::string> health{
      "/grpc.health.v1.Health/Check", ""};
  wire.calls[health] = {.code = channel::kCallUnauthenticated};
  EXPECT_THAT(Recognize(wire).text, HasSubstr("requires credentials"));
  wire.calls[health] = {.code = channel::kCallDeadline};
  EXPECT_THAT(Recognize(wire).text, HasSubstr("does not respond to calls"));
  wire.calls[health] = {.code = 99};
  EXPECT_THAT(Recognize(wire).text, HasSubstr("status 99"));
  wire.has_grpc = false;
  EXPECT_THAT(Recognize(wire).text, HasSubstr("built without gRPC"));
}

// Nothing that could join a job, start a session or write a key.
TEST(Calls, OnlyRead) {
  FakeWire wire = Grpc();
  wire.calls[{kGetStatus, ""}].body = StatusOf(0, 77);
  (void)Recognize(wire);
  wire.calls.clear();
  (void)Recognize(wire);
  wire.calls[{kNewKey, wire::BytesField(2, "muster/probe")}].code =
      channel::kCallNotFound;
  (void)Recognize(wire);
  const std::set<std::string> reads{
      "GetStatus",  "TryGetKeyValue",       "WatchJobState",
      "WatchTasks", "ListSupportedMetrics", "GetRuntimeMetric",
      "Check"};
  ASSERT_GE(wire.called.size(), 7U);
  for (const std::string& method : wire.called) {
    EXPECT_TRUE(reads.contains(method.substr(method.rfind('/') + 1))) << method;
  }
}

TEST(TcpStore, OldDialectIsAskedFirst) {
  FakeWire wire;
  wire.answers["\x06"].bytes = std::string("\x05\0\0\0\0\0\0\0", 8);
  const auto server = Recognize(wire);
  EXPECT_EQ(server.text, "a torch TCPStore (5 keys)");
  EXPECT_EQ(wire.said.front(), "\x06");
  for (const std::string& said : wire.said) {
    EXPECT_NE(said[0], '\0') << "stops an old store while it is connected";
  }
}

TEST(TcpStore, NewDialectTellsWhoJoined) {
  FakeWire wire;
  const std::string begin("\0\xCE\xF7\x85\x3C", 5);
  const std::string key("\x05\0\0\0\0\0\0\0init/", 13);
  wire.answers["\x06"].closed = true;
  wire.answers[begin + "\x07"].bytes = std::string("\x02\0\0\0\0\0\0\0", 8);
  wire.answers[begin + std::string("\x05\x01\0\0\0\0\0\0\0", 9) + key].bytes =
      std::string("\0", 1);
  wire.answers[begin + "\x03" + key].bytes = std::string(
      "\x02\0\0\0\0\0\0\0"
      "12",
      10);
  EXPECT_EQ(Recognize(wire).text, "a torch TCPStore (2 keys, 12 joined)");
}

TEST(TcpStore, IsNotAnythingOfEightBytes) {
  FakeWire wire;
  wire.otherwise.bytes = "12345678";
  EXPECT_EQ(Recognize(wire).protocol, "unknown");
}

TEST(Texts, AreKnownByTheirFirstBytes) {
  FakeWire wire;
  wire.greeting.bytes = "SSH-2.0-OpenSSH_9.2\r\n";
  EXPECT_EQ(Recognize(wire).protocol, "ssh");
  EXPECT_TRUE(wire.said.empty());
  wire.greeting.bytes = "220 mail ready\r\n";
  EXPECT_EQ(Recognize(wire).text, "something (`220 mail ready`)");
  wire.greeting.bytes.clear();
  wire.answers["GET / HTTP/1.0\r\n\r\n"].bytes = "HTTP/1.0 200 OK\r\n\r\n";
  EXPECT_EQ(Recognize(wire).protocol, "http");
}

TEST(Texts, TlsIsKnownByItsHelloOrAlert) {
  for (const char* record : {"\x16\x03\x03\x01\x01", "\x15\x03\x03\x01\x01"}) {
    FakeWire wire;
    wire.otherwise.closed = true;
    for (const char* polite : {"", "HTTP/1.0 400 this is an HTTPS server"}) {
      wire.answers["GET / HTTP/1.0\r\n\r\n"].bytes = polite;
      wire.said.clear();
      (void)Recognize(wire);
      wire.answers[wire.said.back()].bytes = record;
      EXPECT_EQ(Recognize(wire).protocol, "tls") << polite;
      wire.answers.erase(wire.said.back());
    }
  }
}

TEST(Expected, IsAskedFirst) {
  FakeWire wire;
  wire.answers["GET / HTTP/1.0\r\n\r\n"].bytes = "HTTP/1.0 200 OK\r\n\r\n";
  EXPECT_EQ(Recognize(wire, "http").protocol, "http");
  EXPECT_EQ(wire.said.size(), 1U);
}

TEST(Unidentified, IsSilentOrCloses) {
  FakeWire wire;
  EXPECT_EQ(Recognize(wire).protocol, "silent");
  wire.otherwise.closed = true;
  EXPECT_EQ(Recognize(wire).protocol, "closed");
}

}  // namespace
}  // namespace muster::identify
