// SPDX-License-Identifier: Apache-2.0
// The child and what comes back from it, with tests/fakes/pjrt_plugin.cc.
#include "pjrt/program/compile.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace muster::pjrt {
namespace {

using std::chrono::seconds;

// Asks the fake; none of its behaviors but `hang` takes long.
Result<CompileAnswer> Ask(const char* behavior, Duration timeout = seconds(60),
                          CompileRequest request = {}) {
  // NOLINTBEGIN(concurrency-mt-unsafe): a test has one thread.
  setenv("MUSTER_FAKE_PJRT", behavior, 1);
  if (request.plugin.empty()) {
    request.plugin = MUSTER_FAKE_PJRT;
  }
  request.topology = "v5e:2x2";
  request.code = "module {}";
  auto answer = CompileInChild(request, Deadline::After(timeout));
  unsetenv("MUSTER_FAKE_PJRT");
  // NOLINTEND(concurrency-mt-unsafe)
  return answer;
}

Cause RefusalOf(const Result<CompileAnswer>& answer) {
  if (!answer) {
    return answer.error().cause();
  }
  return answer->result ? Cause::kInternalError
                        : answer->result.error().cause();
}

TEST(CompileInChild, GivesMemoryAndCost) {
  const auto answer = Ask("");
  ASSERT_TRUE(answer) << answer.error().ToString();
  EXPECT_EQ(answer->api_minor, 81);
  EXPECT_EQ(answer->stablehlo, "1.2.3");
  EXPECT_EQ(answer->accelerator.devices, 4);
  EXPECT_EQ(answer->accelerator.memory, 1 << 20);
  ASSERT_TRUE(answer->result) << answer->result.error().ToString();
  EXPECT_EQ(answer->result->partitions, 4);
  EXPECT_EQ(answer->result->memory.arguments, 100);
  EXPECT_EQ(answer->result->memory.peak, 123);
  EXPECT_EQ(answer->result->flops, 24);
  EXPECT_FALSE(answer->result->bytes_accessed);  // below zero: not known
}

TEST(CompileInChild, EndsAPluginThatHangs) {
  const auto answer = Ask("hang", std::chrono::milliseconds(300));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().cause(), Cause::kDeadlineExceeded);
}

TEST(CompileInChild, OutlivesAPluginThatEndsItsProcess) {
  const auto answer = Ask("abort");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().cause(), Cause::kFrameworkBug);
  EXPECT_NE(answer.error().message().find("signal 6"), std::string::npos);
}

TEST(CompileInChild, RefusesAnotherMajorVersion) {
  const auto answer = Ask("version");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().cause(), Cause::kVerPluginMismatch);
  EXPECT_NE(answer.error().message().find("1.81"), std::string::npos);
}

TEST(CompileInChild, RefusesAPluginWithoutATable) {
  const auto answer = Ask("null");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().cause(), Cause::kVerPluginMismatch);
}

TEST(CompileInChild, NamesAFunctionThatAShortTableLacks) {
  const auto answer = Ask("table");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().cause(), Cause::kVerPluginMismatch);
  EXPECT_NE(answer.error().message().find("PJRT_TopologyDescription_Create"),
            std::string::npos);
}

TEST(CompileInChild, SpeaksToAPluginWhoseStructsGrew) {
  const auto answer = Ask("grown");
  ASSERT_TRUE(answer) << answer.error().ToString();
  EXPECT_TRUE(answer->result) << answer->result.error().ToString();
}

TEST(CompileInChild, MakesForeignTextShortAndPrintable) {
  const auto answer = Ask("escapes");
  ASSERT_TRUE(answer) << answer.error().ToString();
  ASSERT_FALSE(answer->result);
  const std::string& text = answer->result.error().message();
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_NE(text.find("gone"), std::string::npos);
  EXPECT_LT(text.size(), 5000U);
}

TEST(CompileInChild, SaysThatAProgramDoesNotFit) {
  const auto answer = Ask("oom");
  ASSERT_EQ(RefusalOf(answer), Cause::kOomDevice);
  const Fact& fact = answer->result.error().evidence().front();
  EXPECT_EQ(fact.Text("xla_code"), "E1000");
  EXPECT_EQ(fact.Number("needed"), 32051193446);
  EXPECT_EQ(fact.Number("available"), 16911433728);
}

TEST(CompileInChild, TakesNoLockAndAsksNoMetadata) {
  const auto answer = Ask("variables");
  ASSERT_EQ(RefusalOf(answer), Cause::kFrameworkBug);
  EXPECT_NE(answer->result.error().message().find(
                "TPU_SKIP_MDS_QUERY=1 ALLOW_MULTIPLE_LIBTPU_LOAD=1"),
            std::string::npos);
}

TEST(CompileInChild, CountsDevicesBeforeTheCompilerDoes) {
  EXPECT_EQ(RefusalOf(Ask("", seconds(60), {.replicas = 16, .partitions = 1})),
            Cause::kRankWorldMismatch);
}

TEST(CompileInChild, SaysThatThePluginMakesNoSuchTopology) {
  const auto answer = Ask("topology");
  EXPECT_EQ(RefusalOf(answer), Cause::kUsageInvalid);
  EXPECT_NE(
      answer.error().message().find("cannot create the topology `v5e:2x2`: "),
      std::string::npos)
      << answer.error().message();
}

TEST(CompileInChild, SaysThatThereIsNoPlugin) {
  EXPECT_EQ(RefusalOf(Ask("", seconds(60), {.plugin = "/nowhere/libtpu.so"})),
            Cause::kFileMissing);
}

}  // namespace
}  // namespace muster::pjrt
