// SPDX-License-Identifier: Apache-2.0
// The few names of Gloo that c10d's ProcessGroupGloo.hpp needs to be parsed.
// PyTorch's wheel has the code of Gloo and not its headers; nothing here is
// ever made or called by us (docs/adr, "names for gloo").
#pragma once

#define MUSTER_GLOO_NAMES 1

#include <chrono>

namespace gloo {

class Context {
 public:
  void setTimeout(std::chrono::milliseconds timeout);
};

}  // namespace gloo
