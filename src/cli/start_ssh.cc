// SPDX-License-Identifier: Apache-2.0
#include "cli/start_ssh.h"

#include <algorithm>
#include <csignal>
#include <optional>

#include "base/json.h"
#include "base/text.h"
#include "cli/answer.h"
#include "cli/ssh_host.h"
#include "connect/run_key.h"
#include "connect/sha256.h"
#include "explain/verdict.h"
#include "sys/signals.h"

namespace muster::cli {
namespace {

using run::Console;

constexpr std::size_t kLargestProgram = 1U << 30;
// After the agent of rank 0 has ended, for the others to end.
constexpr auto kForTheOthers = std::chrono::seconds(10);
constexpr int kNotSetUp = 125;
constexpr int kEndedFromOutside = 75;
constexpr int kInterrupted = 130;

// What is handed over is JSON, which has no words that are not UTF-8.
Status CheckText(const Handed& handed) {
  for (const std::string& arg : handed.args) {
    MUSTER_ASSIGN(const Json sent,
                  ParseJson(ToLine({.args = {arg}, .token = {}}),
                            Cause::kInternalError, "what is handed over"));
    if (sent["args"][0] != arg) {
      return Error(Cause::kUsageInvalid,
                   "`" + Printable(arg) +
                       "` is not UTF-8, and cannot go to other hosts as it is");
    }
  }
  return Ok();
}

// All hosts of a run.
class Starter {
 public:
  Starter(const RunFlags& flags, const sys::Host& host, sys::Loop& loop,
          sys::Spawner& spawner, Console& console)
      : flags_(flags),
        host_(host),
        shared_{.loop = loop,
                .spawner = spawner,
                .console = console,
                .env = host.env,
                .digest = {},
                .program = {},
                .directory = host.env.WorkingDirectory(),
                .limit = flags.settings.gather_timeout.value,
                .json = flags.settings.output.value == Output::kJson,
                .on_change = [this] { Change(); }} {}

  Result<int> Run(const Cluster& cluster);
  void Interrupt(const std::string& by, bool now);

 private:
  void Say(const std::string& text) {
    shared_.console.Write(Console::Stream::kErr, "muster: " + text + "\n");
  }
  Status Begin(const Cluster& cluster);
  void Change() {
    shared_.loop.Post([this] { Look(); });
  }
  void Look();
  void GiveUpSetUp();
  void EndAll();
  bool AllEnded() const;

  const RunFlags& flags_;
  const sys::Host& host_;
  SshHost::Shared shared_;
  std::vector<std::unique_ptr<SshHost>> hosts_;
  bool all_ready_ = false;
  std::optional<int> code_;
  std::optional<std::string> interrupted_by_;
  sys::Loop::Handle late_, beat_, last_;
};

Status Starter::Begin(const Cluster& cluster) {
  MUSTER_ASSIGN(std::string program,
                host_.fs.Read("/proc/self/exe", kLargestProgram));
  shared_.digest = connect::Sha256Hex(program);
  shared_.program = std::make_shared<const std::string>(std::move(program));
  MUSTER_ASSIGN(const auto token, connect::RunKey::Random());
  for (const Member& member : cluster.members) {
    Handed handed{.args = {"run", "--rank", std::to_string(member.rank)},
                  .token = token.ToHex()};
    handed.args.insert(handed.args.end(), flags_.handed_on.begin(),
                       flags_.handed_on.end());
    MUSTER_TRY(CheckText(handed));
    hosts_.push_back(std::make_unique<SshHost>(
        shared_, member.address->value.host, member.rank, std::move(handed)));
  }
  for (const auto& one : hosts_) {
    MUSTER_TRY(one->Start());
  }
  return Ok();
}

Result<int> Starter::Run(const Cluster& cluster) {
  MUSTER_TRY(Begin(cluster));
  late_ = shared_.loop.After(shared_.limit, [this] {
    for (const auto& one : hosts_) {
      one->GiveUp(shared_.limit);
    }
  });
  beat_ = shared_.loop.Every(kBeat, [this] {
    for (const auto& one : hosts_) {
      one->Tell("");
    }
  });
  shared_.loop.Run();
  return *code_;
}

void Starter::Look() {
  const bool decided =
      std::all_of(hosts_.begin(), hosts_.end(),
                  [](const auto& one) { return one->decided(); });
  if (decided && !all_ready_ && !code_) {
    late_.Cancel();
    all_ready_ = std::all_of(hosts_.begin(), hosts_.end(),
                             [](const auto& one) { return one->ready(); });
    if (!all_ready_) {
      GiveUpSetUp();
      return;
    }
    // Not before: no agent waits for one that cannot come.
    for (const auto& one : hosts_) {
      one->Begin();
    }
  }
  if (all_ready_ && !code_ && hosts_.front()->ended()) {
    code_ = hosts_.front()->code();
    if (*code_ == SshHost::kLost) {
      Say("the connection to " + Printable(hosts_.front()->host()) +
          ", where the coordinator runs, was lost");
      code_ = kEndedFromOutside;
    }
    last_ = shared_.loop.After(kForTheOthers, [this] { EndAll(); });
  }
  if (code_ && AllEnded()) {
    shared_.loop.Quit();
  }
}

void Starter::GiveUpSetUp() {
  code_ = kNotSetUp;
  int failed = 0;
  for (const auto& one : hosts_) {
    if (one->failed()) {
      ++failed;
      shared_.console.Write(
          Console::Stream::kErr,
          RenderText(*one->failed(), TerminalOptions(host_.env, 2)));
    }
  }
  Say("no agent on " + std::to_string(failed) + " of " +
      Count(std::ssize(hosts_), "host") +
      ": the run was not set up, exit code 125 (muster)");
  EndAll();
}

// The agents read the end of their input; ssh that stays is ended.
void Starter::EndAll() {
  for (const auto& one : hosts_) {
    one->Close();
  }
  last_ = shared_.loop.After(kForTheOthers, [this] {
    for (const auto& one : hosts_) {
      one->Kill();
    }
  });
}

bool Starter::AllEnded() const {
  return std::all_of(hosts_.begin(), hosts_.end(),
                     [](const auto& one) { return one->ended(); });
}

void Starter::Interrupt(const std::string& by, bool now) {
  if (!all_ready_) {
    Say(by + " while agents were being started, exit code 130 (muster)");
    code_ = kInterrupted;
    for (const auto& one : hosts_) {
      one->Kill();
    }
    Change();
    return;
  }
  // The coordinator ends the others; when it is to be at once, all do it.
  for (const auto& one : hosts_) {
    if (now || one == hosts_.front()) {
      one->Tell((now ? "kill " : "stop ") + by);
    }
  }
}

}  // namespace

Result<int> StartOverSsh(const RunFlags& flags, const sys::Host& host,
                         std::unique_ptr<sys::GuardianSpawner> spawner) {
  if (!flags.cluster.hosts) {
    return Error(Cause::kUsageInvalid,
                 flags.settings.start.source +
                     " is `ssh`, which needs the list of hosts: --hosts a,b,c");
  }
  // This host need not be one of them.
  resolve::Request request = flags.cluster;
  request.rank = 0;
  MUSTER_ASSIGN(const auto resolved, resolve::Resolve(request, host));
  MUSTER_ASSIGN(const auto loop, sys::Loop::Make());
  MUSTER_TRY(spawner->Attach(*loop));
  Console console(*loop, {});
  Starter starter(flags, host, *loop, *spawner, console);
  MUSTER_ASSIGN(
      const auto signals,
      sys::SignalWatch::Make(*loop, {SIGINT, SIGTERM, SIGHUP},
                             [&starter, count = 0](int signal) mutable {
                               starter.Interrupt(explain::SignalName(signal),
                                                 ++count > 1);
                             }));
  MUSTER_ASSIGN(const int code, starter.Run(resolved.cluster));
  console.Drain(Deadline::After(std::chrono::seconds(5)));
  return code;
}

}  // namespace muster::cli
