// SPDX-License-Identifier: Apache-2.0
// A program as it lies in a file: StableHLO text or bytecode, or the artifact
// of jax.export around it. What is inside is the compiler's to judge.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "muster/error.h"

namespace muster::pjrt {

using muster::ToString;  // those declared here do not hide it

// A larger file is refused.
constexpr std::size_t kModuleLimit = std::size_t{512} << 20;

enum class Container { kText, kBytecode, kJaxExport };
std::string_view ToString(Container container);

struct Module {
  Container container = Container::kText;
  std::string code;  // what PJRT_Compile takes
  // As the file says; absent: it does not say so in a way that is read here.
  std::optional<int> replicas, partitions;
  bool shardy = false;   // speaks of Shardy's dialect
  bool sharded = false;  // has shardings of one kind or another
  // Sides of the arrays that the program takes, as the file writes them: "256",
  // "?", or in an artifact of jax.export an expression of symbols, "2*b".
  // Empty: the file does not tell them in a way that is read here.
  std::vector<std::vector<std::string>> arguments;
};

// The symbols in the sides of its arguments, each once: those of an artifact
// that was exported for sizes that are not known yet.
std::vector<std::string> SymbolsOf(const Module& module);

// file-corrupt: empty, or neither text of StableHLO nor one of the others, or a
// container that is cut short. usage-invalid: a kind of file that is known and
// not read (TensorFlow's graphs, HLO text, a zip).
Result<Module> ReadModule(std::string bytes);

}  // namespace muster::pjrt
