// SPDX-License-Identifier: Apache-2.0
#include "muster/address.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

std::string ErrorOf(std::string_view text) {
  auto address = Address::Parse(text);
  return address ? "" : address.error().ToString();
}

TEST(Address, ReadsNamesAndNumbers) {
  EXPECT_EQ(*Address::Parse("w-3.local:8476"),
            (Address{.host = "w-3.local", .port = 8476}));
  EXPECT_EQ(*Address::Parse(" 10.0.0.7:1 "),
            (Address{.host = "10.0.0.7", .port = 1}));
  EXPECT_EQ(*Address::Parse("[fe80::1%eth0]:65535"),
            (Address{.host = "fe80::1%eth0", .port = 65535}));
}

TEST(Address, TakesTheDefaultPortOnlyWhenNoneIsGiven) {
  EXPECT_EQ(Address::Parse("a", 7)->port, 7);
  EXPECT_EQ(Address::Parse("[::1]", 7)->port, 7);
  EXPECT_EQ(Address::Parse("a:8", 7)->port, 8);
}

TEST(Address, NamesThePositionOfWhatIsWrong) {
  EXPECT_EQ(ErrorOf("a"),
            "cluster-spec-invalid: `a` is not HOST:PORT: the port is missing "
            "at position 2");
  EXPECT_EQ(ErrorOf("a:80x"),
            "cluster-spec-invalid: `a:80x` is not HOST:PORT: the port is not a "
            "number at position 3");
  EXPECT_EQ(ErrorOf("a b:80"),
            "cluster-spec-invalid: `a b:80` is not HOST:PORT: an invalid "
            "character in the host name at position 2");
}

TEST(Address, RefusesWhatIsNoAddress) {
  for (const char* text :
       {"", ":", ":80", "a:", "a:0", "a:65536", "a:-1", "a:+1", "[::1", "[]:1",
        "[a]:1", "[::1]80", "::1:80", "http://a:80", "a:99999999999999999999",
        "a:1:2", "[::1]:", "[:\x1b]:1"}) {
    auto address = Address::Parse(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().cause(), Cause::kClusterSpecInvalid) << text;
  }
}

TEST(Address, SurvivesItsText) {
  for (const char* text : {"a:1", "127.0.0.1:80", "[::1]:65535"}) {
    EXPECT_EQ(ToString(*Address::Parse(text)), text);
  }
}

TEST(Address, TellsNumbersFromNames) {
  for (const char* host : {"10.0.0.1", "::1", "fe80::1%eth0", ""}) {
    EXPECT_TRUE((Address{.host = host}).IsNumeric()) << host;
  }
  for (const char* host : {"localhost", "10.0.0.1.example.com", "a", "127.1"}) {
    EXPECT_FALSE((Address{.host = host}).IsNumeric()) << host;
  }
}

TEST(Address, KnowsLoopbackByItsNumber) {
  for (const char* host : {"localhost", "127.0.0.1", "127.3.2.1", "::1",
                           "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE((Address{.host = host}).IsLoopback()) << host;
  }
  for (const char* host :
       {"10.0.0.1", "127.0.0.1.example.com", "127.example.com", "::2", "127.1",
        "::ffff:10.0.0.1", "0.0.0.0", "::", "fe80::1%eth0", ""}) {
    EXPECT_FALSE((Address{.host = host}).IsLoopback()) << host;
  }
  EXPECT_FALSE((Address{.host = std::string("127.0.0.1\0a", 11)}).IsLoopback());
}

TEST(Address, TakesWhatInetPtonTakesForALiteral) {
  for (const char* host : {"10.0.0.1", "0.0.0.0", "::", "::1",
                           "::ffff:10.0.0.1", "fe80::1", "fe80::1%eth0"}) {
    EXPECT_TRUE((Address{.host = host}).Ip()) << host;
  }
  for (const char* host :
       {"", "127.1", "256.0.0.1", "10.0.0.01", "+1.2.3.4", "1::2::3", "1:2:3",
        "[::1]", "10.0.0.1%eth0", "::1 ", "::12345", "::ffff:10.0.0", "a"}) {
    EXPECT_FALSE((Address{.host = host}).Ip()) << host;
  }
}

TEST(Address, ComparesLiteralsAsNumbers) {
  const auto same = [](const char* one, const char* other) {
    return Address{.host = one}.HasIpOf({.host = other, .port = 1});
  };
  EXPECT_TRUE(same("::1", "0:0:0:0:0:0:0:1"));
  EXPECT_TRUE(same("::ffff:10.0.0.1", "10.0.0.1"));
  EXPECT_TRUE(same("fe80::1%eth0", "fe80:0::1"));
  EXPECT_FALSE(same("10.0.0.1", "10.0.0.2"));
  EXPECT_FALSE(same("::10.0.0.1", "10.0.0.1"));
  EXPECT_FALSE(same("a", "a"));
}

TEST(Address, KnowsAddressesOfALink) {
  for (const char* host :
       {"169.254.1.2", "::ffff:169.254.1.2", "fe80::1%eth0", "febf::1"}) {
    EXPECT_TRUE((Address{.host = host}).IsLinkLocal()) << host;
  }
  for (const char* host : {"169.253.1.2", "fec0::1", "fe80", "::1", ""}) {
    EXPECT_FALSE((Address{.host = host}).IsLinkLocal()) << host;
  }
}

}  // namespace
}  // namespace muster
