// SPDX-License-Identifier: Apache-2.0
#include "channel/security/certificate_store.h"
#include "sys/fake/fake_clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::channel {
namespace {

using std::chrono::hours;
using ::testing::HasSubstr;
using Expected = CertificateStore::Expected;

constexpr const char* kJoin = "/muster.v1.Agent/Join";
constexpr const char* kAttend = "/muster.v1.Agent/Attend";

RunKey Token(std::string_view text = "0123456789abcdef") {
  return *RunKey::FromToken(text);
}

class CertificateStoreTest : public ::testing::Test {
 protected:
  CertificateStoreTest()
      : coordinator(*CertificateStore::OfCoordinator(Token(), "R", clock)),
        member(*CertificateStore::OfMember(Token(), 1, clock)) {}

  // What a member does to join, in one process; its errors.
  Status Join(CertificateStore& who) {
    MUSTER_ASSIGN(const Credential proof, who.ForCalling());
    MUSTER_ASSIGN(const Credential listening, coordinator->ForListening());
    if (auto refused =
            coordinator->WhyRefused(kJoin, proof.certificate, "", {})) {
      return *std::move(refused);
    }
    MUSTER_ASSIGN(CertificateRequest own, MakeRequest());
    MUSTER_ASSIGN(const Admitted admitted,
                  coordinator->Admit(proof.certificate, own.request));
    return who.Join(admitted, own.key, listening.certificate);
  }
  // Why the coordinator would not let it attend; "" it would.
  std::string WhyNotAttend(const CertificateStore& who,
                           const Credential& with) {
    const auto place = who.place();
    const auto why = coordinator->WhyRefused(kAttend, with.certificate,
                                             place.run, place.epoch);
    return why ? why->ToString() : "";
  }

  sys::FakeClock clock;
  std::shared_ptr<CertificateStore> coordinator;
  std::shared_ptr<CertificateStore> member;
};

TEST_F(CertificateStoreTest, LetsAHolderOfTheTokenJoinAndAttend) {
  EXPECT_FALSE(member->ForRendezvousClient());
  EXPECT_FALSE(member->run_key());
  ASSERT_TRUE(Join(*member));
  EXPECT_EQ(WhyNotAttend(*member, *member->ForRendezvousClient()), "");
  EXPECT_EQ(member->place().run, "R");
  EXPECT_EQ(member->run_key()->bytes(), coordinator->run_key()->bytes());
}

TEST_F(CertificateStoreTest, RefusesAnotherToken) {
  auto stranger =
      *CertificateStore::OfMember(Token("another token 16"), 1, clock);
  const auto joined = Join(*stranger);
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().cause(), Cause::kVerPeerMismatch);
  const auto answers = stranger->WhoAnswers(
      coordinator->ForListening()->certificate, Expected::kCoordinator);
  ASSERT_FALSE(answers);
  EXPECT_EQ(answers.error().cause(), Cause::kVerPeerMismatch);
  EXPECT_THAT(answers.error().message(), HasSubstr("token"));
}

TEST_F(CertificateStoreTest, RefusesAProofThatHasJoined) {
  const auto proof = member->ForCalling();
  const auto request = MakeRequest();
  ASSERT_TRUE(coordinator->Admit(proof->certificate, request->request));
  const auto refused =
      coordinator->WhyRefused(kJoin, proof->certificate, "", {});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->cause(), Cause::kDuplicateIdentity);
  EXPECT_THAT(refused->message(), HasSubstr("replayed"));
  EXPECT_EQ(
      coordinator->Admit(proof->certificate, request->request).error().cause(),
      Cause::kDuplicateIdentity);
}

TEST_F(CertificateStoreTest, GivesASlotToTheLastWhoJoinsUnlessSomebodyAttends) {
  ASSERT_TRUE(Join(*member));
  const auto first = *member->ForRendezvousClient();
  auto twin = *CertificateStore::OfMember(Token(), 1, clock);
  ASSERT_TRUE(Join(*twin));
  EXPECT_THAT(WhyNotAttend(*member, first), HasSubstr("duplicate-identity"));
  const auto second = *twin->ForRendezvousClient();
  EXPECT_EQ(WhyNotAttend(*twin, second), "");
  EXPECT_EQ(coordinator->Attends(second.certificate, 1), 1);
  const auto taken = Join(*member);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().cause(), Cause::kDuplicateIdentity);
  EXPECT_THAT(taken.error().message(), HasSubstr("is taken"));
  coordinator->Attends(second.certificate, -1);
  EXPECT_TRUE(Join(*member));
}

TEST_F(CertificateStoreTest, RefusesAMemberOfAnEpochThatIsOver) {
  coordinator->BeginEpoch(1);
  ASSERT_TRUE(Join(*member));
  coordinator->BeginEpoch(2);
  EXPECT_THAT(WhyNotAttend(*member, *member->ForRendezvousClient()),
              HasSubstr("heartbeat-missed"));
  ASSERT_TRUE(Join(*member));
  EXPECT_EQ(WhyNotAttend(*member, *member->ForRendezvousClient()), "");
}

TEST_F(CertificateStoreTest, RefusesToAttendWithTheTokenAlone) {
  ASSERT_TRUE(Join(*member));
  EXPECT_THAT(WhyNotAttend(*member, *member->ForCalling()),
              HasSubstr("proves only the token"));
}

TEST_F(CertificateStoreTest, RefusesCertificatesOfAnotherRun) {
  ASSERT_TRUE(Join(*member));
  coordinator = *CertificateStore::OfCoordinator(Token(), "S", clock);
  EXPECT_THAT(WhyNotAttend(*member, *member->ForRendezvousClient()),
              HasSubstr("rank-world-mismatch: the caller belongs to run `R`"));
}

TEST_F(CertificateStoreTest, RefusesClocksThatDifferByMoreThanFiveMinutes) {
  const auto certificate = coordinator->ForListening()->certificate;
  clock.Advance(-std::chrono::minutes(4));
  EXPECT_TRUE(member->WhoAnswers(certificate, Expected::kAnyone));
  clock.Advance(-std::chrono::minutes(2));
  const auto answers = member->WhoAnswers(certificate, Expected::kAnyone);
  ASSERT_FALSE(answers);
  EXPECT_EQ(answers.error().cause(), Cause::kClockSkew);
  EXPECT_THAT(answers.error().message(), HasSubstr("differ by about 6 min"));
}

TEST_F(CertificateStoreTest, RefusesACertificateThatIsOver) {
  ASSERT_TRUE(Join(*member));
  clock.Advance(hours(25));
  EXPECT_THAT(WhyNotAttend(*member, *member->ForRendezvousClient()),
              HasSubstr("clock-skew"));
  EXPECT_TRUE(Join(*member));  // each proof of the token is a new one
}

TEST_F(CertificateStoreTest, TakesNobodyElseForTheCoordinator) {
  auto other = *CertificateStore::OfMember(Token(), 2, clock);
  const auto certificate = other->ForListening()->certificate;
  EXPECT_TRUE(member->WhoAnswers(certificate, Expected::kAnyone));
  const auto answers = member->WhoAnswers(certificate, Expected::kCoordinator);
  ASSERT_FALSE(answers);
  EXPECT_EQ(answers.error().cause(), Cause::kNetWrongEndpoint);
  EXPECT_THAT(answers.error().message(), HasSubstr("rank 2"));
}

TEST_F(CertificateStoreTest, AttendsOnlyWhereItWasAdmitted) {
  ASSERT_TRUE(Join(*member));
  const auto another = coordinator->ForListening()->certificate;
  const auto answers = member->WhoAnswers(another, Expected::kAdmitter);
  ASSERT_FALSE(answers);
  EXPECT_EQ(answers.error().cause(), Cause::kDuplicateIdentity);
}

TEST_F(CertificateStoreTest, RefusesAnAdmissionThatIsNotItsOwn) {
  auto other = *CertificateStore::OfMember(Token(), 2, clock);
  const auto request = MakeRequest();
  const auto admitted =
      coordinator->Admit(other->ForCalling()->certificate, request->request);
  ASSERT_TRUE(admitted);
  const auto joined = member->Join(*admitted, request->key,
                                   coordinator->ForListening()->certificate);
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().cause(), Cause::kNetWrongEndpoint);
}

}  // namespace
}  // namespace muster::channel
