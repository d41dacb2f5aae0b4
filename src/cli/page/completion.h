// SPDX-License-Identifier: Apache-2.0
// What may stand at a place of the command line, and the scripts by which
// shells ask for it: they hand the words that were typed to `muster completion
// --words -- WORD…` and show what it prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/line/verb.h"

namespace muster::cli {

struct Candidate {
  std::string word;
  std::string note;
};

struct Candidates {
  std::vector<Candidate> words;
  unsigned paths = kNothing;  // kFiles, kFolders: the shell knows them
};

// `words` are those after the program's name, the last is the one that is being
// typed; `runs` the names of runs. Pure.
Candidates Complete(std::vector<std::string> words,
                    const std::vector<std::string>& runs);

// A line each: "WORD\tNOTE"; then ":files" or ":folders".
std::string CandidatesText(const Candidates& candidates);

// The script of bash, zsh or fish.
std::string CompletionScript(std::string_view shell);

}  // namespace muster::cli
