// SPDX-License-Identifier: Apache-2.0
#include "program/graph/text_graph.h"

#include <gtest/gtest.h>

#include "program/graph/testing.h"

namespace muster::program::graph {
namespace {

TEST(TextGraph, GivesTheBytesOfTheGraph) {
  const auto bytes = BytesOfText(R"(# a comment
node {
  name: "x" op: 'Place' "holder"
  attr { key: "dtype" value { type: DT_STRING } }
  attr { key: "shape" value { shape { unknown_rank: true } } }
}
node: < name: "y\141\n" op: "f", input: ["x", "^z"]; device: "/cpu" >
versions { producer: 1 bad_consumers: [1, 2] }
library {
  function {
    signature { name: "f" input_arg { name: "a" type: 7 } }
    attr { key: "u" value { b: true } }
    [type.example.com/Any] { value: "}" }
    node_def { name: "n" op: "Sin" input: "a"
               attr { key: "T" value { list { type: [DT_FLOAT, 2] } } } }
  }
})",
                                 Form::kGraphDef);
  ASSERT_TRUE(bytes) << bytes.error().ToText();
  const auto file = ReadGraphFile(*bytes);
  ASSERT_TRUE(file);
  const MetaGraph& graph = file->graphs[0];
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(graph.nodes[0].op, "Placeholder");
  EXPECT_EQ(graph.nodes[1].name, "ya\n");
  EXPECT_EQ(graph.nodes[1].inputs, (std::vector<std::string_view>{"x", "^z"}));
  const Function& function = graph.functions.at("f");
  EXPECT_EQ(function.inputs[0].type, kString);
  EXPECT_EQ(TypesIn(*function.nodes[0].Find("T")),
            (std::vector<DataType>{static_cast<DataType>(1), kDouble}));
}

class NoText : public testing::TestWithParam<const char*> {};

TEST_P(NoText, HasACauseAndALine) {
  const auto bytes = BytesOfText(GetParam(), Form::kGraphDef);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().cause(), Cause::kFileCorrupt);
  EXPECT_NE(bytes.error().message().find("in line "), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Endings, NoText,
    testing::Values("node {", "node { name: \"x", "node { name: x }", "node",
                    "node }", "node { unknown { }", "node { unknown: }",
                    "node { attr { value { type: DT } } } x", "}", "{", "\x01",
                    "node { name: \"x\\", "node [", "node { input: [\"a\""));

TEST(TextGraph, NestedDeeplyIsPassedOverWithoutDescending) {
  std::string text = "node { name: \"x\" op: \"Sin\" deep ";
  text.append(200'000, '{');
  EXPECT_FALSE(BytesOfText(text, Form::kGraphDef));
  text.append(200'000, '}');
  EXPECT_TRUE(BytesOfText(text + "}", Form::kGraphDef));
}

}  // namespace
}  // namespace muster::program::graph
