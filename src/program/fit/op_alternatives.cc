// SPDX-License-Identifier: Apache-2.0
#include "program/fit/op_alternatives.h"

#include <algorithm>
#include <array>

namespace muster::program {
namespace {

struct Instead {
  std::string_view operation;  // a part of its name; empty: of any
  std::string_view text;       // a part of what the compiler says
  std::string_view words;
};

constexpr std::string_view kLowerForTpus =
    "it calls a library of another platform: lower the step for TPUs with "
    "jax.export.export(jax.jit(step), platforms=[\"tpu\"])";

// In this order; the first that applies.
constexpr std::array<Instead, 8> kInstead{{
    {"python", "",
     "call Python between steps (jax.pure_callback, io_callback and "
     "debug.print are Python calls), or write it with jax.numpy"},
    {"lapack_", "", kLowerForTpus},
    {"cusolver", "", kLowerForTpus},
    {"cublas", "", kLowerForTpus},
    {"cudnn", "", kLowerForTpus},
    {"hipsolver", "", kLowerForTpus},
    {"triton", "", kLowerForTpus},
    {"", "c128[", "complex64 instead of complex128, which TPUs do not support"},
}};

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

std::string_view AlternativeTo(std::string_view operation,
                               std::string_view text) {
  const auto* found =
      std::find_if(kInstead.begin(), kInstead.end(), [&](const Instead& one) {
        return Has(operation, one.operation) && Has(text, one.text);
      });
  return found == kInstead.end() ? "" : found->words;
}

}  // namespace muster::program
