// SPDX-License-Identifier: Apache-2.0
#include "monitor/resource/accelerator_use.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/text.h"

namespace muster::monitor {
namespace {

// Each look reads /proc of every process below this one.
constexpr std::chrono::seconds kLongestPause{2};
constexpr int kLooks = 20;

// Frameworks that are told which devices to take.
struct Chooser {
  std::string_view variable;
  // Words that name the accelerators of the platform.
  std::array<std::string_view, 2> tpu, cuda;
};
constexpr std::array<Chooser, 3> kChoosers{
    {{"JAX_PLATFORMS", {"tpu", "tpu"}, {"cuda", "gpu"}},
     {"JAX_PLATFORM_NAME", {"tpu", "tpu"}, {"cuda", "gpu"}},
     {"PJRT_DEVICE", {"tpu", "tpu"}, {"cuda", "gpu"}}}};

// Lists of devices, where an empty one leaves none.
struct Mask {
  std::string_view variable, platform;
};
constexpr std::array<Mask, 4> kMasks{{{"CUDA_VISIBLE_DEVICES", "cuda"},
                                      {"NVIDIA_VISIBLE_DEVICES", "cuda"},
                                      {"TPU_VISIBLE_CHIPS", "tpu"},
                                      {"TPU_VISIBLE_DEVICES", "tpu"}}};

bool Chooses(const Chooser& chooser, std::string_view platform,
             const std::string& value) {
  const auto& words = platform == "tpu" ? chooser.tpu : chooser.cuda;
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return Lower(value).find(word) != std::string::npos;
  });
}

bool IsNone(std::string_view list) {
  return list.empty() || list.starts_with('-') || list == "none" ||
         list == "void" || list == "NoDevFiles";
}

std::string MissingText(const Fact& fact) {
  if (const std::string hidden = fact.Text("variable"); !hidden.empty()) {
    return "`" + hidden + "` hides it";
  }
  if (std::string missing = fact.Text("missing"); !missing.empty()) {
    return missing;
  }
  return "it is visible, but the program does not use it";
}

}  // namespace

std::string HiddenBy(std::string_view platform,
                     const std::map<std::string, std::string>& environment) {
  const auto text = [](const auto& variable) {
    return Printable(variable.first) + "=" + Printable(variable.second);
  };
  for (const Chooser& one : kChoosers) {
    const auto found = environment.find(std::string(one.variable));
    if (found != environment.end() && !found->second.empty() &&
        !Chooses(one, platform, found->second)) {
      return text(*found);
    }
  }
  for (const Mask& one : kMasks) {
    const auto found = environment.find(std::string(one.variable));
    if (found != environment.end() && one.platform == platform &&
        IsNone(found->second)) {
      return text(*found);
    }
  }
  return "";
}

void AcceleratorUse::Begin(
    const std::map<std::string, std::string>& environment,
    const std::string& host, int attempt) {
  if (!accelerators_.opened || accelerators_.text.empty()) {
    return;
  }
  fact_ = {.name = std::string(kAcceleratorsUnused),
           .fields = {{"attempt", std::int64_t{attempt}},
                      {"accelerators", accelerators_.text},
                      {"waited", ToString(accelerators_.wait)},
                      {"missing", accelerators_.missing}},
           .subject = host};
  if (const std::string hidden = HiddenBy(accelerators_.platform, environment);
      !hidden.empty()) {
    fact_.fields["variable"] = hidden;
  }
  until_ = clock_.Now() + accelerators_.wait;
  looking_ = loop_.Every(
      std::min<Duration>(kLongestPause, accelerators_.wait / kLooks),
      [this] { Look(); });
}

void AcceleratorUse::Look() {
  if (accelerators_.opened()) {
    looking_.Cancel();
  } else if (clock_.Now() >= until_) {
    looking_.Cancel();
    tell_(fact_);
  }
}

Finding UnusedFinding(const Fact& fact) {
  Fact seen = fact;
  seen.fields["text"] = "no process of its ranks has opened a device file " +
                        fact.Text("waited") + " after the start";
  Finding finding = MakeFinding(
      Cause::kAcceleratorUnused,
      "the ranks on `" + Printable(fact.subject) +
          "` run on the CPU: the host has " + fact.Text("accelerators") +
          ", but no rank has opened it: " + MissingText(fact),
      Confidence::kCertain, std::span(&seen, 1));
  finding.subjects = {fact.subject};
  if (const std::string hidden = fact.Text("variable"); !hidden.empty()) {
    finding.fixes.insert(
        finding.fixes.begin(),
        Fix{"start the run without this variable",
            "env -u " + hidden.substr(0, hidden.find('=')) + " muster run",
            Safety::kAsks});
  }
  return finding;
}

}  // namespace muster::monitor
