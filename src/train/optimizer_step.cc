// SPDX-License-Identifier: Apache-2.0
#include "train/optimizer_step.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <typeinfo>
#include <vector>

#include "train/adam_kernel.h"
#include "train/param_state.h"

namespace muster {
namespace {

bool IsPlain(const torch::Tensor& tensor) {
  return tensor.device().is_cpu() && tensor.layout() == torch::kStrided &&
         tensor.scalar_type() == torch::kFloat32 &&
         tensor.is_non_overlapping_and_dense();
}

bool IsAlike(const torch::Tensor& one, const torch::Tensor& other) {
  return IsPlain(one) && one.sizes() == other.sizes() &&
         one.strides() == other.strides();
}

// Adam and AdamW differ in where the weight decay goes.
template <typename Optimizer>
struct Family;
template <>
struct Family<torch::optim::Adam> {
  using Options = torch::optim::AdamOptions;
  using State = torch::optim::AdamParamState;
  static void Decay(const Options& options, AdamScalars& scalars) {
    scalars.weight_decay = static_cast<float>(options.weight_decay());
  }
};
template <>
struct Family<torch::optim::AdamW> {
  using Options = torch::optim::AdamWOptions;
  using State = torch::optim::AdamWParamState;
  static void Decay(const Options& options, AdamScalars& scalars) {
    scalars.keep =
        static_cast<float>(1 - options.lr() * options.weight_decay());
  }
};

template <typename Optimizer>
bool IsFusedAs(const torch::optim::Optimizer& optimizer) {
  using Options = typename Family<Optimizer>::Options;
  // A class of the user's own may have another step().
  return typeid(optimizer) == typeid(Optimizer) &&
         std::ranges::all_of(optimizer.param_groups(), [](const auto& group) {
           return !static_cast<const Options&>(group.options()).amsgrad() &&
                  std::ranges::all_of(group.params(), IsPlain);
         });
}

// torch makes it in the first step that sees a gradient.
template <typename Optimizer>
typename Family<Optimizer>::State& StateOf(Optimizer& optimizer,
                                           const torch::Tensor& parameter) {
  using State = typename Family<Optimizer>::State;
  auto& state = optimizer.state()[KeyOf(optimizer, parameter)];
  if (!state) {
    auto fresh = std::make_unique<State>();
    fresh->step(0);
    fresh->exp_avg(torch::zeros_like(parameter, torch::MemoryFormat::Preserve));
    fresh->exp_avg_sq(
        torch::zeros_like(parameter, torch::MemoryFormat::Preserve));
    state = std::move(fresh);
  }
  return static_cast<State&>(*state);
}

template <typename Options>
AdamScalars ScalarsOf(const Options& options, std::int64_t step) {
  const auto [beta1, beta2] = options.betas();
  const double t = static_cast<double>(step);
  return {
      .beta1 = static_cast<float>(beta1),
      .beta2 = static_cast<float>(beta2),
      .grad_share = static_cast<float>(1 - beta1),
      .square_share = static_cast<float>(1 - beta2),
      .step_size = static_cast<float>(options.lr() / (1 - std::pow(beta1, t))),
      .root_scale = static_cast<float>(1 / std::sqrt(1 - std::pow(beta2, t))),
      .eps = static_cast<float>(options.eps())};
}

template <typename Optimizer>
void StepParameter(const typename Family<Optimizer>::Options& options,
                   torch::Tensor& parameter,
                   typename Family<Optimizer>::State& state) {
  state.step(state.step() + 1);
  AdamScalars scalars = ScalarsOf(options, state.step());
  Family<Optimizer>::Decay(options, scalars);
  AdamStep(scalars, static_cast<std::size_t>(parameter.numel()),
           parameter.data_ptr<float>(), parameter.grad().data_ptr<float>(),
           state.exp_avg().template data_ptr<float>(),
           state.exp_avg_sq().template data_ptr<float>());
  parameter.unsafeGetTensorImpl()->bump_version();
}

// False, and nothing changed, when something is torch's business.
template <typename Optimizer>
bool StepAs(torch::optim::Optimizer& base) {
  using State = typename Family<Optimizer>::State;
  using Options = typename Family<Optimizer>::Options;
  if (!IsFusedAs<Optimizer>(base)) {
    return false;
  }
  auto& optimizer = static_cast<Optimizer&>(base);
  std::vector<State*> states;
  for (auto& group : optimizer.param_groups()) {
    for (const torch::Tensor& parameter : group.params()) {
      if (!parameter.grad().defined()) {
        continue;
      }
      State& state = StateOf(optimizer, parameter);
      if (!IsAlike(parameter.grad(), parameter) ||
          !IsAlike(state.exp_avg(), parameter) ||
          !IsAlike(state.exp_avg_sq(), parameter)) {
        return false;
      }
      states.push_back(&state);
    }
  }
  auto state = states.begin();
  for (auto& group : optimizer.param_groups()) {
    const auto& options = static_cast<const Options&>(group.options());
    for (torch::Tensor& parameter : group.params()) {
      if (parameter.grad().defined()) {
        StepParameter<Optimizer>(options, parameter, **state++);
      }
    }
  }
  return true;
}

}  // namespace

bool IsFused(const torch::optim::Optimizer& optimizer) {
  return IsFusedAs<torch::optim::Adam>(optimizer) ||
         IsFusedAs<torch::optim::AdamW>(optimizer);
}

void StepOptimizer(torch::optim::Optimizer& optimizer) {
  if (!StepAs<torch::optim::Adam>(optimizer) &&
      !StepAs<torch::optim::AdamW>(optimizer)) {
    optimizer.step();
  }
}

}  // namespace muster
