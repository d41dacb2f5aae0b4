// SPDX-License-Identifier: Apache-2.0
// What a rank that failed has written, as facts for the verdict.
#pragma once

#include <string>
#include <vector>

#include "muster/fact.h"

namespace muster::run {

// True for an end whose reason the rank may have written down: neither a good
// one, nor a KILL, nor the TERM that we send.
bool IsWorthReading(int wait_status);

// Reads the newest bytes (kMostBytes of each stream) of the rank's log files in
// `directory`. No file, no facts. Any thread; takes as long as reading takes,
// and once in a process about 0.1 s to make the matcher.
std::vector<Fact> ReadRankLogs(const std::string& directory, int rank,
                               int wait_status);

}  // namespace muster::run
