// SPDX-License-Identifier: Apache-2.0
// The command line as values: the tree of sub-commands and their flags.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "muster/error.h"
#include "resolve/resolve.h"

namespace muster::cli {

enum class Verb { kOverview, kResolve, kRun, kExplain };

// What `muster resolve` is to show besides the cluster.
struct ResolveFlags {
  bool verbose = false;
  bool spec = false;        // the map of tasks alone
  bool check_self = false;  // this host owns the address of its task
  std::string export_for;   // tf, jax, torch, torch_xla, shell, python
  std::vector<std::string> requirements;  // 'tensorflow==2.11.*'
};

struct CommandLine {
  Verb verb = Verb::kOverview;
  bool help = false;
  bool version = false;
  std::map<std::string, std::string> settings;  // name -> text of its flag

  // resolve and run
  resolve::Request cluster;
  // resolve
  ResolveFlags resolve;
  // run
  std::vector<std::pair<std::string, std::string>> environment;
  bool dry_run = false;
  std::vector<std::string> command;
  // explain
  std::vector<std::string> inputs;  // files, folders, "-", or one label
  std::string exit;                 // exit status or signal of the program
  std::string rank_from;            // pattern over names of files
  bool list = false;
};

// `args` without the program's name. Everything after the first `--` is the
// command. usage-invalid names the flag, the sub-command or the value that is
// wrong, and what was probably meant.
Result<CommandLine> ParseCommandLine(const std::vector<std::string>& args);

// Examples first, then flags; without a verb the overview.
std::string HelpText(Verb verb);

}  // namespace muster::cli
