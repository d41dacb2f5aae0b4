// SPDX-License-Identifier: Apache-2.0
#include "train/optimizer_state.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/log.h"
#include "train/param_state.h"

namespace muster {
namespace {

using ParamState = torch::optim::OptimizerParamState;

constexpr std::string_view kPrefix = "optimizer/";

// Receives the fields of a parameter's state, by name.
struct Visitor {
  std::function<void(std::string_view, std::int64_t&)> count;
  std::function<void(std::string_view, torch::Tensor&)> tensor;
};

void Visit(torch::optim::AdamParamState& state, const Visitor& visitor) {
  visitor.count("step", state.step());
  visitor.tensor("exp_avg", state.exp_avg());
  visitor.tensor("exp_avg_sq", state.exp_avg_sq());
  visitor.tensor("max_exp_avg_sq", state.max_exp_avg_sq());
}
void Visit(torch::optim::AdamWParamState& state, const Visitor& visitor) {
  visitor.count("step", state.step());
  visitor.tensor("exp_avg", state.exp_avg());
  visitor.tensor("exp_avg_sq", state.exp_avg_sq());
  visitor.tensor("max_exp_avg_sq", state.max_exp_avg_sq());
}
void Visit(torch::optim::SGDParamState& state, const Visitor& visitor) {
  visitor.tensor("momentum_buffer", state.momentum_buffer());
}
void Visit(torch::optim::RMSpropParamState& state, const Visitor& visitor) {
  visitor.count("step", state.step());
  visitor.tensor("square_avg", state.square_avg());
  visitor.tensor("momentum_buffer", state.momentum_buffer());
  visitor.tensor("grad_avg", state.grad_avg());
}
void Visit(torch::optim::AdagradParamState& state, const Visitor& visitor) {
  visitor.count("step", state.step());
  visitor.tensor("sum", state.sum());
}

// One kind of optimizer: its name, how it is recognized, its state per
// parameter.
struct Kind {
  std::string_view name;
  bool (*is)(const torch::optim::Optimizer& optimizer);
  std::unique_ptr<ParamState> (*make)();
  void (*visit)(ParamState& state, const Visitor& visitor);
};

template <typename Optimizer, typename State>
constexpr Kind KindFor(std::string_view name) {
  return {
      .name = name,
      .is =
          [](const torch::optim::Optimizer& optimizer) {
            return dynamic_cast<const Optimizer*>(&optimizer) != nullptr;
          },
      .make = []() -> std::unique_ptr<ParamState> {
        return std::make_unique<State>();
      },
      .visit =
          [](ParamState& state, const Visitor& visitor) {
            Visit(static_cast<State&>(state), visitor);
          },
  };
}

constexpr std::array kKinds{
    KindFor<torch::optim::Adam, torch::optim::AdamParamState>("Adam"),
    KindFor<torch::optim::AdamW, torch::optim::AdamWParamState>("AdamW"),
    KindFor<torch::optim::SGD, torch::optim::SGDParamState>("SGD"),
    KindFor<torch::optim::RMSprop, torch::optim::RMSpropParamState>("RMSprop"),
    KindFor<torch::optim::Adagrad, torch::optim::AdagradParamState>("Adagrad"),
};

const Kind& KindNamed(std::string_view name) {
  for (const Kind& kind : kKinds) {
    if (kind.name == name) {
      return kind;
    }
  }
  MUSTER_CHECK(false);
}

std::string FieldName(const std::string& parameter, std::string_view field) {
  return std::string(kPrefix) + parameter + "/" + std::string(field);
}

std::string RateName(std::size_t group) {
  return "optimizer." + std::to_string(group) + ".lr";
}

std::string Exactly(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.17g", value);
  return text.data();
}

}  // namespace

Result<OptimizerState> OptimizerState::Make(
    torch::optim::Optimizer& optimizer, std::vector<NamedTensor> parameters) {
  OptimizerState state(optimizer);
  for (const Kind& kind : kKinds) {
    if (kind.is(optimizer)) {
      state.kind_ = kind.name;
    }
  }
  if (state.kind_.empty()) {
    return Error(Cause::kUsageInvalid,
                 "saving this optimizer is not supported: use Adam, AdamW, "
                 "SGD, RMSprop or Adagrad");
  }
  std::set<const void*> trained;
  for (const auto& group : optimizer.param_groups()) {
    for (const torch::Tensor& parameter : group.params()) {
      trained.insert(parameter.unsafeGetTensorImpl());
    }
  }
  for (NamedTensor& named : parameters) {
    if (trained.erase(named.tensor.unsafeGetTensorImpl()) > 0) {
      state.parameters_.push_back(std::move(named));
    }
  }
  if (!trained.empty()) {
    return Error(Cause::kUsageInvalid,
                 "the optimizer trains " + std::to_string(trained.size()) +
                     " tensors that are not parameters of the model");
  }
  return state;
}

std::vector<NamedTensor> OptimizerState::Tensors() const {
  std::vector<NamedTensor> tensors;
  const Kind& kind = KindNamed(kind_);
  auto& states = optimizer_->state();
  for (const NamedTensor& parameter : parameters_) {
    auto found = states.find(KeyOf(*optimizer_, parameter.tensor));
    if (found == states.end()) {
      continue;
    }
    auto name = [&](std::string_view field) {
      return FieldName(parameter.name, field);
    };
    kind.visit(*found->second,
               {.count =
                    [&](std::string_view field, std::int64_t& count) {
                      tensors.push_back(
                          {name(field), torch::tensor(count, torch::kInt64)});
                    },
                .tensor =
                    [&](std::string_view field, torch::Tensor& tensor) {
                      if (tensor.defined()) {
                        tensors.push_back({name(field), tensor});
                      }
                    }});
  }
  return tensors;
}

Status OptimizerState::Expect(std::span<const TensorSpec> specs) {
  std::map<std::string_view, const TensorSpec*> wanted;
  for (const TensorSpec& spec : specs) {
    if (spec.name.starts_with(kPrefix)) {
      wanted[spec.name] = &spec;
    }
  }
  const Kind& kind = KindNamed(kind_);
  auto& states = optimizer_->state();
  states.clear();
  for (const NamedTensor& parameter : parameters_) {
    auto state = kind.make();
    bool any = false;
    auto take = [&](std::string_view field) -> const TensorSpec* {
      auto found = wanted.find(FieldName(parameter.name, field));
      if (found == wanted.end()) {
        return nullptr;
      }
      const TensorSpec* spec = found->second;
      wanted.erase(found);
      any = true;
      return spec;
    };
    kind.visit(
        *state,
        {.count = [&](std::string_view field, std::int64_t&) { take(field); },
         .tensor =
             [&](std::string_view field, torch::Tensor& tensor) {
               if (const TensorSpec* spec = take(field)) {
                 // All of these optimizers remember one value per weight.
                 tensor = torch::empty_like(
                     parameter.tensor.detach(),
                     torch::TensorOptions().dtype(ScalarTypeOf(spec->dtype)));
               }
             }});
    if (any) {
      states[KeyOf(*optimizer_, parameter.tensor)] = std::move(state);
    }
  }
  if (!wanted.empty()) {
    return Error(Cause::kCkptMismatch, "the program's " + std::string(kind_) +
                                           " has no `" +
                                           wanted.begin()->second->name + "`");
  }
  return Ok();
}

void OptimizerState::Put(std::span<const NamedTensor> tensors) {
  std::map<std::string_view, const torch::Tensor*> given;
  for (const NamedTensor& named : tensors) {
    given[named.name] = &named.tensor;
  }
  auto& states = optimizer_->state();
  for (const NamedTensor& parameter : parameters_) {
    auto found = states.find(KeyOf(*optimizer_, parameter.tensor));
    if (found == states.end()) {
      continue;
    }
    // Tensors share their memory with what Tensors() gave; counts do not.
    KindNamed(kind_).visit(
        *found->second, {.count =
                             [&](std::string_view field, std::int64_t& count) {
                               auto at =
                                   given.find(FieldName(parameter.name, field));
                               if (at != given.end()) {
                                 count = at->second->item<std::int64_t>();
                               }
                             },
                         .tensor = [](std::string_view, torch::Tensor&) {}});
  }
}

std::map<std::string, std::string> OptimizerState::Words() const {
  std::map<std::string, std::string> words{{"optimizer", std::string(kind_)}};
  for (std::size_t i = 0; i < optimizer_->param_groups().size(); ++i) {
    words[RateName(i)] =
        Exactly(optimizer_->param_groups()[i].options().get_lr());
  }
  return words;
}

void OptimizerState::PutWords(const std::map<std::string, std::string>& words,
                              bool say) {
  for (std::size_t i = 0; i < optimizer_->param_groups().size(); ++i) {
    auto found = words.find(RateName(i));
    if (found == words.end()) {
      continue;
    }
    auto& options = optimizer_->param_groups()[i].options();
    double saved = std::strtod(found->second.c_str(), nullptr);
    if (saved != options.get_lr() && say) {
      MUSTER_LOG(kWarn, "using the learning rate of the checkpoint",
                 {{"checkpoint", found->second},
                  {"program", Exactly(options.get_lr())}});
    }
    options.set_lr(saved);
  }
}

}  // namespace muster
