// SPDX-License-Identifier: Apache-2.0
#include "run/coordinator/host_findings.h"

#include <algorithm>

#include "base/text.h"

namespace muster::run {
namespace {

constexpr std::size_t kNamed = 3;

bool SameThing(const Finding& one, const Finding& other) {
  return one.cause == other.cause && one.severity == other.severity &&
         one.what == other.what;
}

void AddSubjects(const Finding& from, Finding& to) {
  for (const std::string& subject : from.subjects) {
    if (std::find(to.subjects.begin(), to.subjects.end(), subject) ==
        to.subjects.end()) {
      to.subjects.push_back(subject);
    }
  }
}

}  // namespace

std::vector<Finding> FoundOnHosts(std::span<const wire::Hello> hellos) {
  std::vector<Finding> findings;
  for (const wire::Hello& hello : hellos) {
    for (const Finding& finding : hello.findings) {
      if (finding.severity == Severity::kNote) {
        continue;
      }
      const auto same = std::find_if(
          findings.begin(), findings.end(),
          [&](const Finding& one) { return SameThing(one, finding); });
      if (same == findings.end()) {
        findings.push_back(finding);
      } else {
        AddSubjects(finding, *same);
      }
    }
  }
  std::stable_partition(
      findings.begin(), findings.end(),
      [](const Finding& one) { return one.severity == Severity::kError; });
  return findings;
}

std::string OneLine(const Finding& finding) {
  std::vector<std::string> named = finding.subjects;
  const std::size_t more = named.size() > kNamed ? named.size() - kNamed : 0;
  named.resize(named.size() - more);
  return std::string(ToText(finding.severity)) + "[" +
         std::string(Label(finding.cause)) + "]" +
         (named.empty() ? "" : " on " + Join(named, ", ")) +
         (more == 0 ? "" : " and " + std::to_string(more) + " more") + ": " +
         finding.what;
}

}  // namespace muster::run
