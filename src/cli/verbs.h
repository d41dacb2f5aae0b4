// SPDX-License-Identifier: Apache-2.0
// The descriptions of the sub-commands (verb.h), each beside the code that does
// it; and what they share.
#pragma once

#include <vector>

#include "check/context.h"
#include "cli/command_line.h"
#include "cli/line/verb.h"
#include "identify/target.h"
#include "muster/error.h"
#include "resolve/resolve.h"
#include "settings/settings.h"
#include "sys/host.h"

namespace muster::cli {

Verb DescribeRun();
Verb DescribeTorchrun();
Verb DescribeResolve();
std::vector<Verb> DescribeCheck();  // check, check program, check fit
Verb DescribeExplain();
Verb DescribeBundle();
std::vector<Verb> DescribeRuns();
Verb DescribeLogs();
std::vector<Verb> DescribeTpu();
Verb DescribeConfig();
Verb DescribeCompletion();
Verb DescribeShare();

// What describes the cluster, for every verb that needs one.
FlagGroup ClusterFlags();
// -n, --nproc-per-node: a number, gpu, cpu or auto.
Status TakeProcesses(CommandLine& line, const Flag& flag,
                     const std::string& text);
// How the workers of a TPU are reached.
std::vector<Flag> ReachFlags();
// usage-invalid: they are given without --tpu NAME.
Status CheckReach(const CommandLine& line);

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

}  // namespace muster::cli
