# SPDX-License-Identifier: Apache-2.0
# Files of a target compiled as one, for whom builds everything once: half of
# the time of a build is parsing what they share.

# "TARGET FILE;FILE;…" of each target of a folder and of those below it.
function(_muster_list_targets folder lines)
  set(found "")
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(NOT type MATCHES "^(STATIC_LIBRARY|EXECUTABLE)$")
      continue()
    endif()
    get_target_property(united ${target} UNITY_BUILD)
    if(DEFINED united AND NOT united AND NOT united MATCHES "NOTFOUND$")
      continue()  # it says no
    endif()
    if(MUSTER_UNITY STREQUAL "TESTS" AND NOT target MATCHES "_test$")
      continue()
    endif()
    get_target_property(sources ${target} SOURCES)
    list(TRANSFORM sources PREPEND "${folder}/" REGEX "^[^/]")
    string(APPEND found "${target} ${sources}\n")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON
      UNITY_BUILD_MODE GROUP)
  endforeach()
  get_property(below DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(one IN LISTS below)
    _muster_list_targets(${one} more)
    string(APPEND found "${more}")
  endforeach()
  set(${lines} "${found}" PARENT_SCOPE)
endfunction()

# To be called when all targets are there.
function(muster_unite)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  _muster_list_targets(${CMAKE_SOURCE_DIR} lines)
  file(WRITE ${CMAKE_BINARY_DIR}/targets.txt "${lines}")
  execute_process(COMMAND ${Python3_EXECUTABLE}
    ${CMAKE_SOURCE_DIR}/tools/unity_groups.py
    INPUT_FILE ${CMAKE_BINARY_DIR}/targets.txt
    OUTPUT_FILE ${CMAKE_BINARY_DIR}/unity.cmake COMMAND_ERROR_IS_FATAL ANY)
  include(${CMAKE_BINARY_DIR}/unity.cmake)
  # What is said about one file means nothing of several.
  target_compile_options(muster_options INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage;-Wno-shadow>)
endfunction()
