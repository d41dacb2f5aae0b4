// SPDX-License-Identifier: Apache-2.0
// The command line as values.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/line/verb.h"
#include "muster/deadline.h"
#include "muster/error.h"
#include "record/run_folder.h"
#include "resolve/resolve.h"
#include "settings/run_flags.h"

namespace muster::cli {

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
  std::vector<std::string> files, plugins;
  std::vector<int> batches;
  std::string on, signature;
  std::optional<int> partitions, examples;
  Duration request_timeout = std::chrono::seconds(120);
};

// `muster check fit --params N --activations SIZE --on ACCELERATOR`.
struct FitFlags {
  std::string params, activations, on;
  std::string optimizer = "adam", dtype = "f32";
  bool sharded = false;
};

// `muster tpu`.
struct TpuFlags {
  std::string name;
  bool all_zones = false;
  bool quiet = false;         // names alone
  std::string type, version;  // of the accelerator; of the runtime
  std::string shell_line;     // ssh: for the login shell there
  int port = 8888;            // notebook: of the link
  bool yes = false;           // what costs or destroys is not asked about
  bool dry_run = false;
  bool enable = false;
  // How it is to be had; several: whichever comes first.
  bool on_demand = false, spot = false, reserved = false;
  bool queued = false;
  bool wait = false;
  std::vector<std::string> any_zone;
  std::string reach;  // ssh, agent, a port, none
};

// `muster logs`.
struct LogFlags {
  bool follow = false;
  std::set<int> ranks;  // empty: all
  std::string grep;
  std::optional<int> attempt;
};

struct CommandLine {
  const Verb* verb = nullptr;  // never, once it is parsed
  bool help = false;
  bool version = false;
  std::set<std::string, std::less<>> given;     // names of flags
  std::map<std::string, std::string> settings;  // name -> text of its flag
  settings::SettingsFile file;                  // filled by main

  bool Has(std::string_view flag) const { return given.contains(flag); }

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
  bool bind_devices = false;
  std::string processes;             // -n as it was written
  std::vector<std::string> remarks;  // torchrun: what was translated
  bool raw = false;  // a terminal gets the output of ranks as it is
  std::vector<std::string> command;
  // Of an agent that was started over ssh.
  std::optional<std::string> bootstrap_token;
  // explain, bundle: files, folders, "-", or one label; logs: a run; share: a
  // folder; completion: a shell
  std::vector<std::string> inputs;
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
  // runs prune
  record::PruneRule prune;
  LogFlags logs;
  bool words = false;  // completion: what may stand at the end of `command`
  // tpu; --project and --zone are in `cluster`
  TpuFlags tpu;
  // tpu ssh, tpu notebook; check and run with --tpu
  settings::ReachFlags reach;
};

// `args` without the program's name. Everything after the first `--` is the
// command; `help VERB` is `VERB --help`. usage-invalid names the flag, the
// sub-command or the value that is wrong, and what was probably meant.
Result<CommandLine> ParseCommandLine(const std::vector<std::string>& args);

// The sub-command that the words name, as far as they do.
const Verb& VerbOf(const std::vector<std::string>& args);

}  // namespace muster::cli
