// SPDX-License-Identifier: Apache-2.0
#include "cli/look.h"

#include <utility>

#include "check/runner.h"
#include "resolve/versions.h"
#include "sys/machine.h"

namespace muster::cli {
namespace {

std::vector<const check::Check*> Applicable(const Cluster& cluster,
                                            bool may_wait) {
  std::vector<const check::Check*> chosen;
  for (const check::Check* one : check::AllChecks()) {
    const bool applies = one->before_run == check::BeforeRun::kAlways ||
                         (one->before_run == check::BeforeRun::kSeveralHosts &&
                          check::SeveralHosts(cluster));
    if (applies && !one->on_request && (may_wait || !one->may_wait)) {
      chosen.push_back(one);
    }
  }
  return chosen;
}

std::vector<Finding> Look(const sys::Host& host, const Cluster& cluster,
                          const std::string& runs_dir, bool may_wait) {
  const sys::RealMachine machine;
  const check::Context context{
      .host = host,
      .machine = machine,
      .cluster = &cluster,
      .runs_dir = runs_dir,
      .frameworks = [&] { return LookForFrameworks(host); }};
  std::vector<Finding> findings;
  for (check::Answer& answer :
       check::RunChecks(Applicable(cluster, may_wait), context, {})) {
    for (Finding& finding : answer.outcome.findings) {
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

}  // namespace

check::Frameworks LookForFrameworks(const sys::Host& host) {
  const auto packages = resolve::FindPythonPackages(host);
  if (!packages) {
    return {};
  }
  return {.place = packages->place,
          .versions = packages->versions,
          .problems = resolve::CheckVersions(*packages, {})};
}

std::function<std::vector<Finding>(int attempt)> LookAtHost(
    const sys::Host& host, const Cluster& cluster,
    const std::string& runs_dir) {
  return [&host, &cluster, runs_dir,
          first = Look(host, cluster, runs_dir, true)](int attempt) {
    return attempt == 1 ? first : Look(host, cluster, runs_dir, false);
  };
}

}  // namespace muster::cli
