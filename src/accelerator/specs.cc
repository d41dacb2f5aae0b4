// SPDX-License-Identifier: Apache-2.0
#include "accelerator/specs.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"

namespace muster::accelerator {
namespace {

// GiB that a program sees, less its context.
constexpr std::int64_t Gpu(double gib) {
  return static_cast<std::int64_t>((gib - 0.5) * (1 << 30));
}

// From little memory to much.
constexpr std::array<Figures, 23> kFigures{
    {{.name = "v2",
      .kind = "TPU v2",
      .memory = 8'034'172'928,
      .devices_per_chip = 2,
      .flops = 46e12,
      .bandwidth = 716e9,
      .tpu = true},
     {.name = "t4", .kind = "T4", .memory = Gpu(14.56)},
     {.name = "p100",
      .kind = "P100-PCIE-16GB|P100-SXM2-16GB",
      .memory = Gpu(15.89)},
     {.name = "v100-16g",
      .kind = "V100-SXM2-16GB|V100-PCIE-16GB",
      .memory = Gpu(15.77)},
     {.name = "v3",
      .kind = "TPU v3",
      .memory = 16'624'107'520,
      .devices_per_chip = 2,
      .flops = 140e12,
      .bandwidth = 900e9,
      .tpu = true},
     {.name = "v5e",
      .kind = "TPU v5e",
      .memory = 16'909'332'480,
      .flops = 197e12,
      .bandwidth = 820e9,
      .tpu = true},
     {.name = "l4", .kind = "L4", .memory = Gpu(22.03)},
     {.name = "a10g", .kind = "A10G|A10", .memory = Gpu(22.06)},
     {.name = "rtx-3090", .kind = "RTX 3090", .memory = Gpu(23.69)},
     {.name = "rtx-4090", .kind = "RTX 4090", .memory = Gpu(23.65)},
     {.name = "v4",
      .kind = "TPU v4",
      .memory = 32'745'971'712,
      .number_per_device = 2,
      .flops = 275e12,
      .bandwidth = 1230e9,
      .tpu = true},
     {.name = "v6e",
      .kind = "TPU v6e",
      .memory = 33'546'039'296,
      .flops = 920e12,
      .bandwidth = 1640e9,
      .tpu = true},
     {.name = "v100-32g",
      .kind = "V100-SXM2-32GB|V100-PCIE-32GB|V100S-PCIE-32GB|V100-SXM3-32GB",
      .memory = Gpu(31.74)},
     {.name = "a100-40g",
      .kind = "A100-SXM4-40GB|A100-PCIE-40GB",
      .memory = Gpu(39.39)},
     {.name = "l40s", .kind = "L40S", .memory = Gpu(44.39)},
     {.name = "a6000", .kind = "RTX A6000", .memory = Gpu(47.53)},
     {.name = "h100", .kind = "H100", .memory = Gpu(79.11)},
     {.name = "a100-80g",
      .kind = "A100-SXM4-80GB|A100 80GB PCIe",
      .memory = Gpu(79.15)},
     {.name = "h100-nvl", .kind = "H100 NVL", .memory = Gpu(93.0)},
     {.name = "tpu7x",
      .kind = "TPU 7x",
      .memory = 101'724'450'816,
      .devices_per_chip = 2,
      .flops = 2310e12,
      .bandwidth = 7400e9,
      .tpu = true},
     {.name = "v5p",
      .kind = "TPU v5p",
      .memory = 102'786'660'352,
      .number_per_device = 2,
      .flops = 459e12,
      .bandwidth = 2765e9,
      .tpu = true},
     {.name = "h200", .kind = "H200", .memory = Gpu(139.8)},
     {.name = "b200", .kind = "B200", .memory = Gpu(178.35)}}};

constexpr int kMostDevices = 100'000;

// "a100" is the beginning of two names.
std::string Meant(std::string_view text,
                  const std::vector<std::string>& names) {
  const std::string word =
      Lower(text.substr(0, std::min<std::size_t>(text.find(':'), 40)));
  std::vector<std::string> meant;
  for (const std::string& name : names) {
    if (!word.empty() && name.starts_with(word + "-")) {
      meant.push_back("`" + name + "`");
    }
  }
  if (const auto near = DidYouMean(word, names); meant.empty() && near) {
    meant.push_back("`" + *near + "`");
  }
  return meant.empty() ? "" : ", did you mean " + Join(meant, " or ") + "?";
}

Error Unknown(std::string_view text) {
  std::vector<std::string> names;
  names.reserve(kFigures.size());
  for (const Figures& one : kFigures) {
    names.emplace_back(one.name);
  }
  return Error(Cause::kUsageInvalid,
               "flag --on is `" + Printable(text) +
                   "`, expected an accelerator and how many, as in v5e-8, "
                   "v5p:2x2x1, h100:8: one of " +
                   Join(names, ", ") + ", or here" + Meant(text, names));
}

const Figures* Named(std::string_view text) {
  std::string name = Lower(text);
  if (name == "v5litepod") {
    name = "v5e";
  }
  const auto* const found =
      std::find_if(kFigures.begin(), kFigures.end(),
                   [&](const Figures& one) { return one.name == name; });
  return found == kFigures.end() ? nullptr : found;
}

// Chips of "2x2x1", or devices of "8".
std::optional<int> CountOf(std::string_view text, bool shape) {
  std::int64_t product = text.empty() ? kMostDevices + 1 : 1;
  for (const std::string& side : Split(text, shape ? 'x' : '\n')) {
    const auto number = IsDigits(side) ? ParseInt(side) : std::nullopt;
    if (!number || *number < 1 || *number > kMostDevices) {
      return std::nullopt;
    }
    product = std::min<std::int64_t>(product * *number, kMostDevices + 1);
  }
  return product <= kMostDevices ? std::optional(static_cast<int>(product))
                                 : std::nullopt;
}

bool IsPartOfAWord(char c) {
  return IsDigits({&c, 1}) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

// "A10" is in "NVIDIA A10" and not in "NVIDIA A100".
bool HasWords(std::string_view text, std::string_view words) {
  const auto at = text.find(words);
  const auto end = at + words.size();
  return at != std::string_view::npos &&
         (at == 0 || !IsPartOfAWord(text[at - 1])) &&
         (end == text.size() || !IsPartOfAWord(text[end]));
}

}  // namespace

std::span<const Figures> AllFigures() {
  return kFigures;
}

Result<Target> ParseTarget(std::string_view text) {
  if (const Figures* whole = Named(text)) {
    return Target{.figures = whole, .devices = 1};
  }
  const auto at = text.find_last_of(":-");
  const Figures* figures =
      at == std::string_view::npos ? nullptr : Named(text.substr(0, at));
  if (figures == nullptr || (text[at] == '-' && !figures->tpu)) {
    return Unknown(text);
  }
  const bool shape = text[at] == ':' && figures->tpu;
  const auto count = CountOf(text.substr(at + 1), shape);
  if (!count) {
    return Unknown(text);
  }
  const int devices = shape          ? *count * figures->devices_per_chip
                      : figures->tpu ? *count / figures->number_per_device
                                     : *count;
  if (devices < 1) {
    return Unknown(text);
  }
  return Target{.figures = figures, .devices = devices};
}

const Figures* FiguresOf(std::string_view kind) {
  const Figures* best = nullptr;
  std::size_t longest = 0;
  for (const Figures& one : kFigures) {
    for (const std::string& words : Split(one.kind, '|')) {
      if (words.size() > longest && HasWords(kind, words)) {
        best = &one;
        longest = words.size();
      }
    }
  }
  // Of the same name, and with less memory.
  return HasWords(kind, "Laptop") ? nullptr : best;
}

}  // namespace muster::accelerator
