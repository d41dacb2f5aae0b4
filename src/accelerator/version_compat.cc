// SPDX-License-Identifier: Apache-2.0
#include "accelerator/version_compat.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"

namespace muster::accelerator {
namespace {

constexpr std::string_view kTensorFlow = "tpu-vm-tf-";

struct Generation {
  std::string_view name;   // "v5litepod"
  std::string_view image;  // for PyTorch and JAX
  bool needs_pjrt = false;
};
constexpr std::array kGenerations{
    Generation{"v2", "tpu-ubuntu2204-base"},
    Generation{"v3", "tpu-ubuntu2204-base"},
    Generation{"v4", "tpu-ubuntu2204-base"},
    Generation{"v5litepod", "v2-alpha-tpuv5-lite", true},
    Generation{"v5p", "v2-alpha-tpuv5", true},
    Generation{"v6e", "v2-alpha-tpuv6e", true},
};

const Generation* Find(const std::string& type) {
  const std::string name = GenerationOf(type);
  const auto found =
      std::find_if(kGenerations.begin(), kGenerations.end(),
                   [&](const Generation& one) { return one.name == name; });
  return found == kGenerations.end() ? nullptr : &*found;
}

// "tpu-vm-tf-2.17.0-pod-pjrt" in parts.
struct TensorFlowImage {
  std::vector<std::int64_t> release;  // 2, 17, 0
  bool pod = false, pjrt = false, v4 = false;
};
std::optional<TensorFlowImage> ParseImage(const std::string& version) {
  if (!version.starts_with(kTensorFlow)) {
    return std::nullopt;
  }
  const auto parts = Split(version.substr(kTensorFlow.size()), '-');
  TensorFlowImage image;
  for (const std::string& part :
       Split(parts.empty() ? "" : parts.front(), '.')) {
    const auto number = ParseInt(part);
    if (!number) {
      return std::nullopt;
    }
    image.release.push_back(*number);
  }
  for (std::size_t i = 1; i < parts.size(); ++i) {
    image.pod = image.pod || parts[i] == "pod";
    image.pjrt = image.pjrt || parts[i] == "pjrt";
    image.v4 = image.v4 || parts[i] == "v4";
  }
  return image.release.size() == 3 ? std::optional(image) : std::nullopt;
}

Error Wrong(const Wanted& wanted, const std::string& why,
            const std::string& right) {
  return Error(Cause::kUsageInvalid,
               "runtime version `" + Printable(wanted.version) +
                   "` does not fit " + Printable(wanted.type) + ": " + why +
                   "; use " + right);
}

// The name of the image of the same release that fits.
Status CheckTensorFlow(const Wanted& wanted, const Generation& generation,
                       const TensorFlowImage& image) {
  using Release = std::vector<std::int64_t>;
  const bool old_v4 =
      generation.name == "v4" && image.release < Release{2, 10, 1};
  const bool too_old =
      generation.needs_pjrt && image.release < Release{2, 15, 0};
  const Release release = too_old ? Release{2, 15, 0} : image.release;
  const bool pod = wanted.hosts == 0 ? image.pod : wanted.hosts > 1;
  const std::string right =
      std::string(kTensorFlow) + std::to_string(release[0]) + "." +
      std::to_string(release[1]) + "." + std::to_string(release[2]) +
      (pod ? "-pod" : "") + (generation.needs_pjrt ? "-pjrt" : "") +
      (old_v4 ? "-v4" : "");
  const std::string advice =
      (too_old ? "TensorFlow 2.15.0 or later, as in `" : "`") + right + "`";
  if (too_old) {
    return Wrong(wanted, "this TensorFlow does not know the chip", advice);
  }
  if (image.pod != pod) {
    return Wrong(
        wanted,
        "the type has " + Count(wanted.hosts, "host") +
            (pod ? ", for which `-pod` is meant" : ", and `-pod` is for more"),
        advice);
  }
  if (image.pjrt != generation.needs_pjrt) {
    return Wrong(wanted,
                 generation.needs_pjrt ? "this generation needs `-pjrt`"
                                       : "`-pjrt` is for v5e and later",
                 advice);
  }
  if (image.v4 != old_v4) {
    return Wrong(wanted,
                 old_v4 ? "before TensorFlow 2.10.1 v4 needs `-v4`"
                        : "`-v4` is for v4 before TensorFlow 2.10.1",
                 advice);
  }
  return Ok();
}

}  // namespace

std::string GenerationOf(const std::string& type) {
  const auto dash = type.rfind('-');
  return dash == std::string::npos || !IsDigits(type.substr(dash + 1))
             ? ""
             : type.substr(0, dash);
}

std::vector<int> HostCounts(const std::string& type) {
  const std::string generation = GenerationOf(type);
  const auto size = ParseInt(type.substr(type.rfind('-') + 1));
  if (Find(type) == nullptr || !size || *size < 1 || *size > 65536) {
    return {};
  }
  const int chips_or_cores = static_cast<int>(*size);
  if (generation != "v5litepod" && generation != "v6e") {
    return {std::max(1, chips_or_cores / 8)};
  }
  if (chips_or_cores <= 8) {
    return {1};
  }
  return {chips_or_cores / 4, chips_or_cores / 8};
}

std::optional<std::string> UsualVersion(const std::string& type) {
  const Generation* generation = Find(type);
  return generation == nullptr ? std::nullopt
                               : std::optional(std::string(generation->image));
}

Status CheckVersion(const Wanted& wanted) {
  if (GenerationOf(wanted.type).starts_with("tpu7x") ||
      GenerationOf(wanted.type).starts_with("v7")) {
    return Error(Cause::kUsageInvalid,
                 "`" + Printable(wanted.type) +
                     "` is not of the Cloud TPU API: TPU7x and later are "
                     "machines of Compute Engine (`gcloud compute instances "
                     "create`) or of GKE");
  }
  const Generation* generation = Find(wanted.type);
  if (generation == nullptr || wanted.version.empty()) {
    return Ok();
  }
  if (const auto image = ParseImage(wanted.version)) {
    return CheckTensorFlow(wanted, *generation, *image);
  }
  const auto owner = std::find_if(
      kGenerations.begin(), kGenerations.end(),
      [&](const Generation& one) { return one.image == wanted.version; });
  if (owner != kGenerations.end() && owner->image != generation->image) {
    return Wrong(wanted, "it is for " + std::string(owner->name),
                 "`" + std::string(generation->image) + "`");
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
                   "` is no name of a TPU (1 to 63 of a-z, 0-9 and `-`, "
                   "begins with a letter, does not end with `-`)" +
                   (right.empty() ? "" : ", did you mean `" + right + "`?"));
}

}  // namespace muster::accelerator
