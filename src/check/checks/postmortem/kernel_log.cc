// SPDX-License-Identifier: Apache-2.0
// The kernel's log of the last hour: an older line is of another run.
#include <cstdlib>

#include "base/text.h"
#include "check/check.h"
#include "check/facts/recorded_text.h"

namespace muster::check::postmortem_kernel_log {
namespace {

constexpr std::size_t kMaxBytes = 256U << 10;
constexpr double kRecentSeconds = 3600;

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

Outcome Run(const Context& context) {
  const auto log = context.machine.KernelLog(kMaxBytes);
  if (!log) {
    return Skip("not readable: " + log.error().message());
  }
  const auto uptime = context.host.fs.Read("/proc/uptime");
  const double now = uptime ? std::strtod(uptime->c_str(), nullptr) : 0;
  RecordedText recent{.name = "kernel log", .text = {}};
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
  Outcome outcome = Pass(Count(lines, "line") + " in the last hour, " +
                         std::to_string(older) + " older not read");
  AddTexts({recent}, outcome);
  return outcome;
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "postmortem.kernel-log",
                   .title = "what the kernel logged in the last hour",
                   .on_request = true,
                   .after_failure = true,
                   .before_run = BeforeRun::kNever,
                   .run = Run};

}  // namespace muster::check::postmortem_kernel_log
