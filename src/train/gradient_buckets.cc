// SPDX-License-Identifier: Apache-2.0
#include "train/gradient_buckets.h"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "base/log.h"

namespace muster {
namespace {

// Gradients begin on cache lines of their own; the gaps stay zero.
constexpr std::size_t kAlignment = 64;

std::size_t Aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// The element that carries the loss needs a type that holds it well.
bool CarriesLoss(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64;
}

torch::Tensor ViewAt(std::byte* memory, const torch::Tensor& like) {
  auto options = torch::TensorOptions().dtype(like.scalar_type());
  // Strides as the parameter's, so that torch adds without reordering.
  if (like.is_non_overlapping_and_dense()) {
    return torch::from_blob(memory, like.sizes(), like.strides(), options);
  }
  return torch::from_blob(memory, like.sizes(), options);
}

}  // namespace

BucketSizes SizesFor(const Collective& group) {
  constexpr std::size_t kMebibyte = 1U << 20;
  if (group.name() == "gloo") {
    return {.first = kMebibyte, .other = 25 * kMebibyte};
  }
  // Small enough that a large gradient goes alone, while the next is made.
  return {.first = kMebibyte / 4, .other = kMebibyte / 2};
}

// Runs after a parameter's gradient was accumulated.
class GradientBuckets::Hook : public torch::autograd::FunctionPostHook {
 public:
  Hook(GradientBuckets& buckets, std::size_t place)
      : buckets_(buckets), place_(place) {}

  torch::autograd::variable_list operator()(
      const torch::autograd::variable_list& outputs,
      const torch::autograd::variable_list&) override {
    buckets_.OnGradient(place_);
    return outputs;
  }

 private:
  GradientBuckets& buckets_;
  std::size_t place_;
};

Result<std::unique_ptr<GradientBuckets>> GradientBuckets::Make(
    Collective& group, std::vector<NamedTensor> parameters, BucketSizes sizes) {
  auto buckets = std::unique_ptr<GradientBuckets>(new GradientBuckets(group));
  MUSTER_TRY(buckets->Lay(std::move(parameters), sizes));
  for (std::size_t i = 0; i < buckets->places_.size(); ++i) {
    buckets->AddHook(i);
  }
  return buckets;
}

GradientBuckets::~GradientBuckets() {
  for (Place& place : places_) {
    if (place.remove_hook) {
      place.remove_hook();
    }
    // The view's memory goes with the group.
    place.parameter.tensor.mutable_grad() = torch::Tensor();
  }
}

Status GradientBuckets::Lay(std::vector<NamedTensor> parameters,
                            BucketSizes sizes) {
  struct LayoutStretch {
    std::size_t begin = 0;  // bytes
    std::size_t end = 0;
  };
  DType first = DType::kFloat32;
  if (!parameters.empty()) {
    MUSTER_ASSIGN(DType dtype, DTypeOf(parameters.back()));
    first = CarriesLoss(dtype) ? dtype : first;
  }
  // The loss goes first.
  std::vector<LayoutStretch> stretches{{0, kAlignment}};
  std::vector<std::size_t> offsets;
  buckets_.push_back({.buffer = {.dtype = first}});
  for (auto it = parameters.rbegin(); it != parameters.rend(); ++it) {
    MUSTER_ASSIGN(DType dtype, DTypeOf(*it));
    std::size_t bytes = Aligned(it->tensor.nbytes());
    std::size_t limit = buckets_.size() == 1 ? sizes.first : sizes.other;
    std::size_t filled = stretches.back().end - stretches.back().begin;
    bool full = buckets_.back().gradients > 0 && filled + bytes > limit;
    if (full || buckets_.back().buffer.dtype != dtype) {
      stretches.push_back({stretches.back().end, stretches.back().end});
      buckets_.push_back({.buffer = {.dtype = dtype}});
    }
    offsets.push_back(stretches.back().end);
    stretches.back().end += bytes;
    ++buckets_.back().gradients;
    places_.push_back(
        {.parameter = std::move(*it), .bucket = buckets_.size() - 1});
  }
  bytes_ = stretches.back().end;
  MUSTER_ASSIGN(void* memory, group_.Allocate(bytes_));
  memory_ = static_cast<std::byte*>(memory);
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    Buffer& buffer = buckets_[i].buffer;
    buffer.data = memory_ + stretches[i].begin;
    buffer.count =
        (stretches[i].end - stretches[i].begin) / SizeOf(buffer.dtype);
  }
  for (std::size_t i = 0; i < places_.size(); ++i) {
    places_[i].view = ViewAt(memory_ + offsets[i], places_[i].parameter.tensor);
  }
  loss_ = torch::from_blob(memory_, {1},
                           torch::TensorOptions().dtype(ScalarTypeOf(first)));
  return Ok();
}

void GradientBuckets::AddHook(std::size_t place) {
  // A shared_ptr in libtorch 1.13, an intrusive_ptr in 2.13. The variable
  // itself holds its node weakly.
  auto node =
      torch::autograd::impl::grad_accumulator(places_[place].parameter.tensor);
  auto key = node->add_post_hook(std::make_unique<Hook>(*this, place));
  places_[place].remove_hook = [node, key] { node->del_post_hook(key); };
}

void GradientBuckets::Begin() {
  std::memset(memory_, 0, bytes_);
  for (Place& place : places_) {
    place.ready = false;
    torch::Tensor& gradient = place.parameter.tensor.mutable_grad();
    // zero_grad() may have dropped it.
    if (!gradient.defined() || gradient.data_ptr() != place.view.data_ptr()) {
      gradient = place.view;
    }
  }
  for (Bucket& bucket : buckets_) {
    bucket.missing = bucket.gradients;
    bucket.work.reset();
  }
  next_ = 0;
  armed_ = true;
}

void GradientBuckets::SetLoss(double part) {
  if (loss_.scalar_type() == torch::kFloat64) {
    *loss_.data_ptr<double>() = part;
  } else {
    *loss_.data_ptr<float>() = static_cast<float>(part);
  }
}

double GradientBuckets::loss() const {
  return loss_.scalar_type() == torch::kFloat64
             ? *loss_.data_ptr<double>()
             : static_cast<double>(*loss_.data_ptr<float>());
}

void GradientBuckets::OnGradient(std::size_t index) {
  if (!armed_ || error_) {
    return;
  }
  Place& place = places_[index];
  if (place.ready) {
    error_ = Error(Cause::kUsageInvalid,
                   "the gradient of `" + place.parameter.name +
                       "` was computed twice in one step: the loss function "
                       "must not call backward()");
    return;
  }
  BringHome(place);
  place.ready = true;
  --buckets_[place.bucket].missing;
  StartReady();
  Poll();
}

void GradientBuckets::BringHome(Place& place) {
  torch::Tensor& gradient = place.parameter.tensor.mutable_grad();
  if (gradient.defined() && gradient.data_ptr() == place.view.data_ptr()) {
    return;
  }
  if (!warned_) {
    warned_ = true;
    MUSTER_LOG(kWarn,
               "a gradient is not in its bucket and is copied at each step: do "
               "not replace .grad during the loss computation",
               {{"tensor", place.parameter.name}});
  }
  if (gradient.defined()) {
    torch::NoGradGuard no_grad;
    place.view.copy_(gradient.is_sparse() ? gradient.to_dense() : gradient);
  }
  gradient = place.view;
}

void GradientBuckets::StartReady() {
  while (!error_ && next_ < buckets_.size() && buckets_[next_].missing == 0) {
    Bucket& bucket = buckets_[next_++];
    auto work = group_.StartAllReduce(bucket.buffer, {.check_finite = true});
    if (work) {
      bucket.work = *std::move(work);
    } else {
      error_ = std::move(work).error();
    }
  }
}

// Lets sums that wait for slower ranks go on between two layers.
void GradientBuckets::Poll() {
  for (std::size_t i = 0; i < next_; ++i) {
    if (buckets_[i].work && buckets_[i].work->Poll()) {
      continue;
    }
    return;
  }
}

Status GradientBuckets::Finish(Deadline deadline, std::stop_token stop) {
  armed_ = false;
  for (Place& place : places_) {
    if (!place.ready) {
      BringHome(place);
    }
  }
  for (Bucket& bucket : buckets_) {
    bucket.missing = 0;
  }
  StartReady();
  for (Bucket& bucket : buckets_) {
    if (error_) {
      return *error_;
    }
    if (Status status = bucket.work->Wait(deadline, stop); !status) {
      error_ = std::move(status).error();
    }
    bucket.work.reset();
  }
  return error_ ? Status(*error_) : Ok();
}

}  // namespace muster
