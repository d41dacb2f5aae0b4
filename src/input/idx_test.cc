// SPDX-License-Identifier: Apache-2.0
#include "input/idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "input/testing.h"

namespace muster {
namespace {

using testing::HasSubstr;

std::string Gzip(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(bytes.size() + 1000, '\0');
  std::string input = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// What is wrong with a file that should hold images.
std::string WhatIsWrong(const std::string& file) {
  const auto array = ParseIdx(file, 3, "images.idx");
  if (array) {
    return "nothing";
  }
  EXPECT_EQ(array.error().cause(), Cause::kFileCorrupt);
  EXPECT_THAT(array.error().message(), HasSubstr("`images.idx`"));
  return array.error().message();
}

const std::string kImages = IdxBytes({2, 2, 3}, "abcdefghijkl");

TEST(Idx, ReadsAPlainFile) {
  const auto array = ParseIdx(kImages, 3, "x");
  ASSERT_TRUE(array) << array.error().ToString();
  EXPECT_EQ(array->shape, (std::vector<std::uint32_t>{2, 2, 3}));
  EXPECT_EQ(array->bytes, "abcdefghijkl");
}

TEST(Idx, ReadsAGzipFile) {
  std::string elements(200 * 28 * 28, '\0');
  for (std::size_t i = 0; i < elements.size(); ++i) {
    elements[i] = static_cast<char>(i * i % 251);
  }
  const auto array = ParseIdx(Gzip(IdxBytes({200, 28, 28}, elements)), 3, "x");
  ASSERT_TRUE(array) << array.error().ToString();
  EXPECT_EQ(array->bytes, elements);
}

TEST(Idx, ReadsAFileWithoutElements) {
  const auto array = ParseIdx(Gzip(IdxBytes({0, 28, 28}, "")), 3, "x");
  ASSERT_TRUE(array) << array.error().ToString();
  EXPECT_EQ(array->bytes, "");
}

TEST(Idx, NamesAnotherMagicNumber) {
  EXPECT_THAT(WhatIsWrong(IdxBytes({4}, "abcd") + std::string(20, ' ')),
              testing::AllOf(HasSubstr("0x00000803"), HasSubstr("0x00000801")));
}

TEST(Idx, NamesEveryPlaceWhereAFileWasCutOff) {
  for (const std::string& file : {kImages, Gzip(kImages)}) {
    for (std::size_t length = 0; length < file.size(); ++length) {
      EXPECT_NE(WhatIsWrong(file.substr(0, length)), "nothing") << length;
    }
  }
  EXPECT_THAT(WhatIsWrong(kImages.substr(0, 20)),
              HasSubstr("2 x 2 x 3 = 12 bytes, only 4 follow"));
}

TEST(Idx, NamesBytesThatAreLeftOver) {
  EXPECT_THAT(WhatIsWrong(kImages + "z"), HasSubstr("more follow"));
  EXPECT_THAT(WhatIsWrong(Gzip(kImages + "z")), HasSubstr("more follow"));
  EXPECT_THAT(WhatIsWrong(Gzip(kImages) + "tail"),
              HasSubstr("4 bytes follow the end"));
}

TEST(Idx, NamesAWrongChecksum) {
  std::string file = Gzip(kImages);
  file[file.size() - 6] ^= 1;
  EXPECT_THAT(WhatIsWrong(file), HasSubstr("checksum"));
}

TEST(Idx, TakesNoMemoryForAHeaderThatCannotBe) {
  const std::string huge = IdxBytes({0xffffffff, 0xffff, 28}, "abc");
  EXPECT_THAT(WhatIsWrong(huge), HasSubstr("only 3 follow"));
  EXPECT_THAT(WhatIsWrong(Gzip(huge)),
              HasSubstr("compressed bytes can contain"));
  EXPECT_THAT(
      WhatIsWrong(IdxBytes({0xffffffff, 0xffffffff, 0xffffffff}, "abc")),
      HasSubstr("too many elements"));
}

TEST(Idx, SurvivesEveryFlippedByte) {
  const std::string file = Gzip(kImages);
  for (std::size_t at = 0; at < file.size(); ++at) {
    std::string damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    const auto array = ParseIdx(damaged, 3, "x");
    // Bytes of the gzip header (time, system) do not matter.
    EXPECT_TRUE(!array || array->bytes == "abcdefghijkl") << at;
  }
}

}  // namespace
}  // namespace muster
