# SPDX-License-Identifier: Apache-2.0
# The calls of a proto file as a header, for who has to know all of them when it
# is compiled, with or without gRPC:
#
#   muster_calls(PROTO muster.v1.proto HEADER channel/agent_calls.h)
function(muster_calls)
  cmake_parse_arguments(ARG "" "PROTO;HEADER" "" ${ARGN})
  get_filename_component(proto ${ARG_PROTO} ABSOLUTE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${proto})
  file(STRINGS ${proto} lines REGEX "^ *(package|service|rpc) ")
  set(entries "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^package ([A-Za-z0-9_.]+)")
      set(package ${CMAKE_MATCH_1})
    elseif(line MATCHES "^service ([A-Za-z0-9_]+)")
      set(service ${CMAKE_MATCH_1})
    elseif(line MATCHES "^ *rpc ([A-Za-z0-9_]+)")
      string(APPEND entries "    \"/${package}.${service}/${CMAKE_MATCH_1}\",\n")
    endif()
  endforeach()
  set(header ${CMAKE_BINARY_DIR}/generated/${ARG_HEADER})
  file(CONFIGURE OUTPUT ${header} @ONLY CONTENT
[[// SPDX-License-Identifier: Apache-2.0
// Generated from @ARG_PROTO@ by cmake/MusterCalls.cmake.
#pragma once

#include <array>
#include <string_view>

namespace muster::channel {

// "/package.Service/Method", in the order of the file.
inline constexpr auto kAgentCalls = std::to_array<std::string_view>({
@entries@});

}  // namespace muster::channel
]])
endfunction()
