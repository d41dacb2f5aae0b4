// SPDX-License-Identifier: Apache-2.0
#include "program/compiler/program_compare.h"

#include <gtest/gtest.h>

namespace muster::program {
namespace {

using Sides = std::vector<std::vector<std::string>>;

// A program that a compiler takes, with its peak.
AskedProgram Taken(const std::string& file, const std::string& plugin,
                   std::int64_t peak, Sides arguments = {}) {
  AskedProgram one;
  one.request = {.file = file, .on = "v5e:2x4", .plugin = {plugin, "test"}};
  one.report.outcome = Pass("it compiles and fits");
  one.report.arguments = std::move(arguments);
  one.report.answer =
      pjrt::CompileAnswer{.api_minor = 117,
                          .stablehlo = "1.24.0",
                          .result = pjrt::Compiled{.memory = {.peak = peak}}};
  return one;
}

AskedProgram Refused(AskedProgram one, Cause cause, std::int64_t needed = 0) {
  Fact fact{.name = "pjrt.failed", .by = "PJRT_Compile"};
  fact.fields["needed"] = needed;
  Error error = Error(cause, "refused").With(fact);
  one.report.outcome = Judge({FromError(error)}, "");
  one.report.answer->result = std::move(error);
  return one;
}

TEST(CompareCompilers, NamesWhoTakesWhatAnotherRefuses) {
  AskedProgram older = Taken("a.mlir", "/old.so", 1);
  older.report.package = "libtpu 0.0.40";
  const std::vector<AskedProgram> asked{
      older, Refused(Taken("a.mlir", "/new.so", 1), Cause::kOpUnsupported)};
  const Outcome outcome = CompareCompilers(asked);
  EXPECT_EQ(outcome.state, OutcomeState::kFail);
  EXPECT_EQ(outcome.detail, "it compiles with 1 of 2 compilers");
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings[0].cause, Cause::kOpUnsupported);
  EXPECT_EQ(outcome.findings[0].what,
            "`/new.so` (PJRT 0.117, StableHLO 1.24.0) rejects what `/old.so` "
            "(libtpu 0.0.40, PJRT 0.117, StableHLO 1.24.0) accepts: refused");
}

TEST(CompareCompilers, PassesWhatAllTake) {
  const std::vector<AskedProgram> asked{Taken("a.mlir", "/old.so", 1),
                                        Taken("a.mlir", "/new.so", 1)};
  EXPECT_EQ(CompareCompilers(asked).state, OutcomeState::kPass);
}

TEST(CompareCompilers, DoesNotJudgeForOneThatWasNotAsked) {
  AskedProgram broken = Taken("a.mlir", "/new.so", 1);
  broken.report.outcome = Broken("no answer in time");
  const std::vector<AskedProgram> asked{Taken("a.mlir", "/old.so", 1), broken};
  const Outcome outcome = CompareCompilers(asked);
  EXPECT_EQ(outcome.state, OutcomeState::kBroken);
  EXPECT_EQ(outcome.detail, "no answer in time");
}

TEST(CompareSizes, NamesTheLargestBatchThatFits) {
  const std::vector<AskedProgram> asked{
      Taken("b128", "/p", 20, {{"784", "10"}, {"128", "784"}}),
      Refused(Taken("b256", "/p", 0, {{"784", "10"}, {"256", "784"}}),
              Cause::kOomDevice, 40),
      Taken("b64", "/p", 30, {{"784", "10"}, {"64", "784"}})};
  const Outcome outcome = CompareSizes(asked);
  EXPECT_EQ(outcome.state, OutcomeState::kPass);
  EXPECT_EQ(outcome.detail, "the largest that fits is b128, batch 128");
  EXPECT_EQ(NeededMemory(asked[1].report), 40);
}

TEST(CompareSizes, TakesTheMemoryWhereFilesTellNoSizes) {
  const std::vector<AskedProgram> asked{Taken("a", "/p", 20),
                                        Taken("b", "/p", 30)};
  EXPECT_EQ(CompareSizes(asked).detail, "the largest that fits is b");
}

TEST(CompareSizes, FailsWhenNoneFits) {
  const std::vector<AskedProgram> asked{
      Refused(Taken("a", "/p", 0), Cause::kOomDevice, 40),
      Refused(Taken("b", "/p", 0), Cause::kOomDevice, 50)};
  const Outcome outcome = CompareSizes(asked);
  EXPECT_EQ(outcome.state, OutcomeState::kFail);
  EXPECT_EQ(outcome.findings.size(), 2U);
}

TEST(CompareSizes, FailsWhenOneDoesNotCompileAtAll) {
  const std::vector<AskedProgram> asked{
      Taken("a", "/p", 20),
      Refused(Taken("b", "/p", 0), Cause::kOpUnsupported)};
  const Outcome outcome = CompareSizes(asked);
  EXPECT_EQ(outcome.state, OutcomeState::kFail);
  EXPECT_EQ(outcome.detail, "not all of them compile");
}

TEST(FindVaried, PrefersAFirstSide) {
  const std::vector<AskedProgram> asked{
      Taken("a", "/p", 1, {{"9", "64"}, {"64", "784"}}),
      Taken("b", "/p", 1, {{"9", "128"}, {"128", "784"}})};
  const auto varied = FindVaried(asked);
  ASSERT_TRUE(varied);
  EXPECT_EQ(VariedText(*varied, 1), "batch 128");
}

TEST(FindVaried, NamesAnotherSide) {
  const std::vector<AskedProgram> asked{Taken("a", "/p", 1, {{"9", "64"}}),
                                        Taken("b", "/p", 1, {{"9", "128"}})};
  const auto varied = FindVaried(asked);
  ASSERT_TRUE(varied);
  EXPECT_EQ(VariedText(*varied, 0), "side 1 of argument 0 = 64");
}

TEST(FindVaried, IsNothingWhereProgramsAreNotOfOneKind) {
  for (const auto& [a, b] :
       std::vector<std::pair<Sides, Sides>>{{{}, {}},
                                            {{{"64"}}, {{"64"}}},
                                            {{{"64"}}, {{"64", "2"}}},
                                            {{{"64"}}, {{"128"}, {"3"}}},
                                            {{{"?"}}, {{"128"}}}}) {
    const std::vector<AskedProgram> asked{Taken("a", "/p", 1, a),
                                          Taken("b", "/p", 1, b)};
    EXPECT_FALSE(FindVaried(asked));
  }
}

}  // namespace
}  // namespace muster::program
