// SPDX-License-Identifier: Apache-2.0
#include "sys/terminal/results.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/json.h"
#include "base/text.h"
#include "finding/exit_code.h"
#include "sys/file/fs.h"
#include "sys/net/stream.h"

namespace muster::sys {
namespace {

// Why the first result that was lost could not be written; 0: none was.
int lost_result = 0;

constexpr int kMinWidth = 40;
constexpr int kMaxWidth = 500;

// 0: it is no terminal, or one that does not know.
int WidthOf(int fd) {
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// A wrong command line needs no more than what is wrong and where the right
// form is.
std::string InTwoLines(const Finding& finding, const RenderOptions& options) {
  const std::string text = RenderText(finding, options);
  const std::string head = text.substr(0, text.find('\n') + 1);
  if (finding.fixes.empty()) {
    return head;
  }
  const Fix& fix = finding.fixes.front();
  return head + "  fix       " + fix.text + ": " + fix.command + "\n";
}

}  // namespace

void PrintResult(std::string_view page) {
  const std::string text = Printable(page, TextForm::kPage);
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
      std::fflush(stdout) == 0;
  const int why = errno;
  if (!written && lost_result == 0 && why != EPIPE) {
    lost_result = why;
  }
}

Status ResultsWritten() {
  if (lost_result == EBADF) {
    return Error(Cause::kUsageInvalid,
                 "standard output is closed, so the result went nowhere: "
                 "`>/dev/null` discards it on purpose");
  }
  return lost_result == 0 ? Ok()
                          : FromErrno("write", "standard output", lost_result);
}

void PrintDocument(const Json& document) {
  PrintResult(Dump(document, 2) + "\n");
}

void PrintAside(std::string_view page) {
  const std::string text = Printable(page, TextForm::kPage);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

RenderOptions TerminalOptions(const Env& env, int fd) {
  const auto set = [&](const char* name) {
    return !env.Get(name).value_or("").empty();
  };
  RenderOptions options;
  options.color =
      set("CLICOLOR_FORCE") || (IsTerminal(fd) && !set("NO_COLOR") &&
                                env.Get("TERM").value_or("dumb") != "dumb");
  const auto columns = ParseInt(env.Get("COLUMNS").value_or(""));
  if (columns && *columns >= kMinWidth && *columns <= kMaxWidth) {
    options.width = static_cast<int>(*columns);
  } else if (const int own = WidthOf(fd); own > 0) {
    options.width = std::clamp(own, kMinWidth, kMaxWidth);
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

int PrintError(const Error& error, bool json, const Env& env,
               std::string_view verb) {
  Finding finding = FromError(error);
  NameHelpOf(verb, finding);
  if (json) {
    PrintDocument(ToJson(finding));
  } else if (error.cause() == Cause::kUsageInvalid) {
    PrintAside(InTwoLines(finding, TerminalOptions(env, 2)));
  } else {
    PrintAside(RenderText(std::span(&finding, 1), TerminalOptions(env, 2)));
  }
  return ExitCodeOf(error, verb.substr(0, verb.find(' ')));
}

}  // namespace muster::sys
