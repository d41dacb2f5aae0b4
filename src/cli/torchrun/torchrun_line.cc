// SPDX-License-Identifier: Apache-2.0
#include "cli/torchrun/torchrun_line.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/text.h"
#include "base/words/suggest.h"
#include "cli/line/verb.h"
#include "cli/verbs.h"
#include "resolve/formats/endpoint.h"
#include "resolve/formats/key_values.h"
#include "resolve/formats/node_range.h"
#include "resolve/self.h"

namespace muster::cli {
namespace {

using Treatment = TorchrunFlag::Treatment;

constexpr auto kFlags = std::to_array<TorchrunFlag>({
    {"--nnodes", "", true, Treatment::kServed, "--nnodes"},
    {"--nproc-per-node", "", true, Treatment::kServed, "-n"},
    {"--node-rank", "", true, Treatment::kServed, "--node-rank"},
    {"--master-addr", "", true, Treatment::kServed, "--master-addr"},
    {"--master-port", "", true, Treatment::kServed, "--master-port"},
    {"--max-restarts", "", true, Treatment::kServed, "--max-restarts"},
    {"--standalone", "", false, Treatment::kServed, "--nnodes 1"},
    {"--module", "-m", false, Treatment::kServed, "python3 -m"},
    {"--no-python", "", false, Treatment::kServed, "the command as it is"},
    {"--role", "", true, Treatment::kServed, "ROLE_NAME"},
    {"--rdzv-endpoint", "", true, Treatment::kTranslated,
     "--master-addr and --master-port; not needed on one host"},
    {"--rdzv-backend", "", true, Treatment::kTranslated,
     "nothing: the agents gather by themselves"},
    {"--rdzv-id", "", true, Treatment::kTranslated,
     "nothing: a run has an ID of its own"},
    {"--rdzv-conf", "", true, Treatment::kTranslated,
     "--gather-timeout, of timeout and join_timeout"},
    {"--run-path", "", false, Treatment::kTranslated, "python3 SCRIPT"},
    {"--log-dir", "", true, Treatment::kTranslated, "--runs-dir"},
    {"--redirects", "-r", true, Treatment::kTranslated,
     "nothing: output is shown and kept in the folder of the run"},
    {"--tee", "-t", true, Treatment::kTranslated,
     "nothing: output is shown and kept in the folder of the run"},
    {"--local-ranks-filter", "", true, Treatment::kTranslated,
     "nothing: `muster logs --rank` shows some ranks"},
    {"--duplicate-stdout-filters", "", true, Treatment::kTranslated,
     "nothing: `muster logs --grep` filters"},
    {"--duplicate-stderr-filters", "", true, Treatment::kTranslated,
     "nothing: `muster logs --grep` filters"},
    {"--monitor-interval", "", true, Treatment::kTranslated,
     "nothing: an exit is seen at once"},
    {"--start-method", "", true, Treatment::kTranslated,
     "nothing: each rank is a program of its own"},
    {"--event-log-handler", "", true, Treatment::kTranslated,
     "nothing: events are in the folder of the run"},
    {"--numa-binding", "", true, Treatment::kTranslated,
     "nothing: the cores of a rank are of one NUMA node"},
    {"--signals-to-handle", "", true, Treatment::kTranslated,
     "nothing: SIGINT, SIGTERM and SIGHUP end the ranks"},
    {"--shutdown-timeout", "", true, Treatment::kTranslated, "--grace"},
    {"--virtual-local-rank", "", false, Treatment::kTranslated,
     "--bind-devices"},
    {"--local-addr", "", true, Treatment::kRefused,
     "the address of a host is that of its interface to --master-addr"},
    {"--logs-specs", "", true, Treatment::kRefused,
     "it names a plug-in of torchrun's"},
});

// torchrun spells its flags both ways.
std::string Dashed(std::string_view flag) {
  std::string text(flag);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

// By its name, or a beginning that no other has (argparse).
Result<const TorchrunFlag*> FindFlag(const std::string& word) {
  const bool is_long = word.starts_with("--");
  const std::string name =
      Dashed(is_long ? word.substr(0, word.find('=')) : word.substr(0, 2));
  std::vector<const TorchrunFlag*> found;
  std::vector<std::string> names;
  for (const TorchrunFlag& flag : kFlags) {
    if (flag.name == name || (!flag.letter.empty() && name == flag.letter)) {
      return &flag;
    }
    if (name.size() > 2 && flag.name.starts_with(name)) {
      found.push_back(&flag);
    }
    names.emplace_back(flag.name);
  }
  if (found.size() == 1) {
    return found.front();
  }
  return Usage("`" + Printable(word) + "` is no flag of torchrun 2.13" +
               MeantText(name, names));
}

// What was given, by the names of the flags.
struct Given {
  std::map<std::string_view, std::string> values;
  std::vector<std::string> program;  // script and its arguments

  std::optional<std::string> Of(std::string_view name) const {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  }
  bool Has(std::string_view name) const { return values.contains(name); }
};

Result<Given> ReadWords(const std::vector<std::string>& words) {
  Given given;
  std::size_t at = 0;
  while (at < words.size() && words[at].size() > 1 && words[at][0] == '-') {
    const std::string& word = words[at++];
    if (word == "--") {
      break;
    }
    MUSTER_ASSIGN(const TorchrunFlag* flag, FindFlag(word));
    if (flag->treatment == Treatment::kRefused) {
      return Usage("torchrun's " + std::string(flag->name) +
                   " is not served: " + std::string(flag->becomes));
    }
    const bool is_long = word.starts_with("--");
    const auto equals = word.find('=');
    std::string value;
    if (is_long && equals != word.npos) {
      value = word.substr(equals + 1);
    } else if (!is_long && word.size() > 2) {
      value = word.substr(word[2] == '=' ? 3 : 2);  // "-t3"
    } else if (flag->has_value) {
      if (at == words.size()) {
        return Usage("flag " + std::string(flag->name) + " requires a value");
      }
      value = words[at++];
    }
    given.values[flag->name] = std::move(value);
  }
  given.program.assign(words.begin() + static_cast<std::ptrdiff_t>(at),
                       words.end());
  if (given.program.empty()) {
    return Usage("no script: `muster torchrun [flags] train.py [arguments]`");
  }
  return given;
}

Result<int> NumberOf(std::string_view name, const std::string& text) {
  return WholeNumber(Flag{.names = std::string(name)}, text);
}

// The hosts: torchrun numbers them by arrival, unless --node-rank is given.
Status TakeHosts(const Given& given, const sys::Env& env,
                 resolve::Request& request) {
  const std::string nodes =
      given.Has("--standalone") ? "1" : given.Of("--nnodes").value_or("1");
  MUSTER_ASSIGN(const auto range, resolve::ParseNodeRange(nodes));
  request.nodes = nodes;
  if (range.most == 1) {
    return Ok();
  }
  request.master_addr = given.Of("--master-addr");
  if (const auto port = given.Of("--master-port")) {
    MUSTER_ASSIGN(request.master_port, NumberOf("--master-port", *port));
  }
  if (const auto endpoint = given.Of("--rdzv-endpoint")) {
    MUSTER_ASSIGN(const auto split, resolve::ParseEndpoint(*endpoint, 29400));
    request.master_addr = split.host;
    request.master_port = split.port;
  }
  if (const auto rank = given.Of("--node-rank")) {
    MUSTER_ASSIGN(request.node_rank, NumberOf("--node-rank", *rank));
  } else if (request.master_addr &&
             resolve::IsThisHost({.host = *request.master_addr}, env)) {
    request.node_rank = 0;
  } else if (request.master_addr && range.most == 2) {
    request.node_rank = 1;
  } else if (request.master_addr) {
    return Usage(
        "torchrun numbers hosts in the order in which they arrive; give each "
        "its own number: --node-rank 0 to " +
        std::to_string(range.most - 1));
  }
  return Ok();
}

Status TakeSettings(const Given& given, CommandLine& line) {
  // torchrun's own default.
  line.settings["max_restarts"] = given.Of("--max-restarts").value_or("0");
  if (const auto folder = given.Of("--log-dir")) {
    line.settings["runs_dir"] = *folder;
  }
  if (const auto limit = given.Of("--shutdown-timeout")) {
    line.settings["grace"] = *limit + "s";
  }
  if (const auto conf = given.Of("--rdzv-conf")) {
    MUSTER_ASSIGN(const auto values, resolve::ParseRdzvConf(*conf));
    for (const auto& [key, value] : values) {
      if (key == "timeout" || key == "join_timeout") {
        line.settings["gather_timeout"] = value + "s";
      }
    }
  }
  line.bind_devices = given.Has("--virtual-local-rank");
  if (const auto role = given.Of("--role")) {
    line.environment.emplace_back("ROLE_NAME", *role);
  }
  return Ok();
}

// The program as torchrun starts it: by its own Python, unbuffered.
Status TakeProgram(const Given& given, const sys::Env& env, CommandLine& line) {
  const bool module = given.Has("--module");
  const bool run_path = given.Has("--run-path");
  line.command.clear();
  if (given.Has("--no-python")) {
    if (module || run_path) {
      return Usage(std::string("flag --no-python does not go with ") +
                   (module ? "-m" : "--run-path"));
    }
  } else {
    line.command = {env.Get("PYTHON_EXEC").value_or("python3"), "-u"};
    if (module) {
      line.command.emplace_back("-m");
    }
  }
  line.command.insert(line.command.end(), given.program.begin(),
                      given.program.end());
  return Ok();
}

}  // namespace

std::span<const TorchrunFlag> TorchrunFlags() {
  return kFlags;
}

Status TakeTorchrun(const std::vector<std::string>& words, const sys::Env& env,
                    CommandLine& line, std::vector<std::string>& notes) {
  MUSTER_ASSIGN(const Given given, ReadWords(words));
  MUSTER_TRY(TakeHosts(given, env, line.cluster));
  MUSTER_TRY(TakeProcesses(line, Flag{.names = "--nproc-per-node"},
                           given.Of("--nproc-per-node").value_or("1")));
  MUSTER_TRY(TakeSettings(given, line));
  MUSTER_TRY(TakeProgram(given, env, line));
  for (const TorchrunFlag& flag : kFlags) {
    if (flag.treatment == Treatment::kTranslated && given.Has(flag.name)) {
      notes.push_back("torchrun's " + std::string(flag.name) + " becomes " +
                      std::string(flag.becomes));
    }
  }
  return Ok();
}

}  // namespace muster::cli
