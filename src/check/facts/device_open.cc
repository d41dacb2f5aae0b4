// SPDX-License-Identifier: Apache-2.0
#include "check/facts/device_open.h"

#include <algorithm>
#include <array>

#include "accelerator/device_files.h"
#include "accelerator/specs.h"
#include "base/json.h"
#include "base/text.h"
#include "pjrt/plugin/open.h"

namespace muster::check {
namespace {

// Variables that leave a program only some of the devices of its host.
constexpr std::array<const char*, 5> kHiding{
    "TPU_VISIBLE_CHIPS", "TPU_VISIBLE_DEVICES", "TPU_PROCESS_BOUNDS",
    "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"};

// The plug-in to open, or why nothing is opened.
struct Chosen {
  Sourced<std::string> plugin;
  std::string not_because;
};

std::string HeldBy(const Context& context) {
  const auto holders = context.machine.HoldersOf(TpuDevices(context.host.fs));
  return holders.empty() ? "" : sys::ToString(holders.front());
}

bool IsPlatform(std::string_view word) {
  return word == "tpu" || word == "cuda" || word == "cpu";
}

Chosen Choose(const Context& context) {
  const std::string& told = context.opening.plugin;
  if (!told.empty() && !IsPlatform(told)) {
    return {.plugin = {told, "flag --plugin"}, .not_because = {}};
  }
  const std::string platform(told.empty() ? PlatformHere(context.host.fs)
                                          : std::string_view(told));
  if (platform.empty()) {
    return {.plugin = {}, .not_because = "no accelerator is visible here"};
  }
  for (const FoundPlugin& one :
       context.plugins ? context.plugins() : std::vector<FoundPlugin>()) {
    if (one.platform == platform) {
      return {.plugin = one.path, .not_because = {}};
    }
  }
  return {.plugin = {},
          .not_because = "no plug-in for `" + platform + "` is installed: " +
                         std::string(InstallLine(platform))};
}

// Where there is no chip libtpu would ask the metadata server for one, for
// minutes; on one host of a slice it would wait for the others.
std::vector<std::pair<std::string, std::string>> VariablesFor(
    const Context& context) {
  const std::size_t chips = TpuDevices(context.host.fs).size();
  if (chips == 0) {
    return {{"TPU_SKIP_MDS_QUERY", "1"}};
  }
  const std::string bounds = chips == 1   ? "1,1,1"
                             : chips == 4 ? "2,2,1"
                             : chips == 8 ? "2,4,1"
                                          : "";
  if (context.tpu.hosts.size() <= 1 || bounds.empty()) {
    return {};
  }
  return {{"TPU_CHIPS_PER_PROCESS_BOUNDS", bounds},
          {"TPU_PROCESS_BOUNDS", "1,1,1"},
          {"CLOUD_TPU_TASK_ID", "0"}};
}

std::optional<Sourced<int>> ExpectedOf(const Context& context,
                                       const std::string& platform) {
  const auto& told = context.tpu.devices;
  const bool by_flag = told && told->source.starts_with("flag ");
  const bool whole = context.tpu.hosts.size() <= 1 && platform == "tpu";
  if (told && (by_flag || whole)) {
    return told;
  }
  const bool hidden = std::any_of(
      kHiding.begin(), kHiding.end(),
      [&](const char* name) { return sys::IsSet(context.host.env, name); });
  int devices = 0;
  for (const accelerator::LocalAccelerator& one :
       accelerator::FindAccelerators(context.host.fs)) {
    const bool tpu = one.kind.starts_with("TPU");
    if (!one.path.empty() && tpu == (platform == "tpu")) {
      const accelerator::Specs* specs = accelerator::SpecsOf(one.kind);
      devices += specs == nullptr ? 1 : specs->devices_per_chip;
    }
  }
  if (hidden || devices == 0 || platform == "cpu") {
    return std::nullopt;
  }
  return Sourced<int>{devices, "/dev"};
}

// "4 x TPU v5 lite".
std::string DevicesText(const pjrt::Opened& opened) {
  const auto count = static_cast<std::int64_t>(opened.kinds.size());
  return Count(count, "device") + " of `" + Printable(opened.platform) + "`" +
         (opened.kinds.empty() ? "" : ", " + Printable(opened.kinds.front()));
}

Outcome Judged(const Context& context, const Sourced<std::string>& plugin,
               const pjrt::Opened& opened) {
  const int count = static_cast<int>(opened.kinds.size());
  const auto expected = ExpectedOf(context, opened.platform);
  const std::string against = expected
                                  ? ", " + std::to_string(expected->value) +
                                        " expected (" + expected->source + ")"
                                  : ", no number is required";
  const std::string detail =
      DevicesText(opened) + against + "; their sum is correct, all closed";
  std::vector<Finding> findings;
  if (expected && expected->value != count) {
    findings.push_back(MakeProblem(
        context,
        count < expected->value ? Cause::kDeviceMissing
                                : Cause::kRankWorldMismatch,
        DevicesText(opened) + " could be opened" + against,
        {{"PJRT_Client_AddressableDevices gives " + std::to_string(count),
          plugin.value}}));
  }
  Outcome outcome = Judge(std::move(findings), detail);
  outcome.detail = detail;
  const std::string runtime = Join(Split(opened.version, '\n'), ", ");
  outcome.lines = {"plug-in  " + plugin.value + " (" + plugin.source +
                       "), PJRT 0." + std::to_string(opened.api_minor),
                   "runtime  " + runtime};
  outcome.data = Dump(Json{{"plugin", plugin.value},
                           {"source", plugin.source},
                           {"api", "0." + std::to_string(opened.api_minor)},
                           {"platform", opened.platform},
                           {"runtime", opened.version},
                           {"kinds", opened.kinds}});
  return outcome;
}

}  // namespace

std::string_view InstallLine(std::string_view platform) {
  return platform == "tpu"   ? "pip install libtpu"
         : platform == "cpu" ? "pip install xla-cpu-pjrt"
                             : "pip install jax-cuda12-pjrt";
}

std::string_view PlatformHere(const sys::Fs& fs) {
  return !TpuDevices(fs).empty()   ? "tpu"
         : !GpuDevices(fs).empty() ? "cuda"
                                   : "";
}

Outcome OpenDevices(const Context& context) {
  const Chosen chosen = Choose(context);
  if (!chosen.not_because.empty()) {
    return Skip(chosen.not_because);
  }
  if (const std::string holder = HeldBy(context); !holder.empty()) {
    return Skip(holder + " uses the chips: see `accelerator.free`");
  }
  const auto& told = context.tpu.devices;
  const auto opened = pjrt::OpenInChild(
      {.plugin = chosen.plugin.value,
       .cpu_devices = told ? std::optional(told->value) : std::nullopt,
       .variables = VariablesFor(context),
       .hear = context.say},
      Deadline::After(
          std::min<Duration>(context.opening.timeout, kMaxTimeout)));
  if (opened) {
    return Judged(context, chosen.plugin, *opened);
  }
  Finding finding = FromError(opened.error());
  finding.evidence.push_back({.what = "opened by --open with " +
                                      chosen.plugin.value + " (" +
                                      chosen.plugin.source + ")",
                              .source = "child",
                              .at = context.host.clock.WallNow()});
  std::vector<Finding> findings;
  findings.push_back(std::move(finding));
  return Judge(std::move(findings), "");
}

}  // namespace muster::check
