// SPDX-License-Identifier: Apache-2.0
// The sub-commands that answer and end; `muster run` is in cli/run.h. Each
// prints its result and returns; an Error is for main to print. Main thread.
#pragma once

#include "check/context.h"
#include "cli/command_line.h"
#include "identify/target.h"
#include "muster/error.h"
#include "resolve/resolve.h"
#include "settings/settings.h"
#include "sys/host.h"

namespace muster::cli {

Status ResolveVerb(const CommandLine& line, const settings::Settings& settings,
                   const sys::Host& host);
// 0: good; 1: a finding that fails; 3: something could not be found out.
Result<int> CheckVerb(const CommandLine& line,
                      const settings::Settings& settings,
                      const sys::Host& host);
// The TPU that the targets, or else the cluster, are; `resolved` may be null.
check::TpuSetup TpuOf(const CommandLine& line,
                      const std::vector<identify::Target>& targets,
                      const resolve::Resolved* resolved, const sys::Fs& fs);
// 0: it compiles and fits; 1: it does not; 3: the compiler could not be asked.
Result<int> CheckProgramVerb(const CommandLine& line,
                             const settings::Settings& settings,
                             const sys::Host& host);
// 0: it fits, by estimate; 1: it does not; 3: there is no accelerator here.
Result<int> CheckFitVerb(const CommandLine& line,
                         const settings::Settings& settings,
                         const sys::Host& host);
// 0: an answer was printed; 3: nothing could be read.
Result<int> ExplainVerb(const CommandLine& line,
                        const settings::Settings& settings,
                        const sys::Host& host);

// What cli/tpu.h says.
Result<int> TpuVerb(const CommandLine& line, const settings::Settings& settings,
                    const sys::Host& host);

// 0: it was written; 2: there is nothing to pack.
Result<int> BundleVerb(const CommandLine& line,
                       const settings::Settings& settings,
                       const sys::Host& host);

}  // namespace muster::cli
