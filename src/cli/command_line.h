// SPDX-License-Identifier: Apache-2.0
// The command line as values: the tree of sub-commands and their flags.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/tpu/line.h"
#include "muster/deadline.h"
#include "muster/error.h"
#include "resolve/resolve.h"

namespace muster::cli {

enum class Verb { kOverview, kResolve, kCheck, kRun, kExplain, kBundle, kTpu };

// What `muster resolve` is to show besides the cluster.
struct ResolveFlags {
  bool verbose = false;
  bool spec = false;        // the map of tasks alone
  bool check_self = false;  // this host owns the address of its task
  std::string export_for;   // tf, jax, torch, torch_xla, shell, python
  std::vector<std::string> requirements;  // 'tensorflow==2.11.*'
};

// `muster check program FILE… --on TOPOLOGY`.
struct ProgramFlags {
  bool asked = false;
  std::vector<std::string> files, plugins;
  std::vector<int> batches;
  std::string on, signature;
  std::optional<int> partitions, examples;
  Duration request_timeout = std::chrono::seconds(120);
};

// `muster check fit --params N --activations SIZE --on ACCELERATOR`.
struct FitFlags {
  bool asked = false;
  std::string params, activations, on;
  std::string optimizer = "adam", dtype = "f32";
  bool sharded = false;
};

struct CommandLine {
  Verb verb = Verb::kOverview;
  bool help = false;
  bool version = false;
  std::map<std::string, std::string> settings;  // name -> text of its flag

  // resolve, check and run
  resolve::Request cluster;
  // resolve
  ResolveFlags resolve;
  // check
  std::vector<std::string> groups;       // groups or ids of checks
  std::vector<std::string> checkpoints;  // where they are to be written
  std::vector<std::string> data;         // what is to be read
  std::vector<std::string> targets;      // addresses that are asked
  std::string framework;                 // whose servers the members are
  std::optional<int> replicas;           // that are expected
  bool verbose = false;                  // what is skipped, too
  bool open = false;                     // the accelerators of this host
  bool yes = false;                      // nobody has to be asked
  ProgramFlags program;
  FitFlags fit;
  // run
  std::vector<std::pair<std::string, std::string>> environment;
  bool dry_run = false;
  bool share = false;
  bool raw = false;  // a terminal gets the output of ranks as it is
  std::vector<std::string> command;
  // explain and bundle
  std::vector<std::string> inputs;  // files, folders, "-", or one label
  // bundle
  std::string archive;         // the file to write
  bool redact_emails = false;  // also from what is packed
  // explain
  std::string exit;                // exit status or signal of the program
  std::vector<std::string> notes;  // what the user saw
  std::string rank_from;           // pattern over names of files and lines
  bool inspect_host = false;       // this machine, too
  // explain and check
  bool list = false;
  // tpu; --project and --zone are in `cluster`
  TpuFlags tpu;
  // tpu ssh, tpu notebook; check and run with --tpu
  settings::ReachFlags reach;
};

// `args` without the program's name. Everything after the first `--` is the
// command; `help VERB` is `VERB --help`. usage-invalid names the flag, the
// sub-command or the value that is wrong, and what was probably meant.
Result<CommandLine> ParseCommandLine(const std::vector<std::string>& args);

// Examples first, then flags; without a verb the overview.
std::string HelpText(Verb verb);

}  // namespace muster::cli
