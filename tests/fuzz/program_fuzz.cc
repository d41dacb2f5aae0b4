// SPDX-License-Identifier: Apache-2.0
// Program files as a user gives them (StableHLO text, bytecode, artifacts of
// jax.export), and the compiled program that a plug-in gives back.
#include <algorithm>
#include <string>

#include "pjrt/program/hlo.h"
#include "pjrt/program/module.h"
#include "tests/fuzz/fuzz.h"

namespace {

void ReadFile(const std::string& bytes) {
  const auto module = muster::pjrt::ReadModule(bytes);
  if (!module) {
    const muster::Cause cause = module.error().cause();
    MUSTER_CHECK(cause == muster::Cause::kFileCorrupt ||
                 cause == muster::Cause::kUsageInvalid);
    return;
  }
  // What goes to the compiler is a part of what was read.
  MUSTER_CHECK(!module->code.empty() && module->code.size() <= bytes.size());
  MUSTER_CHECK(bytes.find(module->code) != std::string::npos);
  MUSTER_CHECK(module->replicas.value_or(1) > 0);
  MUSTER_CHECK(module->partitions.value_or(1) > 0);
  MUSTER_CHECK(SymbolsOf(*module).size() <= 10);
}

void ReadCompiled(const std::string& bytes) {
  const auto holdings = muster::pjrt::ReadHoldings(bytes);
  if (!holdings) {
    MUSTER_CHECK(holdings.error().cause() == muster::Cause::kFileCorrupt);
    return;
  }
  MUSTER_CHECK(holdings->padding <= holdings->bytes);
  MUSTER_CHECK(holdings->largest.size() <= 3 * muster::pjrt::kMaxOfARole);
  for (const muster::pjrt::Array& array : holdings->largest) {
    MUSTER_CHECK(array.bytes >= 0 && array.padding >= 0);
    MUSTER_CHECK(array.padding <= array.bytes && array.count > 0);
  }
}

}  // namespace

void Fuzz(const std::string& bytes) {
  ReadFile(bytes);
  ReadCompiled(bytes);
}
