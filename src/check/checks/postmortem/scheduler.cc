// SPDX-License-Identifier: Apache-2.0
// What Slurm recorded of the job that this is a step of, and Kubernetes of the
// pod that this runs in.
#include "base/text.h"
#include "check/check.h"
#include "check/facts/recorded_text.h"

namespace muster::check::postmortem_scheduler {
namespace {

// Of one program; a controller that does not respond keeps its clients waiting
// for minutes.
constexpr std::chrono::seconds kTimeout{2};

using Argv = std::vector<std::string>;

std::vector<Argv> Questions(const sys::Env& env) {
  std::vector<Argv> questions;
  const auto job = env.Get("SLURM_JOB_ID");
  if (job && ParseInt(*job)) {
    questions.push_back({"scontrol", "show", "job", *job});
    questions.push_back(
        {"sacct", "-j", *job, "--noheader", "--parsable2",
         "--format=JobID,State,ExitCode,Elapsed,Timelimit,ReqMem,MaxRSS"});
    questions.push_back({"squeue", "-h", "-j", *job, "-o", "%i %T %r"});
  }
  if (env.Get("KUBERNETES_SERVICE_HOST")) {
    questions.push_back({"kubectl", "describe", "pod", env.Hostname()});
  }
  return questions;
}

Outcome Run(const Context& context) {
  const auto questions = Questions(context.host.env);
  if (questions.empty()) {
    return Skip(
        "not in a Slurm job or a pod: SLURM_JOB_ID and "
        "KUBERNETES_SERVICE_HOST are not set");
  }
  std::vector<RecordedText> texts;
  std::vector<std::string> seen;
  for (const Argv& argv : questions) {
    const std::string name = Join(argv, " ");
    const auto answer = context.machine.Ask(argv, Deadline::After(kTimeout));
    if (answer) {
      texts.push_back({.name = name, .text = *answer + "\n"});
      seen.push_back(name + ": " + Count(std::ssize(*answer), "byte"));
    } else {
      seen.push_back(name + ": no response: " + answer.error().message());
    }
  }
  Outcome outcome =
      texts.empty() ? Skip(Join(seen, "; ")) : Pass(Join(seen, "; "));
  AddTexts(texts, outcome);
  return outcome;
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "postmortem.scheduler",
                   .title = "what Slurm or Kubernetes recorded of this job",
                   .may_wait = true,
                   .on_request = true,
                   .after_failure = true,
                   // Four programs, and room for their ends.
                   .deadline = std::chrono::seconds(12),
                   .before_run = BeforeRun::kNever,
                   .run = Run};

}  // namespace muster::check::postmortem_scheduler
