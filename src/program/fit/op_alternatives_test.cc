// SPDX-License-Identifier: Apache-2.0
#include "program/fit/op_alternatives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::program {
namespace {

using testing::HasSubstr;

TEST(InsteadOf, KnowsCallsOfPythonAndOfOtherPlatforms) {
  EXPECT_THAT(InsteadOf("xla_ffi_python_cpu_callback", ""),
              HasSubstr("between steps"));
  EXPECT_THAT(InsteadOf("lapack_spotrf_ffi", ""), HasSubstr("for TPUs"));
  EXPECT_THAT(InsteadOf("cusolver_potrf_ffi", ""), HasSubstr("for TPUs"));
  EXPECT_THAT(InsteadOf("__cudnn$convForward", ""), HasSubstr("for TPUs"));
}

TEST(InsteadOf, KnowsTypesThatAreNotThere) {
  EXPECT_THAT(
      InsteadOf("FFT", "Unexpected operand type for FFT: c128[8,8]{1,0}"),
      HasSubstr("complex64"));
}

TEST(InsteadOf, DoesNotClaimToKnowTheRest) {
  EXPECT_EQ(InsteadOf("my_missing_op", "Custom emitter not found"), "");
  EXPECT_EQ(InsteadOf("", ""), "");
}

}  // namespace
}  // namespace muster::program
