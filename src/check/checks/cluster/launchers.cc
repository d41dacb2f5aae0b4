// SPDX-License-Identifier: Apache-2.0
// Launchers inside each other. Each task of the outer one starts the inner one;
// where the inner one does not know of as many, every task makes a cluster of
// its own out of what was meant as one.
#include <algorithm>

#include "base/text.h"
#include "check/check.h"

namespace muster::check::cluster_launchers {
namespace {

// Who started whom, in numbers that each tells in the environment.
struct Launcher {
  std::string name;
  std::int64_t tasks = 0;  // in all
  std::int64_t here = 0;   // on this host; 0: not told
  std::string variables;   // that say so
};

std::optional<std::int64_t> NumberOf(const sys::Env& env, const char* name) {
  return ParseInt(env.Get(name).value_or(""));
}

// "8", "2(x3),1" of the node with this index; 0: it does not tell.
std::int64_t TasksOfNode(const std::string& text, std::int64_t node) {
  for (const std::string& part : Split(text, ',')) {
    const auto times = part.find("(x");
    const auto count = ParseInt(part.substr(0, times)).value_or(0);
    const auto nodes =
        times == std::string::npos
            ? 1
            : ParseInt(part.substr(times + 2, part.size() - times - 3))
                  .value_or(0);
    if (node < nodes) {
      return count;
    }
    node -= nodes;
  }
  return 0;
}

// A step of srun. What sbatch and salloc set is there without one, too.
std::optional<Launcher> Srun(const sys::Env& env) {
  const auto tasks = NumberOf(env, "SLURM_STEP_NUM_TASKS");
  const auto spread = env.Get("SLURM_STEP_TASKS_PER_NODE");
  if (!tasks || !spread) {
    return std::nullopt;
  }
  return Launcher{
      .name = "srun",
      .tasks = *tasks,
      .here = TasksOfNode(*spread, NumberOf(env, "SLURM_NODEID").value_or(0)),
      .variables = "SLURM_STEP_NUM_TASKS, SLURM_STEP_TASKS_PER_NODE"};
}

std::optional<Launcher> OpenMpi(const sys::Env& env) {
  const auto tasks = NumberOf(env, "OMPI_COMM_WORLD_SIZE");
  if (!tasks) {
    return std::nullopt;
  }
  return Launcher{
      .name = "mpirun",
      .tasks = *tasks,
      .here = NumberOf(env, "OMPI_COMM_WORLD_LOCAL_SIZE").value_or(0),
      .variables = "OMPI_COMM_WORLD_SIZE, OMPI_COMM_WORLD_LOCAL_SIZE"};
}

// Its agents, not its ranks: one is started by each task of an outer launcher.
std::optional<Launcher> Torchrun(const sys::Env& env) {
  const auto agents = NumberOf(env, "GROUP_WORLD_SIZE");
  if (!env.Get("TORCHELASTIC_RUN_ID") || !agents) {
    return std::nullopt;
  }
  return Launcher{.name = "torchrun",
                  .tasks = *agents,
                  .here = 0,
                  .variables = "GROUP_WORLD_SIZE"};
}

Finding Mixed(const Context& context, const Launcher& outer,
              const Launcher& inner) {
  Finding finding = MakeProblem(
      context, Cause::kSchedulerEnvMisread,
      "each of the " + std::to_string(outer.tasks) + " tasks of " + outer.name +
          " starts a " + inner.name + " with world size " +
          std::to_string(inner.tasks) + ": this makes " +
          std::to_string(outer.tasks / inner.tasks) +
          " separate clusters, not one",
      {{outer.name + " starts " + Count(outer.tasks, "task") +
            (outer.here > 0
                 ? ", " + std::to_string(outer.here) + " of them here"
                 : ""),
        "env " + outer.variables},
       {inner.name + " has " + Count(inner.tasks, "agent"),
        "env " + inner.variables}},
      Confidence::kLikely);
  // Several on one host take each other's ports and devices; one on each may be
  // meant.
  if (outer.here <= 1) {
    finding.severity = Severity::kWarning;
  }
  return finding;
}

Outcome Run(const Context& context) {
  const sys::Env& env = context.host.env;
  const auto torchrun = Torchrun(env);
  std::vector<std::string> texts;
  std::vector<Finding> findings;
  for (const auto& outer : {Srun(env), OpenMpi(env)}) {
    if (!outer) {
      continue;
    }
    texts.push_back(outer->name + ": " + Count(outer->tasks, "task"));
    if (torchrun && torchrun->tasks > 0 && outer->tasks > torchrun->tasks) {
      findings.push_back(Mixed(context, *outer, *torchrun));
    }
  }
  if (torchrun) {
    texts.push_back("torchrun: " + Count(torchrun->tasks, "agent"));
  }
  // mpirun below srun brings its own daemons up by srun, one on each host.
  if (findings.size() > 1) {
    findings.erase(findings.begin());
  }
  return Judge(std::move(findings), texts.empty()
                                        ? "no nested launcher detected"
                                        : Join(texts, ", "));
}

}  // namespace

extern const Check kCheck;
const Check kCheck{
    .id = "cluster.launchers",
    .title = "nested launchers form one cluster",
    .fix = {"start one task per host and let the inner launcher start the "
            "ranks: srun --ntasks-per-node=1 torchrun --nnodes=N …"},
    .run = Run};

}  // namespace muster::check::cluster_launchers
