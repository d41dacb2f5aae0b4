// SPDX-License-Identifier: Apache-2.0
// Every call of the service × every reason to refuse it, over real connections.
#include "channel/grpc/security.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <future>

#include "channel/grpc/muster.v1.grpc.pb.h"
#include "channel/grpc/transport.h"
#include "channel/inbox.h"
#include "channel/testing.h"
#include "sys/fake/fake_clock.h"
#include "sys/file/fd.h"
#include "sys/net/net.h"
#include "sys/process/process.h"

namespace muster::channel {
namespace {

using channel::testing::HelloOf;
using channel::testing::Workers;
using std::chrono::hours;
using std::chrono::seconds;
using ::testing::HasSubstr;

RunKey Token(std::string_view text = "0123456789abcdef") {
  return *RunKey::FromToken(text);
}

// All calls that a listener answers: those of our proto file, and of the
// service that gRPC adds to it.
std::vector<std::string> Methods() {
  std::vector<std::string> methods{"/grpc.health.v1.Health/Check",
                                   "/grpc.health.v1.Health/Watch"};
  google::protobuf::FileDescriptorSet files;
  std::ifstream proto(MUSTER_PROTO, std::ios::binary);
  EXPECT_TRUE(files.ParseFromIstream(&proto));
  for (const auto& file : files.file()) {
    for (const auto& service : file.service()) {
      for (const auto& method : service.method()) {
        methods.push_back("/" + file.package() + "." + service.name() + "/" +
                          method.name());
      }
    }
  }
  return methods;
}

TEST(RpcAuthorizationTable, HasEveryCallOfTheServiceAndNoOther) {
  const auto methods = Methods();
  EXPECT_EQ(methods.size(), RpcAuthorizationTable().size());
  for (const std::string& method : methods) {
    EXPECT_NE(RuleOf(method), nullptr)
        << method << " has no row in connect/admission.cc";
  }
}

// A caller that says and shows whatever it is told to.
struct Caller {
  std::optional<Credential> shows;
  std::map<std::string, std::string> says;
  std::string sends;
  // A call that is let through may last so long.
  Duration limit = seconds(60);

  grpc::Status Call(const Address& address, const std::string& method) const {
    namespace tls = grpc::experimental;
    tls::TlsChannelCredentialsOptions options;
    if (shows) {
      options.set_certificate_provider(
          std::make_shared<tls::StaticDataCertificateProvider>(
              std::vector<tls::IdentityKeyCertPair>{
                  {shows->key, shows->certificate}}));
      options.watch_identity_key_cert_pairs();
    }
    options.set_verify_server_certs(false);
    options.set_check_call_host(false);
    options.set_certificate_verifier(
        std::make_shared<tls::NoOpCertificateVerifier>());
    grpc::ChannelArguments own;
    own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    grpc::GenericStub stub(grpc::CreateCustomChannel(
        muster::ToString(address), tls::TlsCredentials(options), own));
    grpc::ClientContext context;
    context.set_deadline(
        std::chrono::system_clock::now() +
        std::chrono::duration_cast<std::chrono::microseconds>(limit));
    for (const auto& [name, value] : says) {
      context.AddMetadata(name, value);
    }
    const grpc::Slice message(sends);
    const grpc::ByteBuffer request(&message, 1);
    grpc::ByteBuffer answer;
    std::promise<grpc::Status> done;
    stub.UnaryCall(&context, method, grpc::StubOptions(), &request, &answer,
                   [&](const grpc::Status& status) { done.set_value(status); });
    return done.get_future().get();
  }

  // "" when it was let through, whatever came then.
  std::string Refusal(const Address& address, const std::string& method) const {
    const auto refusal = RefusalIn(Call(address, method));
    return refusal ? refusal->ToString() : "";
  }
};

class Secured : public ::testing::Test {
 protected:
  Secured()
      : loop(std::move(*sys::Loop::Make())),
        coordinator(*CertificateStore::OfCoordinator(Token(), "R", wall)),
        member(*CertificateStore::OfMember(Token(), 1, wall)) {
    coordinator->BeginEpoch(3);
  }

  Address Listen(const std::shared_ptr<CertificateStore>& certificates) {
    transports.push_back(*MakeGrpcTransport(*loop, clock, certificates));
    listeners.push_back(
        *transports.back()->Listen({"127.0.0.1", 0}, HelloOf(Workers(3), 0),
                                   [this](std::unique_ptr<Link> link) {
                                     links.push_back(std::move(link));
                                   }));
    return listeners.back()->address();
  }

  // The certificate that a call of rank 1 needs; one of the run is its slot's.
  Credential Needed(const std::string& method) {
    auto proof = *member->ForCalling();
    if (RuleOf(method)->proof == Proof::kToken) {
      return proof;
    }
    const auto request = *MakeRequest();
    const auto admitted =
        coordinator->Admit(proof.certificate, request.request);
    return {request.key, admitted->certificate};
  }
  Caller Good(const std::string& method) {
    return {.shows = Needed(method),
            .says = {{"muster-run", "R"}, {"muster-epoch", "3"}}};
  }

  std::unique_ptr<sys::Loop> loop;
  sys::RealClock clock;
  sys::FakeClock wall;
  std::shared_ptr<CertificateStore> coordinator;
  std::shared_ptr<CertificateStore> member;
  std::vector<std::unique_ptr<Transport>> transports;
  std::vector<std::unique_ptr<Listener>> listeners;
  std::vector<std::unique_ptr<Link>> links;
};

class EveryCall : public Secured,
                  public ::testing::WithParamInterface<std::string> {
 protected:
  EveryCall() : address(Listen(coordinator)), caller(Good(GetParam())) {}
  std::string Refusal() { return caller.Refusal(address, GetParam()); }

  Address address;
  Caller caller;
};

TEST_P(EveryCall, IsLetThroughWhenAllIsRight) {
  caller.limit = seconds(1);
  EXPECT_EQ(Refusal(), "");
}

TEST_P(EveryCall, IsRefusedWithoutACertificate) {
  caller.shows.reset();
  EXPECT_THAT(Refusal(), HasSubstr("ver-peer-mismatch"));
  EXPECT_THAT(Refusal(), HasSubstr("no certificate"));
}

TEST_P(EveryCall, IsRefusedWithACertificateOfAnotherAuthority) {
  caller.shows =
      *(*CertificateStore::OfMember(Token("another token 16"), 1, wall))
           ->ForCalling();
  EXPECT_THAT(Refusal(), HasSubstr("ver-peer-mismatch"));
  EXPECT_THAT(Refusal(), HasSubstr("another authority"));
}

TEST_P(EveryCall, IsRefusedWithAnExpiredCertificate) {
  wall.Advance(hours(25));
  EXPECT_THAT(Refusal(), HasSubstr("clock-skew"));
  EXPECT_THAT(Refusal(), HasSubstr("expired"));
}

TEST_P(EveryCall, IsRefusedWithACertificateThatIsNotValidYet) {
  wall.Advance(-hours(1));
  EXPECT_THAT(Refusal(), HasSubstr("clock-skew"));
  EXPECT_THAT(Refusal(), HasSubstr("not valid yet"));
}

TEST_P(EveryCall, IsRefusedForAnotherRun) {
  caller.says["muster-run"] = "Q";
  EXPECT_THAT(Refusal(), HasSubstr("rank-world-mismatch"));
}

TEST_P(EveryCall, IsRefusedToARoleThatIsNotMeant) {
  if (RuleOf(GetParam())->at_coordinator == Callers::kMembers) {
    caller.shows = *coordinator->ForCalling();
    EXPECT_THAT(Refusal(), HasSubstr("usage-invalid"));
  } else if (RuleOf(GetParam())->at_member == Callers::kCoordinator) {
    // A worker asks where the coordinator's or an operator's name is needed.
    address = Listen(*CertificateStore::OfMember(Token(), 2, wall));
    EXPECT_THAT(Refusal(),
                HasSubstr("usage-invalid: the remote agent rejected "
                          "the call: rank 1 may not make this call"));
  } else {
    caller.shows = *coordinator->ForCalling();
    caller.limit = seconds(1);
    EXPECT_EQ(Refusal(), "") << "any holder of the token may ask for health";
  }
}

TEST_P(EveryCall, IsRefusedForAStaleEpoch) {
  caller.says["muster-epoch"] = "2";
  EXPECT_THAT(Refusal(), HasSubstr("heartbeat-missed"));
}

TEST_P(EveryCall, IsRefusedForAnEpochThatIsNone) {
  for (const char* epoch : {"-1", "x", "99999999999999999999"}) {
    caller.says["muster-epoch"] = epoch;
    EXPECT_THAT(Refusal(), HasSubstr("is not a valid epoch")) << epoch;
  }
}

TEST_P(EveryCall, IsRefusedWithAReplayedProof) {
  // What proves the token joins; what proves the run loses its slot.
  const auto request = *MakeRequest();
  const bool token = RuleOf(GetParam())->proof == Proof::kToken;
  const auto joins =
      token ? caller.shows->certificate : member->ForCalling()->certificate;
  ASSERT_TRUE(coordinator->Admit(joins, request.request));
  EXPECT_THAT(Refusal(), HasSubstr("duplicate-identity"));
}

INSTANTIATE_TEST_SUITE_P(Every, EveryCall, ::testing::ValuesIn(Methods()),
                         [](const auto& test) {
                           const std::string& method = test.param;
                           return method.substr(method.rfind('/') + 1);
                         });

TEST_F(Secured, RefusesACallThatIsInNoRow) {
  const auto address = Listen(coordinator);
  for (const char* method : {"/muster.v1.Agent/Launch", "/x", "/a.B/C"}) {
    EXPECT_THAT(Good("/muster.v1.Agent/Identify").Refusal(address, method),
                HasSubstr("no rule covers it"))
        << method;
  }
}

TEST_F(Secured, RefusesAMessageThatIsTooLarge) {
  const auto address = Listen(coordinator);
  const std::string method = "/muster.v1.Agent/Join";
  Caller caller = Good(method);
  caller.sends = std::string(kMaxMessage + (1U << 20), 'x');
  EXPECT_EQ(caller.Call(address, method).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  // The listener goes on.
  EXPECT_EQ(Good("/muster.v1.Agent/Identify")
                .Refusal(address, "/muster.v1.Agent/Identify"),
            "");
}

TEST_F(Secured, TellsThatItIsHealthy) {
  const auto address = Listen(coordinator);
  const auto status = Good("/grpc.health.v1.Health/Check")
                          .Call(address, "/grpc.health.v1.Health/Check");
  EXPECT_TRUE(status.ok()) << status.error_message();
}

// A member that looks, joins and attends among others who do not behave.
class AmongStrangers : public Secured {
 protected:
  AmongStrangers()
      : address(Listen(*CertificateStore::OfCoordinator(Token(), "R", clock))),
        guest(*MakeGrpcTransport(
            *loop, clock, *CertificateStore::OfMember(Token(), 1, clock))) {}

  // The error of a dial, or "".
  std::string Dial(Transport& who) {
    std::optional<std::string> said;
    who.Dial(address, Deadline::After(seconds(60)),
             [&](Result<std::unique_ptr<Link>> link) {
               said = link ? "" : link.error().ToString();
               if (link) {
                 links.push_back(*std::move(link));
               }
             });
    EXPECT_TRUE(channel::testing::RunUntil(
        *loop, [&] { return said.has_value(); }, seconds(90)));
    return said.value_or("never");
  }

  // The error of a look that sees a stranger.
  std::string LookAt(Transport& who, const Address& there) {
    std::optional<ProbeResult> seen;
    who.Identify(there, Deadline::After(seconds(20)),
                 [&](ProbeResult sighting) { seen = std::move(sighting); });
    EXPECT_TRUE(channel::testing::RunUntil(
        *loop, [&] { return seen.has_value(); }, seconds(30)));
    if (!seen || seen->what != ProbeOutcome::kStranger) {
      return "no stranger";
    }
    EXPECT_EQ(seen->error->cause(), Cause::kVerPeerMismatch);
    return seen->error->message();
  }

  Address address;
  std::unique_ptr<Transport> guest;
};

TEST_F(AmongStrangers, LinksProveTheirRank) {
  ASSERT_EQ(Dial(*guest), "");
  ASSERT_TRUE(
      channel::testing::RunUntil(*loop, [&] { return links.size() == 2; }));
  EXPECT_TRUE(links[0]->proven_rank() == 1 || links[1]->proven_rank() == 1);
}

TEST_F(AmongStrangers, ATakenSlotIsNotGivenAway) {
  ASSERT_EQ(Dial(*guest), "");
  const auto twin = *MakeGrpcTransport(
      *loop, clock, *CertificateStore::OfMember(Token(), 1, clock));
  EXPECT_THAT(Dial(*twin), HasSubstr("is taken"));
}

TEST_F(AmongStrangers, ALookNamesTheOtherToken) {
  const auto stranger = *MakeGrpcTransport(
      *loop, clock,
      *CertificateStore::OfMember(Token("another token 16"), 1, clock));
  EXPECT_THAT(LookAt(*stranger, address),
              HasSubstr("does not have this member's token"));
}

TEST_F(AmongStrangers, ALookNamesATokenThatOneSideAloneHas) {
  const auto without = *MakeGrpcTransport(*loop, clock);
  EXPECT_THAT(LookAt(*without, address), HasSubstr("this one has none"));
  const auto listener =
      *without->Listen({"127.0.0.1", 0}, HelloOf(Workers(2), 1), nullptr);
  EXPECT_THAT(LookAt(*guest, listener->address()), HasSubstr("has no token"));
}

TEST_F(AmongStrangers, SurvivesGarbageAndHalfAHandshake) {
  std::vector<sys::Fd> open;
  for (const std::string& bytes :
       {std::string(), std::string("GET / HTTP/1.1\r\n\r\n"),
        std::string(100'000, '\0'), std::string("\x16\x03\x01\x02\x00\x01", 6),
        std::string("\x16\x03\x01\x40\x00", 5) + std::string(100, '\xff')}) {
    auto fd = sys::Dial(address, Deadline::After(seconds(10)));
    ASSERT_TRUE(fd);
    (void)sys::SendAll(fd->get(), bytes, {}, Deadline::After(seconds(1)))
        .has_value();
    open.push_back(*std::move(fd));
  }
  EXPECT_EQ(Dial(*guest), "");
}

TEST_F(AmongStrangers, SurvivesAThousandConnectionsOfOnePeer) {
  constexpr std::size_t kMany = 1000;
  if (sys::RaiseFileLimit(4 * kMany) < 3 * kMany) {
    GTEST_SKIP() << "the hard limit of open files is below " << 3 * kMany;
  }
  std::vector<sys::Fd> open;
  for (std::size_t i = 0; i < kMany; ++i) {
    auto fd = sys::Dial(address, Deadline::After(seconds(10)));
    ASSERT_TRUE(fd) << i << ": " << fd.error().ToString();
    if (i % 2 == 0) {
      (void)sys::SendAll(fd->get(), std::string("\x16\x03\x01\x02\x00\x01", 6),
                         {}, Deadline::After(seconds(1)))
          .has_value();
    }
    open.push_back(*std::move(fd));
  }
  EXPECT_EQ(Dial(*guest), "");
}

}  // namespace
}  // namespace muster::channel
