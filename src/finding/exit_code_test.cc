// SPDX-License-Identifier: Apache-2.0
// The rows of DESIGN section 7 that an error decides. Of a run's own ends (75,
// 93, 124, the status and the signal of a rank): run/coordinator/decide_test.cc
// and run/session_test.cc.
#include "finding/exit_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace muster {
namespace {

int CodeOf(Cause cause, std::string_view verb) {
  return ExitCodeOf(Error(cause, "why"), verb);
}

Error CannotStart(std::int64_t code) {
  Fact failed;
  failed.name = "spawn.failed";
  failed.fields["code"] = code;
  return Error(Cause::kProgramNotFound, "why").With(failed);
}

constexpr const char* kVerbs[] = {"run",    "check", "explain", "resolve",
                                  "bundle", "tpu",   ""};

// A row that holds for all sub-commands.
struct Row {
  Cause cause;
  int code;
};
class OfAllVerbs : public ::testing::TestWithParam<Row> {};

TEST_P(OfAllVerbs, IsTheSame) {
  for (const char* verb : kVerbs) {
    EXPECT_EQ(CodeOf(GetParam().cause, verb), GetParam().code) << verb;
  }
}

INSTANTIATE_TEST_SUITE_P(ExitCode, OfAllVerbs,
                         ::testing::Values(Row{Cause::kUsageInvalid, 2},
                                           Row{Cause::kClusterSpecInvalid, 2},
                                           Row{Cause::kLaunchEnvMissing, 2},
                                           Row{Cause::kRankWorldMismatch, 2},
                                           Row{Cause::kDuplicateIdentity, 2},
                                           Row{Cause::kNetWrongEndpoint, 2},
                                           Row{Cause::kNetLoopbackName, 2},
                                           Row{Cause::kProgramNotFound, 127},
                                           Row{Cause::kCancelled, 130},
                                           Row{Cause::kInternalError, 125}),
                         [](const auto& row) {
                           std::string name(Label(row.param.cause));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(ExitCode, ABadDescriptionOfTheClusterIsTwoWhateverKeepsItFromBeingRead) {
  Fact spec;
  spec.name = "spec.file";
  for (const char* verb : kVerbs) {
    EXPECT_EQ(ExitCodeOf(Error(Cause::kFileMissing, "why").With(spec), verb), 2)
        << verb;
  }
}

TEST(ExitCode, AProgramThatCannotBeExecutedIsNotOneThatIsMissing) {
  EXPECT_EQ(ExitCodeOf(CannotStart(126), "run"), 126);
  EXPECT_EQ(ExitCodeOf(CannotStart(127), "run"), 127);
}

TEST(ExitCode, OfRunIsThatItCouldNotBeSetUp) {
  for (const Cause cause :
       {Cause::kNetTimeoutFiltered, Cause::kDiskFull, Cause::kTpuNotFound,
        Cause::kCloudNoCapacity, Cause::kDeadlineExceeded}) {
    EXPECT_EQ(CodeOf(cause, "run"), 125) << Label(cause);
  }
}

TEST(ExitCode, OfCheckAndExplainIsThatTheyCouldNotFindOut) {
  for (const char* verb : {"check", "explain"}) {
    for (const Cause cause : {Cause::kNetTimeoutFiltered, Cause::kFileMissing,
                              Cause::kFilePermission, Cause::kTpuNotFound}) {
      EXPECT_EQ(CodeOf(cause, verb), 3) << verb << " " << Label(cause);
    }
  }
}

TEST(ExitCode, OfTpuSaysWhetherToTryAgainLater) {
  const Row rows[] = {{Cause::kCloudPermissionDenied, 1},
                      {Cause::kCloudAuthMissing, 1},
                      {Cause::kTpuNotFound, 1},
                      {Cause::kPreempted, 1},
                      {Cause::kCloudNoCapacity, 75},
                      {Cause::kCloudQuotaExceeded, 75},
                      {Cause::kNetTimeoutFiltered, 3},
                      {Cause::kNetNameResolution, 3},
                      {Cause::kDeadlineExceeded, 3},
                      {Cause::kFileCorrupt, 3},
                      {Cause::kOsLimit, 125}};
  for (const Row& row : rows) {
    EXPECT_EQ(CodeOf(row.cause, "tpu"), row.code) << Label(row.cause);
    EXPECT_EQ(TpuExitCode(row.cause), row.code) << Label(row.cause);
  }
}

TEST(TpuExitCode, OfWhatCannotBeAnsweredIsNoUsage) {
  EXPECT_EQ(TpuExitCode(Cause::kNetWrongEndpoint), 3);
  EXPECT_EQ(TpuExitCode(Cause::kNetProxy), 3);
  EXPECT_EQ(TpuExitCode(Cause::kUsageInvalid), 2);
  EXPECT_EQ(TpuExitCode(Cause::kCancelled), 130);
  EXPECT_EQ(TpuExitCode(Cause::kInternalError), 125);
}

}  // namespace
}  // namespace muster
