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
#include "cli/page/help.h"
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

// The same once it could be read.
bool JsonAskedFor(const CommandLine& line, const sys::Env& env) {
  const auto rows = settings::SettingRows();
  const auto output = std::find_if(
      rows.begin(), rows.end(),
      [](const settings::SettingRow& row) { return row.name == "output"; });
  return settings::TextOf(*output, line.settings, env, line.file)
      .value.starts_with("json");
}

bool IsAboutTpu(const Verb& verb) {
  return verb.path == "tpu" || verb.path.starts_with("tpu ");
}

// muster.toml, where the sub-command has settings.
Status TakeFile(CommandLine& line, const sys::Host& host) {
  if (!line.verb->has_settings) {
    return Ok();
  }
  MUSTER_ASSIGN(const auto before,
                settings::ReadSettings(line.settings, host.env));
  MUSTER_ASSIGN(line.file,
                settings::ReadSettingsFiles(before.config.value, host));
  // What --env sets comes later, and wins.
  line.environment.insert(line.environment.begin(),
                          line.file.environment.begin(),
                          line.file.environment.end());
  return Ok();
}

Result<int> Execute(CommandLine& line, const sys::Host& host) {
  const Verb& verb = *line.verb;
  if (line.version) {
    sys::PrintResult("muster " + std::string(kVersion) + "\n");
    return 0;
  }
  if (line.help) {
    sys::PrintResult(HelpText(verb));
    return 0;
  }
  if (verb.run == nullptr) {
    std::fputs(HelpText(verb).c_str(), stderr);
    return 2;
  }
  MUSTER_TRY(TakeFile(line, host));
  MUSTER_ASSIGN(const settings::Settings settings,
                settings::ReadSettings(line.settings, host.env, line.file));
  if (settings.output.value == settings::Output::kJsonl &&
      !verb.path.starts_with("check")) {
    return Error(Cause::kUsageInvalid,
                 settings.output.source +
                     " is `jsonl`, which only `muster check` supports: "
                     "expected text or json");
  }
  SetLogLevel(settings.log_level.value);
  for (const std::string& misspelt : settings::MisspeltVariables(host.env)) {
    MUSTER_LOG(kWarn, misspelt);
  }
  if (IsAboutTpu(verb) || remote::NamesTpu(line.cluster, host)) {
    sys::LeaveNoCore();  // it will hold tokens and keys
  }
  return verb.run(line, settings, host);
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
  const std::string& verb = VerbOf(args).path;
  auto line = ParseCommandLine(args);
  if (!line) {
    return sys::PrintError(line.error(), JsonAskedFor(args, env), env, verb);
  }
  line->bootstrap_token = std::move(bootstrap_token);
  AnnouncedHttp announced;
  sys::CachingHttp http(announced, resolve::kTimeout);
  const sys::RealNames names;
  // What a TPU's state is now is asked each time, as long as it takes.
  sys::Http* asked =
      IsAboutTpu(*line->verb) ? static_cast<sys::Http*>(&announced) : &http;
  const auto code = Execute(*line, {env, clock, fs, asked, &names});
  return EndWith(
      code ? *code
           : sys::PrintError(code.error(), JsonAskedFor(*line, env), env, verb),
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
