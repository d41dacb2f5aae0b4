// SPDX-License-Identifier: Apache-2.0
#include "remote/tpu_workers.h"

#include <gmock/gmock.h>

#include "cloud/tpu/tpu_server.h"
#include "remote/testing.h"
#include "sys/fake/fake_clock.h"
#include "sys/fake/fake_fs.h"
#include "sys/fake/fake_http.h"

namespace muster::remote {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class TpuWorkersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    env.variables = {{"CLOUDSDK_AUTH_ACCESS_TOKEN", "t"},
                     {"NO_GCE_CHECK", "true"},
                     {"HOME", "/h"},
                     {"USER", "ann"}};
    request.cloud.tpu = {{"t"}};
    request.cloud.project = "p";
    request.cloud.zone = "z";
    Answers(TpuJson("READY"));
  }
  void Answers(const Json& node) {
    http.answers[cloud::TpuUrl(env, "p", "z") + "/nodes/t"].response = {
        .status = 200, .headers = {}, .body = node.dump()};
  }
  static Json WithOsLogin() {
    Json node = TpuJson("READY");
    node["metadata"] = {{"enable-oslogin", "TRUE"}};
    return node;
  }
  // Of a failed one.
  template <typename T>
  static Cause WhyNot(const Result<T>& result) {
    EXPECT_FALSE(result);
    return result ? Cause::kInternalError : result.error().cause();
  }
  Result<ReachedTpu> Reached() const { return ReachTpu(request, flags, host); }

  sys::FakeEnv env;
  sys::FakeClock clock;
  sys::FakeFs fs;
  sys::FakeHttp http;
  const sys::Host host{.env = env, .clock = clock, .fs = fs, .http = &http};
  resolve::Request request;
  settings::ReachFlags flags;
};

TEST_F(TpuWorkersTest, OneThatIsReadyHasItsWorkersAsHosts) {
  const auto tpu = Reached();
  ASSERT_TRUE(tpu) << tpu.error().ToString();
  ASSERT_THAT(tpu->workers, SizeIs(2));
  EXPECT_EQ(tpu->workers[1].index, 1);
  EXPECT_EQ(tpu->workers[1].internal, "10.0.0.3");
  EXPECT_EQ(tpu->workers[1].label, "worker 1");
  EXPECT_EQ(tpu->workers[1].login.host, "10.0.0.3");
  EXPECT_EQ(tpu->workers[1].login.host_key_name, "tpu.17-1");
  EXPECT_EQ(PartOfSlice(*tpu), std::nullopt);
}

TEST_F(TpuWorkersTest, OneThatWasPreemptedIsFoundAndNotReached) {
  Answers(TpuJson("PREEMPTED"));
  EXPECT_EQ(FindTpu(request, host)->state, "PREEMPTED");
  EXPECT_EQ(WhyNot(Reached()), Cause::kPreempted);
}

TEST_F(TpuWorkersTest, OneThatIsOnItsWayIsNotReached) {
  Answers(TpuJson("CREATING"));
  EXPECT_EQ(WhyNot(Reached()), Cause::kTpuUnhealthy);
}

TEST_F(TpuWorkersTest, OneThatIsNotThereIsNotFound) {
  request.cloud.tpu = {{"other"}};
  EXPECT_EQ(WhyNot(FindTpu(request, host)), Cause::kTpuNotFound);
}

TEST_F(TpuWorkersTest, AddressesAreNoNameForSsh) {
  request.cloud.tpu = {{"grpc://10.0.0.2:8470"}};
  EXPECT_EQ(WhyNot(FindTpu(request, host)), Cause::kUsageInvalid);
  EXPECT_THAT(http.requests, SizeIs(0));
}

TEST_F(TpuWorkersTest, OneWorkerOfItIsPartOfASlice) {
  flags.worker = "1";
  const auto tpu = Reached();
  ASSERT_TRUE(tpu) << tpu.error().ToString();
  ASSERT_THAT(tpu->workers, SizeIs(1));
  EXPECT_EQ(tpu->workers[0].login.host_key_name, "tpu.17-1");
  const auto partial = PartOfSlice(*tpu);
  ASSERT_TRUE(partial);
  EXPECT_EQ(partial->cause, Cause::kPartialSliceLaunch);
  EXPECT_EQ(partial->severity, Severity::kWarning);
}

TEST_F(TpuWorkersTest, AWorkerThatItDoesNotHaveIsNoUse) {
  flags.worker = "2";
  EXPECT_EQ(WhyNot(Reached()), Cause::kUsageInvalid);
}

TEST_F(TpuWorkersTest, AnAddressOfNoKindIsNoUse) {
  flags.address = "public";
  EXPECT_EQ(WhyNot(Reached()), Cause::kUsageInvalid);
}

TEST_F(TpuWorkersTest, AnExternalAddressIsTakenWhereThereIsOne) {
  Json node = TpuJson("READY");
  for (Json& endpoint : node["networkEndpoints"]) {
    endpoint["accessConfig"] = {{"externalIp", "198.51.100.9"}};
  }
  Answers(node);
  const auto tpu = Reached();
  ASSERT_TRUE(tpu) << tpu.error().ToString();
  EXPECT_EQ(tpu->workers[0].login.host, "198.51.100.9");
  EXPECT_EQ(tpu->workers[0].internal, "10.0.0.2");
  EXPECT_THAT(tpu->how, HasSubstr("external"));
}

TEST_F(TpuWorkersTest, SaysWhoseUserAndWhichKey) {
  fs.files["/h/.ssh/google_compute_engine"] = "k";
  auto tpu = Reached();
  EXPECT_EQ(tpu->workers[0].login.user, "ann");
  EXPECT_EQ(tpu->workers[0].login.key_file, "/h/.ssh/google_compute_engine");
  EXPECT_THAT(tpu->how, AllOf(HasSubstr("ann, env USER"),
                              HasSubstr("/h/.ssh/google_compute_engine")));
  flags.user = "bob";
  tpu = Reached();
  EXPECT_EQ(tpu->workers[0].login.user, "bob");
  EXPECT_THAT(tpu->how, HasSubstr("bob, flag --user"));
}

TEST_F(TpuWorkersTest, OsLoginNeedsAnAccountOrAUser) {
  Answers(WithOsLogin());
  EXPECT_EQ(WhyNot(Reached()), Cause::kUsageInvalid);  // a token has no name
  flags.user = "bob";
  EXPECT_TRUE(Reached());
}

TEST_F(TpuWorkersTest, OsLoginHasTheUserOfTheAccount) {
  const auto tpu = Reach(Tpu(WithOsLogin()), flags, "me@example.com", host);
  ASSERT_TRUE(tpu) << tpu.error().ToString();
  EXPECT_EQ(tpu->workers[0].login.user, "me_example_com");
}

TEST_F(TpuWorkersTest, NamesOneWhereNothingElseSaysTheCluster) {
  EXPECT_TRUE(NamesTpu(request, host));
  resolve::Request other = request;
  other.hosts = "a,b";
  EXPECT_FALSE(NamesTpu(other, host));
  other = request;
  other.processes = 2;  // on each worker
  EXPECT_TRUE(NamesTpu(other, host));
  other = request;
  other.cloud.tpu = {{"10.0.0.2:8470"}};
  EXPECT_FALSE(NamesTpu(other, host));
  EXPECT_FALSE(NamesTpu(resolve::Request(), host));
}

// Answers in turn; the last one for ever.
std::function<Result<cloud::TpuNode>()> InTurn(
    std::vector<Result<cloud::TpuNode>> answers) {
  return [answers = std::move(answers), at = std::size_t{0}]() mutable {
    return answers[std::min(at++, answers.size() - 1)];
  };
}

TEST(WhyTpuGone, IsThatItWasPreempted) {
  const auto why = WhyTpuGone(InTurn({Tpu(TpuJson("PREEMPTED"))}));
  ASSERT_TRUE(why);
  EXPECT_EQ(why->cause, Cause::kPreempted);
}

TEST(WhyTpuGone, IsAskedAgainWhileTheApiDoesNotKnowYet) {
  const auto why =
      WhyTpuGone(InTurn({Tpu(TpuJson("READY")), Tpu(TpuJson("TERMINATED"))}));
  ASSERT_TRUE(why);
  EXPECT_EQ(why->cause, Cause::kPreempted);
}

TEST(WhyTpuGone, IsThatNothingHasItsNameAnyMore) {
  const auto why = WhyTpuGone(InTurn({Error(Cause::kTpuNotFound, "no")}));
  ASSERT_TRUE(why);
  EXPECT_EQ(why->cause, Cause::kTpuNotFound);
}

TEST(WhyTpuGone, IsNotGuessedWhereTheApiDoesNotAnswer) {
  EXPECT_EQ(WhyTpuGone(InTurn({Error(Cause::kNetTimeoutFiltered, "no")})),
            std::nullopt);
}

}  // namespace
}  // namespace muster::remote
