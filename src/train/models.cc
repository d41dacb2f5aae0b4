// SPDX-License-Identifier: Apache-2.0
// Part of muster/train.h: the networks of the examples and of `make bench`.
#include <functional>
#include <string>
#include <string_view>

#include "muster/train.h"

namespace muster {
namespace {

constexpr std::string_view kBlocked = "oneDNN blocked";

}  // namespace

MlpNet::MlpNet(std::int64_t inputs, std::vector<std::int64_t> hidden,
               std::int64_t outputs) {
  hidden.push_back(outputs);
  for (std::int64_t width : hidden) {
    std::string name = "layers" + std::to_string(layers_.size());
    layers_.push_back(register_module(name, torch::nn::Linear(inputs, width)));
    inputs = width;
  }
}

torch::Tensor MlpNet::forward(torch::Tensor x) {
  x = x.flatten(1);
  for (std::size_t i = 0; i + 1 < layers_.size(); ++i) {
    x = torch::relu(layers_[i]->forward(x));
  }
  return layers_.back()->forward(x);
}

CnnNet::CnnNet(std::int64_t outputs)
    : first_(register_module("first", torch::nn::Conv2d(1, 32, 3))),
      second_(register_module("second", torch::nn::Conv2d(32, 64, 3))),
      dense_(register_module("dense", torch::nn::Linear(64 * 5 * 5, 128))),
      last_(register_module("last", torch::nn::Linear(128, outputs))) {}

std::string_view CnnNet::layout() {
  return at::hasMKLDNN() ? kBlocked : "contiguous";
}

torch::Tensor CnnNet::forward(torch::Tensor x) {
  // From the images to the last convolution: contiguous tensors would be
  // reordered to oneDNN's layout and back at each layer.
  const bool blocked =
      layout() == kBlocked && x.scalar_type() == torch::kFloat32;
  if (blocked) {
    x = x.to_mkldnn();
  }
  for (torch::nn::Conv2d& layer : {std::ref(first_), std::ref(second_)}) {
    // The stride is given: without it the blocked layout has no gradient.
    x = torch::max_pool2d(torch::relu(layer->forward(x)), {2, 2}, {2, 2});
  }
  if (blocked) {
    x = x.to_dense();
  }
  x = torch::relu(dense_->forward(x.flatten(1)));
  return last_->forward(x);
}

}  // namespace muster
