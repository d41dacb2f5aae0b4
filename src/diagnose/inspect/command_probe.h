// SPDX-License-Identifier: Apache-2.0
// Looks that ask the kernel's log or another program. What the scheduler or the
// orchestrator answers is read like a log. Each is bounded, changes nothing,
// and is listed with what it saw or why it saw nothing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "muster/error.h"
#include "muster/fact.h"
#include "sys/env.h"
#include "sys/file/fs.h"

namespace muster::diagnose {

// What a program said, and how it ended.
struct Said {
  std::string output;
  std::string trouble;  // "status 1"; empty: it ended well
};

// How the machine is asked; a test gives its own.
struct LookTools {
  std::function<Result<std::string>()> kernel_log;
  std::function<Result<Said>(const std::vector<std::string>& argv)> ask;
};

// Of this machine: each program has two seconds and 256 KiB.
LookTools RealLookTools();

struct LookedText {
  std::string name;  // "kernel log", "scontrol show job 12"
  std::string text;  // whole lines
};

struct LookedTexts {
  std::vector<LookedText> texts;
  // look.seen, one for each look; look.disk_full.
  std::vector<Fact> facts;
};

// The kernel's log of the last hour; the file systems of the working directory,
// /tmp and /dev/shm; the scheduler's record of the job that this is a step of;
// the pod that this runs in.
LookedTexts LookAtTexts(const LookTools& tools, const sys::Env& env,
                        const sys::Fs& fs);

}  // namespace muster::diagnose
