// SPDX-License-Identifier: Apache-2.0
// What the agents found on their hosts before an attempt. Pure; any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "finding/finding.h"
#include "wire/hello.h"

namespace muster::run {

// Errors first; what is equal on several hosts is one finding that names all of
// them. Notes are left out: they stop nothing.
std::vector<Finding> FoundOnHosts(std::span<const wire::Hello> hellos);

// "warning[os-limit] on w-1, w-2 and 6 more: a process may open 256 files".
std::string OneLine(const Finding& finding);

}  // namespace muster::run
