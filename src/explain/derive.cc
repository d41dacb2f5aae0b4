// SPDX-License-Identifier: Apache-2.0
#include "explain/derive.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/text.h"

namespace muster::explain {
namespace {

const Fact* First(const std::vector<Fact>& facts, std::string_view name) {
  const auto found =
      std::find_if(facts.begin(), facts.end(),
                   [&](const Fact& fact) { return fact.name == name; });
  return found == facts.end() ? nullptr : &*found;
}

std::optional<std::int64_t> NumberOf(const std::vector<Fact>& facts,
                                     std::string_view name,
                                     std::string_view field) {
  const Fact* const fact = First(facts, name);
  return fact == nullptr ? std::nullopt : ParseInt(fact->Text(field));
}

// A fact that rests on another one: same place, other name.
void Add(std::vector<Fact>& facts, const Fact& on, std::string name) {
  Fact fact = on;
  fact.name = std::move(name);
  facts.push_back(std::move(fact));
}

void CompareRanks(std::vector<Fact>& facts) {
  const auto rank = NumberOf(facts, "env.rank", "value");
  const auto size = NumberOf(facts, "env.world_size", "value");
  if (rank && size && *rank >= *size) {
    Add(facts, Fact(*First(facts, "env.rank")), "numbers.rank_outside");
  }
}

void CompareTasks(std::vector<Fact>& facts) {
  const auto tasks = NumberOf(facts, "slurm.ntasks", "value");
  const auto per_node = NumberOf(facts, "slurm.ntasks_per_node", "value");
  const auto nodes = NumberOf(facts, "slurm.nodes", "value").value_or(1);
  if (tasks && per_node &&
      (*tasks < *per_node || *per_node * nodes != *tasks)) {
    Add(facts, Fact(*First(facts, "slurm.ntasks_per_node")),
        "numbers.tasks_disagree");
  }
}

// "882700288" and "220675072": a whole multiple, as of shards.
void CompareShapes(std::vector<Fact>& facts) {
  const std::vector<Fact> seen = facts;
  for (const Fact& fact : seen) {
    if (fact.name != "shapes.differ") {
      continue;
    }
    const auto a = ParseInt(fact.Text("a")).value_or(0);
    const auto b = ParseInt(fact.Text("b")).value_or(0);
    const auto big = std::max(a, b);
    const auto small = std::min(a, b);
    if (small > 64 && big != small && big % small == 0) {
      Add(facts, fact, "numbers.whole_multiple");
    }
  }
}

// "16.50 GiB", "385.25M", "6291456".
double BytesOf(std::string_view text) {
  double value = 0;
  std::size_t at = 0;
  double scale = 1;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c >= '0' && c <= '9') {
      value = scale == 1 ? value * 10 + (c - '0') : value + (c - '0') * scale;
      scale = scale == 1 ? 1 : scale / 10;
    } else if (c == '.' && scale == 1) {
      scale = 0.1;
    } else if (c != ',') {
      break;
    }
  }
  while (at < text.size() && text[at] == ' ') {
    ++at;
  }
  const std::string_view units = "BKMGT";
  const auto unit = at < text.size()
                        ? units.find(static_cast<char>(
                              text[at] >= 'a' ? text[at] - 32 : text[at]))
                        : std::string_view::npos;
  return unit == std::string_view::npos
             ? value
             : value * std::pow(1024.0, static_cast<double>(unit));
}

// PyTorch's account of a device: what others hold against what is ours.
void CompareMemory(std::vector<Fact>& facts) {
  const std::vector<Fact> seen = facts;
  for (const Fact& fact : seen) {
    if (fact.name != "device.memory") {
      continue;
    }
    const double total = BytesOf(fact.Text("total"));
    const double available = BytesOf(fact.Text("free"));
    const double own =
        BytesOf(fact.Text(fact.Has("own") ? "own" : "allocated"));
    const double wanted = BytesOf(fact.Text("wanted"));
    if (total > 0 && (fact.Has("own") || fact.Has("allocated")) &&
        total - available - own > total / 2 && own + wanted < total / 2) {
      Add(facts, fact, "numbers.others_hold_device");
    }
  }
}

// "[29:55<03:25": a bar that stood near the half hour which c10d waits.
void CompareWaits(std::vector<Fact>& facts) {
  const Fact* const bar = First(facts, "progress.bar");
  if (bar == nullptr) {
    return;
  }
  const auto minutes = ParseInt(bar->Text("minutes")).value_or(0);
  for (std::int64_t limit : {10, 30, 60}) {
    if (minutes == limit || minutes + 1 == limit) {
      Add(facts, Fact(*bar), "numbers.bar_at_limit");
      return;
    }
  }
}

// The same thing told differently by two hosts or ranks.
void CompareMembers(std::vector<Fact>& facts) {
  std::map<std::string, std::map<std::string, const Fact*>> by_kind;
  for (const Fact& fact : facts) {
    if (fact.name == "version.told") {
      by_kind[fact.Text("what")].emplace(fact.Text("version"), &fact);
    }
  }
  std::optional<Fact> differs;
  for (const auto& [what, versions] : by_kind) {
    std::set<std::string> places;
    for (const auto& [version, fact] : versions) {
      places.insert(fact->Text("host") + "/" + fact->Text("source") + "/" +
                    std::to_string(fact->Number("rank", -1)));
    }
    if (versions.size() > 1 && places.size() > 1) {
      differs = *versions.begin()->second;
    }
  }
  const Fact* plugin = First(facts, "nccl.plugin_loaded");
  const Fact* no_plugin = First(facts, "nccl.plugin_absent");
  if (plugin != nullptr && no_plugin != nullptr && plugin->Has("host") &&
      no_plugin->Has("host") &&
      plugin->Text("host") != no_plugin->Text("host")) {
    differs = *plugin;
  }
  if (differs) {
    Add(facts, *differs, "members.versions_differ");
  }
}

// The last fact of this name that tells another operation than an earlier one
// at the same place of the sequence.
std::optional<Fact> OtherOperation(const std::vector<Fact>& facts,
                                   std::string_view name) {
  std::optional<Fact> differs;
  std::map<std::string, std::set<std::string>> ops;
  for (const Fact& fact : facts) {
    if (fact.name != name) {
      continue;
    }
    auto& of_sequence = ops[fact.Text("seq")];
    of_sequence.insert(fact.Text("op"));
    if (of_sequence.size() > 1) {
      differs = fact;
    }
  }
  return differs;
}

// Ranks whose tracebacks end in different collectives.
std::optional<Fact> OtherFrame(const std::vector<Fact>& facts) {
  std::map<std::int64_t, const Fact*> first;
  for (const Fact& fact : facts) {
    const std::int64_t rank = fact.Number("rank", -1);
    if (fact.name == "collective.frame" && rank >= 0) {
      first.emplace(rank, &fact);
    }
  }
  for (const auto& [rank, fact] : first) {
    if (fact->Text("op") != first.begin()->second->Text("op")) {
      return *fact;
    }
  }
  return std::nullopt;
}

// What each rank was in when it gave up: other operations at the same place
// mean that the ranks do not do the same.
void CompareCollectives(std::vector<Fact>& facts) {
  auto differs = OtherOperation(facts, "collective.timeout");
  for (const Fact& fact : facts) {
    if (fact.name == "collective.op_pair" &&
        fact.Text("op") != fact.Text("other")) {
      differs = fact;
    }
  }
  if (!differs) {
    differs = OtherOperation(facts, "collective.op");
  }
  if (!differs) {
    differs = OtherFrame(facts);
  }
  if (differs) {
    Add(facts, *differs, "collective.ops_differ");
  }
}

// Modules with one version each, compared to each other by the catalogue's own
// knowledge of what belongs together.
void CompareDriver(std::vector<Fact>& facts) {
  const Fact* const kernel = First(facts, "driver.kernel_module");
  const Fact* const client = First(facts, "driver.user_space");
  if (kernel != nullptr && client != nullptr) {
    const std::string a = kernel->Text("version").substr(0, 3);
    const std::string b = client->Text("version").substr(0, 3);
    if (!a.empty() && !b.empty() && a != b) {
      Add(facts, Fact(*kernel), "driver.halves_differ");
    }
  }
}

// A traceback whose last frame is the user's own file.
void JudgeException(std::vector<Fact>& facts) {
  const std::vector<Fact> seen = facts;
  for (const Fact& fact : seen) {
    if (fact.name != "python.exception") {
      continue;
    }
    // Errors that compiled code of a framework raises as well.
    const std::string type = fact.Text("type");
    if (type == "RuntimeError" || type == "OSError" ||
        type.find('.') != std::string::npos) {
      continue;
    }
    const std::string frame = fact.Text("frame");
    const bool framework = frame.empty() ||
                           frame.find("site-packages") != std::string::npos ||
                           frame.find("dist-packages") != std::string::npos ||
                           frame.find("lib/python") != std::string::npos ||
                           frame.starts_with("<frozen");
    if (!framework) {
      Add(facts, fact, "python.own_exception");
    }
  }
}

}  // namespace

void Derive(std::vector<Fact>& facts) {
  CompareRanks(facts);
  CompareTasks(facts);
  CompareShapes(facts);
  CompareMemory(facts);
  CompareWaits(facts);
  CompareMembers(facts);
  CompareCollectives(facts);
  CompareDriver(facts);
  JudgeException(facts);
}

}  // namespace muster::explain
