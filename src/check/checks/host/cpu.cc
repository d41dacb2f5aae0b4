// SPDX-License-Identifier: Apache-2.0
// Cores that somebody else uses already, and who: a rank that shares its core
// lets all others wait in every step.
#include <algorithm>

#include "base/text.h"
#include "check/check.h"

namespace muster::check::host_cpu {
namespace {

// Twice as much work as cores, for a minute.
constexpr double kBusy = 2.0;

// Cores of the whole machine: /proc/loadavg is the machine's, whatever part of
// it a container has.
int CoresOfMachine(const sys::Fs& fs) {
  int cores = 0;
  const std::string stat = fs.Read("/proc/stat").value_or("");
  for (const std::string& line : Split(stat, '\n')) {
    cores += line.starts_with("cpu") && line.size() > 3 && line[3] != ' ';
  }
  return cores;
}

// Processes that run at this moment, but for this one: "cc1plus (41)".
std::vector<std::string> Running(const sys::Fs& fs) {
  const std::string self = fs.Read("/proc/self/stat").value_or("");
  std::vector<std::string> running;
  for (const std::string& pid :
       fs.List("/proc").value_or(std::vector<std::string>())) {
    if (!ParseInt(pid) || self.starts_with(pid + " ")) {
      continue;
    }
    // 41 (cc1plus) R 1 …: the name may hold anything.
    const std::string stat = fs.Read("/proc/" + pid + "/stat").value_or("");
    const auto open = stat.find('(');
    const auto close = stat.rfind(')');
    if (open != std::string::npos && close != std::string::npos &&
        stat.compare(close, 3, ") R") == 0) {
      running.push_back(Printable(stat.substr(open + 1, close - open - 1)) +
                        " (" + pid + ")");
    }
  }
  return running;
}

Outcome Run(const Context& context) {
  const sys::Fs& fs = context.host.fs;
  const std::string text = fs.Read("/proc/loadavg").value_or("");
  const std::string first = text.substr(0, text.find(' '));
  const int cores = CoresOfMachine(fs);
  // "12.34": the whole is enough to compare.
  const auto dot = first.find('.');
  const auto whole = ParseInt(first.substr(0, dot));
  if (!whole || cores == 0) {
    return Broken("/proc/loadavg and /proc/stat do not contain the load");
  }
  const std::string seen = "load " + first + " on " + Count(cores, "core");
  if (static_cast<double>(*whole) < kBusy * cores) {
    return Pass(seen);
  }
  auto running = Running(fs);
  running.resize(std::min<std::size_t>(running.size(), 5));
  return Judge(
      {MakeProblem(context, Cause::kHostOverloaded,
                   "the cores of this host are busy: " + seen,
                   {{seen + " in the last minute", "/proc/loadavg"},
                    {running.empty() ? "no process is running at this moment"
                                     : "running now: " + Join(running, ", "),
                     "/proc/*/stat"}},
                   Confidence::kLikely)},
      "");
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "host.cpu",
                   .title = "the cores of this host are idle",
                   .severity = Severity::kWarning,
                   .fix = {"show the processes that use them",
                           "top -b -n 1 | head -n 20", Safety::kSafe},
                   // The mean of a minute is that of the run before.
                   .before_run = BeforeRun::kNever,
                   .run = Run};

}  // namespace muster::check::host_cpu
