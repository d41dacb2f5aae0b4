// SPDX-License-Identifier: Apache-2.0
#include "member/unmanaged.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace muster {
namespace {

using testing::HasSubstr;

std::string What(std::map<std::string, std::string> variables) {
  sys::FakeEnv env;
  env.variables = std::move(variables);
  const auto status = RequireAlone(env);
  return status ? "alone" : status.error().ToText();
}

TEST(RequireAlone, TakesAnEnvironmentOfOne) {
  EXPECT_EQ(What({}), "alone");
  EXPECT_EQ(What({{"WORLD_SIZE", "1"},
                  {"RANK", "0"},
                  {"TF_CONFIG", ""},
                  {"SLURM_NTASKS", "8"}}),
            "alone");
  EXPECT_EQ(What({{"TF_CONFIG", R"({"cluster": {"worker": ["a:1"]}})"}}),
            "alone");
}

TEST(RequireAlone, NamesTheVariableAndHowToStart) {
  for (const char* name : {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                           "SLURM_STEP_NUM_TASKS", "MUSTER_WORLD_SIZE"}) {
    EXPECT_THAT(What({{name, "4"}}),
                testing::AllOf(HasSubstr("launch-env-missing"),
                               HasSubstr(std::string(name) + "=4"),
                               HasSubstr("`muster run -n 4 -- PROGRAM`")));
  }
}

TEST(RequireAlone, CountsTheTasksOfTensorFlow) {
  EXPECT_THAT(What({{"TF_CONFIG",
                     R"({"cluster": {"chief": ["a:1"], "worker": ["b:1"],
                         "evaluator": ["c:1"]}})"}}),
              testing::AllOf(HasSubstr("launch-env-missing"),
                             HasSubstr("TF_CONFIG describes 2 members")));
}

TEST(RequireAlone, NamesWhatCannotBeRead) {
  EXPECT_THAT(What({{"WORLD_SIZE", "two"}}),
              testing::AllOf(HasSubstr("cluster-spec-invalid"),
                             HasSubstr("WORLD_SIZE=`two`")));
  EXPECT_THAT(What({{"TF_CONFIG", "{"}}),
              testing::AllOf(HasSubstr("cluster-spec-invalid"),
                             HasSubstr("TF_CONFIG")));
}

}  // namespace
}  // namespace muster
