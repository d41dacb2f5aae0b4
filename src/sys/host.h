// SPDX-License-Identifier: Apache-2.0
// This machine, seen through the seam: what is passed to whoever needs it.
#pragma once

#include "sys/clock.h"
#include "sys/env.h"
#include "sys/fs.h"

namespace muster::sys {

struct Host {
  Env& env;
  Clock& clock;
  Fs& fs;
};

}  // namespace muster::sys
