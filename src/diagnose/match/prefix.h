// SPDX-License-Identifier: Apache-2.0
// What stands before the text of a line: time, rank, host.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "muster/fact.h"

namespace muster::diagnose {

struct Prefix {
  std::optional<WallTime> at;  // without a zone it is taken for UTC
  int rank = -1;
  std::string host;
  char level = ' ';  // I (or lower), W, E (or higher); ' ': it tells none
};

// Looks at the first 200 bytes. Ranks as torchrun ("[rank3]:"), mpirun
// ("[1,3]<stderr>:"), srun -l ("3: "), MPI, lightning and NCCL print them.
Prefix ReadPrefix(std::string_view line);

// What stands before each line of a process, and what the process wrote. Before
// it stand the rank that torchrun, mpirun, srun and muster put there
// ("[rank3]: ", "[default3]:", "[1,3]<stderr>:", "3: "), the process of Ray
// ("(Trainer pid=71) "), the container of compose and kubectl ("trainer-1  | ",
// "[pod/train-0/main] "), and the time of `--timestamps`, which is no part of
// `who`: that is the same for all lines of one process.
struct Spoken {
  std::string_view who, text;
};
Spoken SpokenOf(std::string_view line);

// The text of SpokenOf().
std::string_view WithoutRank(std::string_view line);

// True for a line of a help text ("  --timeout SEC  abort after it", "usage:
// train.py [--timeout SEC]") or of a change to source code: it says what may
// be, not what was.
bool IsQuoted(std::string_view line);

}  // namespace muster::diagnose
