// SPDX-License-Identifier: Apache-2.0
// Where an optimizer keeps what it remembers of a parameter.
#pragma once

#include <torch/torch.h>

#include <sstream>
#include <type_traits>

namespace muster {

// The address of the parameter, which libtorch 1.13 keeps as text.
template <typename Key>
Key ParamKeyAs(const torch::Tensor& parameter) {
  if constexpr (std::is_pointer_v<Key>) {
    return parameter.unsafeGetTensorImpl();
  } else {
    std::ostringstream text;
    text << parameter.unsafeGetTensorImpl();
    return text.str();
  }
}
inline auto KeyOf(const torch::optim::Optimizer& optimizer,
                  const torch::Tensor& parameter) {
  using States = std::decay_t<decltype(optimizer.state())>;
  return ParamKeyAs<States::key_type>(parameter);
}

}  // namespace muster
