// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "muster/pjrt.h"
#include "sys/file/fs.h"

namespace muster {
namespace {

using testing::HasSubstr;

class StepProgramTest : public testing::Test {
 protected:
  StepProgramTest() {
    for (const char* name : {"i", "g", "u", "s"}) {
      Write(name, std::string("module of ") + name);
    }
  }

  ~StepProgramTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ + "/" + name) << bytes;
  }

  Result<StepProgram> Open(const Json& json) {
    Write("step.json", json.dump());
    return StepProgram::Open(folder_ + "/step.json");
  }

  std::string RefusalOf(const Json& json) {
    const auto program = Open(json);
    return program ? "taken" : program.error().ToString();
  }

  static Json Good() {
    return Json::parse(R"({
      "schema": "muster.step/1", "form": "compose", "local_batch": 8,
      "state": [{"name": "w", "dtype": "F32", "shape": [4, 2]},
                {"name": "adam.m.w", "dtype": "F32", "shape": [4, 2]}],
      "parameters": 1,
      "batch": [{"name": "x", "dtype": "F32", "shape": [8, 4]}],
      "metrics": ["loss"],
      "programs": {"initialize": "i", "gradient": "g", "update": "u"}})");
  }

  static std::string NewFolder() {
    std::string folder = testing::TempDir() + "step.XXXXXX";
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    return folder;
  }

  const std::string folder_ = NewFolder();
};

TEST_F(StepProgramTest, IsReadWithItsPrograms) {
  const auto program = Open(Good());
  ASSERT_TRUE(program) << program.error().ToString();
  EXPECT_EQ(program->form, StepForm::kCompose);
  EXPECT_EQ(program->local_batch, 8U);
  EXPECT_EQ(program->state.size(), 2U);
  EXPECT_EQ(program->state[1].name, "adam.m.w");
  EXPECT_EQ(program->batch[0].shape, (std::vector<std::int64_t>{8, 4}));
  EXPECT_EQ(program->gradient, "module of g");
  EXPECT_EQ(program->update, "module of u");
  EXPECT_EQ(program->evaluate, "");
}

TEST_F(StepProgramTest, OfAPartitionedStepSaysForHowManyDevices) {
  Json json = Good();
  json["form"] = "spmd";
  EXPECT_THAT(RefusalOf(json), HasSubstr("`devices` must be"));
  json["devices"] = 4;
  EXPECT_THAT(RefusalOf(json), HasSubstr("`step` must be a string"));
  json["programs"]["step"] = "s";
  const auto program = Open(json);
  ASSERT_TRUE(program) << program.error().ToString();
  EXPECT_EQ(program->devices, 4);
  EXPECT_EQ(program->step, "module of s");
}

TEST_F(StepProgramTest, NamesTheKeyThatIsWrong) {
  const auto without = [](std::string_view key) {
    Json json = Good();
    json.erase(key);
    return json;
  };
  for (const char* key : {"schema", "form", "local_batch", "state",
                          "parameters", "batch", "metrics", "programs"}) {
    EXPECT_THAT(RefusalOf(without(key)),
                HasSubstr("`" + std::string(key) + "` must be"));
  }
  Json json = Good();
  json["parameters"] = 3;
  EXPECT_THAT(RefusalOf(json), HasSubstr("`parameters` must be a number from "
                                         "1 to 2"));
  json = Good();
  json["state"][1]["dtype"] = "F31";
  EXPECT_THAT(RefusalOf(json), HasSubstr("`state[1]` must be"));
  json = Good();
  json["batch"][0]["shape"][0] = 9;
  EXPECT_THAT(RefusalOf(json), HasSubstr("F32 [9, 4] is not"));
  json = Good();
  json["state"][0]["shape"] = {std::int64_t{1} << 62, 8};
  EXPECT_THAT(RefusalOf(json), HasSubstr("`state[0]` must be"));
}

TEST_F(StepProgramTest, RefusesAStateThatACheckpointCannotHold) {
  Json json = Good();
  json["state"][1]["name"] = "w";
  EXPECT_EQ(Open(json).error().cause(), Cause::kUsageInvalid);
  EXPECT_THAT(RefusalOf(json), HasSubstr("`w` occurs twice"));
  json["state"][1]["name"] = "__metadata__";
  EXPECT_EQ(Open(json).error().cause(), Cause::kUsageInvalid);
  EXPECT_THAT(RefusalOf(json), HasSubstr("`__metadata__`"));
}

TEST_F(StepProgramTest, ReadsNoFileOfAnotherFolder) {
  Json json = Good();
  json["programs"]["update"] = "../u";
  EXPECT_THAT(RefusalOf(json),
              HasSubstr("the name of a file in the same folder"));
}

TEST_F(StepProgramTest, ThatIsNotThereIsMissing) {
  EXPECT_EQ(StepProgram::Open(folder_ + "/none.json").error().cause(),
            Cause::kFileMissing);
  Json json = Good();
  json["programs"]["update"] = "absent";
  EXPECT_EQ(Open(json).error().cause(), Cause::kFileMissing);
  Write("step.json", "{\"schema\": ");
  EXPECT_EQ(StepProgram::Open(folder_ + "/step.json").error().cause(),
            Cause::kUsageInvalid);
}

}  // namespace
}  // namespace muster
