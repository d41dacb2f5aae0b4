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

void PrintText(const CommandLine& line, const sys::Host& host,
               const resolve::Resolved& resolved, const std::string& checked) {
  std::string text =
      resolve::RenderText(resolved, {.verbose = line.resolve.verbose});
  text += checked.empty() ? "" : checked + "\n";
  if (!resolved.findings.empty()) {
    text += "\n" + RenderText(std::span(resolved.findings),
                              sys::TerminalOptions(host.env, 1));
  }
  sys::PrintResult(text);
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

Result<int> ResolveVerb(const CommandLine& line,
                        const settings::Settings& settings,
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
    return 0;
  }
  if (line.resolve.spec) {
    PrintFindingsAside(resolved, host);
    sys::PrintResult(resolve::SpecText(resolved.cluster));
    return 0;
  }
  AddVersionFindings(host, resolved);
  if (settings.output.value == settings::Output::kJson) {
    sys::PrintDocument(resolve::ToJson(resolved));
  } else {
    PrintText(line, host, resolved, checked);
  }
  return 0;
}

}  // namespace

Verb DescribeResolve() {
  return {
      .path = "resolve",
      .summary =
          "print the members, this rank and the coordinator, with sources",
      .about =
          "Print the cluster of this process: members, rank, coordinator, "
          "accelerators and ports, each with its source. Starts nothing.\n\n"
          "muster reads all sources and uses the first that applies: flags, "
          "MUSTER_*, torch, LSF, MPI, Slurm, AWS Batch, SkyPilot, SageMaker, "
          "TF_CONFIG, JAX, PET_*, TPU pods on GKE, a Kubernetes Job, a TPU by "
          "name, Colab, Kaggle, the metadata of a TPU VM, the TPU of this "
          "host, otherwise a single process. It queries the network only when "
          "no variable describes the cluster.",
      .examples = {{"muster resolve"},
                   {"muster resolve -v", "what every source says"},
                   {"muster resolve --hosts 10.0.0.1:8476,10.0.0.2:8476"},
                   {"muster resolve --output json >cluster.json"},
                   {"eval \"$(muster resolve --export tf)\""}},
      .exits = {{"1", "access denied (credentials, permissions, --require)"},
                {"2", "invalid command line or cluster description"},
                {"3", "a source did not respond"}},
      .groups =
          {ClusterFlags(),
           {"Flags",
            {{"--export", "WHAT",
              "print the environment for tf, jax, torch, torch_xla, shell or "
              "python",
              To(&CommandLine::resolve, &ResolveFlags::export_for)},
             {.names = "--require",
              .value = "NAME==V",
              .help = "require a package in the Python environment; repeatable",
              .take = To(&CommandLine::resolve, &ResolveFlags::requirements),
              .repeats = true},
             {"-v, --verbose", "",
              "show every source: what it says, or why it is skipped",
              To(&CommandLine::resolve, &ResolveFlags::verbose)},
             {"--spec", "", "print the cluster spec as TensorFlow does",
              To(&CommandLine::resolve, &ResolveFlags::spec)},
             {"--check-self", "",
              "check that this host has the address of its task",
              To(&CommandLine::resolve, &ResolveFlags::check_self)}}}},
      .run = ResolveVerb};
}

}  // namespace muster::cli
