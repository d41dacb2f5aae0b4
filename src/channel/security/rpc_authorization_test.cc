// SPDX-License-Identifier: Apache-2.0
#include "channel/security/rpc_authorization.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace muster::channel {
namespace {

using std::chrono::hours;
using ::testing::HasSubstr;

const WallTime kNow{std::chrono::seconds(1'800'000'000)};

// A call that may be made at the coordinator.
Call Good(const Rule& rule) {
  Call call{.method = rule.method, .run = "R", .epoch = 3};
  Certificate certificate;
  certificate.subject = Subject{.run = "", .role = Role::kMember, .rank = 1};
  call.issuer = Issuer::kToken;
  if (rule.proof == Proof::kRun) {
    certificate.subject->run = "R";
    call.issuer = Issuer::kRun;
  }
  certificate.good = From(kNow, hours(1));
  call.certificate = certificate;
  return call;
}

Called Coordinator() {
  return {.role = Role::kCoordinator,
          .rank = 0,
          .run = "R",
          .epoch = 3,
          .now = kNow};
}
Called MemberTwo() {
  return {
      .role = Role::kMember, .rank = 2, .run = "R", .epoch = 3, .now = kNow};
}

struct Fault {
  std::string name;
  std::function<void(Call&, Called&)> make;
  Cause cause;
  std::string says;
};
void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.name;
}

std::vector<Fault> Faults() {
  return {
      {"NoCertificate", [](Call& call, Called&) { call.certificate.reset(); },
       Cause::kVerPeerMismatch, "has no certificate"},
      {"OtherAuthority",
       [](Call& call, Called&) { call.issuer = Issuer::kUnknown; },
       Cause::kVerPeerMismatch, "another authority"},
      {"NoName", [](Call& call, Called&) { call.certificate->subject.reset(); },
       Cause::kVerPeerMismatch, "exactly one"},
      {"Authority",
       [](Call& call, Called&) { call.certificate->authority = true; },
       Cause::kVerPeerMismatch, "exactly one"},
      {"Expired", [](Call&, Called& called) { called.now += hours(2); },
       Cause::kClockSkew, "expired at"},
      {"NotYetValid", [](Call&, Called& called) { called.now -= hours(2); },
       Cause::kClockSkew, "not valid yet"},
      {"WrongRun", [](Call& call, Called&) { call.run = "Q"; },
       Cause::kRankWorldMismatch, "to run `Q`, this is run `R`"},
      {"WrongRunInTheCertificate",
       [](Call& call, Called&) { call.certificate->subject->run = "Q"; },
       Cause::kRankWorldMismatch, "to run `Q`"},
      {"OtherProof",
       [](Call& call, Called&) {
         call.issuer =
             call.issuer == Issuer::kRun ? Issuer::kToken : Issuer::kRun;
       },
       Cause::kUsageInvalid, "made with a certificate"},
      {"StaleEpoch", [](Call& call, Called&) { call.epoch = 2; },
       Cause::kHeartbeatMissed, "in epoch 2"},
      {"ReplayedToken", [](Call& call, Called&) { call.replayed = true; },
       Cause::kDuplicateIdentity, "replayed"},
      {"Superseded", [](Call& call, Called&) { call.superseded = true; },
       Cause::kDuplicateIdentity, "another certificate"}};
}

class Admission : public ::testing::TestWithParam<std::tuple<Rule, Fault>> {};

TEST_P(Admission, RefusesTheFaultAlone) {
  const auto& [rule, fault] = GetParam();
  Call call = Good(rule);
  Called called = Coordinator();
  ASSERT_EQ(WhyRefused(call, called), std::nullopt)
      << WhyRefused(call, called)->ToString();
  fault.make(call, called);
  const auto refused = WhyRefused(call, called);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->cause(), fault.cause) << refused->ToString();
  EXPECT_THAT(refused->message(), HasSubstr(fault.says));
}

std::string NameOf(const ::testing::TestParamInfo<Admission::ParamType>& test) {
  const std::string_view method = std::get<0>(test.param).method;
  return std::string(method.substr(method.rfind('/') + 1)) +
         std::get<1>(test.param).name;
}

INSTANTIATE_TEST_SUITE_P(
    EveryRpc, Admission,
    ::testing::Combine(::testing::ValuesIn(RpcAuthorizationTable().begin(),
                                           RpcAuthorizationTable().end()),
                       ::testing::ValuesIn(Faults())),
    NameOf);

TEST(RpcAuthorizationTable, RefusesWhatIsNotInIt) {
  Call call = Good(RpcAuthorizationTable().front());
  call.method = "/muster.v1.Agent/Launch";
  const auto refused = WhyRefused(call, Coordinator());
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->cause(), Cause::kUsageInvalid);
  EXPECT_THAT(refused->message(), HasSubstr("no rule covers it"));
}

TEST(RpcAuthorizationTable, LetsOnlyTheCoordinatorAskAMemberWhoItIs) {
  const Rule& identify = *RuleOf("/muster.v1.Agent/Identify");
  Call call = Good(identify);
  const auto refused = WhyRefused(call, MemberTwo());
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->cause(), Cause::kUsageInvalid);
  EXPECT_THAT(refused->message(), HasSubstr("rank 1 may not make this call"));
  for (const Role role : {Role::kCoordinator, Role::kOperator}) {
    call.certificate->subject->role = role;
    EXPECT_EQ(WhyRefused(call, MemberTwo()), std::nullopt);
  }
  // Its twin, which has to learn who holds its port.
  call.certificate->subject = Subject{.run = "", .rank = 2};
  EXPECT_EQ(WhyRefused(call, MemberTwo()), std::nullopt);
}

TEST(RpcAuthorizationTable, LetsNobodyButMembersJoinAndAttend) {
  for (const char* method :
       {"/muster.v1.Agent/Join", "/muster.v1.Agent/Attend"}) {
    Call call = Good(*RuleOf(method));
    call.certificate->subject->role = Role::kOperator;
    const auto refused = WhyRefused(call, Coordinator());
    ASSERT_TRUE(refused) << method;
    EXPECT_EQ(refused->cause(), Cause::kUsageInvalid);
  }
}

TEST(RpcAuthorizationTable, WantsRunAndEpochOfWhoAttends) {
  for (const auto& forget : std::vector<std::function<void(Call&)>>{
           [](Call& call) { call.run = ""; },
           [](Call& call) { call.epoch.reset(); }}) {
    Call call = Good(*RuleOf("/muster.v1.Agent/Attend"));
    forget(call);
    const auto refused = WhyRefused(call, Coordinator());
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->cause(), Cause::kRankWorldMismatch);
  }
}

TEST(RpcAuthorizationTable, AsksAMemberThatIsInNoRunYetForNoRun) {
  Call call = Good(*RuleOf("/muster.v1.Agent/Identify"));
  call.certificate->subject->role = Role::kCoordinator;
  Called called = MemberTwo();
  called.run = "";
  called.epoch = 0;
  EXPECT_EQ(WhyRefused(call, called), std::nullopt);
}

}  // namespace
}  // namespace muster::channel
