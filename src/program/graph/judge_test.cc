// SPDX-License-Identifier: Apache-2.0
#include "program/graph/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/graph/testing.h"

namespace muster::program::graph {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

Judgement Judge(const std::string& bytes, std::string_view name = "") {
  const auto file = ReadGraphFile(bytes);
  EXPECT_TRUE(file);
  auto judgement = JudgeGraph(*file, name);
  EXPECT_TRUE(judgement) << judgement.error().ToString();
  return *std::move(judgement);
}

std::string Const(std::string_view name) {
  return NodeBytes(name, "Const");
}

std::string Call(std::string_view name, std::string_view function) {
  return NodeBytes(name, "StatefulPartitionedCall", {"x"},
                   CallAttribute("f", function));
}

const std::string kInput = NodeBytes("x", "Placeholder");

TEST(JudgeGraph, FindsNothingInWhatATpuComputes) {
  const Judgement judged =
      Judge(GraphBytes({kInput, NodeBytes("y", "Sin", {"x"})}));
  EXPECT_THAT(judged.findings, SizeIs(0));
  ASSERT_THAT(judged.judged, SizeIs(1));
  EXPECT_EQ(judged.judged[0].operations, 1U);
}

TEST(JudgeGraph, NamesTheNodeAndTheFunctionsThatLeadToIt) {
  const Judgement judged = Judge(GraphBytes(
      {kInput, Call("a", "outer")},
      {FunctionBytes("outer", {Call("b", "inner")}),
       FunctionBytes("inner", {NodeBytes("py", "EagerPyFunc", {"x"})})}));
  ASSERT_THAT(judged.findings, SizeIs(1));
  const Finding& finding = judged.findings[0];
  EXPECT_EQ(finding.cause, Cause::kOpUnsupported);
  EXPECT_THAT(finding.what, HasSubstr("`EagerPyFunc` calls Python"));
  EXPECT_EQ(finding.evidence[0].what,
            "`EagerPyFunc`, node `py` of `inner`, called by `b` of `outer`, "
            "called by `a` of the graph");
  EXPECT_THAT(finding.fixes[0].text, HasSubstr("input pipeline"));
}

TEST(JudgeGraph, TellsManyNodesOfOneOperationOnce) {
  std::vector<std::string> nodes{kInput};
  for (int i = 0; i < 100; ++i) {
    nodes.push_back(NodeBytes("t" + std::to_string(i), "Timestamp"));
  }
  const Judgement judged = Judge(GraphBytes(nodes));
  ASSERT_THAT(judged.findings, SizeIs(1));
  EXPECT_THAT(judged.findings[0].what, HasSubstr("100 operations"));
}

TEST(JudgeGraph, PassesOverWhatIsComputedBeforeCompilation) {
  const Judgement folded =
      Judge(GraphBytes({Const("c"), NodeBytes("n", "StringLength", {"c"})}));
  EXPECT_THAT(folded.findings, SizeIs(0));
  EXPECT_EQ(folded.judged[0].operations, 0U);
  EXPECT_THAT(Judge(GraphBytes({kInput, NodeBytes("n", "StringLength", {"x"})}))
                  .findings,
              SizeIs(1));
}

// a: b, b: a, and each of them twice: neither constant nor endless.
TEST(JudgeGraph, EndsWhereNodesAreInACircle) {
  EXPECT_THAT(Judge(GraphBytes({NodeBytes("a", "StringLength", {"b", "b"}),
                                NodeBytes("b", "StringLower", {"a", "a"}),
                                NodeBytes("t", "Tile", {"a", "b"})}))
                  .findings,
              SizeIs(1));
}

TEST(JudgeGraph, NamesFunctionsInACircle) {
  const Judgement judged = Judge(GraphBytes(
      {kInput, Call("n", "f")}, {FunctionBytes("f", {Call("n", "g")}),
                                 FunctionBytes("g", {Call("n", "h")}),
                                 FunctionBytes("h", {Call("n", "g")})}));
  ASSERT_THAT(judged.findings, SizeIs(1));
  EXPECT_EQ(judged.findings[0].cause, Cause::kOpUnsupported);
  EXPECT_EQ(judged.findings[0].what,
            "functions call each other recursively, but XLA inlines every "
            "call: `g` → `h` → `g`");
  EXPECT_THAT(judged.findings[0].evidence[0].what,
              HasSubstr("2 functions in the cycle"));
}

TEST(JudgeGraph, NamesAFunctionThatIsNotInTheFile) {
  const Judgement judged = Judge(GraphBytes({kInput, Call("n", "gone")}));
  ASSERT_THAT(judged.findings, SizeIs(1));
  EXPECT_EQ(judged.findings[0].cause, Cause::kFileCorrupt);
}

TEST(JudgeGraph, DoesNotClaimToKnowForeignOperations) {
  const Judgement judged = Judge(GraphBytes({NodeBytes("n", "MyOwnOp")}));
  ASSERT_THAT(judged.findings, SizeIs(1));
  EXPECT_EQ(judged.findings[0].severity, Severity::kWarning);
  EXPECT_EQ(judged.findings[0].confidence, Confidence::kPossible);
}

TEST(JudgeGraph, LeavesCheckpointAndPipelineToTheHost) {
  const Judgement judged = Judge(GraphBytes(
      {NodeBytes("name", "Const"), NodeBytes("files", "Const"),
       NodeBytes("save", "SaveV2", {"name", "w"}),
       NodeBytes("done", "Identity", {"name", "^save"},
                 TypeAttribute("T", kString)),
       NodeBytes("w", "ReadVariableOp", {"v"}), NodeBytes("v", "VarHandleOp"),
       NodeBytes("d", "TextLineDataset", {"files"}),
       NodeBytes("next", "IteratorGetNext", {"d"}),
       NodeBytes("step", "MatMul", {"next", "w"})}));
  EXPECT_THAT(judged.findings, SizeIs(0));
  ASSERT_THAT(judged.notes, SizeIs(2));
  EXPECT_THAT(judged.notes[0], HasSubstr("input pipeline"));
  EXPECT_THAT(judged.notes[1], HasSubstr("checkpoints"));
}

TEST(JudgeGraph, HeedsTheMarksOfTheRewriteForTpus) {
  const std::string marked =
      AttributeOf("_tpu_replicate", wire::BytesField(2, "c"));
  const std::string outside =
      AttributeOf("_xla_outside_compilation", wire::BytesField(2, "0"));
  const Judgement judged = Judge(
      GraphBytes({NodeBytes("text", "AsString", {"x"}),
                  NodeBytes("step", "Sin", {"text"}, marked),
                  NodeBytes("py", "PyFunc", {"step"}, marked + outside)}));
  EXPECT_THAT(judged.findings, SizeIs(0));
  EXPECT_TRUE(judged.judged[0].marked);
  EXPECT_EQ(judged.judged[0].operations, 1U);
  EXPECT_THAT(judged.notes[0], HasSubstr("outside compilation"));
}

TEST(JudgeGraph, AsksWhereSizesAreFrom) {
  const auto tile = [](const std::string& size) {
    return Judge(GraphBytes({kInput, size, NodeBytes("t", "Tile", {"x", "n"})}))
        .findings;
  };
  EXPECT_THAT(tile(Const("n")), SizeIs(0));
  EXPECT_THAT(tile(NodeBytes("n", "Shape", {"x"})), SizeIs(0));
  ASSERT_THAT(tile(NodeBytes("n", "RandomUniformInt")), SizeIs(1));
  EXPECT_EQ(tile(NodeBytes("n", "RandomUniformInt"))[0].severity,
            Severity::kError);
  EXPECT_EQ(tile(NodeBytes("n", "Placeholder"))[0].severity,
            Severity::kWarning);
}

TEST(JudgeGraph, FollowsSizesThroughCalls) {
  const std::string library =
      FunctionBytes("f", {NodeBytes("t", "Tile", {"y", "x"})}, "x");
  EXPECT_THAT(
      Judge(GraphBytes({Const("x"), Call("n", "f")}, {library})).findings,
      SizeIs(0));
  EXPECT_THAT(Judge(GraphBytes({kInput, Call("n", "f")}, {library})).findings,
              SizeIs(1));
}

TEST(JudgeGraph, TakesTheFunctionThatIsNamed) {
  const std::string bytes = GraphBytes(
      {kInput, Call("n", "__inference_bad_7")},
      {FunctionBytes("__inference_bad_7", {NodeBytes("p", "PyFunc")}),
       FunctionBytes("__inference_good_8", {NodeBytes("s", "Sin", {"x"})})});
  EXPECT_THAT(Judge(bytes, "good").findings, SizeIs(0));
  EXPECT_THAT(Judge(bytes, "bad").findings, SizeIs(1));
  EXPECT_THAT(Judge(bytes, "__inference_bad_7").findings, SizeIs(1));
  const auto file = ReadGraphFile(bytes);
  const auto none = JudgeGraph(*file, "goood");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().cause(), Cause::kUsageInvalid);
  EXPECT_THAT(none.error().message(), HasSubstr("did you mean `good`"));
}

TEST(JudgeGraph, KeepsNamesOfTheFileOffTheTerminal) {
  const Judgement judged =
      Judge(GraphBytes({NodeBytes("a\x1b[31m\nb", "PyFunc")}));
  EXPECT_EQ(judged.findings[0].what.find('\x1b'), std::string::npos);
  EXPECT_EQ(judged.findings[0].what.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace muster::program::graph
