// SPDX-License-Identifier: Apache-2.0
#include "sys/cpu_topology.h"

#include <gtest/gtest.h>

#include "sys/fake/fake_fs.h"

namespace muster::sys {
namespace {

std::string TextOf(const std::vector<Core>& cores) {
  std::string text;
  for (const Core& core : cores) {
    text += std::to_string(core.id) + "@" + std::to_string(core.node) + " ";
  }
  return text;
}

// Two nodes of two physical cores with two threads each, numbered as Linux
// numbers them: the second threads come last.
TEST(InTopologyOrder, KeepsThreadsOfACoreAndCoresOfANodeTogether) {
  FakeFs fs;
  fs.files["/sys/devices/system/node/node0/cpulist"] = "0-1,4-5\n";
  fs.files["/sys/devices/system/node/node1/cpulist"] = "2-3,6-7\n";
  for (int id = 0; id < 8; ++id) {
    const int first = id % 4;
    fs.files["/sys/devices/system/cpu/cpu" + std::to_string(id) +
             "/topology/thread_siblings_list"] =
        std::to_string(first) + "," + std::to_string(first + 4) + "\n";
  }
  EXPECT_EQ(TextOf(InTopologyOrder(fs, {0, 1, 2, 3, 4, 5, 6, 7})),
            "0@0 4@0 1@0 5@0 2@1 6@1 3@1 7@1 ");
  EXPECT_EQ(TextOf(InTopologyOrder(fs, {7, 1})), "1@0 7@1 ");
}

TEST(InTopologyOrder, IsThatOfTheNumbersWhereNothingIsKnown) {
  EXPECT_EQ(TextOf(InTopologyOrder(FakeFs(), {2, 0, 1})), "0@0 1@0 2@0 ");
}

}  // namespace
}  // namespace muster::sys
