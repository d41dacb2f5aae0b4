// SPDX-License-Identifier: Apache-2.0
// Looks at this machine: what a log does not tell and the kernel does. Each
// reads a few small files, changes nothing, and is listed with what it saw.
#pragma once

#include <string>
#include <vector>

#include "muster/fact.h"
#include "sys/file/fs.h"
#include "sys/machine.h"

namespace muster::diagnose {

// Facts for the rules (oom.counter, look.shm_small, look.no_device, look.lock…)
// and one look.seen for each look: its text says what was read and what is
// there, or why nothing could be seen. Any thread; nothing that it reads lets
// it wait for another process.
std::vector<Fact> LookAround(const sys::Fs& fs, const sys::Machine& machine);

}  // namespace muster::diagnose
