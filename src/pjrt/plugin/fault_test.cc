// SPDX-License-Identifier: Apache-2.0
#include "pjrt/plugin/fault.h"

#include <gtest/gtest.h>

namespace muster::pjrt {
namespace {

struct Case {
  pjrt::abi::Code code;
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
        Case{pjrt::abi::Code::kUnknown, "nameE1000: no code",
             Cause::kOpUnsupported},
        Case{pjrt::abi::Code::kAborted,
             "Internal error when accessing libtpu multi-process lockfile.",
             Cause::kDeviceBusy},
        Case{pjrt::abi::Code::kInvalidArgument,
             "Number of replicas (16) must be at least 1 and at most the "
             "number of cores (8).",
             Cause::kRankWorldMismatch},
        Case{pjrt::abi::Code::kInvalidArgument,
             "sharding={devices=[8,1]<=[8]}, frontend_attributes="
             "{xla.sdy.sharding=\"x\"}: tile_assignment should have 4 devices "
             "but has 8",
             Cause::kRankWorldMismatch},
        Case{pjrt::abi::Code::kUnknown,
             "-:3:10: error: unregistered operation 'stablehlo.nonsense' found "
             "in dialect ('stablehlo') that does not allow unknown operations\n"
             "<unknown>:0: error: Failed to parse using StableHLO v1.24.0",
             Cause::kOpUnsupported},
        Case{pjrt::abi::Code::kUnknown,
             "step.py:11:29: error: unregistered operation 'vhlo.log_v2' found "
             "in dialect ('vhlo') that does not allow unknown operations\n"
             "<unknown>:0: error: Failed to parse using StableHLO v1.9.8",
             Cause::kVerPluginMismatch},
        Case{pjrt::abi::Code::kUnknown,
             "-:2:209: error: expected '}' in attribute dictionary\n"
             "<unknown>:0: error: Failed to parse using StableHLO v1.24.0",
             Cause::kFileCorrupt},
        Case{pjrt::abi::Code::kInvalidArgument,
             "Custom emitter for my_missing_op not found",
             Cause::kOpUnsupported},
        Case{pjrt::abi::Code::kInvalidArgument,
             "Unexpected PJRT_Compile_Args size: expected 72, got 64.",
             Cause::kVerPluginMismatch},
        Case{pjrt::abi::Code::kNotFound,
             "TPU initialization failed: No jellyfish device found.",
             Cause::kDeviceMissing},
        Case{pjrt::abi::Code::kInternal, "", Cause::kFrameworkBug},
        Case{static_cast<pjrt::abi::Code>(99), "odd", Cause::kFrameworkBug}));

// As XLA documents its codes, with the words of its examples.
TEST(FaultOfOpening, IsNoFaultOfAProgram) {
  EXPECT_EQ(CauseOf({"PJRT_Client_Create", pjrt::abi::Code::kFailedPrecondition,
                     "No visible GPU devices."}),
            Cause::kDeviceMissing);
  EXPECT_EQ(CauseOf({"PJRT_Client_Create", pjrt::abi::Code::kInvalidArgument,
                     "Unexpected option name passed to PJRT_Client_Create: x"}),
            Cause::kUsageInvalid);
}

class XlaCode : public FaultCause {};

TEST_P(XlaCode, HasACause) {
  const Fault fault{"PJRT_Compile", GetParam().code, GetParam().text};
  EXPECT_EQ(Label(CauseOf(fault)), Label(GetParam().cause)) << fault.text;
  const Error error = ToError(fault);
  EXPECT_EQ(error.evidence().front().Text("xla_code"),
            GetParam().text.substr(0, 5));
}

constexpr pjrt::abi::Code kFull = pjrt::abi::Code::kResourceExhausted;
constexpr pjrt::abi::Code kInner = pjrt::abi::Code::kInternal;

INSTANTIATE_TEST_SUITE_P(
    Codes, XlaCode,
    testing::Values(
        Case{kFull,
             "E0100: RuntimeBufferAllocationFailure: Attempting to allocate "
             "8.00M. That was not possible. There are 6.43M free.",
             Cause::kOomDevice},
        Case{kFull,
             "E0101: RuntimeProgramAllocationFailure: Attempting to reserve "
             "29.49G at the bottom of memory.",
             Cause::kOomDevice},
        Case{pjrt::abi::Code::kInvalidArgument,
             "E0102: RuntimeProgramInputMismatch: expected parameter 2 of size "
             "5242880 but got buffer with incompatible size 1638400",
             Cause::kUsageInvalid},
        Case{kInner,
             "E0200: RuntimeUnexpectedCoreHalt: Accelerator device halted "
             "prematurely; observed errors are: [Hardware]",
             Cause::kTpuUnhealthy},
        Case{kInner,
             "E0200: RuntimeUnexpectedCoreHalt: observed errors are: [Network]",
             Cause::kTpuUnhealthy},
        Case{kInner,
             "E0200: RuntimeUnexpectedCoreHalt: observed errors are: [Power]",
             Cause::kTpuUnhealthy},
        Case{kInner,
             "E0200: RuntimeUnexpectedCoreHalt: observed errors are: [User]",
             Cause::kFrameworkBug},
        Case{kInner,
             "E0200: RuntimeUnexpectedCoreHalt: scheckne: An unexpected leader "
             "shows up in the launch group with a different launch id",
             Cause::kCollectiveDesync},
        Case{
            kInner,
            "E0200: RuntimeUnexpectedCoreHalt: BoundsCheck 92 [deref of %s931]",
            Cause::kFrameworkBug},
        Case{kFull, "E1000: CompileTimeHbmOom: Ran out of memory on HBM",
             Cause::kOomDevice},
        Case{kFull,
             "E1001: CompileTimeScopedVmemOom: Allocation (size=134217728) "
             "would exceed memory (size=67108864)",
             Cause::kOomDevice},
        Case{kFull,
             "E1002: TPU TensorCore Hbm usage: 34.82G, SparseCore Hbm usage "
             "174.10G, exceeding available bytes: 95.74G",
             Cause::kOomDevice},
        Case{pjrt::abi::Code::kInvalidArgument,
             "E1200: CompileTimeHostOffloadOutputMismatch: Tensor which is "
             "moved to host is returned from the entry computation",
             Cause::kOpUnsupported},
        Case{kInner,
             "E2001: CompileTimeMosaicUnsupportedRhsType: Unsupported matmul "
             "RHS type on target: 'vector<256x256xi8>'",
             Cause::kOpUnsupported},
        Case{kInner, "E2002: the block shape is not a multiple of the tiling",
             Cause::kOpUnsupported},
        Case{kInner, "E2003: cannot statically prove the alignment",
             Cause::kOpUnsupported},
        Case{kInner,
             "E3000: 'memref.alloca' op current allocation offset upper bound "
             "(140704 words) exceeds the legitimate user allocatable offset",
             Cause::kOomDevice},
        Case{kInner,
             "E3001: No viable logical replica count for the embedding table",
             Cause::kOomDevice},
        // Without a meaning of their own: the text and the status say it.
        Case{kFull, "E0007: ResourceExhausted: x", Cause::kOomDevice},
        Case{pjrt::abi::Code::kUnimplemented, "E0011: Unimplemented: x",
             Cause::kOpUnsupported},
        Case{kFull, "E1003: x", Cause::kOomDevice},
        Case{kInner, "E2999: Mosaic failed to compile TPU kernel: x",
             Cause::kOpUnsupported},
        Case{kFull, "E3002: x", Cause::kOomDevice},
        Case{pjrt::abi::Code::kUnimplemented, "E3002: x",
             Cause::kOpUnsupported},
        Case{kInner, "E9999: x", Cause::kFrameworkBug}));

struct SizesCase {
  std::string text;
  std::int64_t needed, available;
};

class FaultSizes : public testing::TestWithParam<SizesCase> {};

TEST_P(FaultSizes, AreReadInBytes) {
  const Fact fact =
      ToError({"PJRT_Compile", kFull, GetParam().text}).evidence().front();
  EXPECT_EQ(fact.Number("needed"), GetParam().needed);
  EXPECT_EQ(fact.Number("available"), GetParam().available);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, FaultSizes,
    testing::Values(
        SizesCase{"E1000: the total memory required for HLO temporaries (2.50G)"
                  " exceeds available HBM (1.00G).",
                  5LL << 29, 1LL << 30},
        SizesCase{"Ran out of memory in memory space hbm. Used 2.00G of 1.00G "
                  "hbm.",
                  2LL << 30, 1LL << 30},
        SizesCase{"E1001: Allocation (size=134217728) would exceed memory "
                  "(size=67108864) :: #allocation25",
                  134217728, 67108864},
        SizesCase{"E1002: TPU TensorCore Hbm usage: 1.00G, SparseCore Hbm "
                  "usage 2.00G, exceeding available bytes: 1.50G",
                  3LL << 30, 3LL << 29}));

TEST(Fault, KeepsThePlaceAndTheOperation) {
  const Error error =
      ToError({"PJRT_Compile", pjrt::abi::Code::kUnknown,
               "-:3:10: error: custom op 'stablehlo.nonsense' is unknown"});
  const Fact& fact = error.evidence().front();
  EXPECT_EQ(fact.Number("line"), 3);
  EXPECT_EQ(fact.Number("column"), 10);
  EXPECT_EQ(fact.Text("op"), "stablehlo.nonsense");
  EXPECT_EQ(fact.Text("code"), "UNKNOWN");
}

TEST(Fault, TellsAPlaceInTheSourceFromOneInTheProgram) {
  const auto fact_of = [](const char* text) {
    return ToError({"PJRT_Compile", pjrt::abi::Code::kInvalidArgument, text})
        .evidence()
        .front();
  };
  const Fact in_source = fact_of(
      "Custom emitter for my_op not found\n\t\n\nSuspected Python "
      "Code Location:\n  /home/me/step.py:7:8 [loss]\n  /home/me/a.py:1:2");
  EXPECT_EQ(in_source.Text("file"), "/home/me/step.py");
  EXPECT_EQ(in_source.Number("line"), 7);
  EXPECT_EQ(in_source.Number("column"), 8);
  EXPECT_EQ(fact_of("step.py:11:29: error: x").Text("file"), "step.py");
  EXPECT_FALSE(fact_of("-:3:10: error: x").Has("file"));
}

TEST(Fault, KeepsTheLineThatTheCompilerSuspects) {
  const Error error =
      ToError({"PJRT_Compile", pjrt::abi::Code::kInvalidArgument,
               "Custom emitter for my_op not found\n\t\n\n"
               "Suspected Python Code Location:\n  -:4"});
  const Fact& fact = error.evidence().front();
  EXPECT_EQ(fact.Number("line"), 4);
  EXPECT_FALSE(fact.Has("column"));
  EXPECT_EQ(fact.Text("op"), "my_op");
}

TEST(Fault, HasNoPlaceWhereTheTextHasNone) {
  const Error error = ToError({"PJRT_Compile", pjrt::abi::Code::kInternal,
                               "at 12:30 something: failed"});
  EXPECT_FALSE(error.evidence().front().Has("line"));
  EXPECT_EQ(NameOf(static_cast<pjrt::abi::Code>(-1)), "code -1");
}

}  // namespace
}  // namespace muster::pjrt
