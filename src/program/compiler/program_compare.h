// SPDX-License-Identifier: Apache-2.0
// One program asked of several compilers, and several sizes of one program
// asked of one. Pure: nobody is asked here.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "program/compiler/program.h"

namespace muster::program {

struct AskedProgram {
  ProgramRequest request;
  ProgramReport report;
};

// "It worked with the older one". pass: every compiler takes the program; fail:
// some refuse it, and each refusal names who takes it; broken: one could not be
// asked.
Outcome CompareCompilers(std::span<const AskedProgram> asked);

// "`/opt/libtpu.so` (libtpu 0.0.52, PJRT 0.117, StableHLO 1.24.0)".
std::string CompilerText(const AskedProgram& one);

// The side of an argument in which the programs differ.
struct Varied {
  std::size_t argument = 0, side = 0;
  std::vector<std::int64_t> values;  // of each program
};
// nullopt: the files do not tell their arguments, or those do not differ in the
// size of one side.
std::optional<Varied> FindVaried(std::span<const AskedProgram> asked);
// "batch 128"; "side 1 of argument 0 = 128" where it is not the first side.
std::string VariedText(const Varied& varied, std::size_t program);

// Bytes that a device needs for it, as the compiler says; nullopt: it does not.
std::optional<std::int64_t> NeededMemory(const ProgramReport& report);

// The program that fits with the most of what varies or, where that is not
// known, that needs the most memory; nullopt: none fits.
std::optional<std::size_t> LargestThatFits(std::span<const AskedProgram> asked,
                                           const std::optional<Varied>& varied);

// pass: the largest that fits is named; fail: none does, or one is refused for
// another reason than its size; broken: one could not be asked.
Outcome CompareSizes(std::span<const AskedProgram> asked);

}  // namespace muster::program
