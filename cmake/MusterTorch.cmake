# SPDX-License-Identifier: Apache-2.0
# libtorch: Debian's by default, another by CMAKE_PREFIX_PATH (PyTorch's wheel:
# its folder, or what torch.utils.cmake_prefix_path prints).
#
# Makes muster_torch (headers as SYSTEM, exactly one libtorch and one libc10)
# and sets MUSTER_TORCH_FOREIGN when it is not the distribution's.

# A wheel's TorchConfig.cmake searches the system too and would link Debian's
# libtorch beside its own libc10; what lies beside the config file is forced.
foreach(prefix IN LISTS CMAKE_PREFIX_PATH)
  foreach(root IN ITEMS ${prefix} ${prefix}/../..)
    if(EXISTS ${root}/share/cmake/Torch/TorchConfig.cmake
       AND EXISTS ${root}/lib/libtorch_cpu.so)
      get_filename_component(MUSTER_TORCH_FOREIGN ${root} ABSOLUTE)
    endif()
  endforeach()
endforeach()
if(MUSTER_TORCH_FOREIGN)
  set(TORCH_LIBRARY ${MUSTER_TORCH_FOREIGN}/lib/libtorch.so
    CACHE FILEPATH "libtorch" FORCE)
  set(c10_LIBRARY ${MUSTER_TORCH_FOREIGN}/lib/libc10.so
    CACHE FILEPATH "libc10" FORCE)
  set(Torch_DIR ${MUSTER_TORCH_FOREIGN}/share/cmake/Torch
    CACHE PATH "TorchConfig.cmake" FORCE)
endif()
find_package(Torch QUIET)
if(NOT Torch_FOUND)
  message(FATAL_ERROR "libtorch is missing: install libtorch-dev, or give "
    "-DCMAKE_PREFIX_PATH=FOLDER_OF_TORCH, or -DMUSTER_WITH_TORCH=OFF")
endif()

get_filename_component(_folder ${TORCH_LIBRARY} DIRECTORY)
add_library(muster_torch INTERFACE)
target_include_directories(muster_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
# Not the targets torch and c10: they also ask for glog, protobuf and gflags,
# which our code never names.
target_link_libraries(muster_torch INTERFACE
  ${TORCH_LIBRARY} ${_folder}/libtorch_cpu.so ${c10_LIBRARY})
target_compile_definitions(muster_torch INTERFACE
  USE_DISTRIBUTED USE_C10D_GLOO)
if(MUSTER_TORCH_FOREIGN)
  # Its ProcessGroupGloo.hpp includes gloo headers that a wheel lacks; ours
  # come first so that an installed older gloo is never taken.
  target_include_directories(muster_torch BEFORE INTERFACE
    $<BUILD_INTERFACE:${CMAKE_CURRENT_LIST_DIR}/../src/train/gloo_names>)
  target_compile_definitions(muster_torch INTERFACE
    $<BUILD_INTERFACE:MUSTER_TORCH_FOREIGN="${MUSTER_TORCH_FOREIGN}">)
  message(STATUS "libtorch: ${MUSTER_TORCH_FOREIGN}")
else()
  # Debian's libtorch leaves Gloo in a library of its own.
  find_library(MUSTER_GLOO_LIBRARY NAMES gloo REQUIRED)
  target_link_libraries(muster_torch INTERFACE ${MUSTER_GLOO_LIBRARY})
  message(STATUS "libtorch: ${TORCH_LIBRARY}")
endif()
