// SPDX-License-Identifier: Apache-2.0
// See gloo/context.h.
#pragma once

namespace gloo::transport {

class Device;

class UnboundBuffer {
 public:
  virtual ~UnboundBuffer();
};

}  // namespace gloo::transport
