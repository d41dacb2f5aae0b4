// SPDX-License-Identifier: Apache-2.0
// What a fuzzer defines; fuzz_main.cc gives it to libFuzzer.
#pragma once

#include <string>

// Reads the bytes as a user's file or a peer's message; MUSTER_CHECK ends the
// process when what it accepts does not hold together.
void Fuzz(const std::string& bytes);
