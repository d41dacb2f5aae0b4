// SPDX-License-Identifier: Apache-2.0
#include "channel/security/certificate.h"

#include <gtest/gtest.h>

namespace muster::channel {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

const WallTime kIssued{std::chrono::seconds(1'800'000'000)};
const Subject kMember{.run = "R-1", .role = Role::kMember, .rank = 3};

Authority Make(std::string_view token = "0123456789abcdef") {
  return *Authority::Of(*RunKey::FromToken(token), "muster test");
}

TEST(Subject, IsOneUriAndBack) {
  for (const Subject& subject :
       {kMember, Subject{.run = "", .role = Role::kMember, .rank = 0},
        Subject{.run = "", .role = Role::kCoordinator},
        Subject{.run = "r", .role = Role::kOperator}}) {
    EXPECT_EQ(SubjectFromUri(ToUri(subject)), subject) << ToUri(subject);
  }
  EXPECT_EQ(ToUri(kMember), "spiffe://muster.local/run/R-1/member/3");
  EXPECT_EQ(Who(kMember), "rank 3");
}

TEST(Subject, IsNoOtherUri) {
  for (const char* uri :
       {"", "spiffe://muster.local", "spiffe://muster.local/",
        "spiffe://muster.local/token", "spiffe://muster.local/token/member",
        "spiffe://muster.local/token/member/-1",
        "spiffe://muster.local/token/member/03",
        "spiffe://muster.local/token/member/1/2",
        "spiffe://muster.local/token/member/4294967296",
        "spiffe://muster.local/run/member/1",
        "spiffe://muster.local/run//member/1",
        "spiffe://muster.local/run/a b/member/1",
        "spiffe://muster.local/token/coordinator/",
        "spiffe://other.local/token/coordinator",
        "https://muster.local/token/coordinator"}) {
    EXPECT_EQ(SubjectFromUri(uri), std::nullopt) << uri;
  }
}

TEST(Certificate, HoldsWhatItWasIssuedWith) {
  const Span good = From(kIssued, hours(24));
  const auto own = Make().Issue(kMember, good);
  ASSERT_TRUE(own) << own.error().ToString();
  const auto read = ReadCertificate(own->certificate);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->subject, kMember);
  EXPECT_EQ(read->good.from, kIssued - minutes(5));
  EXPECT_EQ(read->good.until, kIssued + hours(24));
  EXPECT_EQ(read->issuer, "muster test");
  EXPECT_EQ(read->fingerprint.size(), 64U);
  EXPECT_FALSE(read->authority);
}

TEST(Certificate, IsOfTheAuthorityThatHasTheSameKey) {
  const auto own = Make().Issue(kMember, From(kIssued, hours(1)));
  EXPECT_TRUE(Make().Signed(own->certificate));
  EXPECT_FALSE(Make("another token 16").Signed(own->certificate));
}

TEST(Certificate, IsAnotherOneEachTime) {
  const auto one = Make().Issue(kMember, From(kIssued, hours(1)));
  const auto other = Make().Issue(kMember, From(kIssued, hours(1)));
  EXPECT_NE(ReadCertificate(one->certificate)->fingerprint,
            ReadCertificate(other->certificate)->fingerprint);
}

TEST(Certificate, IsIssuedForTheKeyOfARequest) {
  const auto asked = MakeRequest();
  ASSERT_TRUE(asked);
  const auto issued =
      Make().IssueFor(asked->request, kMember, From(kIssued, hours(1)));
  ASSERT_TRUE(issued) << issued.error().ToString();
  EXPECT_TRUE(Make().Signed(*issued));
}

TEST(Certificate, IsIssuedForNothingElse) {
  auto asked = MakeRequest()->request;
  asked[asked.size() / 2] = asked[asked.size() / 2] == 'A' ? 'B' : 'A';
  const auto own = Make().Issue(kMember, From(kIssued, hours(1)));
  for (const std::string& request :
       {std::string(), std::string("garbage"), std::string(1 << 20, 'A'),
        own->certificate, asked}) {
    const auto issued =
        Make().IssueFor(request, kMember, From(kIssued, hours(1)));
    ASSERT_FALSE(issued);
    EXPECT_EQ(issued.error().cause(), Cause::kNetWrongEndpoint);
  }
}

TEST(Certificate, ThatWasChangedIsNotSigned) {
  const auto own = Make().Issue(kMember, From(kIssued, hours(1)));
  std::size_t readable = 0;
  for (std::size_t at = 30; at + 30 < own->certificate.size(); at += 7) {
    std::string other = own->certificate;
    other[at] = other[at] == 'A' ? 'B' : 'A';
    readable += ReadCertificate(other) ? 1U : 0U;
    EXPECT_FALSE(Make().Signed(other)) << at;
  }
  EXPECT_GT(readable, 0U);  // else nothing was tried but the parser
}

TEST(Certificate, IsNotReadFromOtherBytes) {
  for (const std::string& bytes :
       {std::string(), std::string("-----BEGIN CERTIFICATE-----"),
        std::string(1 << 20, 'x'), std::string(100, '\0')}) {
    EXPECT_FALSE(ReadCertificate(bytes));
    EXPECT_FALSE(Make().Signed(bytes));
  }
}

}  // namespace
}  // namespace muster::channel
