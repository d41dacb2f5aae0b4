// SPDX-License-Identifier: Apache-2.0
// Gradients that live in the group's memory and are summed over the ranks while
// the backward pass still runs.
#pragma once

#include <torch/torch.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "muster/collective.h"
#include "muster/deadline.h"
#include "muster/error.h"
#include "train/tensors.h"

namespace muster {

struct BucketSizes {
  // The first bucket to be complete is small, so that the sums begin early.
  std::size_t first = 0;
  std::size_t other = 0;
};
// What suits a group: a sum through shared memory costs little to begin, one
// through sockets a lot.
BucketSizes SizesFor(const Collective& group);

// Parameters are laid out in reverse order, which is about the order in which
// the backward pass gives their gradients, and cut into buckets of one element
// type. `.grad` of each parameter is a view of its place. When the last
// gradient of a bucket has arrived (a hook behind its AccumulateGrad node), the
// bucket's sum over the ranks is started; buckets are started in order, so that
// all ranks start the same ones. One thread.
class GradientBuckets {
 public:
  // `parameters` are those that need gradients, in the order of the model, the
  // same on all ranks. The group must outlive it. usage-invalid, and errors of
  // Collective::Allocate.
  static Result<std::unique_ptr<GradientBuckets>> Make(
      Collective& group, std::vector<NamedTensor> parameters,
      BucketSizes sizes);
  ~GradientBuckets();  // takes the hooks off
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  // Before the forward pass: all gradients are zero and in their place, and
  // hooks take notice.
  void Begin();
  // This rank's part of the loss; its sum over the ranks travels in the first
  // bucket. Before the backward pass; 0 by default.
  void SetLoss(double part);
  // After the backward pass: starts what was not started (parameters without a
  // gradient count as zero), waits for all. Afterward every rank has the same
  // sums in `.grad`. Errors: those of Work::Wait, numerics-nan among them.
  Status Finish(Deadline deadline, std::stop_token stop);
  // The sum of all parts, after Finish.
  double loss() const;

  std::size_t buckets() const { return buckets_.size(); }

 private:
  class Hook;
  struct Place {
    NamedTensor parameter;
    torch::Tensor view;  // of the group's memory, shaped as the parameter
    std::size_t bucket = 0;
    bool ready = false;
    // Holds the node alive, and with it the hook.
    std::function<void()> remove_hook;
  };
  struct Bucket {
    Buffer buffer;
    std::size_t gradients = 0;  // that belong to it
    std::size_t missing = 0;    // of these, in this step
    std::unique_ptr<Work> work;
  };

  explicit GradientBuckets(Collective& group) : group_(group) {}
  Status Lay(std::vector<NamedTensor> parameters, BucketSizes sizes);
  void AddHook(std::size_t place);
  void OnGradient(std::size_t index);
  // Puts a gradient that torch keeps elsewhere into its place.
  void BringHome(Place& place);
  void StartReady();
  void Poll();

  Collective& group_;
  std::vector<Place> places_;
  std::vector<Bucket> buckets_;
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
  torch::Tensor loss_;  // one element, in bucket 0
  bool armed_ = false;
  bool warned_ = false;
  std::size_t next_ = 0;  // bucket to start next
  std::optional<Error> error_;
};

}  // namespace muster
