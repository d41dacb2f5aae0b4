# SPDX-License-Identifier: Apache-2.0
# cmake -DPROGRAM=… -DDOCUMENT=… -P SameOutput.cmake: fails when the program
# prints something else than the document.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE printed
  COMMAND_ERROR_IS_FATAL ANY)
file(READ ${DOCUMENT} written)
if(NOT printed STREQUAL written)
  message(FATAL_ERROR "${DOCUMENT} is old: ${PROGRAM} >${DOCUMENT}")
endif()
