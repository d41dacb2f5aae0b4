// SPDX-License-Identifier: Apache-2.0
// Makes checks: each within its deadline, what another needs before it, all
// answers in the order in which they were asked for.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check/check.h"
#include "muster/error.h"

namespace muster::check {

// A check and what came of it.
struct Answer {
  const Check* check = nullptr;
  Outcome outcome;
  Duration took{};
};

// The checks that the words name, a group ("network") or one ("network.ports"),
// and what those need; no words: all but those on request. usage-invalid names
// the word and what was probably meant.
Result<std::vector<const Check*>> Select(std::span<const Check* const> all,
                                         std::span<const std::string> words);

// How far a check is that is waited for.
struct Waiting {
  Duration since{};  // from its start
  std::string said;  // "3 of 28 links"; most say nothing
};

// Who watches. Both are called by the thread that runs the checks.
struct Observer {
  // In the order of the checks, each as soon as it and all before it are known.
  std::function<void(const Answer&)> answered;
  // Every tenth of a second while one is waited for.
  std::function<void(const Check&, const Waiting&)> waiting;
};

// A check that needs one which did not pass (or warn) is skipped and says so; a
// check that needs one that is not among `checks` is made all the same. One
// that does not answer within its deadline is broken. Main thread; children are
// gone when it returns.
std::vector<Answer> RunChecks(std::span<const Check* const> checks,
                              const Context& context, const Observer& observer);

}  // namespace muster::check
