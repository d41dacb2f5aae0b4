// SPDX-License-Identifier: Apache-2.0
// `muster tpu ssh`: a command on the workers of a TPU, or a shell on one.
#include <algorithm>
#include <csignal>
#include <functional>

#include "base/json.h"
#include "base/text.h"
#include "cli/worker_verbs.h"
#include "diagnose/verdict/verdict.h"
#include "finding/exit_code.h"
#include "remote/ssh_session.h"
#include "sys/process/run_program.h"
#include "sys/signal/signals.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

using sys::Console;

// For programs to end that were asked to.
constexpr auto kExitTimeout = std::chrono::seconds(10);
constexpr std::size_t kMaxKept = 1U << 20;
constexpr int kNotAsked = 255;

// What came of one worker.
struct Told {
  std::string out, err;  // where a document is made of it
  bool shown = false;    // the finding
};

// A command on every worker.
class Shells {
 public:
  struct Options {
    Duration limit;  // for letting us in
    bool json = false;
    bool prefix = false;
  };
  Shells(const remote::ReachedTpu& tpu, const sys::Host& host, sys::Loop& loop,
         sys::Spawner& spawner, Console& console, const Options& options)
      : tpu_(tpu),
        host_(host),
        loop_(loop),
        console_(console),
        options_(options),
        place_{.loop = loop,
               .spawner = spawner,
               .env = host.env,
               .limit = options.limit,
               .console = console} {}

  Status Run(const std::string& remote);
  void Interrupt(bool now);
  // After Run. `why_gone` is asked when a worker was lost.
  int Finish(const std::function<std::optional<Finding>()>& why_gone);
  Json ToDocument() const;

 private:
  void Change() {
    loop_.Post([this] { Look(); });
  }
  void Look();
  void Line(std::size_t worker, Console::Stream stream, std::string_view line);
  void Show(const Finding& finding) {
    console_.Write(
        Console::Stream::kErr,
        RenderText(std::span(&finding, 1), sys::TerminalOptions(host_.env, 2)));
  }
  void Say(const std::string& text) {
    console_.Write(Console::Stream::kErr, "muster: " + Printable(text) + "\n");
  }
  int CodeOf(std::size_t worker) const;
  std::string EndOf(std::size_t worker) const;

  const remote::ReachedTpu& tpu_;
  const sys::Host& host_;
  sys::Loop& loop_;
  Console& console_;
  const Options options_;
  const remote::SshSession::Place place_;
  std::vector<std::unique_ptr<remote::SshSession>> sessions_;
  std::vector<Told> told_;
  bool interrupted_ = false;
  std::optional<Finding> gone_;
  sys::Loop::Handle late_, beat_, last_;
};

Status Shells::Run(const std::string& remote) {
  told_.resize(tpu_.workers.size());
  for (const remote::ReachedWorker& worker : tpu_.workers) {
    const std::size_t at = sessions_.size();
    sessions_.push_back(std::make_unique<remote::SshSession>(
        place_, worker.login,
        remote::SshSession::Listener{
            .answered = [](const remote::SshAnswer&) {},
            .line = [this, at](
                        Console::Stream stream,
                        std::string_view line) { Line(at, stream, line); },
            .changed = [this] { Change(); }}));
  }
  for (const auto& one : sessions_) {
    MUSTER_TRY(one->Start(remote));
  }
  late_ = loop_.After(options_.limit, [this] {
    for (const auto& one : sessions_) {
      one->GiveUp(options_.limit);
    }
  });
  beat_ = loop_.Every(remote::kSshBeat, [this] {
    for (const auto& one : sessions_) {
      if (one->ready()) {
        one->Send(remote::Share("."));
      }
    }
  });
  loop_.Run();
  return Ok();
}

void Shells::Line(std::size_t worker, Console::Stream stream,
                  std::string_view line) {
  if (options_.json) {
    std::string& kept =
        stream == Console::Stream::kOut ? told_[worker].out : told_[worker].err;
    if (kept.size() < kMaxKept) {
      kept += std::string(line) + "\n";
    }
    return;
  }
  const std::string who =
      options_.prefix ? "[" + Printable(tpu_.workers[worker].label) + "] " : "";
  console_.WriteOutput(stream, who + std::string(line) + "\n");
}

void Shells::Look() {
  bool all = true;
  for (std::size_t i = 0; i < sessions_.size(); ++i) {
    const auto& failed = sessions_[i]->failed();
    if (failed && !std::exchange(told_[i].shown, true) && !interrupted_) {
      Show(*failed);
    }
    all = all && sessions_[i]->ended();
  }
  if (all) {
    loop_.Quit();
  }
}

void Shells::Interrupt(bool now) {
  interrupted_ = true;
  for (const auto& one : sessions_) {
    now || !one->ready() ? one->Kill() : one->Close();
  }
  last_ = loop_.After(kExitTimeout, [this] {
    for (const auto& one : sessions_) {
      one->Kill();
    }
  });
}

int Shells::CodeOf(std::size_t worker) const {
  const remote::SshSession& one = *sessions_[worker];
  return one.ready() && !one.lost() ? one.code() : kNotAsked;
}

std::string Shells::EndOf(std::size_t worker) const {
  const remote::SshSession& one = *sessions_[worker];
  const std::string& who = tpu_.workers[worker].label;
  if (one.failed()) {
    return who + " could not be reached (" +
           std::string(Label(one.failed()->cause)) + ")";
  }
  return who + (one.lost() ? " was lost"
                           : " ended with " + std::to_string(one.code()));
}

int Shells::Finish(const std::function<std::optional<Finding>()>& why_gone) {
  int code = 0;
  std::vector<std::string> ends;
  std::vector<std::string> lost;
  for (std::size_t i = 0; i < sessions_.size(); ++i) {
    code = std::max(code, CodeOf(i));
    if (CodeOf(i) != 0) {
      ends.push_back(EndOf(i));
    }
    if (sessions_[i]->lost()) {
      lost.push_back(tpu_.workers[i].login.Name());
    }
  }
  if (interrupted_) {
    Say("interrupted, exit code 130");
    return kExitInterrupted;
  }
  if (!lost.empty()) {
    gone_ = why_gone();
    Show(gone_ ? *gone_
               : MakeFinding(Cause::kPeerDied,
                             "the connection to " + Join(lost, ", ") +
                                 " was lost while the command ran",
                             Confidence::kCertain));
  }
  if (!ends.empty() && sessions_.size() > 1) {
    const auto good = std::ssize(sessions_) - std::ssize(ends);
    Say(Join(ends, ", ") +
        (good == 0 ? "" : ", " + Count(good, "other worker") + " with 0") +
        "; exit code " + std::to_string(code));
  }
  return code;
}

Json Shells::ToDocument() const {
  Json workers = Json::array();
  for (std::size_t i = 0; i < sessions_.size(); ++i) {
    const remote::SshSession& one = *sessions_[i];
    workers.push_back({{"worker", tpu_.workers[i].index},
                       {"address", one.login().host},
                       {"code", CodeOf(i)},
                       {"lost", one.lost()},
                       {"out", told_[i].out},
                       {"err", told_[i].err},
                       {"finding", nullptr}});
    if (one.failed()) {
      workers.back()["finding"] = ToJson(*one.failed());
    }
  }
  Json document{{"schema", "muster.tpu.ssh/1"},
                {"tpu", tpu_.node.name},
                {"workers", std::move(workers)},
                {"gone", nullptr}};
  if (gone_) {
    document["gone"] = ToJson(*gone_);
  }
  return document;
}

// Makes the command on the workers; its exit code.
Result<int> OnWorkers(const TpuCall& call, const remote::ReachedTpu& tpu,
                      const std::vector<std::string>& words,
                      sys::GuardianSpawner& spawner) {
  MUSTER_ASSIGN(const auto loop, sys::Loop::Make());
  MUSTER_TRY(spawner.Attach(*loop));
  Console console(*loop, {});
  Shells shells(tpu, call.host, *loop, spawner, console,
                {.limit = call.settings.request_timeout.value,
                 .json = call.json(),
                 .prefix = tpu.workers.size() > 1});
  MUSTER_ASSIGN(const auto signals,
                sys::SignalWatch::Make(*loop, {SIGINT, SIGTERM, SIGHUP},
                                       [&shells, count = 0](int) mutable {
                                         shells.Interrupt(++count > 1);
                                       }));
  MUSTER_TRY(shells.Run(remote::ShellLine(remote::WatchedScript(), words)));
  const int code = shells.Finish(
      [&] { return remote::WhyTpuGone(tpu.node.place, call.host); });
  console.Drain();
  if (call.json()) {
    sys::PrintDocument(shells.ToDocument());
  }
  return code;
}

}  // namespace

Result<int> TpuSsh(const TpuCall& call, const remote::ReachedTpu& tpu,
                   std::unique_ptr<sys::GuardianSpawner> spawner) {
  std::vector<std::string> words = call.line.command;
  if (!call.flags().shell_line.empty()) {
    words = {"sh", "-c", call.flags().shell_line};
  }
  if (!words.empty()) {
    return OnWorkers(call, tpu, words, *spawner);
  }
  if (tpu.workers.size() > 1) {
    return Error(Cause::kUsageInvalid,
                 "a shell requires one worker: use --worker 0, or give a "
                 "command after `--`");
  }
  if (call.json()) {
    return Error(Cause::kUsageInvalid,
                 call.settings.output.source +
                     " is `json`, but a shell has no JSON output: give a "
                     "command after `--`");
  }
  // Whether it lets us in is said in our words, and in time.
  MUSTER_ASSIGN(const int code, OnWorkers(call, tpu, {"true"}, *spawner));
  if (code != 0) {
    return code;
  }
  spawner.reset();
  return sys::BecomeProgram(remote::SshForPerson(tpu.workers.front().login,
                                                 std::chrono::seconds(10)));
}

Result<int> TpuReachVerb(const CommandLine& line,
                         const settings::Settings& settings,
                         const sys::Host& host) {
  // Before anything that could start a thread.
  MUSTER_ASSIGN(auto spawner, sys::GuardianSpawner::Fork());
  const TpuCall call{.line = line, .settings = settings, .host = host};
  const auto reached = [&]() -> Result<remote::ReachedTpu> {
    MUSTER_ASSIGN(auto api, OpenApi(call));
    MUSTER_ASSIGN(auto node, FindNode(call, api));
    resolve::TpuNode placed{std::move(node),
                            {.name = call.flags().name,
                             .project = api.project().value,
                             .project_source = api.project().source,
                             .zone = {},
                             .zone_source = "Cloud TPU API"}};
    placed.place.zone = placed.zone;
    settings::ReachFlags flags = line.reach;
    if (flags.worker.empty()) {
      flags.worker = "0";
      if (placed.endpoints.size() > 1) {
        sys::PrintAside("muster: worker 0 of " +
                        std::to_string(placed.endpoints.size()) +
                        " (--worker all for each)\n");
      }
    }
    return remote::Reach(placed, flags, api.credentials().Who(), host);
  }();
  if (!reached) {
    return TpuRefused(reached.error(), call);
  }
  sys::PrintAside(reached->how + "\n");
  const auto code = line.verb->path == "tpu ssh"
                        ? TpuSsh(call, *reached, std::move(spawner))
                        : TpuNotebook(call, *reached, std::move(spawner));
  return code ? *code : TpuRefused(code.error(), call);
}

}  // namespace muster::cli
