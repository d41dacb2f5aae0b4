// SPDX-License-Identifier: Apache-2.0
#include "channel/security/run_key.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "sys/testing.h"

namespace muster::channel {
namespace {

constexpr const char* kToken = "0123456789abcdef";

RunKey Key(std::string_view token = kToken) {
  return *RunKey::FromToken(token);
}

TEST(RunKey, IsTheSameForTheSameTokenWithoutWhiteSpaceAroundIt) {
  EXPECT_EQ(Key().bytes(), Key("  0123456789abcdef\n").bytes());
  EXPECT_NE(Key().bytes(), Key("0123456789abcdeF").bytes());
}

// HMAC-SHA256 of the token under "muster token v1", by openssl's command.
TEST(RunKey, IsMadeOfATokenInOneWayForEver) {
  EXPECT_EQ(Key().ToHex(),
            "5e92e12e96a362687ca45db318da841fc523e22d53e1734a968525dfc32016e4");
  EXPECT_EQ(Key().Derive("purpose", "context").ToHex(),
            "6d7b97e1438987329b038538df0e241437cc78582587e7fda674e888301f32a1");
}

TEST(RunKey, RefusesATokenThatCanBeGuessed) {
  auto key = RunKey::FromToken("0123456789abcde \n");
  ASSERT_FALSE(key);
  EXPECT_EQ(key.error().cause(), Cause::kUsageInvalid);
  EXPECT_NE(key.error().message().find("15 bytes"), std::string::npos);
}

TEST(RunKey, DiffersByPurposeAndContext) {
  const auto one = Key().Derive("a", "b");
  EXPECT_EQ(one.bytes(), Key().Derive("a", "b").bytes());
  EXPECT_NE(one.bytes(), Key().Derive("ab", "").bytes());
  EXPECT_NE(one.bytes(), Key().Derive("a", "c").bytes());
  EXPECT_NE(one.bytes(), Key().bytes());
}

// RFC 4231, test case 1.
TEST(RunKey, SignsByHmacSha256) {
  const std::string key = "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b";
  const auto padded = RunKey::FromHex(key + std::string(24, '0'));
  ASSERT_TRUE(padded);  // HMAC pads a short key with zeros itself
  const auto mac = padded->Sign("Hi There");
  EXPECT_EQ(mac[0], 0xb0);
  EXPECT_EQ(mac[1], 0x34);
  EXPECT_EQ(mac[31], 0xf7);
}

TEST(RunKey, VerifiesItsOwnAndNoOther) {
  auto mac = Key().Sign("message");
  EXPECT_TRUE(Key().Verifies("message", mac));
  EXPECT_FALSE(Key().Verifies("messagE", mac));
  EXPECT_FALSE(Key().Derive("x").Verifies("message", mac));
  EXPECT_FALSE(Key().Verifies("message", std::span(mac).first(31)));
  EXPECT_FALSE(Key().Verifies("message", {}));
  for (std::size_t bit = 0; bit < 8 * mac.size(); ++bit) {
    mac[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
    EXPECT_FALSE(Key().Verifies("message", mac)) << bit;
    mac[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
  }
}

TEST(RunKey, IsRandomAndTravelsAsHex) {
  const auto key = RunKey::Random();
  ASSERT_TRUE(key);
  EXPECT_NE(key->bytes(), RunKey::Random()->bytes());
  EXPECT_EQ(RunKey::FromHex(key->ToHex())->bytes(), key->bytes());
  for (const std::string& hex :
       {std::string(), std::string(63, 'a'), std::string(65, 'a'),
        std::string(64, 'g'), std::string(64, 'A')}) {
    EXPECT_EQ(RunKey::FromHex(hex).error().cause(), Cause::kNetWrongEndpoint)
        << hex;
  }
}

TEST(RunKey, OfATokenFileNamesTheFileInItsErrors) {
  const sys::TemporaryFolder folder;
  const std::string path = folder / "token";
  EXPECT_EQ(ReadTokenFile(path).error().cause(), Cause::kFileMissing);
  std::ofstream(path) << kToken << "\n";
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  EXPECT_EQ(ReadTokenFile(path).error().cause(), Cause::kFilePermission);
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  EXPECT_EQ(ReadTokenFile(path)->bytes(), Key().bytes());
  std::ofstream(path) << "short";
  const auto refused = ReadTokenFile(path);
  EXPECT_EQ(refused.error().cause(), Cause::kUsageInvalid);
  EXPECT_NE(refused.error().message().find(path), std::string::npos);
}

}  // namespace
}  // namespace muster::channel
