// SPDX-License-Identifier: Apache-2.0
// Graphs for tests, built field by field.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/graph/judge.h"
#include "wire/proto_fields.h"

namespace muster::program::graph {

inline std::string AttributeOf(std::string_view name, std::string_view value) {
  return wire::BytesField(
      5, wire::BytesField(1, name) + wire::BytesField(2, value));
}
inline std::string TypeAttribute(std::string_view name, DataType type) {
  return AttributeOf(name,
                     wire::NumberField(6, static_cast<std::uint64_t>(type)));
}
inline std::string CallAttribute(std::string_view name,
                                 std::string_view function) {
  return AttributeOf(name, wire::BytesField(10, wire::BytesField(1, function)));
}

// NodeDef; `more`: attributes and a device.
inline std::string NodeBytes(std::string_view name, std::string_view op,
                             const std::vector<std::string>& inputs = {},
                             const std::string& more = "") {
  std::string bytes = wire::BytesField(1, name) + wire::BytesField(2, op);
  for (const std::string& input : inputs) {
    bytes += wire::BytesField(3, input);
  }
  return bytes + more;
}

// FunctionDef with arguments of a type.
inline std::string FunctionBytes(std::string_view name,
                                 const std::vector<std::string>& nodes,
                                 std::string_view argument = "x",
                                 DataType type = static_cast<DataType>(1)) {
  std::string bytes = wire::BytesField(
      1, wire::BytesField(1, name) +
             wire::BytesField(2, wire::BytesField(1, argument) +
                                     wire::NumberField(
                                         3, static_cast<std::uint64_t>(type))));
  for (const std::string& node : nodes) {
    bytes += wire::BytesField(3, node);
  }
  return bytes;
}

inline std::string GraphBytes(const std::vector<std::string>& nodes,
                              const std::vector<std::string>& functions = {}) {
  std::string bytes;
  for (const std::string& node : nodes) {
    bytes += wire::BytesField(1, node);
  }
  std::string library;
  for (const std::string& function : functions) {
    library += wire::BytesField(1, function);
  }
  return library.empty() ? bytes : bytes + wire::BytesField(2, library);
}

}  // namespace muster::program::graph
