// SPDX-License-Identifier: Apache-2.0
// A folder as bytes that go to other hosts.
#pragma once

#include <string>

#include "muster/error.h"
#include "sys/host.h"

namespace muster::remote {

struct Archive {
  std::string bytes;   // tar, gzip
  std::string folder;  // where it goes, below the home folder there
  std::string what;    // "`train` (3 files, 1.2 kB)"
};
// By the system's tar, in a minute. usage-invalid: there is no such folder, or
// it has more than a program needs (256 MB): data has a better way;
// program-not-found: no tar. Main thread, before the loop runs.
Result<Archive> PackFolder(const std::string& folder, const sys::Host& host);

}  // namespace muster::remote
