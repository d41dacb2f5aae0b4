// SPDX-License-Identifier: Apache-2.0
// The clock of this host, as far as it can be judged without another: a time
// before this program existed is wrong, and the kernel knows its own bound.
#include "base/json_fwd.h"
#include "base/text.h"
#include "check/check.h"

namespace muster::check::host_clock {
namespace {

// No host that trains today may think that it is earlier: 2025-01-01.
constexpr WallTime kEarliest{std::chrono::seconds(1'735'689'600)};
// Beyond this, certificates and tokens fail.
constexpr std::chrono::seconds kMaxError{30};

Outcome Run(const Context& context) {
  const WallTime now = context.host.clock.WallNow();
  if (now < kEarliest) {
    return Judge({MakeProblem(context, Cause::kClockSkew,
                              "the clock of this host is wrong: it shows " +
                                  ToString(now),
                              {{"the time is before 2025-01-01", "clock"}})},
                 "");
  }
  const auto state = context.machine.AskClock();
  if (!state || !state->synchronized) {
    return Pass(ToString(now) + ", no error bound: " +
                (state ? "clock is not synchronized (no NTP/chrony)"
                       : "the kernel does not report the clock state"));
  }
  if (state->max_error > kMaxError) {
    Finding finding = MakeProblem(
        context, Cause::kClockSkew,
        "the clock of this host may be off by " + ToString(state->max_error) +
            ", more than " + ToString(kMaxError),
        {{"maximum error " + ToString(state->max_error), "adjtimex"}},
        Confidence::kPossible);
    finding.severity = Severity::kWarning;
    return Judge({std::move(finding)}, "");
  }
  return Pass(ToString(now) + ", accurate within " +
              ToString(state->max_error));
}

}  // namespace

extern const Check kCheck;
const Check kCheck{
    .id = "host.clock",
    .title = "the clock of this host is synchronized",
    .after_failure = true,
    .fix = {"set the clock and synchronize it", "timedatectl set-ntp true"},
    .run = Run};

}  // namespace muster::check::host_clock
