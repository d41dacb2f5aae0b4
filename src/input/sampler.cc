// SPDX-License-Identifier: Apache-2.0
// Part of muster/dataset.h.
//
// The order of an epoch is part of what a checkpoint promises, so it is defined
// here and not by a library:
//
//   state = Mix(Mix(seed) + epoch)
//   order = 0, 1, …, size - 1
//   for i = size - 1 down to 1:  swap order[i] with order[Next() * (i + 1) /
//   2^64]
//
// where Next() is SplitMix64 (Steele, Lea and Flood 2014): state +=
// 0x9e3779b97f4a7c15, then Mix(state). The product is taken in 128 bits; its
// bias is below size / 2^64.
#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "muster/dataset.h"

namespace muster {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t Mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

void Shuffle(std::span<std::uint64_t> order, std::uint64_t state) {
  for (std::size_t i = order.size(); i-- > 1;) {
    state += 0x9e3779b97f4a7c15;
    const auto j = static_cast<std::size_t>(Wide{Mix(state)} * (i + 1) >> 64);
    std::swap(order[i], order[j]);
  }
}

}  // namespace

Share ShareOf(const GlobalBatch& batch, RankOf who) {
  const auto size = static_cast<std::uint64_t>(who.size);
  const auto rank = static_cast<std::uint64_t>(who.rank);
  const std::uint64_t each = batch.count / size;
  const std::uint64_t longer = batch.count % size;  // ranks with one more
  return {.first = batch.first + rank * each + std::min(rank, longer),
          .count = each + (rank < longer ? 1 : 0)};
}

Result<Sampler> Sampler::Make(const SamplerOptions& options) {
  if (options.size == 0) {
    return Error(Cause::kUsageInvalid, "the dataset is empty");
  }
  if (options.global_batch == 0) {
    return Error(Cause::kUsageInvalid, "the global batch size is 0");
  }
  return Sampler(options);
}

GlobalBatch Sampler::At(std::uint64_t position) const {
  const std::uint64_t first = position % options_.size;
  return {.position = position,
          .epoch = position / options_.size,
          .first = first,
          .count = std::min(options_.global_batch, options_.size - first)};
}

std::uint64_t Sampler::StepsPerEpoch() const {
  return (options_.size - 1) / options_.global_batch + 1;
}

std::span<const std::uint64_t> Sampler::Indices(std::uint64_t epoch,
                                                Share share) {
  MUSTER_CHECK(share.first <= options_.size &&
               share.count <= options_.size - share.first);
  if (order_epoch_ != epoch) {
    const bool reuse = !options_.shuffle && !order_.empty();
    if (!reuse) {
      order_.resize(options_.size);
      std::iota(order_.begin(), order_.end(), std::uint64_t{0});
    }
    if (options_.shuffle) {
      Shuffle(order_, Mix(Mix(options_.seed) + epoch));
    }
    order_epoch_ = epoch;
  }
  return std::span<const std::uint64_t>(order_).subspan(share.first,
                                                        share.count);
}

}  // namespace muster
