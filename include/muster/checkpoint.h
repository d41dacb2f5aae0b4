// SPDX-License-Identifier: Apache-2.0
// Checkpoints: named tensors and metadata, written atomically.
//
// On disk, under the directory of the store:
//   step-0000000100/model.safetensors   tensors and metadata (safetensors)
//   step-0000000100/manifest.json       step, size and CRC-32C of the file
// A checkpoint is written to a temporary directory, the manifest last, and
// renamed when all of it is on disk. The bytes contain no time, run ID or
// attempt: equal training states give equal files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "muster/dtype.h"
#include "muster/error.h"

namespace muster {

// Name, element type and shape of a tensor.
struct TensorSpec {
  std::string name;                 // unique in a checkpoint
  DType dtype = DType::kFloat32;    // of its elements
  std::vector<std::int64_t> shape;  // empty: a scalar

  bool operator==(const TensorSpec&) const = default;
};
// "F32 [128, 784]".
std::string ToString(const TensorSpec& spec);
// Bytes of all elements; nullopt when it does not fit 63 bits or a dimension is
// negative.
std::optional<std::uint64_t> BytesOf(const TensorSpec& spec);

// A tensor to be saved: row-major, little-endian, not owned.
struct TensorView {
  TensorSpec spec;                   // what the bytes are
  std::span<const std::byte> bytes;  // BytesOf(spec) of them
};

// A set of tensors and metadata that was read. Tensors are sorted by name;
// their bytes are in `storage` and move with it. Movable only.
struct Checkpoint {
  Checkpoint() = default;
  Checkpoint(Checkpoint&&) noexcept = default;
  Checkpoint& operator=(Checkpoint&&) noexcept = default;

  std::uint64_t step = 0;                         // after which it was saved
  std::string path;                               // of the safetensors file
  std::map<std::string, std::string> metadata;    // what Save was given
  std::string writer;                             // "muster 0.1.0"
  std::vector<TensorSpec> specs;                  // by name
  std::vector<std::span<const std::byte>> bytes;  // parallel to specs
  std::string storage;                            // the whole file

  // The bytes of a tensor; empty optional when it is not there.
  std::optional<std::span<const std::byte>> Find(std::string_view name) const;
};

// ckpt-mismatch names the first tensor (by name) that only the program or only
// the checkpoint has, or whose dtype or shape differs, with both. Sorts nothing
// in place; the order of `program` does not matter.
Status CheckMatches(const Checkpoint& checkpoint,
                    std::span<const TensorSpec> program);

// What LoadNewest found.
struct LoadOutcome {
  std::optional<Checkpoint> checkpoint;  // nullopt: no valid checkpoint
  // Newer ones that were skipped, newest first, each with the reason.
  std::vector<Error> skipped;
};

// Where checkpoints are, and how many.
struct CheckpointOptions {
  std::string directory;  // created if missing
  int keep = 3;           // complete checkpoints to keep; at least 1
};

// The checkpoints in one directory. Only one process writes (rank 0): while a
// store lives, no other can be opened in its directory on the same machine; on
// another one the log warns of it. One thread.
class CheckpointStore {
 public:
  CheckpointStore(CheckpointStore&&) noexcept;
  CheckpointStore& operator=(CheckpointStore&&) noexcept;
  ~CheckpointStore();

  // Creates the directory, checks that it is writable, removes leftovers of an
  // interrupted Save, and restores an old checkpoint that it had moved.
  // disk-full, file-permission (also where the path or a part of it is a file),
  // usage-invalid, ckpt-placement: another store is open in the directory.
  static Result<CheckpointStore> Open(const CheckpointOptions& options);

  // Writes a checkpoint and makes it durable, then removes the oldest beyond
  // `keep` complete ones; it logs what it cannot remove. On failure (disk-full,
  // file-permission) existing checkpoints are unchanged. Names must be unique
  // and bytes must match the shape: usage-invalid. Keys that begin with
  // "muster." are reserved.
  Status Save(std::uint64_t step, std::span<const TensorView> tensors,
              const std::map<std::string, std::string>& metadata);

  // The newest complete checkpoint: checks the manifest, the size, the CRC-32C
  // and every bound of the header; an invalid one is skipped, with the reason.
  // No checkpoint is not an error. ckpt-mismatch: a version with an unsupported
  // format wrote the newest one. file-permission, os-limit,
  // data-path-unreachable: it cannot be read, which does not mean that it is
  // corrupt.
  Result<LoadOutcome> LoadNewest() const;
  // The checkpoint of a step. file-missing, file-corrupt, ckpt-mismatch.
  Result<Checkpoint> Load(std::uint64_t step) const;

  // Steps that have a directory, ascending; their contents are not checked.
  Result<std::vector<std::uint64_t>> Steps() const;
  // As it was given.
  const std::string& directory() const { return options_.directory; }

 private:
  struct Lock;
  CheckpointStore(CheckpointOptions options, std::unique_ptr<Lock> lock);
  Status RemoveOld(std::uint64_t newest) const;

  CheckpointOptions options_;
  std::unique_ptr<Lock> lock_;
};

}  // namespace muster
