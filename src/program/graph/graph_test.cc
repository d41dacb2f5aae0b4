// SPDX-License-Identifier: Apache-2.0
#include "program/graph/graph.h"

#include <gtest/gtest.h>

#include "program/graph/testing.h"

namespace muster::program::graph {
namespace {

std::string Small() {
  return GraphBytes(
      {NodeBytes("x", "Placeholder", {}, TypeAttribute("dtype", kString)),
       NodeBytes("y", "PartitionedCall", {"x"}, CallAttribute("f", "inner"))},
      {FunctionBytes("inner", {NodeBytes("s", "Sin", {"x"})})});
}

// saved_model_schema_version 1 and one graph.
std::string SavedBytes(const std::string& meta) {
  return wire::NumberField(1, 1) + wire::BytesField(2, meta);
}

TEST(GraphFile, HasNodesFunctionsAndAttributes) {
  const auto file = ReadGraphFile(Small());
  ASSERT_TRUE(file);
  const MetaGraph& graph = file->graphs.front();
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(graph.nodes[1].inputs, std::vector<std::string_view>{"x"});
  EXPECT_EQ(TypesIn(*graph.nodes[0].Find("dtype")),
            std::vector<DataType>{kString});
  EXPECT_EQ(FunctionsIn(*graph.nodes[1].Find("f")),
            std::vector<std::string_view>{"inner"});
  ASSERT_EQ(graph.functions.count("inner"), 1U);
  EXPECT_EQ(graph.functions.at("inner").nodes[0].op, "Sin");
}

TEST(GraphFile, HasSignaturesOfASavedModel) {
  const std::string shape =
      wire::BytesField(2,
                       wire::NumberField(1, static_cast<std::uint64_t>(-1))) +
      wire::BytesField(2, wire::NumberField(1, 8));
  const std::string input = wire::BytesField(
      1, wire::BytesField(1, "x") +
             wire::BytesField(2, wire::BytesField(1, "in:0") +
                                     wire::NumberField(2, 1) +
                                     wire::BytesField(3, shape)));
  const auto file = ReadGraphFile(SavedBytes(
      wire::BytesField(
          1, wire::BytesField(4, "serve") + wire::BytesField(5, "2.21.0")) +
      wire::BytesField(2, Small()) +
      wire::BytesField(
          5, wire::BytesField(1, "fit") + wire::BytesField(2, input))));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->form, Form::kSavedModel);
  const MetaGraph& graph = file->graphs.front();
  EXPECT_EQ(graph.version, "2.21.0");
  ASSERT_EQ(graph.signatures.size(), 1U);
  EXPECT_EQ(graph.signatures[0].inputs[0].tensor, "in:0");
  EXPECT_EQ(graph.signatures[0].inputs[0].shape,
            (std::vector<std::int64_t>{-1, 8}));
}

// Each ending of a good file: a cause, or a graph that is shorter.
TEST(GraphFile, ThatIsCutShortHasACause) {
  const std::string whole = Small();
  int refused = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto file = ReadGraphFile(whole.substr(0, size));
    if (!file) {
      EXPECT_EQ(file.error().cause(), Cause::kFileCorrupt);
      ++refused;
    }
  }
  EXPECT_GT(refused, static_cast<int>(whole.size()) - 4);
}

TEST(GraphFile, WithANodeThatIsNoOperationIsDamaged) {
  for (const std::string& node : {std::string(), wire::BytesField(1, "name")}) {
    const auto file = ReadGraphFile(wire::BytesField(1, node));
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().cause(), Cause::kFileCorrupt);
  }
}

TEST(GraphFile, WithTooManyOperationsIsRefused) {
  const std::string node = wire::BytesField(1, wire::BytesField(2, "A"));
  std::string many;
  for (std::size_t i = 0; i <= kMostNodes; ++i) {
    many += node;
  }
  const auto file = ReadGraphFile(std::move(many));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().cause(), Cause::kFileCorrupt);
  EXPECT_NE(file.error().message().find("more than the"), std::string::npos);
}

// Functions within the attributes of functions, as deep as the bytes go.
TEST(GraphFile, NestedDeeplyIsNotDescendedInto) {
  std::string value = wire::BytesField(1, "innermost");
  for (int i = 0; i < 5000; ++i) {
    value = wire::BytesField(1, "f") +
            wire::BytesField(
                2, wire::BytesField(1, "a") +
                       wire::BytesField(2, wire::BytesField(10, value)));
  }
  const auto file = ReadGraphFile(GraphBytes({NodeBytes(
      "n", "Sin", {}, AttributeOf("f", wire::BytesField(10, value)))}));
  ASSERT_TRUE(file);
  EXPECT_EQ(FunctionsIn(*file->graphs[0].nodes[0].Find("f")).size(), 1U);
}

TEST(LooksLikeGraph, ByTheFirstBytes) {
  EXPECT_TRUE(LooksLikeGraph(Small()));
  EXPECT_TRUE(LooksLikeGraph(SavedBytes("")));
  EXPECT_TRUE(LooksLikeGraph("# made by hand\nnode {\n  name: \"x\"\n}\n"));
  EXPECT_TRUE(LooksLikeGraph("saved_model_schema_version: 1"));
  EXPECT_TRUE(LooksLikeGraph(GraphBytes({}, {FunctionBytes("f", {})})));
  for (const std::string_view other :
       {std::string_view(), std::string_view("module @m {}"),
        std::string_view("\nmodule @node {}"), std::string_view("ML\xEFR\x0A"),
        std::string_view("node"), std::string_view("nodes {"),
        std::string_view("\x0A"), std::string_view("\n\n\nfunc.func @f"),
        std::string_view("#loc1 = loc(\"XLA_Args\")\nmodule @m {}"),
        std::string_view("#"), std::string_view("PK\x03\x04")}) {
    EXPECT_FALSE(LooksLikeGraph(other)) << other;
  }
}

}  // namespace
}  // namespace muster::program::graph
