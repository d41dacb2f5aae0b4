// SPDX-License-Identifier: Apache-2.0
#include "pjrt/plugin/options.h"

#include <gtest/gtest.h>

namespace muster::pjrt {
namespace {

using namespace std::string_literals;  // NOLINT: of the standard

// The bytes that other bindings send for one device.
TEST(CompileOptions, AreOneDevicesBytesByDefault) {
  EXPECT_EQ(Serialize({}),
            "\x1A\x0F\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x20\x01"
            "\x28\x01"s);
}

TEST(CompileOptions, AskForPartitioningWithShardy) {
  EXPECT_EQ(Serialize({.replicas = 1, .partitions = 200, .shardy = true}),
            "\x1A\x15\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x20\x01"
            "\x28\xC8\x01\x30\x01\x98\x01\x01"s);
}

}  // namespace
}  // namespace muster::pjrt
