// SPDX-License-Identifier: Apache-2.0
// `muster check --tpu NAME`: the same checks on every worker, over ssh.
#include <algorithm>
#include <csignal>

#include "base/json.h"
#include "base/text.h"
#include "channel/security/sha256.h"
#include "cli/worker_verbs.h"
#include "finding/exit_code.h"
#include "remote/ssh_host.h"
#include "sys/signal/signals.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

using sys::Console;

constexpr std::size_t kLargestProgram = 1U << 30;
// For a worker to let us in and get this muster.
constexpr auto kForTheStart = std::chrono::seconds(60);
constexpr int kNotFoundOut = 3;
// Beside the ports of libtpu, JAX's coordinator, TensorFlow's servers and the
// agents of a run.
constexpr std::uint16_t kMeshPort = 8491;

// The words of the check on one worker, but for its rank.
std::vector<std::string> WordsOf(const CommandLine& line, const sys::Env& env,
                                 const std::string& hosts) {
  std::vector<std::string> words = line.groups;
  words.insert(words.end(), {"--config", "none", "--hosts", hosts});
  for (const std::string& path : line.checkpoints) {
    words.insert(words.end(), {"--checkpoints", path});
  }
  for (const std::string& path : line.data) {
    words.insert(words.end(), {"--data", path});
  }
  if (line.open) {
    words.insert(words.end(), {"--open", "--yes"});
  }
  if (line.replicas) {
    words.insert(words.end(), {"--replicas", std::to_string(*line.replicas)});
  }
  for (const settings::SettingRow& row : settings::SettingRows()) {
    const auto text = settings::TextOf(row, line.settings, env, line.file);
    if (row.IsFor("check") && row.name != "token_file" &&
        row.name != "config" && !text.source.starts_with("env ") &&
        text.source != "default") {
      words.insert(words.end(), {std::string(row.flag), text.value});
    }
  }
  return words;
}

// A check on every worker.
class WorkerChecks {
 public:
  WorkerChecks(const remote::ReachedTpu& tpu, const sys::Host& host,
               sys::Loop& loop, sys::Spawner& spawner, Console& console,
               bool json)
      : tpu_(tpu),
        host_(host),
        loop_(loop),
        console_(console),
        json_(json),
        shared_{.place = {.loop = loop,
                          .spawner = spawner,
                          .env = host.env,
                          .limit = kForTheStart,
                          .console = console},
                .digest = {},
                .program = {},
                .where = {},
                .archive = {},
                .on_change = [this] { loop_.Post([this] { Look(); }); }} {}

  Result<int> Run(const CommandLine& line);
  void Interrupt() {
    interrupted_ = true;
    for (const auto& one : hosts_) {
      one->session().Kill();
    }
  }

 private:
  Status Begin(const CommandLine& line);
  void Look();
  void Line(int rank, Console::Stream stream, std::string_view line);
  void Show(const Finding& finding) {
    console_.Write(
        Console::Stream::kErr,
        RenderText(std::span(&finding, 1), sys::TerminalOptions(host_.env, 2)));
  }
  int Finish();
  Json WorkerOf(std::size_t rank) const;

  const remote::ReachedTpu& tpu_;
  const sys::Host& host_;
  sys::Loop& loop_;
  Console& console_;
  const bool json_;
  remote::SshHost::Shared shared_;
  std::vector<std::unique_ptr<remote::SshHost>> hosts_;
  std::vector<std::string> documents_;
  bool began_ = false;
  bool interrupted_ = false;
  sys::Loop::Handle late_;
};

Status WorkerChecks::Begin(const CommandLine& line) {
  MUSTER_ASSIGN(std::string program,
                host_.fs.Read("/proc/self/exe", kLargestProgram));
  shared_.digest = channel::Sha256Hex(program);
  shared_.program = remote::Share(std::move(program));
  std::vector<std::string> addresses;
  for (const remote::ReachedWorker& worker : tpu_.workers) {
    addresses.push_back(
        ToString(Address{.host = worker.internal, .port = kMeshPort}));
  }
  const auto words = WordsOf(line, host_.env, Join(addresses, ","));
  documents_.resize(tpu_.workers.size());
  for (const remote::ReachedWorker& worker : tpu_.workers) {
    const int rank = static_cast<int>(hosts_.size());
    remote::AgentBootstrap handed{.args = {"check"}, .token = {}};
    handed.args.insert(handed.args.end(), words.begin(), words.end());
    handed.args.insert(handed.args.end(), {"--rank", std::to_string(rank)});
    hosts_.push_back(std::make_unique<remote::SshHost>(
        shared_, worker.login, rank, std::move(handed),
        [this](int from, Console::Stream stream, std::string_view text) {
          Line(from, stream, text);
        }));
  }
  for (const auto& one : hosts_) {
    MUSTER_TRY(one->Start());
  }
  return Ok();
}

Result<int> WorkerChecks::Run(const CommandLine& line) {
  MUSTER_TRY(Begin(line));
  late_ = loop_.After(kForTheStart, [this] {
    for (const auto& one : hosts_) {
      one->session().GiveUp(kForTheStart);
    }
  });
  loop_.Run();
  return Finish();
}

void WorkerChecks::Look() {
  const auto all = [this](auto is) {
    return std::all_of(hosts_.begin(), hosts_.end(), is);
  };
  if (!began_ &&
      all([](const auto& one) { return one->session().decided(); })) {
    began_ = true;
    // At once, since they try each other. One that is away is found by all.
    for (const auto& one : hosts_) {
      if (one->session().ready()) {
        one->Begin();
      } else {
        Show(*one->session().failed());
      }
    }
  }
  if (all([](const auto& one) { return one->session().ended(); })) {
    loop_.Quit();
  }
}

void WorkerChecks::Line(int rank, Console::Stream stream,
                        std::string_view line) {
  const auto at = static_cast<std::size_t>(rank);
  if (json_ && stream == Console::Stream::kOut) {
    documents_[at] += std::string(line) + "\n";
    return;
  }
  console_.WriteOutput(stream, "[" + Printable(tpu_.workers[at].label) + "] " +
                                   std::string(line) + "\n");
}

Json WorkerChecks::WorkerOf(std::size_t rank) const {
  const remote::SshSession& one = hosts_[rank]->session();
  Json worker{{"worker", tpu_.workers[rank].index},
              {"address", one.login().host},
              {"check", nullptr},
              {"finding", nullptr}};
  if (one.failed()) {
    worker["finding"] = ToJson(*one.failed());
  } else if (auto document =
                 ParseJson(documents_[rank], Cause::kFileCorrupt, "")) {
    worker["check"] = *std::move(document);
  }
  return worker;
}

int WorkerChecks::Finish() {
  int code = 0;
  Json workers = Json::array();
  std::vector<std::string> ends;
  for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
    const remote::SshSession& one = hosts_[rank]->session();
    const int own = !one.ready() || one.lost() ? kNotFoundOut : one.code();
    // What was found says more than what could not be found out.
    code = code == 1 || own == 1 ? 1 : std::max(code, own);
    ends.push_back(tpu_.workers[rank].label + " " + std::to_string(own));
    if (json_) {
      workers.push_back(WorkerOf(rank));
    }
  }
  if (interrupted_) {
    return kExitInterrupted;
  }
  if (json_) {
    sys::PrintDocument({{"schema", "muster.check.tpu/1"},
                        {"tpu", tpu_.node.name},
                        {"exit", code},
                        {"workers", std::move(workers)}});
  } else {
    console_.Write(Console::Stream::kErr,
                   "muster: exit codes: " + Printable(Join(ends, ", ")) + "\n");
  }
  return code;
}

}  // namespace

bool ChecksWorkers(const CommandLine& line, const sys::Host& host) {
  // `check tpu` asks servers from here; a rank says that this host is a member.
  const bool about_tpu = line.groups == std::vector<std::string>{"tpu"};
  return !line.list && !about_tpu && !line.cluster.rank &&
         line.targets.empty() && line.framework.empty() &&
         remote::NamesTpu(line.cluster, host);
}

Result<int> CheckWorkers(const CommandLine& line,
                         const settings::Settings& settings,
                         const sys::Host& host) {
  if (settings.output.value == settings::Output::kJsonl) {
    return Error(Cause::kUsageInvalid,
                 settings.output.source +
                     " is `jsonl`, which is for a single host: expected text "
                     "or json with --tpu");
  }
  if (line.open && !line.yes) {
    return Error(Cause::kUsageInvalid,
                 "flag --open asks for confirmation, which is not possible "
                 "with --tpu: add --yes");
  }
  MUSTER_ASSIGN(const auto spawner, sys::GuardianSpawner::Fork());
  MUSTER_ASSIGN(const auto tpu,
                remote::ReachTpu(line.cluster, line.reach, host));
  sys::PrintAside(tpu.how + "\n");
  MUSTER_ASSIGN(const auto loop, sys::Loop::Make());
  MUSTER_TRY(spawner->Attach(*loop));
  Console console(*loop, {});
  WorkerChecks checks(tpu, host, *loop, *spawner, console,
                      settings.output.value == settings::Output::kJson);
  MUSTER_ASSIGN(const auto signals,
                sys::SignalWatch::Make(*loop, {SIGINT, SIGTERM, SIGHUP},
                                       [&checks](int) { checks.Interrupt(); }));
  MUSTER_ASSIGN(const int code, checks.Run(line));
  console.Drain();
  return code;
}

}  // namespace muster::cli
