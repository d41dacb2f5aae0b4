// SPDX-License-Identifier: Apache-2.0
#include "diagnose/inspect/command_probe.h"

#include <chrono>
#include <cstdlib>
#include <optional>
#include <set>

#include "base/text.h"
#include "sys/kernel_log.h"
#include "sys/process/run_program.h"

namespace muster::diagnose {
namespace {

constexpr std::size_t kMostBytes = 256U << 10;
constexpr std::chrono::seconds kPatience{2};
// An older line of the kernel is of another run.
constexpr double kRecentSeconds = 3600;

void Add(LookedTexts& all, std::string name, const std::string& from,
         const std::string& text) {
  Fact fact;
  fact.name = std::move(name);
  fact.by = from;
  fact.fields["text"] = text;
  fact.fields["source"] = from;
  all.facts.push_back(std::move(fact));
}

void Seen(LookedTexts& all, const std::string& from, const std::string& text) {
  Add(all, "look.seen", from, text);
}

// "<6>[  123.456789] text" -> 123.456789.
std::optional<double> SecondsOf(std::string_view line) {
  const auto open = line.find('[');
  const auto close = line.find(']');
  if (open == line.npos || close == line.npos || close < open || open > 5) {
    return std::nullopt;
  }
  const std::string number(Trim(line.substr(open + 1, close - open - 1)));
  char* end = nullptr;
  const double seconds = std::strtod(number.c_str(), &end);
  return end == number.c_str() ? std::nullopt : std::optional(seconds);
}

void KernelLog(const LookTools& tools, const sys::Fs& fs, LookedTexts& all) {
  const auto log = tools.kernel_log();
  if (!log) {
    Seen(all, "kernel log", "not readable here: " + log.error().message());
    return;
  }
  const auto uptime = fs.Read("/proc/uptime", kMostBytes);
  const double now = uptime ? std::strtod(uptime->c_str(), nullptr) : 0;
  LookedText recent{.name = "kernel log", .text = {}};
  std::int64_t lines = 0;
  std::int64_t older = 0;
  for (const std::string& line : Split(*log, '\n')) {
    const auto at = SecondsOf(line);
    if (!at || now - *at > kRecentSeconds) {
      older += line.empty() ? 0 : 1;
      continue;
    }
    recent.text += line.substr(line.find('>') == 2 ? 3 : 0) + "\n";
    ++lines;
  }
  Seen(all, "kernel log",
       Count(lines, "line") + " of the last hour, " + std::to_string(older) +
           " older not read");
  all.texts.push_back(std::move(recent));
}

std::string Kibibytes(std::int64_t number) {
  return BytesText(static_cast<std::uint64_t>(number) << 10);
}

// "/dev/sda1 1024 1024 0 100% /": a line of df.
void SpaceOf(const std::string& line, const std::string& name,
             std::set<std::string>& mounts, LookedTexts& all) {
  std::vector<std::string> words = Split(line, ' ');
  std::erase(words, "");
  if (words.size() < 6) {
    return;
  }
  const auto size = ParseInt(words[words.size() - 5]);
  const auto free = ParseInt(words[words.size() - 3]);
  if (!size || !free || !mounts.insert(words.back()).second) {
    return;
  }
  const std::string told = words.back() + " has " + Kibibytes(*free) +
                           " free of " + Kibibytes(*size);
  Seen(all, name, told);
  if (*free == 0) {
    Add(all, "look.disk_full", name, told);
  }
}

// df ends with a bad status where one of the paths is missing, and tells of the
// others.
void Space(const LookTools& tools, const sys::Env& env, LookedTexts& all) {
  const std::vector<std::string> argv{"df", "-P", env.WorkingDirectory(),
                                      "/tmp", "/dev/shm"};
  const std::string name = Join(argv, " ");
  const auto said = tools.ask(argv);
  if (!said) {
    Seen(all, name, "no answer: " + said.error().message());
    return;
  }
  std::set<std::string> mounts;  // two of the paths may lie on one
  for (const std::string& line : Split(said->output, '\n')) {
    SpaceOf(line, name, mounts, all);
  }
  if (!said->trouble.empty()) {
    Seen(all, name,
         "could not be told of every path: `df` ended with " + said->trouble);
  }
}

void Ask(const LookTools& tools, const std::vector<std::string>& argv,
         LookedTexts& all) {
  const std::string name = Join(argv, " ");
  auto said = tools.ask(argv);
  if (!said || !said->trouble.empty()) {
    Seen(all, name,
         "no answer: " + (said ? "`" + argv[0] + "` ended with " + said->trouble
                               : said.error().message()));
    return;
  }
  Seen(all, name, Count(std::ssize(said->output), "byte"));
  all.texts.push_back({.name = name, .text = std::move(said->output) + "\n"});
}

void Scheduler(const LookTools& tools, const sys::Env& env, LookedTexts& all) {
  const auto job = env.Get("SLURM_JOB_ID");
  if (!job || !ParseInt(*job)) {
    Seen(all, "Slurm", "not in a job: SLURM_JOB_ID is not set");
    return;
  }
  Ask(tools, {"scontrol", "show", "job", *job}, all);
  Ask(tools,
      {"sacct", "-j", *job, "--noheader", "--parsable2",
       "--format=JobID,State,ExitCode,Elapsed,Timelimit,ReqMem,MaxRSS"},
      all);
  Ask(tools, {"squeue", "-h", "-j", *job, "-o", "%i %T %r"}, all);
}

void Pod(const LookTools& tools, const sys::Env& env, LookedTexts& all) {
  if (!env.Get("KUBERNETES_SERVICE_HOST")) {
    Seen(all, "Kubernetes", "not in a pod: KUBERNETES_SERVICE_HOST is not set");
    return;
  }
  Ask(tools, {"kubectl", "describe", "pod", env.Hostname()}, all);
}

Result<Said> OutputOf(const std::vector<std::string>& argv) {
  MUSTER_ASSIGN(auto answer,
                sys::RunProgram({.argv = argv,
                                 .variables = {},
                                 .most_bytes = kMostBytes,
                                 .too_much = sys::Program::TooMuch::kCut,
                                 .silent = true},
                                Deadline::After(kPatience)));
  return Said{.output = std::move(answer.output),
              .trouble = answer.Succeeded() ? "" : answer.Ending()};
}

}  // namespace

LookTools RealLookTools() {
  return {.kernel_log = [] { return sys::KernelLog(kMostBytes); },
          .ask = OutputOf};
}

LookedTexts LookAtTexts(const LookTools& tools, const sys::Env& env,
                        const sys::Fs& fs) {
  LookedTexts all;
  KernelLog(tools, fs, all);
  Space(tools, env, all);
  Scheduler(tools, env, all);
  Pod(tools, env, all);
  return all;
}

}  // namespace muster::diagnose
