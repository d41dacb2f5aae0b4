// SPDX-License-Identifier: Apache-2.0
// What is known of TensorFlow's operations: which have a kernel for TPUs. The
// table is made of tpu_ops.txt, which says where it is from.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace muster::program::graph {

// A row of the table, its columns as in tpu_ops.txt.
struct Operation {
  std::string_view name, sources, flags, types, constants;

  // A TPU computes it, or the graph's rewrite for TPUs uses it up.
  bool HasKernel() const { return sources != "-"; }
  // Known from TensorFlow 2.21 alone.
  bool IsNew() const { return sources == "E"; }
  bool Is(std::string_view flag) const;
};

// By name.
std::span<const Operation> AllOperations();
// nullptr: no operation of TensorFlow 2.21 or 2.6.
const Operation* FindOperation(std::string_view name);

// An input that must be known when the step is compiled.
struct ConstantInput {
  std::string_view name;
  int place = 0;  // from the end where negative
};
std::vector<ConstantInput> ConstantInputs(const Operation& operation);
// The types that an attribute may have; empty: those of all TPUs.
std::vector<std::string_view> TypesOf(const Operation& operation,
                                      std::string_view attribute);

// The values of TensorFlow's DataType that are told apart here.
enum DataType : int {
  kNoType = 0,
  kDouble = 2,
  kString = 7,
  kQint32 = 13,
  kComplex128 = 18,
};
// "float", "string"; "?" for an unknown number.
std::string_view NameOf(DataType type);
std::optional<DataType> DataTypeOf(std::string_view name);

// What to do in place of an operation; empty: not known.
std::string_view Instead(std::string_view operation);

// Calls a function of Python.
bool CallsPython(std::string_view operation);
// Of the input pipeline (tf.data), which the host runs.
bool IsOfPipeline(std::string_view operation);
// Reads or writes a checkpoint.
bool IsOfCheckpoint(std::string_view operation);
// Draws random numbers, anew with every run.
bool IsRandom(const Operation& operation);

}  // namespace muster::program::graph
