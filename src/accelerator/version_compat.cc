// SPDX-License-Identifier: Apache-2.0
#include "accelerator/version_compat.h"

#include <algorithm>
#include <string_view>

#include "accelerator/table.h"
#include "base/text.h"

namespace muster::accelerator {
namespace {

constexpr std::string_view kTensorFlow = "tpu-vm-tf-";

// "tpu-vm-tf-2.17.0-pod-pjrt" in parts.
struct TensorFlowImage {
  TensorFlowRelease release{};
  bool pod = false, pjrt = false;
  const Specs* own = nullptr;  // the generation that it is named after
};
std::optional<TensorFlowImage> ParseImage(const std::string& version) {
  if (!version.starts_with(kTensorFlow)) {
    return std::nullopt;
  }
  const auto parts = Split(version.substr(kTensorFlow.size()), '-');
  TensorFlowImage image;
  const auto numbers = Split(parts.empty() ? "" : parts.front(), '.');
  if (numbers.size() != image.release.size()) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto number = ParseInt(numbers[i]);
    if (!number) {
      return std::nullopt;
    }
    image.release[i] = *number;
  }
  for (std::size_t i = 1; i < parts.size(); ++i) {
    image.pod = image.pod || parts[i] == "pod";
    image.pjrt = image.pjrt || parts[i] == "pjrt";
    const Specs* of = FindApiType(parts[i]);
    if (of != nullptr && of->tpu->own_images_before > TensorFlowRelease{}) {
      image.own = of;
    }
  }
  return image;
}

std::string ReleaseText(const TensorFlowRelease& release) {
  return std::to_string(release[0]) + "." + std::to_string(release[1]) + "." +
         std::to_string(release[2]);
}

Error Wrong(const TpuNodeSpec& wanted, const std::string& why,
            const std::string& right) {
  return Error(Cause::kUsageInvalid,
               "runtime version `" + Printable(wanted.version) +
                   "` does not match " + Printable(wanted.type) + ": " + why +
                   "; use " + right);
}

// The name of the image of the same release that fits.
Status CheckTensorFlow(const TpuNodeSpec& wanted, const Specs& specs,
                       const TensorFlowImage& image) {
  const TensorFlowRelease& since = specs.tpu->pjrt_since;
  const bool needs_pjrt = since > TensorFlowRelease{};
  const bool needs_own = image.release < specs.tpu->own_images_before;
  const bool too_old = image.release < since;
  const bool pod = wanted.hosts == 0 ? image.pod : wanted.hosts > 1;
  const std::string right = std::string(kTensorFlow) +
                            ReleaseText(too_old ? since : image.release) +
                            (pod ? "-pod" : "") + (needs_pjrt ? "-pjrt" : "") +
                            (needs_own ? "-" + std::string(specs.name) : "");
  const std::string advice =
      (too_old ? "TensorFlow " + ReleaseText(since) + " or later, as in `"
               : "`") +
      right + "`";
  if (too_old) {
    return Wrong(wanted, "this TensorFlow does not support the chip", advice);
  }
  if (image.pod != pod) {
    return Wrong(
        wanted,
        "the type has " + Count(wanted.hosts, "host") +
            (pod ? ", which need `-pod`" : ", and `-pod` is for several hosts"),
        advice);
  }
  if (image.pjrt != needs_pjrt) {
    return Wrong(wanted,
                 needs_pjrt ? "this generation needs `-pjrt`"
                            : "`-pjrt` is for v5e and later",
                 advice);
  }
  if ((image.own != nullptr) != needs_own) {
    const Specs& own = needs_own ? specs : *image.own;
    const std::string name(own.name);
    const std::string before =
        "before TensorFlow " + ReleaseText(own.tpu->own_images_before);
    return Wrong(wanted,
                 needs_own ? before + " " + name + " needs `-" + name + "`"
                           : "`-" + name + "` is for " + name + " " + before,
                 advice);
  }
  return Ok();
}

// "tpu7x-8", and "v7x-8" or "v7-8" as earlier ones are named.
bool IsOfComputeEngine(const std::string& type) {
  const std::string generation = GenerationOf(type);
  const auto all = AllSpecs();
  return std::any_of(all.begin(), all.end(), [&](const Specs& one) {
    if (!one.tpu || !one.tpu->api_type.empty()) {
      return false;
    }
    constexpr std::string_view kDigits = "0123456789";
    const auto at = one.name.find_first_of(kDigits);
    const auto end = one.name.find_first_not_of(kDigits, at);
    return generation.starts_with(one.name) ||
           generation.starts_with("v" +
                                  std::string(one.name.substr(at, end - at)));
  });
}

}  // namespace

std::string GenerationOf(const std::string& type) {
  const auto dash = type.rfind('-');
  return dash == std::string::npos || !IsDigits(type.substr(dash + 1))
             ? ""
             : type.substr(0, dash);
}

std::vector<int> HostCounts(const std::string& type) {
  const Specs* specs = FindApiType(GenerationOf(type));
  const auto size = ParseInt(type.substr(type.rfind('-') + 1));
  if (specs == nullptr || !size || *size < 1 || *size > 65536) {
    return {};
  }
  const TpuSpecs& tpu = *specs->tpu;
  const int chips = static_cast<int>(*size) / tpu.cores_per_chip;
  if (chips <= tpu.max_chips_per_host) {
    return {1};
  }
  std::vector<int> counts{chips / tpu.chips_per_host};
  if (tpu.max_chips_per_host > tpu.chips_per_host) {
    counts.push_back(chips / tpu.max_chips_per_host);
  }
  return counts;
}

std::optional<std::string> DefaultRuntimeVersion(const std::string& type) {
  const Specs* specs = FindApiType(GenerationOf(type));
  return specs == nullptr
             ? std::nullopt
             : std::optional(std::string(specs->tpu->runtime_version));
}

Status CheckRuntimeVersion(const TpuNodeSpec& wanted) {
  if (IsOfComputeEngine(wanted.type)) {
    return Error(Cause::kUsageInvalid,
                 "`" + Printable(wanted.type) +
                     "` is not available through the Cloud TPU API: create "
                     "TPU7x and later as Compute Engine instances (`gcloud "
                     "compute instances create`) or in GKE");
  }
  const Specs* specs = FindApiType(GenerationOf(wanted.type));
  if (specs == nullptr || wanted.version.empty()) {
    return Ok();
  }
  if (const auto image = ParseImage(wanted.version)) {
    return CheckTensorFlow(wanted, *specs, *image);
  }
  const auto fits = [&](const Specs& one) {
    return one.tpu && one.tpu->runtime_version == wanted.version;
  };
  const auto all = AllSpecs();
  const auto owner = std::find_if(all.begin(), all.end(), fits);
  if (owner != all.end() && !fits(*specs)) {
    return Wrong(wanted, "it is for " + std::string(owner->tpu->api_type),
                 "`" + std::string(specs->tpu->runtime_version) + "`");
  }
  return Ok();
}

Status CheckTpuName(const std::string& name) {
  std::string right;
  for (const char c : name) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    const bool letter = lower >= 'a' && lower <= 'z';
    const bool digit = lower >= '0' && lower <= '9';
    if (letter || (digit && !right.empty())) {
      right += lower;
    } else if (!right.empty() && right.back() != '-') {
      right += '-';
    }
  }
  right.resize(std::min<std::size_t>(right.size(), 63));
  while (right.ends_with('-')) {
    right.pop_back();
  }
  // A name may have several `-` in a row.
  const bool good =
      !name.empty() && name.size() <= 63 && name.front() >= 'a' &&
      name.front() <= 'z' && name.back() != '-' &&
      std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
      });
  if (good) {
    return Ok();
  }
  return Error(Cause::kUsageInvalid,
               "`" + Printable(name) +
                   "` is not a valid TPU name (1 to 63 of a-z, 0-9 and `-`, "
                   "begins with a letter, does not end with `-`)" +
                   (right.empty() ? "" : ", did you mean `" + right + "`?"));
}

}  // namespace muster::accelerator
