// SPDX-License-Identifier: Apache-2.0
// Part of muster/checkpoint.h: tensors of a checkpoint, found and compared.
#include <algorithm>
#include <limits>
#include <map>

#include "base/text.h"
#include "muster/checkpoint.h"

namespace muster {

std::string ToString(const TensorSpec& spec) {
  std::string text = std::string(ToString(spec.dtype)) + " [";
  for (std::size_t i = 0; i < spec.shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(spec.shape[i]);
  }
  return text + "]";
}

std::optional<std::uint64_t> BytesOf(const TensorSpec& spec) {
  constexpr auto kMaxCount =
      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const auto& shape = spec.shape;
  if (std::any_of(shape.begin(), shape.end(),
                  [](std::int64_t dimension) { return dimension < 0; })) {
    return std::nullopt;
  }
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
    return 0;
  }
  std::uint64_t bytes = SizeOf(spec.dtype);
  for (const std::int64_t dimension : shape) {
    const auto factor = static_cast<std::uint64_t>(dimension);
    if (bytes > kMaxCount / factor) {
      return std::nullopt;
    }
    bytes *= factor;
  }
  return bytes;
}

std::optional<std::span<const std::byte>> Checkpoint::Find(
    std::string_view name) const {
  const auto found =
      std::lower_bound(specs.begin(), specs.end(), name,
                       [](const TensorSpec& spec, std::string_view key) {
                         return spec.name < key;
                       });
  if (found == specs.end() || found->name != name) {
    return std::nullopt;
  }
  return bytes[static_cast<std::size_t>(found - specs.begin())];
}

namespace {

// What each side has of one name; null: no tensor.
struct Sides {
  const TensorSpec* saved = nullptr;
  const TensorSpec* wanted = nullptr;
};

// `who` is the checkpoint.
Status CheckTensor(const std::string& who, std::string_view name,
                   const Sides& sides) {
  const auto& [saved, wanted] = sides;
  const std::string tensor = "`" + Printable(name) + "`";
  if (saved == nullptr) {
    return Error(Cause::kCkptMismatch, who + " has no tensor " + tensor +
                                           ", which the program expects as " +
                                           ToString(*wanted));
  }
  if (wanted == nullptr) {
    return Error(Cause::kCkptMismatch, who + " has the tensor " + tensor +
                                           ", " + ToString(*saved) +
                                           ", which the program does not have");
  }
  if (*saved != *wanted) {
    return Error(Cause::kCkptMismatch,
                 "tensor " + tensor + " is " + ToString(*saved) + " in " + who +
                     " but " + ToString(*wanted) + " in the program");
  }
  return Ok();
}

}  // namespace

Status CheckMatches(const Checkpoint& checkpoint,
                    std::span<const TensorSpec> program) {
  std::map<std::string_view, Sides> both;
  for (const TensorSpec& spec : checkpoint.specs) {
    both[spec.name].saved = &spec;
  }
  for (const TensorSpec& spec : program) {
    both[spec.name].wanted = &spec;
  }
  const std::string who = "the checkpoint of step " +
                          std::to_string(checkpoint.step) + " (" +
                          checkpoint.writer + ")";
  for (const auto& [name, sides] : both) {
    MUSTER_TRY(CheckTensor(who, name, sides));
  }
  return Ok();
}

}  // namespace muster
