// SPDX-License-Identifier: Apache-2.0
#include "input/convert.h"

#include <gtest/gtest.h>

#include <array>

namespace muster {
namespace {

TEST(BytesToUnit, IsTheDivisionForEveryByte) {
  std::array<std::uint8_t, 256> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(i);
  }
  std::array<float, 256> out{};
  BytesToUnit(bytes.data(), bytes.size(), out.data());
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(out[i], static_cast<float>(i) / 255.0F) << i;
  }
}

TEST(BytesToUnit, ConvertsAnyLength) {
  const std::array<std::uint8_t, 40> bytes{0, 255, 51};
  for (std::size_t count = 0; count <= bytes.size(); ++count) {
    std::array<float, 41> out{};
    out.fill(-1);
    BytesToUnit(bytes.data(), count, out.data());
    EXPECT_EQ(out[count], -1) << "wrote beyond " << count;
    EXPECT_TRUE(count < 2 || out[1] == 1.0F);
  }
}

}  // namespace
}  // namespace muster
