// SPDX-License-Identifier: Apache-2.0
// The runs that a user names: an id, the beginning of one, `latest`, a folder.
#pragma once

#include <string>
#include <vector>

#include "muster/error.h"
#include "sys/host.h"

namespace muster::cli {

// For completions: the names below MUSTER_RUNS_DIR or `runs`, newest first, and
// `latest` where there are some. Errors are no names.
std::vector<std::string> RunNames(const sys::Host& host);

// The folder of a run. usage-invalid: none or several have the name, and what
// was probably meant.
Result<std::string> FindRun(const std::string& name,
                            const std::string& runs_dir, const sys::Fs& fs);

}  // namespace muster::cli
