// SPDX-License-Identifier: Apache-2.0
// An error ends a program of bench/.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "muster/error.h"

namespace muster {

// The value; a failure is printed and ends the process. Without cleaning up: it
// may be a fork.
template <typename T>
T ValueOrExit(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().ToString().c_str());
    std::_Exit(1);
  }
  return std::move(result).value();
}

}  // namespace muster
