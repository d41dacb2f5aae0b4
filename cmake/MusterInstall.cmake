# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` leaves, as two components: `program`, and `library`: the
# public headers, libmuster and the files that find_package(muster) reads.
include(CMakePackageConfigHelpers)

# All that is installed.
add_custom_target(muster_installed DEPENDS muster)

# libmuster is one archive: the objects of the rooms that user programs need.
function(muster_installed_library name)
  cmake_parse_arguments(ARG "" "EXPORT" "MODULES;LINKS" ${ARGN})
  set(objects "")
  foreach(module IN LISTS ARG_MODULES)
    list(APPEND objects $<TARGET_OBJECTS:muster_${module}>)
  endforeach()
  add_library(${name} STATIC ${objects})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX
    EXPORT_NAME ${ARG_EXPORT} OUTPUT_NAME muster_${ARG_EXPORT})
  target_compile_features(${name} INTERFACE cxx_std_20)
  target_include_directories(${name} INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${name} INTERFACE ${ARG_LINKS})
  add_dependencies(muster_installed ${name})
  install(TARGETS ${name} EXPORT muster-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
endfunction()

muster_installed_library(libmuster EXPORT muster
  MODULES base finding cluster wire sys sys_curl accelerator cloud resolve
          resolve_cluster member input checkpoint collective
  LINKS Threads::Threads isal z
        # Only who calls ResolveCluster needs libcurl.so and libcrypto.so when
        # it runs.
        -Wl,--push-state,--as-needed,-lcurl,-lcrypto,--pop-state)
set_target_properties(libmuster PROPERTIES OUTPUT_NAME muster)
muster_installed_library(libmuster_pjrt EXPORT pjrt
  MODULES pjrt LINKS libmuster ${CMAKE_DL_LIBS})
set_target_properties(libmuster_pjrt PROPERTIES OUTPUT_NAME muster_pjrt)
if(TARGET muster_train)
  muster_installed_library(libmuster_train EXPORT train
    MODULES train LINKS libmuster $<$<BOOL:${MUSTER_GLOO_LIBRARY}>:gloo>)
  set_target_properties(libmuster_train PROPERTIES OUTPUT_NAME muster_train)
endif()

install(EXPORT muster-targets NAMESPACE muster::
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/muster COMPONENT library)
configure_package_config_file(cmake/muster-config.cmake.in
  ${CMAKE_BINARY_DIR}/muster-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/muster)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/muster-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/muster-config.cmake
  ${CMAKE_BINARY_DIR}/muster-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/muster COMPONENT library)
install(DIRECTORY include/muster DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT library)
install(FILES ${CMAKE_BINARY_DIR}/generated/muster/cause.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/muster COMPONENT library)
install(TARGETS muster RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  COMPONENT program)
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR}
  COMPONENT program OPTIONAL)
