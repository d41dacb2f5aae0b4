// SPDX-License-Identifier: Apache-2.0
// `muster tpu notebook`: Jupyter on a worker of a TPU, its port here.
#include <csignal>

#include "base/json.h"
#include "base/secret.h"
#include "base/text.h"
#include "channel/security/run_key.h"
#include "cli/worker_verbs.h"
#include "diagnose/verdict/verdict.h"
#include "finding/exit_code.h"
#include "remote/ssh_session.h"
#include "sys/net/net.h"
#include "sys/signal/signals.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

using sys::Console;

constexpr auto kBetweenQuestions = std::chrono::milliseconds(500);
constexpr auto kForOneQuestion = std::chrono::seconds(1);
// For Jupyter to answer once it was started, and to end.
constexpr auto kForJupyter = std::chrono::seconds(90);
constexpr auto kForTheEnd = std::chrono::seconds(15);
// The port there is one of these; which does not matter.
constexpr int kFirstPort = 20'000;
constexpr int kPorts = 10'000;

// Colab's page asks from its own origin.
constexpr const char* kJupyter =
    R"sh(k=lab; jupyter lab --version >/dev/null 2>&1 || k=notebook; )sh"
    R"sh(r=; test "$(id -u)" -ne 0 || r=--allow-root; )sh"
    R"sh(exec jupyter "$k" $r --no-browser --ip=127.0.0.1 --port="$1" )sh"
    R"sh(--ServerApp.port_retries=0 --ServerApp.allow_credentials=True )sh"
    R"sh(--ServerApp.allow_origin=https://colab.research.google.com)sh";

// One Jupyter and the connection that it lives as long as.
class Notebook {
 public:
  Notebook(const TpuCall& call, const remote::ReachedTpu& tpu, sys::Loop& loop,
           sys::Spawner& spawner, Console& console, Secret token)
      : call_(call),
        tpu_(tpu),
        loop_(loop),
        console_(console),
        token_(std::move(token)),
        place_{.loop = loop,
               .spawner = spawner,
               .env = call.host.env,
               .limit = call.settings.request_timeout.value},
        session_(place_, tpu.workers.front().login,
                 {.answered = [](const remote::SshAnswer&) {},
                  .line = [this](Console::Stream,
                                 std::string_view line) { Line(line); },
                  .changed = [this] { loop_.Post([this] { Look(); }); }}) {}

  Result<int> Run(int port_there);
  void Interrupt(bool now);

 private:
  void Look();
  void Began();
  void Ask();
  void ShowLink();
  void Line(std::string_view line);
  int Finish();
  void Say(const std::string& text) {
    console_.Write(Console::Stream::kErr, "muster: " + Printable(text) + "\n");
  }
  void Show(const Finding& finding) {
    console_.Write(
        Console::Stream::kErr,
        RenderText(finding, sys::TerminalOptions(call_.host.env, 2)));
  }
  std::string Link() const {
    return "http://127.0.0.1:" + std::to_string(call_.flags().port);
  }
  void End(Finding why) {
    failed_ = std::move(why);
    Interrupt(false);
  }

  const TpuCall& call_;
  const remote::ReachedTpu& tpu_;
  sys::Loop& loop_;
  Console& console_;
  const Secret token_;
  const remote::SshSession::Place place_;
  remote::SshSession session_;
  bool began_ = false;
  bool answers_ = false;
  bool ends_ = false;
  std::optional<Finding> failed_;
  sys::Loop::Handle late_, beat_, asking_;
};

Result<int> Notebook::Run(int port_there) {
  const std::string there = std::to_string(port_there);
  MUSTER_TRY(session_.Start(
      remote::ShellLine(remote::NotebookScript(),
                        {"sh", "-c", kJupyter, "notebook", there}),
      {"-o", "ExitOnForwardFailure=yes", "-L",
       "127.0.0.1:" + std::to_string(call_.flags().port) +
           ":127.0.0.1:" + there}));
  late_ = loop_.After(place_.limit, [this] { session_.GiveUp(place_.limit); });
  beat_ = loop_.Every(remote::kSshBeat, [this] {
    if (began_) {
      session_.Send(remote::Share("."));
    }
  });
  loop_.Run();
  return Finish();
}

void Notebook::Look() {
  if (session_.ready() && !began_) {
    Began();
  }
  if (session_.ended()) {
    loop_.Quit();
  }
}

void Notebook::Began() {
  began_ = true;
  session_.Send(remote::Share(token_.Reveal() + "\n"));
  late_ = loop_.After(kForJupyter, [this] {
    End(MakeFinding(Cause::kDeadlineExceeded,
                    "Jupyter on " + session_.login().Name() +
                        " does not respond " + ToString(Duration(kForJupyter)) +
                        " after its start; its output is above",
                    Confidence::kCertain));
  });
  asking_ = loop_.Every(kBetweenQuestions, [this] { Ask(); });
}

// Through the tunnel, so that the link works once it is shown.
void Notebook::Ask() {
  const auto answer = call_.host.http->Send(
      {.url = Link() + "/api/status",
       .headers = {{"Authorization", "token " + token_.Reveal()}},
       .connect_timeout = kForOneQuestion,
       .timeout = kForOneQuestion});
  if (!answer || ends_) {
    return;
  }
  asking_.Cancel();
  late_.Cancel();
  if (answer->status != 200) {
    End(MakeFinding(Cause::kNetWrongEndpoint,
                    "the server at " + Link() +
                        " is not this Jupyter: it returns " +
                        std::to_string(answer->status) + " for its own token",
                    Confidence::kCertain));
    return;
  }
  answers_ = true;
  ShowLink();
}

void Notebook::ShowLink() {
  const std::string port = std::to_string(call_.flags().port);
  const std::string browser = Link() + "/lab?token=" + token_.Reveal();
  const std::string colab =
      "http://localhost:" + port + "/?token=" + token_.Reveal();
  if (call_.json()) {
    sys::PrintDocument({{"schema", "muster.tpu.notebook/1"},
                        {"tpu", tpu_.node.name},
                        {"worker", tpu_.workers.front().index},
                        {"browser", browser},
                        {"colab", colab}});
  } else {
    sys::PrintResult("browser  " + browser + "\n" + "Colab    " + colab + "\n");
  }
  Say("in Colab: click the arrow beside Connect, choose Connect to a local "
      "runtime, and paste that link; Ctrl-C ends Jupyter and its kernels");
}

// Jupyter shows its token at times.
void Notebook::Line(std::string_view line) {
  if (line.starts_with("channel ") &&
      line.find("open failed") != std::string_view::npos) {
    return;  // ssh, of a question before Jupyter listens
  }
  std::string text(line);
  for (auto at = text.find(token_.Reveal()); at != std::string::npos;
       at = text.find(token_.Reveal())) {
    text.replace(at, token_.Reveal().size(), "TOKEN");
  }
  console_.WriteOutput(
      Console::Stream::kErr,
      "[" + Printable(tpu_.workers.front().label) + "] " + text + "\n");
}

void Notebook::Interrupt(bool now) {
  ends_ = true;
  asking_.Cancel();
  now || !session_.ready() ? session_.Kill() : session_.Close();
  late_ = loop_.After(kForTheEnd, [this] { session_.Kill(); });
}

int Notebook::Finish() {
  const std::string& who = session_.login().Name();
  if (session_.failed()) {
    Show(*session_.failed());
    return TpuExitCode(session_.failed()->cause);
  }
  if (failed_) {
    Show(*failed_);
    return TpuExitCode(failed_->cause);
  }
  if (ends_) {
    Say("Jupyter on " + who + " has ended");
    return 0;
  }
  // A machine that is taken away may kill Jupyter before the connection goes,
  // which ssh tells as 255, too.
  const bool killed = session_.lost() || session_.code() == 255;
  const auto why =
      killed ? remote::WhyTpuGone(tpu_.node.place, call_.host) : std::nullopt;
  if (why) {
    Show(*why);
  } else if (session_.lost()) {
    Show(MakeFinding(
        Cause::kPeerDied,
        "the connection to " + who + " was lost; Jupyter there exits",
        Confidence::kCertain));
  } else {
    Show(MakeFinding(Cause::kAppException,
                     "Jupyter on " + who + " exited with " +
                         std::to_string(session_.code()) +
                         (answers_ ? "" : " before it responded") +
                         "; its output is above",
                     Confidence::kCertain));
  }
  return 1;
}

}  // namespace

Result<int> TpuNotebook(const TpuCall& call, const remote::ReachedTpu& tpu,
                        std::unique_ptr<sys::GuardianSpawner> spawner) {
  if (tpu.workers.size() != 1) {
    return Error(Cause::kUsageInvalid,
                 "a notebook runs on one worker: use --worker 0");
  }
  // Who holds the port is said before anybody is asked.
  MUSTER_TRY(
      sys::Listen({.host = "127.0.0.1",
                   .port = static_cast<std::uint16_t>(call.flags().port)}));
  MUSTER_ASSIGN(const auto random, channel::RunKey::Random());
  const std::string token = random.ToHex().substr(0, 48);
  MUSTER_ASSIGN(const auto other, channel::RunKey::Random());
  const int there =
      kFirstPort +
      static_cast<int>(std::stoul(other.ToHex().substr(0, 6), nullptr, 16) %
                       kPorts);
  MUSTER_ASSIGN(const auto loop, sys::Loop::Make());
  MUSTER_TRY(spawner->Attach(*loop));
  Console console(*loop, {});
  Notebook notebook(call, tpu, *loop, *spawner, console, Secret(token));
  MUSTER_ASSIGN(const auto signals,
                sys::SignalWatch::Make(*loop, {SIGINT, SIGTERM, SIGHUP},
                                       [&notebook, count = 0](int) mutable {
                                         notebook.Interrupt(++count > 1);
                                       }));
  MUSTER_ASSIGN(const int code, notebook.Run(there));
  console.Drain(Deadline::After(std::chrono::seconds(5)));
  return code;
}

}  // namespace muster::cli
