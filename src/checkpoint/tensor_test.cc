// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/manifest.h"
#include "muster/checkpoint.h"

namespace muster {
namespace {

using testing::HasSubstr;

TEST(TensorSpec, CountsItsBytes) {
  EXPECT_EQ(BytesOf({.shape = {}}), 4U);
  EXPECT_EQ(BytesOf({.dtype = DType::kFloat64, .shape = {3, 5}}), 120U);
  EXPECT_EQ(BytesOf({.shape = {1LL << 62, 0, 1LL << 62}}), 0U);
  EXPECT_EQ(BytesOf({.shape = {1LL << 31, 1LL << 31}}), std::nullopt);
  EXPECT_EQ(BytesOf({.shape = {-1}}), std::nullopt);
}

Checkpoint With(std::vector<TensorSpec> specs) {
  Checkpoint checkpoint;
  checkpoint.step = 7;
  checkpoint.writer = "muster 0.1.0";
  checkpoint.specs = std::move(specs);
  return checkpoint;
}

std::string Mismatch(const Checkpoint& checkpoint,
                     const std::vector<TensorSpec>& program) {
  const auto status = CheckMatches(checkpoint, program);
  EXPECT_TRUE(status || status.error().cause() == Cause::kCkptMismatch);
  return status ? "" : status.error().message();
}

const TensorSpec kA{.name = "a", .shape = {2}};
const TensorSpec kB{.name = "b", .dtype = DType::kInt64, .shape = {3, 4}};

TEST(CheckMatches, TakesTheSameTensorsInAnyOrder) {
  EXPECT_EQ(Mismatch(With({kA, kB}), {kB, kA}), "");
}

TEST(CheckMatches, NamesWhatOneSideLacks) {
  EXPECT_EQ(Mismatch(With({kB}), {kA, kB}),
            "the checkpoint of step 7 (muster 0.1.0) has no tensor `a`, which "
            "the program expects as F32 [2]");
  EXPECT_EQ(Mismatch(With({kA, kB}), {kA}),
            "the checkpoint of step 7 (muster 0.1.0) has the tensor `b`, I64 "
            "[3, 4], which the program does not have");
}

TEST(CheckMatches, NamesTheFirstTensorWithBothTypesAndShapes) {
  TensorSpec other_shape = kA;
  other_shape.shape = {2, 1};
  TensorSpec other_type = kB;
  other_type.dtype = DType::kInt32;
  EXPECT_EQ(Mismatch(With({kA, kB}), {other_type, other_shape}),
            "tensor `a` is F32 [2] in the checkpoint of step 7 (muster 0.1.0) "
            "but F32 [2, 1] in the program");
  EXPECT_THAT(Mismatch(With({kA, kB}), {kA, other_type}),
              HasSubstr("`b` is I64 [3, 4]"));
}

TEST(ManifestText, IsReadBack) {
  const Manifest manifest{
      .step = 100, .bytes = 12345, .crc32c = 0xe3069283, .writer = "muster 1"};
  const auto read = ParseManifest(ToString(manifest), "m");
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(read->step, 100U);
  EXPECT_EQ(read->bytes, 12345U);
  EXPECT_EQ(read->crc32c, 0xe3069283U);
  EXPECT_EQ(read->writer, "muster 1");
}

TEST(ManifestText, CutOffAnywhereIsDamaged) {
  const std::string text = ToString(Manifest{.writer = "muster 1"});
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {
    const auto read = ParseManifest(text.substr(0, length), "m");
    ASSERT_FALSE(read) << length;
    EXPECT_EQ(read.error().cause(), Cause::kFileCorrupt);
  }
}

TEST(ManifestText, OfAnotherFormatIsAMismatch) {
  const auto read = ParseManifest(
      R"({"schema": "muster.checkpoint/2", "writer": "muster 9.0.0"})", "m");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().cause(), Cause::kCkptMismatch);
  EXPECT_THAT(read.error().message(),
              testing::AllOf(HasSubstr("muster 9.0.0"),
                             HasSubstr("muster.checkpoint/1")));
}

}  // namespace
}  // namespace muster
