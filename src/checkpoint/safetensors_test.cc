// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace muster {
namespace {

using testing::HasSubstr;

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

// A file with this header and buffer.
std::string File(std::string_view header, std::string_view buffer) {
  const std::uint64_t length = header.size();
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  return file.append(header).append(buffer);
}

std::string Entry(std::string_view dtype, std::string_view shape,
                  std::string_view offsets) {
  return R"({"dtype":")" + std::string(dtype) + R"(","shape":[)" +
         std::string(shape) + R"(],"data_offsets":[)" + std::string(offsets) +
         "]}";
}

std::string WhatIsWrong(std::string_view file) {
  const auto content = ParseSafetensors(file, file.size(), "x.safetensors");
  if (content) {
    return "nothing";
  }
  EXPECT_EQ(content.error().cause(), Cause::kFileCorrupt);
  EXPECT_THAT(content.error().message(), HasSubstr("`x.safetensors`"));
  return content.error().message();
}

// The whole file that a layout stands for.
std::string Write(const std::vector<TensorView>& tensors) {
  const auto layout = LayOut(tensors, {{"key", "a \"word\""}});
  EXPECT_TRUE(layout) << layout.error().ToString();
  std::string file = layout->head;
  for (const std::size_t at : layout->order) {
    file.append(reinterpret_cast<const char*>(tensors[at].bytes.data()),
                tensors[at].bytes.size());
  }
  return file;
}

const std::vector<TensorView> kTensors = {
    {{.name = "z", .dtype = DType::kUInt8, .shape = {3}}, Bytes("abc")},
    {{.name = "empty", .shape = {0, 4}}, {}},
    {{.name = "a", .dtype = DType::kInt64, .shape = {1}}, Bytes("12345678")},
    {{.name = "scalar", .shape = {}}, Bytes("wxyz")}};

TEST(Safetensors, IsReadBack) {
  const std::string file = Write(kTensors);
  const auto content = ParseSafetensors(file, file.size(), "x");
  ASSERT_TRUE(content) << content.error().ToString();
  ASSERT_EQ(content->specs.size(), 4U);
  EXPECT_EQ(content->specs[0], kTensors[2].spec);
  EXPECT_EQ(content->specs[3], kTensors[0].spec);
  const auto text = [&](std::size_t at) {
    return file.substr(content->places[at].begin, content->places[at].size);
  };
  EXPECT_EQ(text(0), "12345678");
  EXPECT_EQ(text(1), "");
  EXPECT_EQ(text(2), "wxyz");
  EXPECT_EQ(text(3), "abc");
  EXPECT_EQ(content->metadata.at("key"), "a \"word\"");
}

TEST(Safetensors, TensorsAreAlignedToTheirElements) {
  const auto layout = LayOut(kTensors, {});
  EXPECT_EQ(layout->head.size() % 8, 0U);
  EXPECT_EQ(layout->order, (std::vector<std::size_t>{2, 1, 3, 0}));
}

TEST(Safetensors, TheOrderOfTheGivenTensorsDoesNotShow) {
  const std::vector<TensorView> reversed(kTensors.rbegin(), kTensors.rend());
  EXPECT_EQ(Write(kTensors), Write(reversed));
}

TEST(Safetensors, RefusesToWriteWhatCannotBeRead) {
  const auto cause = [](std::vector<TensorView> tensors) {
    const auto layout = LayOut(tensors, {});
    return layout ? Cause::kInternalError : layout.error().cause();
  };
  const TensorView good = kTensors[0];
  EXPECT_EQ(cause({good, good}), Cause::kUsageInvalid);
  EXPECT_EQ(cause({{{.name = "a", .shape = {2}}, Bytes("1234")}}),
            Cause::kUsageInvalid);
  EXPECT_EQ(cause({{{.name = "__metadata__", .shape = {0}}, {}}}),
            Cause::kUsageInvalid);
  EXPECT_EQ(cause({{{.name = "\xff\xfe", .shape = {0}}, {}}}),
            Cause::kUsageInvalid);
}

TEST(Safetensors, NamesEveryPlaceWhereAFileWasCutOff) {
  const std::string file = Write(kTensors);
  for (std::size_t length = 0; length < file.size(); ++length) {
    EXPECT_NE(WhatIsWrong(file.substr(0, length)), "nothing") << length;
  }
  EXPECT_THAT(WhatIsWrong(file + "!"),
              HasSubstr("15 bytes, but 16 are available"));
}

TEST(Safetensors, NamesHeadersThatAreTooLong) {
  std::string file(8, '\xff');
  EXPECT_THAT(WhatIsWrong(file), HasSubstr("the limit is 95.4 MiB"));
  file = std::string("\x10\0\0\0\0\0\0\0{}", 10);
  EXPECT_THAT(WhatIsWrong(file), HasSubstr("truncated"));
}

TEST(Safetensors, NamesHolesAndOverlaps) {
  const std::string first = R"("a":)" + Entry("U8", "4", "0,4");
  EXPECT_THAT(
      WhatIsWrong(File("{" + first + R"(,"b":)" + Entry("U8", "2", "3,5") + "}",
                       "12345")),
      HasSubstr("`b` begins at 3, inside the previous one"));
  EXPECT_THAT(
      WhatIsWrong(File("{" + first + R"(,"b":)" + Entry("U8", "2", "5,7") + "}",
                       "1234567")),
      HasSubstr("`b` begins at 5, after a gap"));
}

TEST(Safetensors, NamesEntriesThatMakeNoSense) {
  const auto with = [](const std::string& entry) {
    return WhatIsWrong(File(R"({"w":)" + entry + "}", "1234"));
  };
  EXPECT_EQ(with(Entry("F32", "1", "0,4")), "nothing");
  EXPECT_THAT(with(Entry("F32", "2", "0,4")), HasSubstr("does not match"));
  EXPECT_THAT(with(Entry("F32", "1", "4,0")), HasSubstr("does not match"));
  EXPECT_THAT(with(Entry("F31", "1", "0,4")), HasSubstr("dtype `F31`"));
  EXPECT_THAT(with(Entry("F32", "-1", "0,4")), HasSubstr("invalid dimension"));
  EXPECT_THAT(with(Entry("F32", "1.5", "0,4")), HasSubstr("invalid dimension"));
  EXPECT_THAT(with(Entry("F32", "4294967296,4294967296", "0,4")),
              HasSubstr("does not match"));
  EXPECT_THAT(with("7"), HasSubstr("no dtype"));
  EXPECT_THAT(with(R"({"dtype":3,"shape":[],"data_offsets":[0,4]})"),
              HasSubstr("no dtype"));
}

TEST(Safetensors, NamesANameThatIsThereTwice) {
  EXPECT_THAT(WhatIsWrong(File(R"({"w":)" + Entry("U8", "2", "0,2") +
                                   R"(,"w":)" + Entry("U8", "2", "2,4") + "}",
                               "1234")),
              HasSubstr("`w` twice"));
}

TEST(Safetensors, MetadataIsText) {
  EXPECT_EQ(WhatIsWrong(File(R"({"__metadata__":{"a":"b"}})", "")), "nothing");
  EXPECT_THAT(WhatIsWrong(File(R"({"__metadata__":{"a":1}})", "")),
              HasSubstr("is not a string"));
  EXPECT_THAT(WhatIsWrong(File(R"({"__metadata__":3})", "")),
              HasSubstr("not an object"));
  EXPECT_THAT(WhatIsWrong(File("[]", "")), HasSubstr("not an object"));
}

TEST(Safetensors, SurvivesEveryFlippedByte) {
  const std::string file = Write(kTensors);
  for (std::size_t at = 0; at < file.size(); ++at) {
    for (const int flip : {0x01, 0x20, 0x80}) {
      std::string damaged = file;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      const auto content =
          ParseSafetensors(damaged, damaged.size(), "x.safetensors");
      for (std::size_t i = 0; content && i < content->places.size(); ++i) {
        ASSERT_LE(content->places[i].begin + content->places[i].size,
                  file.size());
      }
    }
  }
}

}  // namespace
}  // namespace muster
