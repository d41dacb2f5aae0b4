// SPDX-License-Identifier: Apache-2.0
// Input: datasets, the sampler, and the prefetching loader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "muster/deadline.h"
#include "muster/error.h"

namespace muster {

// A split of a dataset.
enum class Split { kTrain, kTest };

// Samples with labels, read in any order. Const methods: any thread.
class Dataset {
 public:
  virtual ~Dataset() = default;
  // Number of samples.
  virtual std::uint64_t size() const = 0;
  // Of one sample, channels first: {1, 28, 28}.
  virtual std::span<const std::int64_t> sample_shape() const = 0;
  // Labels are 0 to classes() - 1.
  virtual int classes() const = 0;
  // Writes the samples at `indices`, in that order. `features` has space for
  // indices.size() samples (uint8 data becomes x / 255), `labels` for
  // indices.size() labels. Any failure ends the pass over the data.
  virtual Status Fill(std::span<const std::uint64_t> indices,
                      std::span<float> features,
                      std::span<std::int64_t> labels) const = 0;
};

// Elements of one sample.
std::size_t ElementsOf(const Dataset& dataset);

// Images and labels of a pair of IDX files, held in memory as bytes.
class IdxDataset : public Dataset {
 public:
  // Reads IDX files (unsigned bytes; images N x H x W, labels N), plain or
  // gzip. file-missing, file-permission; file-corrupt names the file, what its
  // header declares and what was found: a wrong magic number, a truncated file,
  // extra bytes, different numbers of labels and images, or a label not below
  // `classes`.
  static Result<IdxDataset> Open(const std::string& images_path,
                                 const std::string& labels_path, int classes);

  std::uint64_t size() const override { return labels_.size(); }
  std::span<const std::int64_t> sample_shape() const override { return shape_; }
  int classes() const override { return classes_; }
  Status Fill(std::span<const std::uint64_t> indices, std::span<float> features,
              std::span<std::int64_t> labels) const override;

  // The bytes of one image.
  std::span<const std::uint8_t> Pixels(std::uint64_t index) const;

 private:
  std::vector<std::int64_t> shape_;
  std::size_t pixels_ = 0;  // of one image
  std::string bytes_;       // the images, one after the other
  std::vector<std::uint8_t> labels_;
  int classes_ = 0;
};

// Fashion-MNIST: 60,000 + 10,000 images of 28 x 28, 10 classes, from the four
// files of its authors (names as published, with or without .gz).
struct FashionMnist {
  // Where Debian's package dataset-fashion-mnist installs it.
  static constexpr const char* kDebianDirectory =
      "/usr/share/datasets/fashion-mnist";
  // As IdxDataset::Open; file-missing also names the package that contains the
  // data. (`enum`: inside of muster a function has the name, too.)
  static Result<IdxDataset> Open(const std::string& directory,
                                 enum Split split);
};

// ---- Which samples, in which order ----

// What the order of samples depends on.
struct SamplerOptions {
  std::uint64_t size = 0;          // of the dataset
  std::uint64_t global_batch = 0;  // samples per step, over all ranks
  std::uint64_t seed = 0;          // of the order
  bool shuffle = true;             // false: the order of the dataset
};

// One step of the whole cluster. `position` counts samples since the start of
// the training, over epochs: the only state of the input that a checkpoint
// needs, and the same for any number of ranks.
struct GlobalBatch {
  std::uint64_t position = 0;  // of its first sample
  std::uint64_t epoch = 0;     // from 0
  std::uint64_t first = 0;     // within the epoch's order
  std::uint64_t count = 0;     // global_batch, less at the end of an epoch

  // Position of the batch after it.
  std::uint64_t next() const { return position + count; }
  bool operator==(const GlobalBatch&) const = default;
};

// A rank's contiguous share of a global batch. The shares differ by at most one
// sample, lower ranks have the larger ones; with fewer samples than ranks the
// last shares are empty, and their ranks participate with weight 0.
struct Share {
  std::uint64_t first = 0;  // within the epoch's order
  std::uint64_t count = 0;  // samples

  bool operator==(const Share&) const = default;
};
// Which rank of how many.
struct RankOf {
  int rank = 0;  // 0 to size - 1
  int size = 1;  // ranks
};
// The part of a rank.
Share ShareOf(const GlobalBatch& batch, RankOf who);

// The order of samples: a function of seed, epoch and size alone, the same on
// every machine (Fisher-Yates over SplitMix64; docs in sampler.cc). Pure but
// for the epoch it has computed last; one thread.
class Sampler {
 public:
  // usage-invalid: no samples, or a batch of 0.
  static Result<Sampler> Make(const SamplerOptions& options);

  // The batch at a position. Any position is valid: one inside a batch of this
  // size (after a resume with another batch size) gives a batch that starts
  // there.
  GlobalBatch At(std::uint64_t position) const;
  // Batches of an epoch, the last one may be smaller.
  std::uint64_t StepsPerEpoch() const;
  // Indices into the dataset; valid until the next call.
  std::span<const std::uint64_t> Indices(std::uint64_t epoch, Share share);

 private:
  explicit Sampler(const SamplerOptions& options) : options_(options) {}
  SamplerOptions options_;
  std::vector<std::uint64_t> order_;
  std::optional<std::uint64_t> order_epoch_;
};

// ---- Batches made ahead ----

// Options of a Loader.
struct LoaderOptions {
  std::uint64_t global_batch = 0;  // over all ranks
  std::uint64_t epochs = 1;        // passes over the dataset
  std::uint64_t seed = 0;          // of the order
  bool shuffle = true;             // false: the order of the dataset
  RankOf who;                      // whose share
  std::uint64_t position = 0;  // where to begin: GlobalBatch::next of the last
  std::size_t ahead = 8;       // prefetched batches
};

// This rank's share of one global batch. The batch owns its memory and returns
// it to the loader's pool, so a batch may outlive the loader. Movable; any
// thread.
class Batch {
 public:
  Batch() = default;
  Batch(Batch&& other) noexcept;
  Batch& operator=(Batch&& other) noexcept;
  ~Batch();

  // Samples one after the other, 64-byte aligned.
  std::span<float> features() const { return features_; }
  // One for each sample.
  std::span<std::int64_t> labels() const { return labels_; }
  // Samples; may be 0.
  std::uint64_t count() const { return labels_.size(); }
  // The batch of which this is a share.
  const GlobalBatch& global() const { return global_; }
  // How long Next waited for it: the input wait of this step.
  Duration waited() const { return waited_; }

 private:
  friend class Loader;
  struct Slab;
  struct Pool;
  void GiveBack();

  std::unique_ptr<Slab> slab_;
  // Shared by the loader and the batches that outlive it.
  std::shared_ptr<Pool> pool_;
  std::span<float> features_;
  std::span<std::int64_t> labels_;
  GlobalBatch global_;
  Duration waited_{};
};

// Prefetches batches on a separate thread. The dataset must outlive it. Next:
// one thread.
class Loader {
 public:
  // usage-invalid: an empty dataset, a batch of 0, a rank outside the size.
  // os-limit: the thread cannot be started.
  static Result<std::unique_ptr<Loader>> Make(const Dataset& dataset,
                                              const LoaderOptions& options);
  ~Loader();  // ends the thread

  // The next batch; nullopt after the last epoch. The dataset's first error,
  // deadline-exceeded, cancelled.
  Result<std::optional<Batch>> Next(Deadline deadline,
                                    std::stop_token stop = {});

  // Position of the batch that Next returns next.
  std::uint64_t position() const;
  // Batches of an epoch, the last one may be smaller.
  std::uint64_t StepsPerEpoch() const;
  // Sum of all waits in Next.
  Duration input_wait() const;

 private:
  struct Inner;
  explicit Loader(std::unique_ptr<Inner> inner);
  std::unique_ptr<Inner> inner_;
};

}  // namespace muster
