// SPDX-License-Identifier: Apache-2.0
#include "base/simd/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace muster {
namespace {

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(Crc32c, HasTheUsualConvention) {
  EXPECT_EQ(CrcText(Crc32c(0, Bytes("123456789"))), "e3069283");
  EXPECT_EQ(Crc32c(Crc32c(0, Bytes("1234")), Bytes("56789")),
            Crc32c(0, Bytes("123456789")));
  EXPECT_EQ(Crc32c(0, {}), 0U);
}

// RFC 3720, B.4.
TEST(Crc32c, GivesTheValuesOfTheStandard) {
  EXPECT_EQ(CrcText(Crc32c(0, Bytes(std::string(32, '\0')))), "8a9136aa");
  EXPECT_EQ(CrcText(Crc32c(0, Bytes(std::string(32, '\xff')))), "62a8ab43");
}

TEST(Crc32c, IsTheSameWithoutTheInstructionAtEveryLength) {
  std::mt19937 random(5);
  std::vector<std::byte> bytes(40'000);
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random());
  }
  for (const std::size_t size : {1U, 7U, 8U, 4096U, 12'287U, 12'288U, 12'289U,
                                 24'576U, 36'871U, 40'000U}) {
    const auto part = std::span<const std::byte>(bytes).first(size);
    EXPECT_EQ(Crc32c(0, part), PortableCrc32c(0, part)) << size;
    const auto tail = part.subspan(size / 3);
    const auto head = Crc32c(0, part.first(size / 3));
    EXPECT_EQ(Crc32c(head, tail), Crc32c(0, part)) << size;
  }
}

}  // namespace
}  // namespace muster
