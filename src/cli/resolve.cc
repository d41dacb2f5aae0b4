// SPDX-License-Identifier: Apache-2.0
#include "resolve/resolve.h"

#include "base/json.h"
#include "base/text.h"
#include "cli/answer.h"
#include "cli/verbs.h"
#include "resolve/export.h"
#include "resolve/self.h"
#include "resolve/versions.h"

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
  const auto found = resolve::CheckVersions(
      *packages, TextOf(resolved.claims.front(), "runtime_version"));
  resolved.findings.insert(resolved.findings.end(), found.begin(), found.end());
}

// net-wrong-endpoint: the address of the own task is another host's.
Status CheckSelf(const Cluster& cluster, const sys::Host& host) {
  if (!cluster.self) {
    return Ok();
  }
  const Member& self =
      cluster.members[static_cast<std::size_t>(cluster.self->value)];
  std::string name;
  if (self.address) {
    name = self.address->value.host;
  } else if (cluster.self->value == 0 && cluster.coordinator) {
    name = cluster.coordinator->value.host;
  }
  if (name.empty() || resolve::MatchesThisHost(name, host)) {
    return Ok();
  }
  return Error(Cause::kNetWrongEndpoint,
               Name(self) + " is at `" + Printable(name) +
                   "`, but this host is `" + Printable(host.env.Hostname()) +
                   "` with " + Join(host.env.LocalAddresses(), ", "));
}

Status PrintText(const CommandLine& line, const sys::Host& host,
                 const resolve::Resolved& resolved) {
  std::string text =
      resolve::RenderText(resolved, {.verbose = line.resolve.verbose});
  for (const Finding& finding : resolved.findings) {
    text += "\n" + RenderText(finding, TerminalOptions(host.env, 1));
  }
  PrintResult(text);
  return Ok();
}

}  // namespace

Status ResolveVerb(const CommandLine& line, const Settings& settings,
                   const sys::Host& host) {
  for (const std::string& requirement : line.resolve.requirements) {
    MUSTER_TRY(resolve::CheckRequirement(requirement, host));
  }
  MUSTER_ASSIGN(auto resolved, resolve::Resolve(line.cluster, host));
  if (line.resolve.check_self) {
    MUSTER_TRY(CheckSelf(resolved.cluster, host));
  }
  if (!line.resolve.export_for.empty()) {
    MUSTER_ASSIGN(const auto text,
                  resolve::ExportText(line.resolve.export_for, resolved));
    PrintResult(text);
    return Ok();
  }
  if (line.resolve.spec) {
    PrintResult(resolve::SpecText(resolved.cluster));
    return Ok();
  }
  AddVersionFindings(host, resolved);
  if (settings.output.value == Output::kJson) {
    PrintDocument(resolve::ToJson(resolved));
    return Ok();
  }
  return PrintText(line, host, resolved);
}

}  // namespace muster::cli
