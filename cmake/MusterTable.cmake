# SPDX-License-Identifier: Apache-2.0
# Records that are registered by being there: FOLDER/NAME.cc defines
# NAME::kTYPE in the room's namespace, FOLDER/GROUP/NAME.cc GROUP_NAME::kTYPE,
# and the table of all is generated.
#
#   muster_table(TYPE Check FOLDER checks HEADER check/check.h
#     SPACE muster::check FUNCTION AllChecks ORDER id OUTPUT checks.cc)
#
# Sets MUSTER_TABLE_FILES: the records' files and the table.
function(muster_table)
  cmake_parse_arguments(ARG "" "TYPE;FOLDER;HEADER;SPACE;FUNCTION;ORDER;OUTPUT" "" ${ARGN})
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_FOLDER})
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${folder}/*.cc)
  set(declarations "")
  set(entries "")
  foreach(file IN LISTS files)
    file(RELATIVE_PATH name ${folder} ${file})
    string(REGEX REPLACE "\\.cc$" "" name ${name})
    string(REPLACE "/" "_" name ${name})
    string(APPEND declarations
      "namespace ${name} {\nextern const ${ARG_TYPE} k${ARG_TYPE};\n}\n")
    string(APPEND entries "    &${name}::k${ARG_TYPE},\n")
  endforeach()
  set(table ${CMAKE_BINARY_DIR}/generated/${ARG_OUTPUT})
  file(CONFIGURE OUTPUT ${table} @ONLY CONTENT
[[// SPDX-License-Identifier: Apache-2.0
// Generated from the files of @ARG_FOLDER@/ by cmake/MusterTable.cmake.
#include <algorithm>
#include <array>

#include "@ARG_HEADER@"

namespace @ARG_SPACE@ {

@declarations@
std::span<const @ARG_TYPE@* const> @ARG_FUNCTION@() {
  static const auto sorted = [] {
    std::array all{
@entries@    };
    std::sort(all.begin(), all.end(),
              [](const @ARG_TYPE@* a, const @ARG_TYPE@* b) {
                return a->@ARG_ORDER@ < b->@ARG_ORDER@;
              });
    return all;
  }();
  return sorted;
}

}  // namespace @ARG_SPACE@
]])
  set(MUSTER_TABLE_FILES ${files} ${table} PARENT_SCOPE)
endfunction()
