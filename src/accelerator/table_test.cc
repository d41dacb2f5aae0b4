// SPDX-License-Identifier: Apache-2.0
#include "accelerator/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "accelerator/device_files.h"
#include "accelerator/specs.h"
#include "accelerator/tpu_type.h"
#include "base/text.h"

namespace muster::accelerator {
namespace {

TEST(Table, HasEachNameOnce) {
  std::set<std::string> seen;
  const auto add = [&](std::string_view name) {
    EXPECT_TRUE(seen.emplace(name).second) << name;
  };
  for (const Specs& one : AllSpecs()) {
    add(one.name);
    for (const std::string& kind : Split(one.kind, '|')) {
      add(kind);
    }
    if (one.tpu && !one.tpu->alias.empty()) {
      add(one.tpu->alias);
    }
    if (one.tpu && one.tpu->api_type != one.name) {
      add(one.tpu->api_type);
    }
  }
}

TEST(Table, FindsEachRowByEachOfItsNames) {
  for (const Specs& one : AllSpecs()) {
    EXPECT_EQ(FindSpecs(one.name), &one);
    EXPECT_EQ(ParseTargetDevices(one.name)->specs, &one);
    for (const std::string& kind : Split(one.kind, '|')) {
      EXPECT_EQ(SpecsOf(kind), &one) << kind;
    }
    if (!one.tpu) {
      EXPECT_EQ(FindTopology(one.name), nullptr);
      continue;
    }
    EXPECT_EQ(FindTopology(one.name), &one);
    if (!one.tpu->alias.empty()) {
      EXPECT_EQ(FindTopology(one.tpu->alias), &one);
    }
    if (!one.tpu->api_type.empty()) {
      EXPECT_EQ(FindApiType(one.tpu->api_type), &one);
      EXPECT_EQ(FindSpecs(one.tpu->api_type), &one);
    }
    EXPECT_EQ(TpuByPci({.vendor = "0x1ae0",
                        .device = std::string(one.tpu->pci_device),
                        .subsystem = std::string(one.tpu->pci_subsystem)}),
              &one);
  }
  EXPECT_EQ(FindSpecs(""), nullptr);
  EXPECT_EQ(FindApiType(""), nullptr);
  EXPECT_EQ(FindTopology(""), nullptr);
}

TEST(Table, HasCompleteGenerations) {
  std::int64_t smaller = 0;
  for (const Specs& one : AllSpecs()) {
    EXPECT_FALSE(one.kind.empty()) << one.name;
    EXPECT_GT(one.memory, 0) << one.name;
    if (!one.tpu) {
      continue;
    }
    const TpuSpecs& tpu = *one.tpu;
    EXPECT_GT(one.memory, smaller) << one.name;
    smaller = one.memory;
    EXPECT_TRUE(one.kind.starts_with("TPU ")) << one.kind;
    EXPECT_GT(one.flops, 0) << one.name;
    EXPECT_GT(one.bandwidth, 0) << one.name;
    const auto type = ParseTpuType(std::string(one.name) + "-1");
    ASSERT_TRUE(type) << one.name;
    EXPECT_EQ(CoresPerChip(*type), tpu.cores_per_chip) << one.name;
    EXPECT_EQ(DevicesPerChip(*type), one.devices_per_chip) << one.name;
    EXPECT_EQ(tpu.pci_device.size(), std::string_view("0x0000").size());
    EXPECT_EQ(tpu.cores_per_chip % one.devices_per_chip, 0) << one.name;
    EXPECT_GE(tpu.max_chips_per_host, tpu.chips_per_host) << one.name;
    EXPECT_EQ(tpu.runtime_version.empty(), tpu.api_type.empty()) << one.name;
    EXPECT_FALSE(tpu.shapes.front().chips.empty()) << one.name;
  }
}

TEST(Table, HasShapesFromSmallToLarge) {
  for (const Specs& one : AllSpecs()) {
    int before = 0;
    for (const TpuShape& shape : one.tpu.value_or(TpuSpecs{}).shapes) {
      if (shape.chips.empty()) {
        continue;
      }
      EXPECT_EQ(std::ssize(Split(shape.chips, 'x')), one.tpu->dimensions)
          << one.name;
      EXPECT_GT(shape.devices, before) << one.name;
      before = shape.devices;
    }
  }
}

}  // namespace
}  // namespace muster::accelerator
