// SPDX-License-Identifier: Apache-2.0
#include "wire/proto_fields.h"

#include <gtest/gtest.h>

#include <random>

namespace muster::wire {
namespace {

TEST(ProtoFields, ComeBackAsTheyWereWritten) {
  const std::string message = NumberField(3, 300) + BytesField(15, "text") +
                              NumberField(70'000, ~std::uint64_t{0}) +
                              FixedField(2, 0x8000000000000001U);
  FieldReader at(message);
  ASSERT_TRUE(at.Next());
  EXPECT_EQ(at.number(), 3U);
  EXPECT_EQ(at.value(), 300U);
  ASSERT_TRUE(at.Next());
  EXPECT_EQ(at.number(), 15U);
  EXPECT_EQ(at.bytes(), "text");
  ASSERT_TRUE(at.Next());
  EXPECT_EQ(at.number(), 70'000U);
  EXPECT_EQ(at.signed_value(), -1);
  ASSERT_TRUE(at.Next());
  EXPECT_EQ(at.number(), 2U);
  EXPECT_EQ(at.value(), 0x8000000000000001U);
  EXPECT_FALSE(at.Next());
  EXPECT_FALSE(at.broken());
}

TEST(ProtoFields, ReadsFixedNumbers) {
  FieldReader at(
      {"\x31\x01\x00\x00\x00\x00\x00\x00\x80\x0D\x02\x00\x00\x00", 14});
  ASSERT_TRUE(at.Next());
  EXPECT_EQ(at.number(), 6U);
  EXPECT_EQ(at.value(), 0x8000000000000001U);
  ASSERT_TRUE(at.Next());
  EXPECT_EQ(at.number(), 1U);
  EXPECT_EQ(at.value(), 2U);
}

TEST(ProtoFields, StopsAtWhatIsNoField) {
  const std::string_view cases[] = {
      {"\x0A\x05"
       "abc",
       5},          // shorter than it says
      {"\x08", 1},  // no value
      {"\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 12},
      {"\x0B", 1},      // a group
      {"\x00\x00", 2},  // field 0
      {"\x31\x01", 2},  // half a number
      {"\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 11}};
  for (const std::string_view bytes : cases) {
    FieldReader at(bytes);
    EXPECT_FALSE(at.Next());
    EXPECT_TRUE(at.broken());
  }
}

TEST(ProtoFields, EndsOnAnyBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 64, '\0');
    for (char& byte : bytes) {
      byte = static_cast<char>(random());
    }
    std::size_t fields = 0;
    for (FieldReader at(bytes); at.Next();) {
      ++fields;
    }
    EXPECT_LE(fields, bytes.size());
  }
}

TEST(ProtoFields, UnpackNumbers) {
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(PackedNumbers("\x01\xAC\x02"), (Numbers{1, 300}));
  EXPECT_EQ(PackedNumbers("\x05\xFF"), (Numbers{5}));  // the last is cut short
  EXPECT_EQ(PackedNumbers(""), Numbers{});
}

}  // namespace
}  // namespace muster::wire
