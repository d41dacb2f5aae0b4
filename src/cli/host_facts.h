// SPDX-License-Identifier: Apache-2.0
// `muster explain --inspect-host`: what the checks of this host say of a
// failure that has happened, as facts for the rules of causes/.
#pragma once

#include <span>
#include <vector>

#include "check/runner.h"
#include "diagnose/match/matcher.h"
#include "muster/fact.h"
#include "sys/host.h"

namespace muster::cli {

// Of each answer host.seen for each thing that it shows; of findings that a
// rule builds upon the fact of that rule (host.shm_small, oom.counter, …); of
// recorded texts what the matcher finds in them. All behind what logs say.
std::vector<Fact> FactsOf(std::span<const check::Answer> answers,
                          const diagnose::Matcher& matcher);

// Makes those checks, which change nothing. Main thread.
std::vector<Fact> InspectHost(const diagnose::Matcher& matcher,
                              const sys::Host& host);

}  // namespace muster::cli
