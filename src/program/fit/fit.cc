// SPDX-License-Identifier: Apache-2.0
#include "program/fit/fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "base/text.h"

namespace muster::program {
namespace {

// What lies between arrays, and what a compiler adds for itself.
constexpr double kMargin = 0.05;

struct Optimizer {
  std::string_view name;
  int states;  // numbers kept for each parameter
};
constexpr std::array<Optimizer, 7> kOptimizers{{{"sgd", 0},
                                                {"momentum", 1},
                                                {"lion", 1},
                                                {"rmsprop", 1},
                                                {"adagrad", 1},
                                                {"adam", 2},
                                                {"adamw", 2}}};

// Bytes of one number.
struct Dtype {
  std::string_view name;
  int weight, copy, gradient, state, activation;
};
constexpr std::array<Dtype, 4> kDtypes{{{"f32", 4, 0, 4, 4, 4},
                                        {"bf16", 2, 0, 2, 2, 2},
                                        {"f16", 2, 0, 2, 2, 2},
                                        // Weights and states in f32, a copy of
                                        // the weights to compute with.
                                        {"mixed", 4, 2, 2, 4, 2}}};

template <typename Table>
Result<const typename Table::value_type*> Find(const Table& table,
                                               std::string_view name,
                                               const std::string& flag) {
  std::vector<std::string> names;
  for (const auto& one : table) {
    if (one.name == name) {
      return &one;
    }
    names.emplace_back(one.name);
  }
  return Error(Cause::kUsageInvalid,
               "flag " + flag + " is `" + Printable(name) +
                   "`, expected one of " + Join(names, ", "));
}

// "1.27e+09".
std::string Number(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", number);
  return text;
}

Error WrongActivations(std::string_view text, const std::string& why) {
  return Error(Cause::kUsageInvalid,
               "flag --activations is `" + Printable(text) + "`: " + why +
                   "; expected bytes per device such as 4GB, or "
                   "layers=24,hidden=2048,heads=16,sequence=1024,batch=8,vocab="
                   "32000, with remat if it is used");
}

// The shape of a transformer on one device.
struct Transformer {
  std::map<std::string, double, std::less<>> sizes;
  bool remat = false;

  double Of(std::string_view name) const { return sizes.find(name)->second; }
};

Result<Transformer> ParseTransformer(std::string_view text) {
  Transformer shape;
  for (const std::string& part : Split(text, ',')) {
    const auto equals = part.find('=');
    if (part == "remat") {
      shape.remat = true;
      continue;
    }
    const auto number = equals == std::string::npos
                            ? std::nullopt
                            : ParseInt(part.substr(equals + 1));
    if (!number || *number < 0 || *number > 1'000'000'000) {
      return WrongActivations(text, "`" + Printable(part) + "` is not a size");
    }
    shape.sizes[part.substr(0, equals)] = static_cast<double>(*number);
  }
  constexpr std::array<std::string_view, 6> kNames{
      "layers", "hidden", "heads", "sequence", "batch", "vocab"};
  for (const std::string_view name : kNames) {
    if (!shape.sizes.contains(name)) {
      return WrongActivations(text, "it has no " + std::string(name));
    }
  }
  if (shape.sizes.size() != kNames.size()) {
    return WrongActivations(text, "it has an unknown size");
  }
  return shape;
}

// What a layer keeps for its backward pass: sixteen arrays of the width of the
// model, and of each attention its scores in f32 and as probabilities. With
// remat the layers keep their inputs alone, and one of them, or the logits,
// all.
FitTerm TransformerTerm(const Transformer& shape, const Dtype& dtype) {
  const double tokens = shape.Of("batch") * shape.Of("sequence");
  const double width = tokens * shape.Of("hidden") * dtype.activation;
  const double scores = tokens * shape.Of("heads") * shape.Of("sequence") * 8;
  const double layer = 16 * width + scores;
  const double logits = tokens * shape.Of("vocab") * (4 + dtype.activation);
  const double layers = shape.Of("layers");
  const std::string each = std::to_string(dtype.activation);
  const std::string one = "(16 x hidden x " + each + " + 8 x heads x sequence)";
  const std::string last = "vocab x " + std::to_string(4 + dtype.activation);
  return {
      .name = "activations",
      .bytes = shape.remat ? layers * width + std::max(layer, logits)
                           : layers * layer + logits,
      .formula = Number(tokens) + " tokens x (" +
                 (shape.remat ? "layers x hidden x " + each +
                                    " + the larger of " + one + " and " + last
                              : "layers x " + one + " + " + last) +
                 ")"};
}

Result<FitTerm> ActivationsTerm(const FitRequest& request, const Dtype& dtype) {
  const std::string& text = request.activations;
  if (text.find('=') != std::string::npos) {
    MUSTER_ASSIGN(const Transformer shape, ParseTransformer(text));
    return TransformerTerm(shape, dtype);
  }
  const auto bytes = ParseBytes(text);
  if (!bytes) {
    return WrongActivations(text, "it is not a size");
  }
  return FitTerm{.name = "activations",
                 .bytes = static_cast<double>(*bytes),
                 .formula = "flag --activations"};
}

FitTerm TermOf(std::string name, double numbers, int each,
               const std::string& of, int devices) {
  return {.name = std::move(name),
          .bytes = numbers * each / devices,
          .formula = of + " x " + std::to_string(each) + " bytes" +
                     (devices > 1 ? " / " + Count(devices, "device") : "")};
}

}  // namespace

Result<double> ParseParams(std::string_view text) {
  constexpr std::string_view kUnits = "KMBT";
  std::string_view digits = Trim(text);
  double factor = 1;
  if (!digits.empty()) {
    const char last = static_cast<char>(
        std::toupper(static_cast<unsigned char>(digits.back())));
    if (const auto unit = kUnits.find(last); unit != kUnits.npos) {
      factor = std::pow(1000.0, static_cast<double>(unit) + 1);
      digits.remove_suffix(1);
    }
  }
  const bool plain =
      !digits.empty() && digits.size() < 20 && digits.front() != '.' &&
      digits.find_first_not_of("0123456789.") == std::string_view::npos &&
      std::count(digits.begin(), digits.end(), '.') <= 1;
  const double number =
      plain ? std::strtod(std::string(digits).c_str(), nullptr) * factor : 0;
  if (number < 1 || number > 1e15) {
    return Error(Cause::kUsageInvalid,
                 "flag --params is `" + Printable(text) +
                     "`, expected a number of parameters such as 1.3B or 350M");
  }
  return number;
}

Result<Fit> EstimateFit(const FitRequest& request, int devices) {
  MUSTER_ASSIGN(const Optimizer* const optimizer,
                Find(kOptimizers, request.optimizer, "--optimizer"));
  MUSTER_ASSIGN(const Dtype* const dtype,
                Find(kDtypes, request.dtype, "--dtype"));
  MUSTER_ASSIGN(const FitTerm activations, ActivationsTerm(request, *dtype));
  const int over = request.sharded ? devices : 1;
  const double params = request.params;
  const std::string count = Number(params);
  Fit fit;
  fit.terms.push_back(TermOf("weights", params, dtype->weight, count, over));
  if (dtype->copy > 0) {
    fit.terms.push_back(
        TermOf("weights' copy", params, dtype->copy, count, over));
  }
  fit.terms.push_back(
      TermOf("gradients", params, dtype->gradient, count, over));
  fit.terms.push_back(TermOf("optimizer states", params * optimizer->states,
                             dtype->state,
                             std::to_string(optimizer->states) + " (" +
                                 std::string(optimizer->name) + ") x " + count,
                             over));
  fit.terms.push_back(activations);
  for (const FitTerm& term : fit.terms) {
    fit.bytes += term.bytes;
  }
  fit.terms.push_back({.name = "margin",
                       .bytes = kMargin * fit.bytes,
                       .formula = "5 % of the above, for fragmentation"});
  fit.bytes += fit.terms.back().bytes;
  return fit;
}

const accelerator::Specs* SmallestThatFits(double bytes) {
  const accelerator::Specs* smallest = nullptr;
  for (const accelerator::Specs& one : accelerator::AllSpecs()) {
    if (static_cast<double>(one.memory) >= bytes &&
        (smallest == nullptr || one.memory < smallest->memory)) {
      smallest = &one;
    }
  }
  return smallest;
}

Result<std::optional<int>> DevicesThatFit(const FitRequest& request,
                                          const accelerator::Specs& specs) {
  constexpr int kMaxCount = 1024;
  FitRequest sharded = request;
  sharded.sharded = true;
  for (int devices = 1; devices <= kMaxCount; devices *= 2) {
    MUSTER_ASSIGN(const Fit fit, EstimateFit(sharded, devices));
    if (fit.bytes <= static_cast<double>(specs.memory)) {
      return std::optional(devices);
    }
  }
  return std::optional<int>();
}

}  // namespace muster::program
