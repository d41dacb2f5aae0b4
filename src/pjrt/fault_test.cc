// SPDX-License-Identifier: Apache-2.0
#include "pjrt/fault.h"

#include <gtest/gtest.h>

namespace muster::pjrt {
namespace {

struct Case {
  abi::Code code;
  std::string text;
  Cause cause;
};

class FaultCause : public testing::TestWithParam<Case> {};

TEST_P(FaultCause, FollowsFromWhatThePluginSays) {
  const Fault fault{"PJRT_Compile", GetParam().code, GetParam().text};
  EXPECT_EQ(Label(CauseOf(fault)), Label(GetParam().cause)) << fault.text;
}

INSTANTIATE_TEST_SUITE_P(
    Texts, FaultCause,
    testing::Values(
        Case{abi::Code::kResourceExhausted, "E1000: CompileTimeHbmOom: Ran out",
             Cause::kOomDevice},
        Case{abi::Code::kResourceExhausted, "E0101: Attempting to reserve",
             Cause::kOomDevice},
        Case{abi::Code::kInternal, "E0200: Accelerator device halted: Hardware",
             Cause::kDeviceHardwareFault},
        Case{abi::Code::kInternal, "E0200: halted: a different launch id",
             Cause::kCollectiveDesync},
        Case{abi::Code::kUnknown, "E2003: block shape", Cause::kOpUnsupported},
        Case{abi::Code::kUnknown, "E3001: SparseCore", Cause::kOpUnsupported},
        Case{abi::Code::kUnknown, "nameE1000: no code", Cause::kOpUnsupported},
        Case{abi::Code::kAborted,
             "Internal error when accessing libtpu multi-process lockfile.",
             Cause::kDeviceBusy},
        Case{abi::Code::kInvalidArgument,
             "Number of replicas (16) must be at least 1 and at most the "
             "number of cores (8).",
             Cause::kRankWorldMismatch},
        Case{abi::Code::kInvalidArgument,
             "sharding={devices=[8,1]<=[8]}, frontend_attributes="
             "{xla.sdy.sharding=\"x\"}: tile_assignment should have 4 devices "
             "but has 8",
             Cause::kRankWorldMismatch},
        Case{abi::Code::kUnknown,
             "-:3:10: error: unregistered operation 'stablehlo.nonsense' found "
             "in dialect ('stablehlo') that does not allow unknown operations\n"
             "<unknown>:0: error: Failed to parse using StableHLO v1.24.0",
             Cause::kOpUnsupported},
        Case{abi::Code::kUnknown,
             "-:2:209: error: expected '}' in attribute dictionary\n"
             "<unknown>:0: error: Failed to parse using StableHLO v1.24.0",
             Cause::kFileCorrupt},
        Case{abi::Code::kInvalidArgument,
             "Custom emitter for my_missing_op not found",
             Cause::kOpUnsupported},
        Case{abi::Code::kInvalidArgument,
             "Unexpected PJRT_Compile_Args size: expected 72, got 64.",
             Cause::kVerPluginMismatch},
        Case{abi::Code::kNotFound,
             "TPU initialization failed: No jellyfish device found.",
             Cause::kDeviceMissing},
        Case{abi::Code::kInternal, "", Cause::kFrameworkBug},
        Case{static_cast<abi::Code>(99), "odd", Cause::kFrameworkBug}));

TEST(Fault, KeepsThePlaceAndTheOperation) {
  const Error error =
      ToError({"PJRT_Compile", abi::Code::kUnknown,
               "-:3:10: error: custom op 'stablehlo.nonsense' is unknown"});
  const Fact& fact = error.evidence().front();
  EXPECT_EQ(fact.Number("line"), 3);
  EXPECT_EQ(fact.Number("column"), 10);
  EXPECT_EQ(fact.Text("op"), "stablehlo.nonsense");
  EXPECT_EQ(fact.Text("code"), "UNKNOWN");
}

TEST(Fault, KeepsTheLineThatTheCompilerSuspects) {
  const Error error = ToError({"PJRT_Compile", abi::Code::kInvalidArgument,
                               "Custom emitter for my_op not found\n\t\n\n"
                               "Suspected Python Code Location:\n  -:4"});
  const Fact& fact = error.evidence().front();
  EXPECT_EQ(fact.Number("line"), 4);
  EXPECT_FALSE(fact.Has("column"));
  EXPECT_EQ(fact.Text("op"), "my_op");
}

TEST(Fault, HasNoPlaceWhereTheTextHasNone) {
  const Error error = ToError(
      {"PJRT_Compile", abi::Code::kInternal, "at 12:30 something: failed"});
  EXPECT_FALSE(error.evidence().front().Has("line"));
  EXPECT_EQ(NameOf(static_cast<abi::Code>(-1)), "code -1");
}

}  // namespace
}  // namespace muster::pjrt
