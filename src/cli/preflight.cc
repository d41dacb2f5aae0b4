// SPDX-License-Identifier: Apache-2.0
#include "cli/preflight.h"

#include <utility>

#include "accelerator/device_files.h"
#include "base/text.h"
#include "check/facts/device_open.h"
#include "check/runner.h"
#include "cli/check/plugins.h"
#include "resolve/environment/versions.h"
#include "sys/machine.h"
#include "sys/process/child_work.h"
#include "sys/process/open_files.h"
#include "sys/process/process.h"

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
      .frameworks = [&] { return FindFrameworks(host); }};
  std::vector<Finding> findings;
  for (check::Answer& answer :
       check::RunChecks(Applicable(cluster, may_wait), context, {})) {
    for (Finding& finding : answer.outcome.findings) {
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

// "4 x TPU v4"; of several kinds the first.
std::string TextOf(const std::vector<accelerator::LocalAccelerator>& found) {
  const std::string& kind = found.front().kind;
  return std::to_string(found.size()) + " x " + Printable(kind);
}

// What the Python environment lacks; empty: nothing that is known.
std::string MissingFor(std::string_view platform, const sys::Host& host) {
  for (const check::FoundPlugin& one : FindPlugins(host)) {
    if (one.platform == platform) {
      return "";
    }
  }
  const std::string install = "pip install ";
  if (platform == "tpu") {
    return "libtpu is not installed: " + install + "libtpu";
  }
  const auto packages =
      resolve::FindPythonPackages(host).value_or(resolve::PythonPackages());
  const auto version = [&](const char* name) {
    const auto found = packages.versions.find(name);
    return found == packages.versions.end() ? std::string() : found->second;
  };
  if (const auto torch = version("torch"); torch.ends_with("+cpu")) {
    return "torch " + torch + " is the CPU build";
  }
  if (!version("tensorflow-cpu").empty()) {
    return "tensorflow-cpu is the CPU build";
  }
  return version("jax").empty()
             ? ""
             : "JAX has no GPU plug-in: " + install + "'jax[cuda12]'";
}

// The environment may lie on a disk that does not answer.
std::string MissingInTime(std::string_view platform, const sys::Host& host) {
  auto child = sys::ChildWork::Start(
      std::function<std::string()>([&] { return MissingFor(platform, host); }));
  if (!child) {
    return "";
  }
  const auto text = child->Await(std::chrono::seconds(5));
  if (!text && text.error().cause() == Cause::kDeadlineExceeded) {
    return "the Python environment did not respond in time";
  }
  return text ? *text : "";
}

}  // namespace

monitor::HostAccelerators FindHostAccelerators(const sys::Host& host) {
  auto found = accelerator::FindAccelerators(host.fs);
  std::erase_if(found, [](const auto& one) { return one.path.empty(); });
  if (found.empty()) {
    return {};
  }
  std::vector<std::string> paths;
  paths.reserve(found.size());
  for (const accelerator::LocalAccelerator& one : found) {
    paths.push_back(one.path);
  }
  const std::string platform(check::PlatformHere(host.fs));
  return {.text = TextOf(found),
          .platform = platform,
          .missing = MissingInTime(platform, host),
          .opened = [paths] { return sys::TreeHolds(sys::OwnPid(), paths); }};
}

check::Frameworks FindFrameworks(const sys::Host& host) {
  const auto packages = resolve::FindPythonPackages(host);
  if (!packages) {
    return {};
  }
  return {.place = packages->place,
          .versions = packages->versions,
          .problems = resolve::CheckVersions(*packages, {})};
}

std::function<std::vector<Finding>(int attempt)> MakePreflightChecks(
    const sys::Host& host, const Cluster& cluster,
    const std::string& runs_dir) {
  return [&host, &cluster, runs_dir,
          first = Look(host, cluster, runs_dir, true)](int attempt) {
    return attempt == 1 ? first : Look(host, cluster, runs_dir, false);
  };
}

}  // namespace muster::cli
