// SPDX-License-Identifier: Apache-2.0
#include "train/tensors.h"

#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <span>

namespace muster {
namespace {

struct TypePair {
  torch::ScalarType torch;
  DType ours;
};
constexpr std::array<TypePair, 9> kTypes{{
    {torch::kFloat32, DType::kFloat32},
    {torch::kFloat64, DType::kFloat64},
    {torch::kBFloat16, DType::kBFloat16},
    {torch::kFloat16, DType::kFloat16},
    {torch::kInt8, DType::kInt8},
    {torch::kInt32, DType::kInt32},
    {torch::kInt64, DType::kInt64},
    {torch::kUInt8, DType::kUInt8},
    {torch::kBool, DType::kBool},
}};

constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15;

std::uint64_t Mix(std::uint64_t state, std::uint64_t word) {
  return std::rotl((state ^ word) * kPrime, 29);
}

// Four chains, so that the multiplications overlap.
std::uint64_t DigestOfBytes(std::span<const std::byte> bytes,
                            std::uint64_t seed) {
  std::array<std::uint64_t, 4> chains{seed, seed + 1, seed + 2, seed + 3};
  std::array<std::uint64_t, 4> words{};
  std::size_t at = 0;
  for (; at + sizeof(words) <= bytes.size(); at += sizeof(words)) {
    std::memcpy(words.data(), bytes.data() + at, sizeof(words));
    for (std::size_t i = 0; i < chains.size(); ++i) {
      chains[i] = Mix(chains[i], words[i]);
    }
  }
  words = {};
  if (at < bytes.size()) {
    std::memcpy(words.data(), bytes.data() + at, bytes.size() - at);
  }
  std::uint64_t digest = bytes.size();
  for (std::size_t i = 0; i < chains.size(); ++i) {
    digest = Mix(digest, Mix(chains[i], words[i]));
  }
  return digest;
}

}  // namespace

Result<DType> DTypeOf(const NamedTensor& named) {
  for (const TypePair& pair : kTypes) {
    if (pair.torch == named.tensor.scalar_type()) {
      return pair.ours;
    }
  }
  return Error(Cause::kUsageInvalid,
               "`" + named.name + "` has elements of type " +
                   torch::toString(named.tensor.scalar_type()) +
                   ", which is not supported for all-reduce and checkpoints");
}

torch::ScalarType ScalarTypeOf(DType dtype) {
  for (const TypePair& pair : kTypes) {
    if (pair.ours == dtype) {
      return pair.torch;
    }
  }
  MUSTER_CHECK(false);
}

Buffer BufferOf(const torch::Tensor& tensor, DType dtype) {
  MUSTER_CHECK(tensor.is_contiguous());
  return Buffer{.data = tensor.data_ptr(),
                .count = static_cast<std::size_t>(tensor.numel()),
                .dtype = dtype};
}

TensorSpec SpecOf(const NamedTensor& named, DType dtype) {
  return TensorSpec{
      .name = named.name, .dtype = dtype, .shape = named.tensor.sizes().vec()};
}

torch::Tensor RowMajor(const torch::Tensor& tensor) {
  return tensor.detach().contiguous();
}

std::uint64_t DigestOf(const torch::Tensor& tensor) {
  torch::Tensor flat = RowMajor(tensor);
  auto seed = static_cast<std::uint64_t>(flat.scalar_type());
  for (std::int64_t extent : flat.sizes()) {
    seed = Mix(seed, static_cast<std::uint64_t>(extent));
  }
  return DigestOfBytes(
      std::span(static_cast<const std::byte*>(flat.data_ptr()), flat.nbytes()),
      seed);
}

std::uint64_t DigestOf(std::string_view bytes) {
  return DigestOfBytes(std::as_bytes(std::span(bytes)), 0);
}

Error FromException(const std::exception& thrown) {
  // c10::Error's what() carries a C++ backtrace below its first lines.
  std::string text = thrown.what();
  if (const auto* torch_error = dynamic_cast<const c10::Error*>(&thrown)) {
    text = torch_error->what_without_backtrace();
  }
  text = text.substr(0, text.find("\nException raised from"));
  bool memory = dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr ||
                text.find("not enough memory") != std::string::npos ||
                text.find("can't allocate memory") != std::string::npos;
  if (memory) {
    return Error(Cause::kOomHost, "libtorch could not allocate: " + text);
  }
  return Error(Cause::kAppException, "the program threw: " + text);
}

}  // namespace muster
