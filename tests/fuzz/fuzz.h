// SPDX-License-Identifier: Apache-2.0
// What a fuzzer defines, and what all of them demand; fuzz_main.cc gives it to
// libFuzzer.
#pragma once

#include <string>
#include <string_view>

#include "muster/error.h"

// Reads the bytes as a user's file or a peer's message; MUSTER_CHECK ends the
// process when what it accepts does not hold together.
void Fuzz(const std::string& bytes);

// A text that a user sees has no control character (C0, C1, DEL) but tabs and
// line feeds.
void CheckPrintable(std::string_view text);
// A message of one line, printable, and of no more than 64 KiB, whatever was
// read; the same holds for what was being done.
void CheckError(const muster::Error& error);
