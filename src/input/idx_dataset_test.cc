// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "input/testing.h"
#include "muster/dataset.h"
#include "sys/testing.h"

namespace muster {
namespace {

using testing::HasSubstr;

class IdxDatasetTest : public testing::Test {
 protected:
  Result<IdxDataset> Open(std::string_view images, std::string_view labels) {
    return IdxDataset::Open(WriteTestFile(directory_ + "/images", images),
                            WriteTestFile(directory_ + "/labels", labels), 3);
  }

  const sys::TemporaryFolder folder_;
  const std::string directory_ = folder_.path();
};

TEST_F(IdxDatasetTest, FillsInTheOrderOfTheIndices) {
  auto data = Open(IdxBytes({3, 1, 2}, std::string_view("\0\xff\x33\0\1\2", 6)),
                   IdxBytes({3}, std::string_view("\2\0\1", 3)));
  ASSERT_TRUE(data) << data.error().ToString();
  EXPECT_EQ(data->size(), 3U);
  EXPECT_EQ(ElementsOf(*data), 2U);
  EXPECT_THAT(data->sample_shape(), testing::ElementsAre(1, 1, 2));
  std::vector<float> features(4);
  std::vector<std::int64_t> labels(2);
  const std::vector<std::uint64_t> indices{1, 0};
  ASSERT_TRUE(data->Fill(indices, features, labels));
  EXPECT_THAT(features, testing::ElementsAre(0.2F, 0, 0, 1));
  EXPECT_THAT(labels, testing::ElementsAre(0, 2));
}

TEST_F(IdxDatasetTest, RefusesAnIndexOutOfRange) {
  auto data = Open(IdxBytes({1, 1, 1}, "a"), IdxBytes({1}, "\1"));
  ASSERT_TRUE(data) << data.error().ToString();
  float feature = 0;
  std::int64_t label = 0;
  const std::uint64_t index = 1;
  const auto filled = data->Fill({&index, 1}, {&feature, 1}, {&label, 1});
  ASSERT_FALSE(filled);
  EXPECT_EQ(filled.error().cause(), Cause::kUsageInvalid);
}

TEST_F(IdxDatasetTest, NamesBothCountsWhenTheyDiffer) {
  const auto data = Open(IdxBytes({2, 1, 1}, "ab"), IdxBytes({1}, "\1"));
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().cause(), Cause::kFileCorrupt);
  EXPECT_THAT(
      data.error().message(),
      testing::AllOf(HasSubstr("has 2 images"), HasSubstr("has 1 labels")));
}

TEST_F(IdxDatasetTest, NamesALabelThatIsNoClass) {
  const auto data = Open(IdxBytes({2, 1, 1}, "ab"), IdxBytes({2}, "\1\3"));
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().cause(), Cause::kFileCorrupt);
  EXPECT_THAT(data.error().message(), HasSubstr("label 3 at sample 1"));
}

TEST_F(IdxDatasetTest, SaysWhatIsMissingAndWhereItComesFrom) {
  const auto data = FashionMnist::Open(directory_ + "/nowhere", Split::kTest);
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().cause(), Cause::kFileMissing);
  EXPECT_THAT(data.error().ToString(),
              testing::AllOf(HasSubstr("t10k-labels-idx1-ubyte"),
                             HasSubstr("dataset-fashion-mnist")));
}

TEST_F(IdxDatasetTest, TakesThePlainFileOrTheGzipOne) {
  WriteTestFile(directory_ + "/train-images-idx3-ubyte",
                IdxBytes({1, 1, 1}, "a"));
  WriteTestFile(directory_ + "/train-labels-idx1-ubyte.gz",
                IdxBytes({1}, "\1"));
  const auto data = FashionMnist::Open(directory_, Split::kTrain);
  ASSERT_TRUE(data) << data.error().ToString();
  EXPECT_EQ(data->classes(), 10);
}

TEST(FashionMnistTest, ReadsTheRealFiles) {
  if (!std::filesystem::exists(FashionMnist::kDebianDirectory)) {
    GTEST_SKIP() << "the package dataset-fashion-mnist is not installed";
  }
  const auto data =
      FashionMnist::Open(FashionMnist::kDebianDirectory, Split::kTest);
  ASSERT_TRUE(data) << data.error().ToString();
  EXPECT_EQ(data->size(), 10'000U);
  EXPECT_THAT(data->sample_shape(), testing::ElementsAre(1, 28, 28));
  std::vector<std::uint64_t> of_class(10);
  for (std::uint64_t i = 0; i < data->size(); ++i) {
    std::vector<float> features(784);
    std::int64_t label = 0;
    ASSERT_TRUE(data->Fill({&i, 1}, features, {&label, 1}));
    ++of_class[static_cast<std::size_t>(label)];
  }
  EXPECT_THAT(of_class, testing::Each(1000));
}

}  // namespace
}  // namespace muster
