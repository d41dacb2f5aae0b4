// SPDX-License-Identifier: Apache-2.0
// What an optimizer of libtorch remembers between steps, as named tensors.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/checkpoint.h"
#include "muster/error.h"
#include "train/tensors.h"

namespace muster {

// Adam, AdamW, SGD, RMSprop and Adagrad. libtorch makes an optimizer's memory
// at the first step and finds it by the parameter's address; here it is found
// by the parameter's name: "optimizer/layers.0.weight/exp_avg". One thread.
class OptimizerState {
 public:
  // usage-invalid: another optimizer (LBFGS, one of the user's own), or one
  // that trains a tensor which is not among `parameters`, naming it. Both must
  // outlive it.
  static Result<OptimizerState> Make(torch::optim::Optimizer& optimizer,
                                     std::vector<NamedTensor> parameters);

  // "Adam".
  std::string_view kind() const { return kind_; }
  // What there is now, by name. Step counts are int64 tensors of no dimension.
  std::vector<NamedTensor> Tensors() const;
  // Learning rates by parameter group, as metadata: "optimizer.0.lr".
  std::map<std::string, std::string> Words() const;

  // Makes room for exactly these tensors ("optimizer/…", other names are left
  // alone), with undefined contents until Put. ckpt-mismatch: a name that this
  // optimizer does not have.
  Status Expect(std::span<const TensorSpec> specs);
  // Stores tensors that Tensors() gave, after their contents have changed.
  void Put(std::span<const NamedTensor> tensors);
  // Takes the learning rates over; one that differs is logged if asked to.
  void PutWords(const std::map<std::string, std::string>& words, bool say);

 private:
  explicit OptimizerState(torch::optim::Optimizer& optimizer)
      : optimizer_(&optimizer) {}

  torch::optim::Optimizer* optimizer_;
  std::vector<NamedTensor> parameters_;  // that the optimizer trains
  std::string_view kind_;
};

}  // namespace muster
