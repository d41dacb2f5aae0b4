// SPDX-License-Identifier: Apache-2.0
#include "program/fit/op_alternatives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::program {
namespace {

using testing::HasSubstr;

TEST(AlternativeTo, KnowsCallsOfPythonAndOfOtherPlatforms) {
  EXPECT_THAT(AlternativeTo("xla_ffi_python_cpu_callback", ""),
              HasSubstr("between steps"));
  EXPECT_THAT(AlternativeTo("lapack_spotrf_ffi", ""), HasSubstr("for TPUs"));
  EXPECT_THAT(AlternativeTo("cusolver_potrf_ffi", ""), HasSubstr("for TPUs"));
  EXPECT_THAT(AlternativeTo("__cudnn$convForward", ""), HasSubstr("for TPUs"));
}

TEST(AlternativeTo, KnowsTypesThatAreNotThere) {
  EXPECT_THAT(
      AlternativeTo("FFT", "Unexpected operand type for FFT: c128[8,8]{1,0}"),
      HasSubstr("complex64"));
}

TEST(AlternativeTo, DoesNotClaimToKnowTheRest) {
  EXPECT_EQ(AlternativeTo("my_missing_op", "Custom emitter not found"), "");
  EXPECT_EQ(AlternativeTo("", ""), "");
}

}  // namespace
}  // namespace muster::program
