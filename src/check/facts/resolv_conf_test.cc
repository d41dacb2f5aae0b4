// SPDX-License-Identifier: Apache-2.0
#include "check/facts/resolv_conf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/testing.h"

namespace muster::check {
namespace {

using ::testing::HasSubstr;

TEST(ReadResolver, ReadsServersSearchAndOptions) {
  sys::FakeFs fs;
  fs.files["/etc/resolv.conf"] =
      "# made by hand\nnameserver\t10.0.0.53\nsearch a.internal b.internal\n"
      "options ndots:5\nnameserver 10.0.0.54\n";
  const auto resolver = ReadResolver(fs);
  ASSERT_TRUE(resolver);
  EXPECT_EQ(ServersText(*resolver),
            "nameserver 10.0.0.53, nameserver 10.0.0.54, search a.internal "
            "b.internal, options ndots:5");
  EXPECT_EQ(ServersText(Resolver()), "names no server");
}

class NamesTest : public testing::Test {
 protected:
  NamesTest() { host_.SetCluster({{"w-0", 8476}, {"w-1", 8476}}); }
  FakeHost host_;
};

TEST_F(NamesTest, ThatAreGoodAreNoFinding) {
  const Outcome outcome = host_.Run("network.resolver");
  EXPECT_EQ(Summary(outcome), "pass");
  EXPECT_THAT(outcome.detail, HasSubstr("search a.internal"));
}

TEST_F(NamesTest, ThatAnybodyAnswersForAreAWarning) {
  host_.names.addresses["muster-asks-for-nobody"] = {"203.0.113.9"};
  const Outcome outcome = host_.Run("network.resolver");
  EXPECT_EQ(Summary(outcome), "warn net-name-resolution");
  EXPECT_THAT(outcome.detail, HasSubstr("203.0.113.9"));
}

TEST_F(NamesTest, OfServersThatNobodyAsksAreANote) {
  host_.fs.files["/etc/resolv.conf"] =
      "nameserver 1.0.0.1\nnameserver 1.0.0.2\nnameserver 1.0.0.3\n"
      "nameserver 1.0.0.4\n";
  EXPECT_EQ(Summary(host_.Run("network.resolver")), "pass net-name-resolution");
}

TEST(Literals, OfOneLinkAreAnError) {
  FakeHost host;
  host.SetCluster({{"fe80::1", 8476}, {"fe80::2", 8476}});
  const Outcome outcome = host.Run("network.resolver");
  EXPECT_EQ(Summary(outcome), "fail net-wrong-interface");
  EXPECT_EQ(outcome.findings[0].subjects,
            (std::vector<std::string>{"fe80::1", "fe80::2"}));
}

TEST(Literals, OfTwoFamiliesAreAWarning) {
  FakeHost host;
  host.SetCluster({{"10.0.0.1", 8476}, {"2001:db8::2", 8476}});
  EXPECT_EQ(Summary(host.Run("network.resolver")), "warn net-wrong-interface");
}

TEST(Literals, OfOneFamilyAskNobody) {
  FakeHost host;
  host.names.addresses["muster-asks-for-nobody"] = {"203.0.113.9"};
  EXPECT_EQ(Summary(host.Run("network.resolver")), "pass");
  host.SetCluster({{"2001:db8::1", 8476}, {"2001:db8::2", 8476}});
  EXPECT_EQ(Summary(host.Run("network.resolver")), "pass");
}

}  // namespace
}  // namespace muster::check
