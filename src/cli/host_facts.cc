// SPDX-License-Identifier: Apache-2.0
#include "cli/host_facts.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "check/facts/recorded_text.h"
#include "diagnose/match/log_scanner.h"
#include "sys/machine.h"

namespace muster::cli {
namespace {

// The fact that a finding of a check is.
struct FindingFact {
  std::string_view check;
  Cause cause;
  std::string_view fact;
};
constexpr std::array<FindingFact, 4> kFindingFacts{{
    {"host.shared-memory", Cause::kShmTooSmall, "host.shm_small"},
    {"postmortem.oom-kills", Cause::kOomHost, "oom.counter"},
    {"postmortem.tpu-lock", Cause::kDeviceLockStale,
     "host.lock_without_holder"},
    {"storage.space", Cause::kDiskFull, "host.disk_full"},
}};
constexpr std::string_view kDevices = "accelerator.devices";

Fact FactOf(std::string_view name, std::string_view source,
            const std::string& text) {
  Fact fact;
  fact.name = name;
  fact.by = source;
  fact.fields["text"] = text;
  fact.fields["source"] = std::string(source);
  return fact;
}

void AddFinding(const check::Check& check, const Finding& finding,
                std::vector<Fact>& facts) {
  for (const FindingFact& one : kFindingFacts) {
    // Little space on a disk is no full one.
    const bool holds =
        one.check != "storage.space" || finding.severity == Severity::kError;
    if (one.check == check.id && one.cause == finding.cause && holds) {
      facts.push_back(FactOf(
          one.fact,
          finding.evidence.empty() ? check.id : finding.evidence.front().source,
          finding.what));
    }
  }
}

// A device on the bus that has no file cannot be opened.
bool HasDevice(const Outcome& outcome) {
  const Json data = Json::parse(outcome.data, nullptr, false);
  const Json devices =
      data.is_object() ? data.value("devices", Json::array()) : Json::array();
  return std::any_of(devices.begin(), devices.end(), [](const Json& one) {
    return !one.value("path", "").empty();
  });
}

void AddSeen(const check::Answer& answer, std::vector<Fact>& facts) {
  const auto& [check, outcome, took] = answer;
  for (const Finding& finding : outcome.findings) {
    facts.push_back(FactOf("host.seen", check->id, finding.what));
    AddFinding(*check, finding, facts);
  }
  if (outcome.findings.empty()) {
    facts.push_back(FactOf("host.seen", check->id, outcome.detail));
  }
  if (check->id == kDevices && outcome.state != OutcomeState::kBroken &&
      !HasDevice(outcome)) {
    facts.push_back(FactOf("host.no_device", "/dev",
                           "no /dev/nvidia*, /dev/accel* or /dev/vfio/N"));
  }
}

}  // namespace

std::vector<Fact> FactsOf(std::span<const check::Answer> answers,
                          const diagnose::Matcher& matcher) {
  std::vector<Fact> facts;
  diagnose::LogScanner scanner(matcher);
  for (const check::Answer& answer : answers) {
    AddSeen(answer, facts);
    const auto texts = check::TextsOf(answer.outcome);
    for (const auto& [name, text] : texts) {
      scanner.Begin({.name = name});
      scanner.Feed(text);
      scanner.End();
    }
    for (std::size_t i = 0; texts.empty() && i < answer.outcome.lines.size();
         ++i) {
      facts.push_back(
          FactOf("host.seen", answer.check->id, answer.outcome.lines[i]));
    }
  }
  // How the kernel's log ends is no end of the training.
  for (Fact& fact : scanner.TakeFacts()) {
    if (fact.name != diagnose::kEnd) {
      facts.push_back(std::move(fact));
    }
  }
  std::for_each(facts.begin(), facts.end(), diagnose::PutAfterLogs);
  return facts;
}

std::vector<Fact> InspectHost(const diagnose::Matcher& matcher,
                              const sys::Host& host) {
  const sys::RealMachine machine;
  const check::Context context{
      .host = host,
      .machine = machine,
      .checkpoints = {host.env.WorkingDirectory(), "/tmp"}};
  std::vector<const check::Check*> checks;
  std::copy_if(check::AllChecks().begin(), check::AllChecks().end(),
               std::back_inserter(checks),
               [](const check::Check* one) { return one->after_failure; });
  return FactsOf(check::RunChecks(checks, context, {}), matcher);
}

}  // namespace muster::cli
