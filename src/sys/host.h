// SPDX-License-Identifier: Apache-2.0
// This machine, seen through the seam: what is passed to whoever needs it.
#pragma once

#include "sys/env.h"
#include "sys/file/fs.h"
#include "sys/net/http.h"
#include "sys/net/names.h"
#include "sys/time/clock.h"

namespace muster::sys {

struct Host {
  Env& env;
  Clock& clock;
  Fs& fs;
  // Absent where nothing is to be asked of the network.
  Http* http = nullptr;
  const Names* names = nullptr;
};

}  // namespace muster::sys
