// SPDX-License-Identifier: Apache-2.0
#include "resolve/resolve.h"

#include "accelerator/local_devices.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/verbs.h"
#include "resolve/environment/versions.h"
#include "resolve/output/export.h"
#include "resolve/self.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

std::string TextOf(const resolve::Claim& claim, const char* key) {
  const auto found = claim.more.find(key);
  const auto* text = found == claim.more.end()
                         ? nullptr
                         : std::get_if<std::string>(&found->second);
  return text == nullptr ? "" : *text;
}

// The frameworks that are installed, among themselves and with the TPU.
void AddVersionFindings(const sys::Host& host, resolve::Resolved& resolved) {
  const auto packages = resolve::FindPythonPackages(host);
  if (!packages) {
    return;
  }
  const resolve::TpuHere tpu{
      .runtime = TextOf(resolved.claims.front(), "runtime_version"),
      .chips = accelerator::FindLocalTpu(host).chips,
      .has_libtpu = host.fs.Exists("/lib/libtpu.so") ||
                    host.fs.Exists("/usr/lib/libtpu.so")};
  const auto found = resolve::CheckVersions(*packages, tpu);
  resolved.findings.insert(resolved.findings.end(), found.begin(), found.end());
}

Status PrintText(const CommandLine& line, const sys::Host& host,
                 const resolve::Resolved& resolved,
                 const std::string& checked) {
  std::string text =
      resolve::RenderText(resolved, {.verbose = line.resolve.verbose});
  text += checked.empty() ? "" : checked + "\n";
  if (!resolved.findings.empty()) {
    text += "\n" + RenderText(std::span(resolved.findings),
                              sys::TerminalOptions(host.env, 1));
  }
  sys::PrintResult(text);
  return Ok();
}

// A result for a shell has no room for what is wrong with it.
void PrintFindingsAside(const resolve::Resolved& resolved,
                        const sys::Host& host) {
  std::vector<Finding> shown = resolved.findings;
  std::erase_if(shown, [](const Finding& finding) {
    return finding.severity == Severity::kNote;
  });
  sys::PrintAside(
      RenderText(std::span(shown), sys::TerminalOptions(host.env, 2)));
}

// What is printed for a shell or as a map of tasks has one form.
Status CheckForms(const ResolveFlags& flags,
                  const Sourced<settings::Output>& output) {
  if (!flags.export_for.empty() && flags.spec) {
    return Error(Cause::kUsageInvalid,
                 "--export and --spec are mutually exclusive");
  }
  if (!flags.export_for.empty() && output.value == settings::Output::kJson &&
      output.source.starts_with("flag")) {
    return Error(Cause::kUsageInvalid,
                 "--export prints shell text, which excludes --output json");
  }
  return Ok();
}

}  // namespace

Status ResolveVerb(const CommandLine& line, const settings::Settings& settings,
                   const sys::Host& host) {
  MUSTER_TRY(CheckForms(line.resolve, settings.output));
  for (const std::string& requirement : line.resolve.requirements) {
    MUSTER_TRY(resolve::CheckRequirement(requirement, host));
  }
  MUSTER_ASSIGN(auto resolved, resolve::Resolve(line.cluster, host));
  std::string checked;
  if (line.resolve.check_self) {
    MUSTER_ASSIGN(checked, resolve::CheckSelf(resolved, host));
  }
  if (!line.resolve.export_for.empty()) {
    MUSTER_ASSIGN(const auto text,
                  resolve::ExportText(line.resolve.export_for, resolved));
    PrintFindingsAside(resolved, host);
    sys::PrintResult(text);
    return Ok();
  }
  if (line.resolve.spec) {
    PrintFindingsAside(resolved, host);
    sys::PrintResult(resolve::SpecText(resolved.cluster));
    return Ok();
  }
  AddVersionFindings(host, resolved);
  if (settings.output.value == settings::Output::kJson) {
    sys::PrintDocument(resolve::ToJson(resolved));
    return Ok();
  }
  return PrintText(line, host, resolved, checked);
}

}  // namespace muster::cli
