# SPDX-License-Identifier: Apache-2.0
# One helper makes every module: a static library muster_<name> with the alias
# muster::<name>, and beside it one test program <name>_test.

find_package(Threads REQUIRED)

# What only our own code is compiled with.
add_library(muster_options INTERFACE)
target_compile_features(muster_options INTERFACE cxx_std_20)
target_compile_options(muster_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual -Wformat=2 -Wundef
  -Wnull-dereference -Wimplicit-fallthrough -Wdouble-promotion
  -Wmissing-declarations -fno-omit-frame-pointer -fPIC
  # No path of the machine that builds; what nobody calls is left out of programs.
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=
  $<$<CONFIG:Release>:-ffunction-sections;-fdata-sections>
  # Designated initialisers leave members out on purpose.
  -Wno-missing-field-initializers
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond;-Wduplicated-branches;-Wlogical-op;-Wuseless-cast>
  # With optimization g++ 12 sees ghosts in std::string and in moved Errors.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<NOT:$<CONFIG:Debug>>>:-Wno-null-dereference;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-restrict;-Wno-array-bounds;-Wno-maybe-uninitialized>
  # In a unity build every file is an included one.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety;-Wthread-safety-beta;-Wunreachable-code-aggressive;-Wextra-semi>
  $<$<BOOL:${MUSTER_WERROR}>:-Werror>)
# Installed code and the build tree find the same headers under one root.
target_include_directories(muster_options INTERFACE
  ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src
  ${CMAKE_BINARY_DIR}/generated)
target_link_libraries(muster_options INTERFACE Threads::Threads)

if(MUSTER_SANITIZE)
  set(_flags -fsanitize=${MUSTER_SANITIZE} -fno-sanitize-recover=all)
  if(MUSTER_SANITIZE STREQUAL "address")
    set(_flags -fsanitize=address,undefined -fno-sanitize-recover=all)
    if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
      # What the fuzzers of tests/fuzz steer by; costs the tests little.
      set(MUSTER_FUZZ ON)
      list(APPEND _flags -fsanitize=fuzzer-no-link)
    endif()
  endif()
  # g++ sees ghosts in sanitized code.
  target_compile_options(muster_options INTERFACE ${_flags} -Wno-null-dereference
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-stringop-overflow>)
  target_link_options(muster_options INTERFACE ${_flags})
endif()

# -fPIC is among muster_options: libraries and programs share one precompiled
# header, and libmuster may end in a shared object of a user.
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# The headers that every file of ours pays for, compiled once.
option(MUSTER_PCH "Use precompiled headers" ON)
set(muster_common_headers
  <algorithm> <atomic> <chrono> <cstdint> <cstring> <functional> <map> <memory>
  <mutex> <optional> <span> <string> <string_view> <thread> <utility> <variant>
  <vector>)
add_library(muster_pch STATIC ${CMAKE_SOURCE_DIR}/cmake/pch.cc)
target_link_libraries(muster_pch PUBLIC muster_options)
if(MUSTER_PCH)
  target_precompile_headers(muster_pch PRIVATE ${muster_common_headers})
endif()
# The same for tests: half of the time of a small one is parsing gmock. What
# only asserts need not be fast.
if(MUSTER_BUILD_TESTS)
  add_library(muster_test_pch STATIC ${CMAKE_SOURCE_DIR}/cmake/pch.cc)
  add_library(muster_test_options INTERFACE)
  target_compile_options(muster_test_options INTERFACE
    $<$<CONFIG:Release>:-O0>)
  target_link_libraries(muster_test_options INTERFACE muster_options
    GTest::gmock)
  target_link_libraries(muster_test_pch PUBLIC muster_test_options)
  if(MUSTER_PCH)
    target_precompile_headers(muster_test_pch PRIVATE
      ${muster_common_headers} <gmock/gmock.h> <gtest/gtest.h>)
  endif()
endif()
# Empty: the tests of every room. Sanitizers take those of some rooms only.
set(MUSTER_TESTED_ROOMS "" CACHE STRING "The rooms whose tests are built")
add_custom_target(muster_tests)
# What a tool needs before it can read our code: clang-tidy, clangd.
add_custom_target(muster_generated)
# Compiles every header alone. Ours are spared the common ones of the library;
# clang-tidy reads them without.
add_custom_target(muster_headers)
add_library(muster_header_pch STATIC EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/cmake/pch.cc)
target_link_libraries(muster_header_pch PUBLIC muster_options)
target_precompile_headers(muster_header_pch PRIVATE ${muster_common_headers})

# One file a header, holding nothing but its inclusion: it must compile.
function(muster_check_headers name library)
  set(own "")
  set(public "")
  foreach(header IN LISTS ARGN)
    set(kind own)
    if(header MATCHES "^include/")
      set(kind public)
    endif()
    string(REGEX REPLACE "^include/" "" header "${header}")
    string(MAKE_C_IDENTIFIER "${header}" id)
    set(file ${CMAKE_BINARY_DIR}/headers/${id}.cc)
    if(NOT EXISTS ${file})
      file(WRITE ${file} "#include \"${header}\"  // IWYU pragma: keep\n")
    endif()
    list(APPEND ${kind} ${file})
  endforeach()
  foreach(kind IN ITEMS own public)
    if(${kind})
      set(target muster_${kind}_headers_${name})
      add_library(${target} OBJECT EXCLUDE_FROM_ALL ${${kind}})
      set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
      target_link_libraries(${target} PRIVATE ${library})
      add_dependencies(muster_headers ${target})
      if(kind STREQUAL "own")
        target_precompile_headers(${target} REUSE_FROM muster_header_pch)
      endif()
    endif()
  endforeach()
endfunction()

# muster_library(NAME base HEADERS a.h … SOURCES a.cc … DEPS …
#                [TESTS a_test.cc …] [TEST_DEPS …] [PCH own|none])
# HEADERS of include/muster are given with that prefix; each header is compiled
# alone by `make lint`. With PCH own the module makes its own precompiled header.
function(muster_library)
  cmake_parse_arguments(ARG "" "NAME;PCH" "HEADERS;SOURCES;DEPS;TESTS;TEST_DEPS"
    ${ARGN})
  set(target muster_${ARG_NAME})
  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(muster::${ARG_NAME} ALIAS ${target})
  target_link_libraries(${target} PUBLIC muster_options ${ARG_DEPS})
  if(MUSTER_PCH AND NOT ARG_PCH)
    target_precompile_headers(${target} REUSE_FROM muster_pch)
  endif()
  muster_check_headers(${ARG_NAME} ${target} ${ARG_HEADERS})
  if(MUSTER_TESTED_ROOMS AND NOT ARG_NAME IN_LIST MUSTER_TESTED_ROOMS)
    return()
  endif()
  if(MUSTER_BUILD_TESTS AND ARG_TESTS)
    add_executable(${ARG_NAME}_test ${ARG_TESTS})
    add_dependencies(muster_tests ${ARG_NAME}_test)
    target_link_libraries(${ARG_NAME}_test PRIVATE ${target} ${ARG_TEST_DEPS}
      GTest::gmock GTest::gtest_main)
    if(NOT ARG_PCH)
      target_link_libraries(${ARG_NAME}_test PRIVATE muster_test_options)
      if(MUSTER_PCH)
        target_precompile_headers(${ARG_NAME}_test REUSE_FROM muster_test_pch)
      endif()
    endif()
    add_test(NAME ${ARG_NAME} COMMAND ${ARG_NAME}_test --gtest_brief=1)
    set_tests_properties(${ARG_NAME} PROPERTIES LABELS unit TIMEOUT 120)
  endif()
endfunction()

# muster_hot(NAME file.cc …): loops over whole tensors, optimized fully. Without
# the precompiled header, which was made with other flags.
function(muster_hot name)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY muster_${name} PROPERTIES
    COMPILE_OPTIONS $<$<CONFIG:Release>:-O3> SKIP_PRECOMPILE_HEADERS ON)
endfunction()
