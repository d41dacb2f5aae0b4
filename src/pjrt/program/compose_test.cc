// SPDX-License-Identifier: Apache-2.0
#include "pjrt/program/compose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::pjrt {
namespace {

using testing::HasSubstr;
using testing::Not;

StepProgram Program() {
  StepProgram program;
  program.local_batch = 4;
  program.state = {{"w", DType::kFloat32, {3, 2}},
                   {"b", DType::kBFloat16, {2}},
                   {"step", DType::kFloat32, {}}};
  program.parameters = 2;
  program.batch = {{"x", DType::kFloat32, {4, 3}}, {"y", DType::kInt32, {4}}};
  program.metrics = {"loss"};
  program.gradient =
      "module @jit_gradient attributes {mhlo.num_replicas = 1 : i32} {\n"
      "  func.func public @main(%a: tensor<3x2xf32>) -> (tensor<f32> "
      "{jax.result_info = \"of @main\"}) {\n"
      "    %0 = call @relu(%a) : (tensor<3x2xf32>) -> tensor<3x2xf32>\n"
      "  }\n"
      "  func.func private @relu(%a: tensor<3x2xf32>) {\n  }\n"
      "}\n";
  program.update =
      "module @jit_update {\n"
      "  func.func public @main(%a: tensor<f32>) {\n  }\n"
      "}";
  return program;
}

TEST(Compose, TakesOverTheFunctionsOfBothUnderOtherNames) {
  const std::string text = Compose(Program(), 2).value();
  EXPECT_THAT(text, HasSubstr("func.func private @gradient_main(%a"));
  EXPECT_THAT(text, HasSubstr("call @gradient_relu(%a)"));
  EXPECT_THAT(text, HasSubstr("func.func private @gradient_relu("));
  EXPECT_THAT(text, HasSubstr("func.func private @update_main("));
  EXPECT_THAT(text, HasSubstr("\"of @main\""));  // words stay as they are
  EXPECT_THAT(text, HasSubstr("mhlo.num_replicas = 2"));
}

TEST(Compose, AveragesGradientsAndMetricsOfOneTypeAtOnce) {
  const std::string text = Compose(Program(), 4).value();
  EXPECT_THAT(text, HasSubstr("\"stablehlo.all_reduce\"(%g#0, %g#1) ({\n"
                              "    ^bb0(%x: tensor<f32>, %y: tensor<f32>):"));
  EXPECT_THAT(text, HasSubstr("\"stablehlo.all_reduce\"(%g#2) ({\n"
                              "    ^bb0(%x: tensor<bf16>"));
  EXPECT_THAT(text, HasSubstr("dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>"));
  EXPECT_THAT(text, HasSubstr("%c1 = stablehlo.constant dense<4.0> : "
                              "tensor<3x2xf32>"));
  EXPECT_THAT(text, HasSubstr("call @update_main(%s0, %s1, %s2, %a1, %a2)"));
}

TEST(Compose, LeavesAloneWhatOneReplicaNeedsNot) {
  const std::string text = Compose(Program(), 1).value();
  EXPECT_THAT(text, Not(HasSubstr("all_reduce")));
  EXPECT_THAT(text, HasSubstr("call @update_main(%s0, %s1, %s2, %g#1, %g#2)"));
}

TEST(Compose, PutsTheNewStateWhereTheOldOneWas) {
  const std::string text = Compose(Program(), 1).value();
  EXPECT_THAT(text, HasSubstr("%s0: tensor<3x2xf32> {tf.aliasing_output = 0"));
  EXPECT_THAT(text, HasSubstr("%s2: tensor<f32> {tf.aliasing_output = 2"));
  EXPECT_THAT(text, HasSubstr("%b1: tensor<4xi32>)"));
  EXPECT_THAT(text, HasSubstr("return %u#0, %u#1, %u#2, %g#0 : "
                              "tensor<3x2xf32>, tensor<2xbf16>, tensor<f32>, "
                              "tensor<f32>"));
}

TEST(Compose, RefusesWhatItCannotTakeOver) {
  const auto refusal = [](const std::string& gradient) {
    StepProgram program = Program();
    program.gradient = gradient;
    const auto text = Compose(program, 2);
    return text ? "taken" : text.error().ToString();
  };
  EXPECT_THAT(refusal("ML\xEFR"), HasSubstr("not text that begins"));
  EXPECT_THAT(refusal("#loc = loc(\"a\")\nmodule {\n}"),
              HasSubstr("not text that begins"));
  EXPECT_THAT(refusal("module {\n  func.func @other() {\n  }\n}"),
              HasSubstr("no function @main"));
  EXPECT_THAT(refusal("module {\n func.func @main() { call @\"a b\"() }\n}"),
              HasSubstr("a symbol has quotes"));
  EXPECT_THAT(refusal("module"), HasSubstr("does not end"));
  EXPECT_THAT(refusal("module {\n}\n#loc = loc(unknown)"),
              HasSubstr("does not end"));
  EXPECT_THAT(refusal("module {\n \"never closed }"),
              HasSubstr("no function @main"));
}

TEST(TypeOf, IsAsStableHloWritesIt) {
  EXPECT_EQ(TypeOf({"", DType::kBool, {}}), "tensor<i1>");
  EXPECT_EQ(TypeOf({"", DType::kUInt8, {0, 7}}), "tensor<0x7xui8>");
}

}  // namespace
}  // namespace muster::pjrt
