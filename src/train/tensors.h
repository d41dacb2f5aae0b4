// SPDX-License-Identifier: Apache-2.0
// Between torch's tensors and what the rooms without torch know.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "muster/checkpoint.h"
#include "muster/collective.h"
#include "muster/error.h"

namespace muster {

// A tensor with the name under which checkpoints and messages know it.
struct NamedTensor {
  std::string name;
  torch::Tensor tensor;
};

// usage-invalid, naming the tensor, for element types that no collective and
// no checkpoint has (complex, quantized).
Result<DType> DTypeOf(const NamedTensor& named);
torch::ScalarType ScalarTypeOf(DType dtype);

// The memory of a contiguous tensor.
Buffer BufferOf(const torch::Tensor& tensor, DType dtype);
TensorSpec SpecOf(const NamedTensor& named, DType dtype);

// The tensor's elements in row-major order, detached; the same memory where it
// lies so already.
torch::Tensor RowMajor(const torch::Tensor& tensor);

// Says "the same or not" of two tensors' bytes, shapes and dtypes; a few
// gigabytes a second.
std::uint64_t DigestOf(const torch::Tensor& tensor);
std::uint64_t DigestOf(std::string_view bytes);

// What a call into libtorch or the user's code threw: oom-host when libtorch
// could not allocate, else app-exception.
Error FromException(const std::exception& thrown);

// call(), with what it throws as an Error.
template <typename Fn>
Status Catching(Fn&& call) {
  try {
    return call();
  } catch (const std::exception& thrown) {
    return FromException(thrown);
  }
}

}  // namespace muster
