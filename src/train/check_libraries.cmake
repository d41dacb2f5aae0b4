# SPDX-License-Identifier: Apache-2.0
# A test: PROGRAM links one libtorch, that of FOLDER when it is given, and
# nothing of the system's beside it.
execute_process(COMMAND ldd ${PROGRAM} OUTPUT_VARIABLE text
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]*(libtorch|libc10|gloo)[^\n]*" lines "${text}")
foreach(name IN ITEMS libtorch_cpu libc10)
  string(REGEX MATCHALL "${name}\\.so[^\n]*=>" found "${text}")
  list(LENGTH found count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "${count} ${name} are linked:\n${text}")
  endif()
endforeach()
if(FOLDER)
  foreach(line IN LISTS lines)
    if(NOT line MATCHES "=> ${FOLDER}/")
      message(FATAL_ERROR "not of ${FOLDER}: ${line}")
    endif()
  endforeach()
endif()
