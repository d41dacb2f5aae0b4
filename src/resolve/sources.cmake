# SPDX-License-Identifier: Apache-2.0
# Writes the table of sources/*.cc: sources/NAME.cc defines NAME::kSource.
file(GLOB MUSTER_SOURCE_FILES CONFIGURE_DEPENDS
  ${CMAKE_CURRENT_SOURCE_DIR}/sources/*.cc)
set(declarations "")
set(entries "")
foreach(file IN LISTS MUSTER_SOURCE_FILES)
  get_filename_component(name ${file} NAME_WE)
  string(APPEND declarations "namespace ${name} {\nextern const Source kSource;\n}\n")
  string(APPEND entries "    &${name}::kSource,\n")
endforeach()
set(table ${CMAKE_BINARY_DIR}/generated/resolve_sources.cc)
file(CONFIGURE OUTPUT ${table} @ONLY CONTENT
[[// SPDX-License-Identifier: Apache-2.0
// Generated from src/resolve/sources/ by src/resolve/sources.cmake.
#include <algorithm>
#include <array>

#include "resolve/source.h"

namespace muster::resolve {

@declarations@
std::span<const Source* const> AllSources() {
  static const auto sorted = [] {
    std::array sources{
@entries@    };
    std::sort(sources.begin(), sources.end(),
              [](const Source* a, const Source* b) {
                return a->precedence < b->precedence;
              });
    return sources;
  }();
  return sorted;
}

}  // namespace muster::resolve
]])
