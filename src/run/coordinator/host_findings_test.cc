// SPDX-License-Identifier: Apache-2.0
#include "run/coordinator/host_findings.h"

#include <gtest/gtest.h>

namespace muster::run {
namespace {

Finding Found(const std::string& host, const std::string& what,
              Severity severity) {
  Finding finding = MakeFinding(Cause::kOsLimit, what, Confidence::kCertain);
  finding.subjects = {host};
  finding.severity = severity;
  return finding;
}

wire::Hello From(std::vector<Finding> findings) {
  wire::Hello hello;
  hello.findings = std::move(findings);
  return hello;
}

TEST(HostFindings, AreOneWhereHostsSayTheSame) {
  const std::vector hellos{From({Found("a", "few", Severity::kWarning)}),
                           From({Found("b", "few", Severity::kWarning),
                                 Found("b", "none", Severity::kWarning)})};
  const auto findings = FoundOnHosts(hellos);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].subjects, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(OneLine(findings[1]), "warning[os-limit] on b: none");
}

TEST(HostFindings, BeginWithErrorsAndEndWithWarnings) {
  const std::vector hellos{From({Found("a", "w", Severity::kWarning),
                                 Found("a", "n", Severity::kNote),
                                 Found("a", "e", Severity::kError)})};
  const auto findings = FoundOnHosts(hellos);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].what, "e");
  EXPECT_EQ(findings[1].what, "w");
}

TEST(HostFindings, NameThreeHostsOnALine) {
  Finding finding = Found("a", "few", Severity::kWarning);
  finding.subjects = {"a", "b", "c", "d", "e"};
  EXPECT_EQ(OneLine(finding), "warning[os-limit] on a, b, c and 2 more: few");
}

}  // namespace
}  // namespace muster::run
