// SPDX-License-Identifier: Apache-2.0
// Files, folders, archives and standard input as facts.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diagnose/match/matcher.h"
#include "diagnose/match/rank_pattern.h"
#include "finding/finding.h"
#include "muster/error.h"
#include "muster/fact.h"
#include "sys/time/clock.h"

namespace muster::diagnose {

struct InputOptions {
  // Tried on names of files, and on the lines of files whose name says nothing.
  std::optional<RankPattern> rank_from;
  // Bounds the CPU time of unpacking archives; without it there is no bound.
  const sys::Clock* clock = nullptr;
  Duration max_cpu = std::chrono::minutes(1);
};

struct Reading {
  std::vector<Fact> facts;
  std::vector<Finding> reported;  // what runs have found out themselves
  // What was asked for or might tell something and was not read, and why.
  std::vector<std::string> unread;
  std::vector<std::string> skipped;  // what is no log, and why
  std::size_t files = 0;             // of which text was read
};

// Reads every input: a path of a file or folder, or "-". Memory does not grow
// with their size. An Error only when no text at all could be read: the first
// input's.
Result<Reading> ReadInputs(std::span<const std::string> inputs,
                           const InputOptions& options, const Matcher& matcher);

}  // namespace muster::diagnose
