# SPDX-License-Identifier: Apache-2.0
# libcurl and what http and https need of its archives, linked statically; the
# rest is in src/sys/net/curl_absent.cc.

# Makes the INTERFACE target muster_curl_archives.
function(muster_find_curl)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(MUSTER_CURL REQUIRED libcurl>=7.85)
  set(archives "")
  foreach(name IN ITEMS curl nghttp2 ssl crypto z zstd brotlidec brotlicommon)
    find_library(MUSTER_ARCHIVE_${name} NAMES lib${name}.a
      HINTS ${MUSTER_CURL_LIBRARY_DIRS} REQUIRED)
    mark_as_advanced(MUSTER_ARCHIVE_${name})
    list(APPEND archives ${MUSTER_ARCHIVE_${name}})
  endforeach()
  add_library(muster_curl_archives INTERFACE)
  target_include_directories(muster_curl_archives SYSTEM INTERFACE
    ${MUSTER_CURL_INCLUDE_DIRS})
  # A group: the archives need each other in circles.
  string(JOIN "," group ${archives})
  target_link_libraries(muster_curl_archives INTERFACE
    "$<LINK_GROUP:RESCAN,${group}>" Threads::Threads ${CMAKE_DL_LIBS})
endfunction()
