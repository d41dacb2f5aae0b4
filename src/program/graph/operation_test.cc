// SPDX-License-Identifier: Apache-2.0
#include "program/graph/operation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace muster::program::graph {
namespace {

TEST(Operations, AreSortedByNameAndEachOnce) {
  const auto all = AllOperations();
  ASSERT_GT(all.size(), 1900U);
  EXPECT_TRUE(std::is_sorted(
      all.begin(), all.end(),
      [](const Operation& a, const Operation& b) { return a.name <= b.name; }));
}

TEST(Operations, KnowWhatATpuComputes) {
  for (const char* name : {"Sin", "MatMul", "Where", "Assert", "While",
                           "VarHandleOp", "_TPUReplicate"}) {
    ASSERT_NE(FindOperation(name), nullptr) << name;
    EXPECT_TRUE(FindOperation(name)->HasKernel()) << name;
  }
  for (const char* name : {"PyFunc", "EagerPyFunc", "StringFormat",
                           "SegmentSum", "LookupTableFindV2", "SaveV2"}) {
    ASSERT_NE(FindOperation(name), nullptr) << name;
    EXPECT_FALSE(FindOperation(name)->HasKernel()) << name;
  }
  EXPECT_EQ(FindOperation(""), nullptr);
  EXPECT_EQ(FindOperation("sin"), nullptr);
  EXPECT_EQ(FindOperation("zzz"), nullptr);
}

TEST(Operations, TellInputsThatMustBeKnown) {
  const auto tile = ConstantInputs(*FindOperation("Tile"));
  ASSERT_EQ(tile.size(), 1U);
  EXPECT_EQ(tile[0].name, "multiples");
  EXPECT_EQ(tile[0].place, 1);
  EXPECT_EQ(ConstantInputs(*FindOperation("ConcatV2"))[0].place, -1);
  EXPECT_EQ(ConstantInputs(*FindOperation("StridedSlice")).size(), 3U);
  EXPECT_TRUE(ConstantInputs(*FindOperation("Sin")).empty());
}

TEST(Operations, TellTheTypesOfAnAttribute) {
  const auto types = TypesOf(*FindOperation("Cholesky"), "T");
  EXPECT_EQ(types, (std::vector<std::string_view>{"half", "float", "double",
                                                  "bfloat16"}));
  EXPECT_TRUE(TypesOf(*FindOperation("Cholesky"), "Tx").empty());
  EXPECT_TRUE(TypesOf(*FindOperation("Sin"), "T").empty());
}

TEST(Operations, NameTypes) {
  EXPECT_EQ(NameOf(kString), "string");
  EXPECT_EQ(NameOf(static_cast<DataType>(-1)), "?");
  EXPECT_EQ(NameOf(static_cast<DataType>(1000)), "?");
  EXPECT_EQ(DataTypeOf("complex128"), kComplex128);
  EXPECT_FALSE(DataTypeOf("?"));
}

TEST(Operations, ThatAreAdvisedInsteadHaveAKernel) {
  for (const char* name :
       {"UnsortedSegmentSum", "UnsortedSegmentMax", "UnsortedSegmentMin",
        "UnsortedSegmentProd", "SelfAdjointEigV2", "Cholesky", "Qr", "Unique",
        "GatherV2", "While"}) {
    EXPECT_TRUE(FindOperation(name)->HasKernel()) << name;
  }
  EXPECT_NE(Instead("SegmentSum").find("unsorted_segment_sum"),
            std::string_view::npos);
  EXPECT_TRUE(Instead("Sin").empty());
}

TEST(Operations, OfPipelineAndCheckpointAreToldApart) {
  EXPECT_TRUE(IsOfPipeline("IteratorGetNext"));
  EXPECT_TRUE(IsOfPipeline("ParallelMapDatasetV2"));
  EXPECT_FALSE(IsOfPipeline("While"));
  EXPECT_TRUE(IsOfCheckpoint("RestoreV2"));
  EXPECT_FALSE(IsOfCheckpoint("SaveDataset"));
  EXPECT_TRUE(IsRandom(*FindOperation("RandomUniformInt")));
  EXPECT_FALSE(IsRandom(*FindOperation("StatelessRandomUniform")));
}

}  // namespace
}  // namespace muster::program::graph
