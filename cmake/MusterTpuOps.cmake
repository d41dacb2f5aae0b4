# SPDX-License-Identifier: Apache-2.0
# muster_tpu_ops(TABLE OUTPUT): the rows of tpu_ops.txt as an array of C++.
function(muster_tpu_ops table output)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
  file(READ ${table} rows)
  string(REGEX REPLACE "#[^\n]*\n" "" rows "${rows}")
  string(REGEX REPLACE
    "([^\t\n]+)\t([^\t\n]+)\t([^\t\n]+)\t([^\t\n]+)\t([^\t\n]+)\n"
    "    {\"\\1\", \"\\2\", \"\\3\", \"\\4\", \"\\5\"},\n" rows "${rows}")
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
[[// SPDX-License-Identifier: Apache-2.0
// Generated from tpu_ops.txt by cmake/MusterTpuOps.cmake.
#include "program/graph/operation.h"

namespace muster::program::graph {
namespace {

constexpr Operation kOperations[] = {
@rows@};

}  // namespace

std::span<const Operation> AllOperations() { return kOperations; }

}  // namespace muster::program::graph
]])
endfunction()
