// SPDX-License-Identifier: Apache-2.0
#include "settings/output.h"

#include <cerrno>
#include <cstdio>

#include "base/json.h"
#include "base/text.h"
#include "sys/file/fs.h"
#include "sys/net/stream.h"

namespace muster::cli {
namespace {

// Why the first result that was lost could not be written; 0: none was.
int lost_result = 0;

}  // namespace

void PrintResult(std::string_view text) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
      std::fflush(stdout) == 0;
  const int why = errno;
  if (!written && lost_result == 0 && why != EPIPE) {
    lost_result = why;
  }
}

Status ResultsWritten() {
  return lost_result == 0
             ? Ok()
             : sys::FromErrno("write", "standard output", lost_result);
}

void PrintDocument(const Json& document) {
  // Text of other programs may be no UTF-8; a document always is.
  PrintResult(document.dump(2, ' ', false, Json::error_handler_t::replace) +
              "\n");
}

void PrintAside(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

RenderOptions TerminalOptions(const sys::Env& env, int fd) {
  const auto set = [&](const char* name) {
    return !env.Get(name).value_or("").empty();
  };
  RenderOptions options;
  options.color =
      set("CLICOLOR_FORCE") || (sys::IsTerminal(fd) && !set("NO_COLOR") &&
                                env.Get("TERM").value_or("dumb") != "dumb");
  const auto columns = ParseInt(env.Get("COLUMNS").value_or(""));
  if (columns && *columns >= 40 && *columns <= 500) {
    options.width = static_cast<int>(*columns);
  }
  return options;
}

void NameHelpOf(std::string_view verb, Finding& finding) {
  for (Fix& fix : finding.fixes) {
    if (fix.command == "muster --help" && !verb.empty()) {
      fix.command = "muster " + std::string(verb) + " --help";
    }
  }
}

int PrintError(const Error& error, Output output, const sys::Env& env,
               std::string_view verb) {
  Finding finding = FromError(error);
  NameHelpOf(verb, finding);
  if (output == Output::kJson) {
    PrintDocument(ToJson(finding));
  } else {
    const std::string text = RenderText(finding, TerminalOptions(env, 2));
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
  return ExitCodeOf(error, verb);
}

int TpuExitCode(Cause cause) {
  switch (cause) {
    case Cause::kUsageInvalid:
    case Cause::kLaunchEnvMissing:
    case Cause::kClusterSpecInvalid:
      return 2;
    case Cause::kCloudNoCapacity:
    case Cause::kCloudQuotaExceeded:
      return 75;
    case Cause::kNetNameResolution:
    case Cause::kNetTimeoutFiltered:
    case Cause::kNetWrongEndpoint:
    case Cause::kNetProxy:
    case Cause::kFileCorrupt:
    case Cause::kDeadlineExceeded:
      return 3;
    case Cause::kCancelled:
      return 130;
    case Cause::kInternalError:
    case Cause::kOsLimit:
      return 125;
    default:
      return 1;
  }
}

Result<int> TpuVerb(const CommandLine& line, const Settings& settings,
                    const sys::Host& host) {
  const TpuCall call{.line = line, .settings = settings, .host = host};
  if (line.tpu.action == TpuAction::kDoctor ||
      line.tpu.action == TpuAction::kReap) {
    const auto code =
        line.tpu.action == TpuAction::kDoctor ? TpuDoctor(call) : TpuReap(call);
    return code ? *code : TpuRefused(code.error(), call);
  }
  const Status done = Act(call);
  return done ? 0 : TpuRefused(done.error(), call);
}

int ExitCodeOf(const Error& error, std::string_view verb) {
  // A file that should describe the cluster and cannot be read.
  for (const Fact& fact : error.evidence()) {
    if (fact.name.starts_with("spec.")) {
      return 2;
    }
  }
  switch (error.cause()) {
    case Cause::kUsageInvalid:
    case Cause::kClusterSpecInvalid:
    case Cause::kLaunchEnvMissing:
    case Cause::kRankWorldMismatch:
    case Cause::kDuplicateIdentity:
    case Cause::kNetWrongEndpoint:
    case Cause::kNetLoopbackName:
      return 2;
    case Cause::kProgramNotFound:
      for (const Fact& fact : error.evidence()) {
        if (fact.name == "spawn.failed" && fact.Number("code") == 126) {
          return 126;
        }
      }
      return 127;
    case Cause::kCancelled:
      return 130;
    case Cause::kInternalError:
      return 125;
    default:
      break;
  }
  if (verb == "run") {
    return 125;
  }
  return verb == "check" || verb == "explain" ? 3 : TpuExitCode(error.cause());
}

}  // namespace muster::cli
