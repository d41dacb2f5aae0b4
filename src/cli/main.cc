// SPDX-License-Identifier: Apache-2.0
// The program: reads the command line and hands over to a sub-command.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "cli/command_line.h"
#include "cli/run.h"
#include "cli/verbs.h"
#include "cli/worker_verbs.h"
#include "muster/version.h"
#include "remote/agent_bootstrap.h"
#include "remote/tpu_workers.h"
#include "settings/settings.h"
#include "sys/host.h"
#include "sys/net/curl_http.h"
#include "sys/process/process.h"
#include "sys/terminal/results.h"
#include "sys/terminal/standard_streams.h"

namespace muster::cli {
namespace {

// Where an error goes when the command line could not be read.
bool JsonAskedFor(const std::vector<std::string>& args, const sys::Env& env) {
  const auto end = std::find(args.begin(), args.end(), "--");
  const auto flag = std::find(args.begin(), end, "--output");
  return (flag != end && flag + 1 != end && (flag + 1)->starts_with("json")) ||
         std::any_of(args.begin(), end,
                     [](const std::string& word) {
                       return word.starts_with("--output=json");
                     }) ||
         (flag == end &&
          env.Get("MUSTER_OUTPUT").value_or("").starts_with("json"));
}

Result<int> Execute(const CommandLine& line, const sys::Host& host,
                    const std::optional<std::string>& bootstrap_token) {
  if (line.version) {
    sys::PrintResult("muster " + std::string(kVersion) + "\n");
    return 0;
  }
  if (line.help) {
    sys::PrintResult(HelpText(line.verb));
    return 0;
  }
  MUSTER_ASSIGN(const settings::Settings settings,
                settings::ReadSettings(line.settings, host.env));
  if (settings.output.value == settings::Output::kJsonl &&
      line.verb != Verb::kCheck) {
    return Error(Cause::kUsageInvalid,
                 settings.output.source +
                     " is `jsonl`, which only `muster check` supports: "
                     "expected text or json");
  }
  SetLogLevel(settings.log_level.value);
  for (const std::string& misspelt : settings::MisspeltVariables(host.env)) {
    MUSTER_LOG(kWarn, misspelt);
  }
  if (line.verb == Verb::kTpu || remote::NamesTpu(line.cluster, host)) {
    sys::LeaveNoCore();  // it will hold tokens and keys
  }
  switch (line.verb) {
    case Verb::kResolve:
      MUSTER_TRY(ResolveVerb(line, settings, host));
      return 0;
    case Verb::kCheck:
      if (line.program.asked) {
        return CheckProgramVerb(line, settings, host);
      }
      if (line.fit.asked) {
        return CheckFitVerb(line, settings, host);
      }
      return ChecksWorkers(line, host) ? CheckWorkers(line, settings, host)
                                       : CheckVerb(line, settings, host);
    case Verb::kExplain:
      return ExplainVerb(line, settings, host);
    case Verb::kBundle:
      return BundleVerb(line, settings, host);
    case Verb::kRun:
      return RunVerb(line, settings, host, bootstrap_token);
    case Verb::kTpu:
      if (line.tpu.action == TpuAction::kOverview) {
        std::fputs(HelpText(Verb::kTpu).c_str(), stderr);
        return 2;
      }
      return line.tpu.action == TpuAction::kSsh ||
                     line.tpu.action == TpuAction::kNotebook
                 ? TpuReachVerb(line, settings, host)
                 : TpuVerb(line, settings, host);
    case Verb::kOverview:
      break;
  }
  std::fputs(HelpText(Verb::kOverview).c_str(), stderr);
  return 2;
}

// Says whom it asks before it waits.
class AnnouncedHttp : public sys::Http {
 public:
  Result<sys::HttpResponse> Send(const sys::HttpRequest& request) override {
    if (http_ == nullptr) {
      http_ = sys::MakeCurlHttp();
    }
    const std::string host = sys::SplitUrl(request.url).host;
    if (host != last_) {
      MUSTER_LOG(kInfo, "asking " + host);
      last_ = host;
    }
    return http_->Send(request);
  }

 private:
  std::unique_ptr<sys::Http> http_;
  std::string last_;
};

// The sub-command that the words name; empty: none.
std::string_view VerbWord(const std::vector<std::string>& args) {
  constexpr std::string_view kVerbs[] = {"resolve", "check",  "run",
                                         "explain", "bundle", "tpu"};
  const auto* const verb =
      std::find(std::begin(kVerbs), std::end(kVerbs),
                args.empty() ? std::string_view() : args.front());
  return verb == std::end(kVerbs) ? std::string_view() : *verb;
}

// The exit code, where results could be written.
int EndWith(int code, std::string_view verb, const sys::Env& env) {
  const Status written = sys::ResultsWritten();
  if (written) {
    return code;
  }
  const int lost = sys::PrintError(written.error(), false, env, verb);
  return code == 0 ? lost : code;
}

// What an agent that is started over ssh has in place of a command line, where
// other users of its host would read it.
constexpr std::string_view kFromStdin = "--from-stdin";

int Main(std::vector<std::string> args) {
  sys::RealEnv env;
  sys::RealClock clock;
  sys::RealFs fs;
  std::optional<std::string> bootstrap_token;
  if (args.size() == 2 && args[0] == "run" && args[1] == kFromStdin) {
    auto handed = remote::ReadAgentBootstrap(0);
    if (!handed) {
      return sys::PrintError(handed.error(), false, env, "run");
    }
    args = std::move(handed->args);
    bootstrap_token = std::move(handed->token);
  }
  const auto line = ParseCommandLine(args);
  if (!line) {
    return sys::PrintError(line.error(), JsonAskedFor(args, env), env,
                           VerbWord(args));
  }
  AnnouncedHttp announced;
  sys::CachingHttp http(announced, resolve::kTimeout);
  const sys::RealNames names;
  // What a TPU's state is now is asked each time, as long as it takes.
  sys::Http* asked =
      line->verb == Verb::kTpu ? static_cast<sys::Http*>(&announced) : &http;
  const auto code =
      Execute(*line, {env, clock, fs, asked, &names}, bootstrap_token);
  const std::string_view verb = VerbWord(args);
  return EndWith(
      code ? *code
           : sys::PrintError(code.error(), JsonAskedFor(args, env), env, verb),
      verb, env);
}

int Broken(const char* what) {
  std::fprintf(stderr, "muster: internal-error: unexpected exception: %s\n",
               Printable(what).c_str());
  return 125;
}

// Before the static objects of libraries: some of gRPC's open descriptors.
[[gnu::constructor(101)]] void OpenStandardStreams() {
  sys::OpenClosedStandardStreams();
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) {
  // A parent that ignores it hands that on, and no child's status would come.
  std::signal(SIGCHLD, SIG_DFL);
  // Our code does not throw; what a library throws and no wrapper caught is a
  // bug of ours.
  try {
    return muster::cli::Main(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    return muster::cli::Broken(error.what());
  } catch (...) {
    return muster::cli::Broken("of an unknown type");
  }
}
