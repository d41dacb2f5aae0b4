// SPDX-License-Identifier: Apache-2.0
#include "diagnose/derive/derive.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/text.h"
#include "diagnose/derive/derive_collectives.h"
#include "diagnose/derive/derive_members.h"
#include "diagnose/derive/derive_parts.h"
#include "diagnose/derive/derive_times.h"
#include "diagnose/derive/derive_values.h"

namespace muster::diagnose {
namespace {

void CompareRanks(std::vector<Fact>& facts) {
  const auto rank = NumberOf(facts, "env.rank", "value");
  const auto size = NumberOf(facts, "env.world_size", "value");
  if (rank && size && *rank >= *size) {
    AddOn(facts, Fact(*FirstOf(facts, "env.rank")), "numbers.rank_outside");
  }
}

// "world_size=4, worker_count=8": more came than there are to be.
void CompareArrived(std::vector<Fact>& facts) {
  const std::vector<Fact> seen = facts;
  for (const Fact& fact : seen) {
    const auto size = NumberIn(fact, "size");
    if (fact.name == "store.barrier" && size > 0 &&
        NumberIn(fact, "count") > size) {
      AddOn(facts, fact, "numbers.more_than_world");
      return;
    }
  }
}

// The first of that name that is told of the same job, or by the same srun.
const Fact* FirstBeside(const std::vector<Fact>& facts, const Fact& told,
                        std::string_view name) {
  const auto found =
      std::find_if(facts.begin(), facts.end(), [&](const Fact& fact) {
        return fact.name == name &&
               (told.Has("srun")
                    ? fact.Text("source") == told.Text("source") &&
                          fact.Number("line", 0) == told.Number("line", 0)
                    : !fact.Has("srun"));
      });
  return found == facts.end() ? nullptr : &*found;
}

// A step may have fewer tasks than its job: each has its own numbers.
bool TasksDisagree(const std::vector<Fact>& facts, const Fact& per_node) {
  const Fact* tasks = FirstBeside(facts, per_node, "slurm.ntasks");
  const Fact* nodes = FirstBeside(facts, per_node, "slurm.nodes");
  const auto each = NumberIn(per_node, "value");
  if (tasks == nullptr || each < 1) {
    return false;
  }
  const auto all = NumberIn(*tasks, "value");
  return nodes != nullptr ? all != each * NumberIn(*nodes, "value")
                          : all % each != 0;
}

void CompareTasks(std::vector<Fact>& facts) {
  const std::vector<Fact> seen = facts;
  for (const Fact& fact : seen) {
    if (fact.name == "slurm.ntasks_per_node" && TasksDisagree(seen, fact)) {
      AddOn(facts, fact, "numbers.tasks_disagree");
      return;
    }
  }
}

// "882700288" and "220675072": a whole multiple, as of flattened shards, the
// last of which is padded. Small numbers are sizes of layers.
constexpr std::int64_t kLeastShard = 1024;

bool AreShardsOf(std::int64_t whole, std::int64_t shard) {
  if (shard < kLeastShard || whole <= shard) {
    return false;
  }
  const auto parts = (whole + shard / 2) / shard;
  return parts > 1 && (whole + parts - 1) / parts == shard;
}

void CompareShapes(std::vector<Fact>& facts) {
  const std::vector<Fact> seen = facts;
  for (const Fact& fact : seen) {
    if (fact.name != "shapes.differ") {
      continue;
    }
    const auto a = NumberIn(fact, "a");
    const auto b = NumberIn(fact, "b");
    if (AreShardsOf(std::max(a, b), std::min(a, b))) {
      AddOn(facts, fact, "numbers.whole_multiple");
    }
  }
}

// "[483,1] vs. [482,1]": two parts of a batch that are not alike.
void CompareBatches(std::vector<Fact>& facts) {
  const std::vector<Fact> seen = facts;
  for (const Fact& fact : seen) {
    if (fact.name != "shapes.pair" ||
        fact.Text("rest") != fact.Text("rest_b")) {
      continue;
    }
    const auto a = NumberIn(fact, "a");
    const auto b = NumberIn(fact, "b");
    if (a != b && std::min(a, b) > 1) {
      AddOn(facts, fact, "shapes.first_differs");
    }
  }
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
      AddOn(facts, fact, "numbers.others_hold_device");
    }
  }
}

// A source whose last word is that it waits for somebody.
void JudgeLastWord(std::vector<Fact>& facts) {
  std::map<std::string, std::int64_t> last;
  for (const Fact& fact : facts) {
    if (fact.name != "log.harmless") {
      auto& line = last[fact.Text("source")];
      line = std::max(line, LastLine(fact));
    }
  }
  const std::vector<Fact> seen = facts;
  for (const Fact& fact : seen) {
    if (fact.name == "wait.going_on" &&
        LastLine(fact) == last[fact.Text("source")]) {
      Fact waits = fact;
      waits.fields.erase("level");  // it is said in passing, and is the end
      AddOn(facts, waits, "log.ends_waiting");
      return;
    }
  }
}

// Code in which a device was asked for before the members were joined.
void CompareCalls(std::vector<Fact>& facts) {
  const std::vector<Fact> seen = facts;
  for (const Fact& join : seen) {
    if (join.name != "call.joins") {
      continue;
    }
    for (const Fact& use : seen) {
      if (use.name == "call.uses_devices" &&
          use.Text("source") == join.Text("source") &&
          use.Number("line", 0) < join.Number("line", 0)) {
        AddOn(facts, use, "order.devices_before_joining");
        return;
      }
    }
  }
}

// Modules with one version each, compared to each other by the catalog's own
// knowledge of what belongs together.
void CompareDriver(std::vector<Fact>& facts) {
  const Fact* const kernel = FirstOf(facts, "driver.kernel_module");
  const Fact* const client = FirstOf(facts, "driver.user_space");
  if (kernel != nullptr && client != nullptr) {
    const std::string a = kernel->Text("version").substr(0, 3);
    const std::string b = client->Text("version").substr(0, 3);
    if (!a.empty() && !b.empty() && a != b) {
      AddOn(facts, Fact(*kernel), "driver.halves_differ");
    }
  }
}

// "NCCL version 2.9.8+cuda11.0" where the driver or the compiler tells 10.2.
void CompareCuda(std::vector<Fact>& facts) {
  const auto version = [](const Fact& fact) {
    const auto parts = Split(fact.Text("version"), '.');
    return parts.size() < 2 ? std::pair<std::int64_t, std::int64_t>()
                            : std::pair(ParseInt(parts[0]).value_or(0),
                                        ParseInt(parts[1]).value_or(0));
  };
  const Fact* const built = FirstOf(facts, "cuda.built_for");
  const Fact* const there = FirstOf(facts, "cuda.there");
  if (built != nullptr && there != nullptr && version(*there).first > 0 &&
      version(*built) > version(*there)) {
    AddOn(facts, Fact(*built), "numbers.cuda_ahead");
  }
}

// What exceptions say that speak of the run's own matters.
std::set<std::string> OnTopic(const std::vector<Fact>& facts) {
  std::set<std::string> messages;
  for (const Fact& fact : facts) {
    if (fact.name == "exception.on_topic") {
      messages.insert(fact.Text("message"));
    }
  }
  return messages;
}

// True when the line above says that the program raises it: compiled code of a
// framework raises the same types.
bool IsRaisedAbove(const std::vector<Fact>& facts, const Fact& exception) {
  const std::int64_t above = exception.Number("line", 0) - 1;
  return std::any_of(facts.begin(), facts.end(), [&](const Fact& fact) {
    return fact.name == "python.raise" &&
           fact.Text("type") == exception.Text("type") &&
           fact.Text("source") == exception.Text("source") &&
           (fact.Number("line", 0) == above ||
            fact.Number("last_line", 0) == above);
  });
}

// An exception that does not speak of ranks, devices, checkpoints and the like,
// and one of these whose last frame is the user's own file. An interruption
// from the keyboard is no error of the program.
void JudgeException(std::vector<Fact>& facts) {
  const std::vector<Fact> seen = facts;
  const auto on_topic = OnTopic(seen);
  for (const Fact& fact : seen) {
    if (fact.name != "python.exception" ||
        fact.Text("type") == "KeyboardInterrupt" ||
        on_topic.count(fact.Text("message")) != 0) {
      continue;
    }
    AddOn(facts, fact, "python.plain_exception");
    // Errors that compiled code of a framework raises as well.
    const std::string type = fact.Text("type");
    const bool of_frameworks = type == "RuntimeError" || type == "OSError";
    if ((of_frameworks && !IsRaisedAbove(seen, fact)) ||
        type.find('.') != std::string::npos) {
      continue;
    }
    const std::string frame = fact.Text("frame");
    const bool installed = frame.find("site-packages") != std::string::npos ||
                           frame.find("dist-packages") != std::string::npos;
    if (installed) {
      AddOn(facts, fact, "python.library_exception");
    }
    // Nobody's input makes a name of a library's own code undefined.
    if (installed && (type == "NameError" || type == "UnboundLocalError")) {
      AddOn(facts, fact, "python.library_defect");
    }
    const bool framework = frame.empty() || installed ||
                           frame.find("lib/python") != std::string::npos ||
                           frame.starts_with("<frozen");
    if (!framework) {
      AddOn(facts, fact, "python.own_exception");
    }
  }
}

}  // namespace

void Derive(std::vector<Fact>& facts) {
  CompareRanks(facts);
  CompareArrived(facts);
  CompareTasks(facts);
  CompareShapes(facts);
  CompareBatches(facts);
  CompareMemory(facts);
  CompareMembers(facts);
  CompareCollectives(facts);
  CompareDriver(facts);
  CompareCuda(facts);
  CompareCalls(facts);
  CompareTimes(facts);
  CompareValues(facts);
  JudgeException(facts);
  JudgeLastWord(facts);
}

}  // namespace muster::diagnose
