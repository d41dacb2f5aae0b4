# SPDX-License-Identifier: Apache-2.0
# gRPC and protobuf as static archives, and what makes a program portable.
#
# Distributions ship gRPC's CMake targets for the shared libraries only, so the
# archives are taken by the list that pkg-config gives for a static link.

# Makes the INTERFACE target muster_crypto (once): OpenSSL's libcrypto as the
# archive that gRPC's TLS is linked with too.
function(muster_find_crypto)
  if(TARGET muster_crypto)
    return()
  endif()
  find_path(MUSTER_CRYPTO_INCLUDE openssl/evp.h REQUIRED)
  find_library(MUSTER_CRYPTO_ARCHIVE NAMES libcrypto.a REQUIRED)
  find_package(Threads REQUIRED)
  mark_as_advanced(MUSTER_CRYPTO_INCLUDE MUSTER_CRYPTO_ARCHIVE)
  add_library(muster_crypto INTERFACE)
  target_include_directories(muster_crypto SYSTEM INTERFACE
    ${MUSTER_CRYPTO_INCLUDE})
  target_link_libraries(muster_crypto INTERFACE ${MUSTER_CRYPTO_ARCHIVE}
    Threads::Threads ${CMAKE_DL_LIBS})
endfunction()

# Makes the INTERFACE target muster_grpc (once) and finds protoc and its plugin.
function(muster_find_grpc)
  if(TARGET muster_grpc)
    return()
  endif()
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(MUSTER_GRPC REQUIRED grpc++>=1.51 protobuf)
  find_program(MUSTER_PROTOC protoc REQUIRED)
  find_program(MUSTER_GRPC_PLUGIN grpc_cpp_plugin REQUIRED)

  set(names ${MUSTER_GRPC_STATIC_LIBRARIES})
  list(REMOVE_DUPLICATES names)
  # Part of glibc, or needed by the linker on few machines only.
  list(REMOVE_ITEM names dl rt pthread m c atomic)
  set(archives "")
  foreach(name IN LISTS names)
    find_library(MUSTER_ARCHIVE_${name} NAMES lib${name}.a
      HINTS ${MUSTER_GRPC_STATIC_LIBRARY_DIRS} REQUIRED)
    mark_as_advanced(MUSTER_ARCHIVE_${name})
    list(APPEND archives ${MUSTER_ARCHIVE_${name}})
  endforeach()

  add_library(muster_grpc INTERFACE)
  # A group: the archives need each other in circles.
  string(JOIN "," group ${archives})
  target_link_libraries(muster_grpc INTERFACE
    "$<LINK_GROUP:RESCAN,${group}>" Threads::Threads ${CMAKE_DL_LIBS})
endfunction()

# muster_proto_library(TARGET FILE.proto) compiles messages and services of one
# proto file; users include it relative to src/ ("channel/grpc/x.grpc.pb.h").
function(muster_proto_library target proto)
  muster_find_grpc()
  get_filename_component(proto ${proto} ABSOLUTE)
  file(RELATIVE_PATH relative ${CMAKE_SOURCE_DIR}/src ${proto})
  string(REGEX REPLACE "\\.proto$" "" stem ${relative})
  set(out ${CMAKE_BINARY_DIR}/generated)
  set(sources ${out}/${stem}.pb.cc ${out}/${stem}.grpc.pb.cc)
  add_custom_command(
    OUTPUT ${sources} ${out}/${stem}.pb.h ${out}/${stem}.grpc.pb.h
      ${out}/${stem}.desc
    COMMAND ${CMAKE_COMMAND} -E make_directory ${out}
    COMMAND ${MUSTER_PROTOC} -I${CMAKE_SOURCE_DIR}/src
      --cpp_out=${out} --grpc_out=${out}
      --descriptor_set_out=${out}/${stem}.desc
      --plugin=protoc-gen-grpc=${MUSTER_GRPC_PLUGIN} ${proto}
    DEPENDS ${proto} VERBATIM)
  # Without muster_options: our warnings are not for generated code.
  add_library(${target} STATIC ${sources})
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE -fPIC -w)
  target_include_directories(${target} SYSTEM PUBLIC ${out})
  target_link_libraries(${target} PUBLIC muster_grpc)
endfunction()

# muster_static_program(TARGET): the executable then needs libc, libm and the
# loader only, of glibc 2.35 (Ubuntu 22.04) or newer.
function(muster_static_program target)
  if(MUSTER_SANITIZE)
    return()  # the runtime of a sanitizer is shared anyway
  endif()
  set(instead
    ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../src/channel/grpc/arc4random.cc
    ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../src/channel/grpc/no_xds.cc)
  target_sources(${target} PRIVATE ${instead})
  set_source_files_properties(${instead} TARGET_DIRECTORY ${target}
    PROPERTIES SKIP_PRECOMPILE_HEADERS ON
      SKIP_UNITY_BUILD_INCLUSION ON)
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc
    -Wl,--gc-sections -Wl,--as-needed
    $<$<CONFIG:Release,MinSizeRel>:-Wl,--strip-all>)
endfunction()
