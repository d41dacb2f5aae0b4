// SPDX-License-Identifier: Apache-2.0
#include "pjrt/program/module.h"

#include <gtest/gtest.h>

namespace muster::pjrt {
namespace {

using namespace std::string_literals;  // NOLINT: of the standard

// A FlatBuffer whose root table has nr_devices = 8 and this module.
std::string JaxExport(const std::string& code) {
  const auto number = [](std::uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) {
      text += static_cast<char>(value >> (8 * i));
    }
    return text;
  };
  std::string entries = number(32, 2) + number(12, 2);
  for (int field = 0; field < 14; ++field) {
    entries += number(field == 6 ? 4 : field == 13 ? 8 : 0, 2);
  }
  // Root offset, entries at 4, table at 36, vector behind it.
  return number(36, 4) + entries + number(32, 4) + number(8, 2) + number(0, 2) +
         number(4, 4) + number(code.size(), 4) + code;
}

Cause RefusalOf(std::string bytes) {
  const auto module = ReadModule(std::move(bytes));
  return module ? Cause::kInternalError : module.error().cause();
}

TEST(Module, ReadsTheCountsOfText) {
  const auto module = ReadModule(
      "module @jit_step attributes {mhlo.num_partitions = 8 : i32, "
      "mhlo.num_replicas = 2 : i32} { sdy.mesh @mesh = <[\"x\"=8]> }");
  ASSERT_TRUE(module);
  EXPECT_EQ(module->container, Container::kText);
  EXPECT_EQ(module->partitions, 8);
  EXPECT_EQ(module->replicas, 2);
  EXPECT_TRUE(module->shardy);
  EXPECT_TRUE(module->sharded);
}

TEST(Module, KnowsWhatTextDoesNotSay) {
  const auto module = ReadModule("func.func @main() { return }");
  ASSERT_TRUE(module);
  EXPECT_FALSE(module->partitions);
  EXPECT_FALSE(module->sharded);
}

TEST(Module, TakesBytecodeAsItIs) {
  const auto module = ReadModule("ML\xEFR\x06 mhlo.sharding");
  ASSERT_TRUE(module);
  EXPECT_EQ(module->container, Container::kBytecode);
  EXPECT_FALSE(module->shardy);
  EXPECT_TRUE(module->sharded);
}

TEST(Module, UnpacksAnArtefactOfJaxExport) {
  const auto module = ReadModule(JaxExport("ML\xEFRcode"));
  ASSERT_TRUE(module) << module.error().ToText();
  EXPECT_EQ(module->container, Container::kJaxExport);
  EXPECT_EQ(module->code, "ML\xEFRcode");
  EXPECT_EQ(module->partitions, 8);
}

using Arguments = std::vector<std::vector<std::string>>;

TEST(Module, ReadsWhatTheProgramTakes) {
  const auto module = ReadModule(
      "module @m { func.func public @main(%arg0: tensor<784x512xf32> "
      "{mhlo.layout = \"x) : tensor<1xf32>\", a.b = [(1)]}, %arg1: "
      "tensor<f32>, %arg2: tensor<?x3xi8> loc(\"x\")) -> (tensor<7xf32>) {} }");
  ASSERT_TRUE(module);
  EXPECT_EQ(module->arguments, (Arguments{{"784", "512"}, {}, {"?", "3"}}));
  EXPECT_EQ(SymbolsOf(*module), std::vector<std::string>());
}

TEST(Module, LeavesOutArgumentsThatAreCutShort) {
  const auto module = ReadModule("func.func @main(%arg0: tensor<7xf32>");
  ASSERT_TRUE(module);
  EXPECT_TRUE(module->arguments.empty());
}

TEST(Module, KnowsSymbolsFromFunctionsOfThem) {
  const Module module{.arguments = {{"b", "3"}, {"2*b", "floordiv(s_1, 2)"}}};
  EXPECT_EQ(SymbolsOf(module), (std::vector<std::string>{"b", "s_1"}));
}

TEST(Module, RefusesAnArtefactThatIsCutShort) {
  const std::string whole = JaxExport("ML\xEFRcode");
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_EQ(RefusalOf(whole.substr(0, size)), Cause::kFileCorrupt) << size;
  }
}

TEST(Module, SaysWhatItDoesNotRead) {
  EXPECT_EQ(RefusalOf("PK\x03\x04 a model"), Cause::kUsageInvalid);
  EXPECT_EQ(RefusalOf("HloModule m, is_scheduled=true"), Cause::kUsageInvalid);
  EXPECT_EQ(RefusalOf("\x0A\x04 StatefulPartitionedCall \0"s),
            Cause::kUsageInvalid);
}

TEST(Module, RefusesWhatIsNone) {
  EXPECT_EQ(RefusalOf(""), Cause::kFileCorrupt);
  EXPECT_EQ(RefusalOf(" \n"), Cause::kFileCorrupt);
  EXPECT_EQ(RefusalOf(std::string(1000, '\0')), Cause::kFileCorrupt);
  EXPECT_EQ(RefusalOf("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), Cause::kFileCorrupt);
}

}  // namespace
}  // namespace muster::pjrt
