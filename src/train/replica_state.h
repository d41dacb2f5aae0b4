// SPDX-License-Identifier: Apache-2.0
// What a replica consists of: parameters, buffers and the optimizer's memory.
// Made equal on all ranks, proved equal, saved and restored as one.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "muster/checkpoint.h"
#include "muster/collective.h"
#include "muster/deadline.h"
#include "muster/error.h"
#include "train/optimizer_state.h"
#include "train/tensors.h"

namespace muster {

// How a replica talks to the others and how long it waits for them.
struct Peers {
  Collective& group;
  Deadline deadline;
  std::stop_token stop;
};

// Where a training stands, beside its tensors.
struct Progress {
  std::uint64_t step = 0;
  std::map<std::string, std::string> words;  // as metadata of the checkpoint
};

// Model and optimizer must outlive it. One thread; the methods that take Peers
// are called by all ranks in the same order.
class ReplicaState {
 public:
  // usage-invalid: a tensor of a type that can be neither reduced nor saved.
  static Result<ReplicaState> Make(const torch::nn::Module& model,
                                   std::optional<OptimizerState> optimizer);

  // replica-divergence: another rank has another tensor (name, dtype or shape)
  // somewhere; names the first, in the order of the model.
  Status ProveSameModel(const Peers& peers) const;
  // Afterward all ranks have the tensors of rank 0, bit for bit, and its
  // progress. `found` is what rank 0 has loaded, or the error that kept it from
  // looking; other ranks pass nothing. Every rank returns rank 0's error.
  Result<Progress> FollowRankZero(const Peers& peers,
                                  Result<std::optional<Checkpoint>> found);
  // replica-divergence: parameters or buffers of some rank are not those of
  // rank 0; names the first tensor that differs and the rank.
  Status ProveEqual(const Peers& peers) const;
  // One number for all parameters.
  std::uint64_t ParameterDigest() const;
  // Buffers (running means and the like) as rank 0 has them.
  Status BroadcastBuffers(const Peers& peers);
  bool has_buffers() const { return parameters_ < model_.size(); }

  // Rank 0 writes to its store (others pass null); every rank returns how that
  // went, when it is over.
  Status Save(const Peers& peers, CheckpointStore* store,
              const Progress& progress) const;

 private:
  Status Load(const Checkpoint& checkpoint);
  Status Write(CheckpointStore& store, const Progress& progress) const;

  std::vector<NamedTensor> model_;  // parameters, then buffers
  std::size_t parameters_ = 0;      // how many of them are parameters
  std::optional<OptimizerState> optimizer_;
};

}  // namespace muster
