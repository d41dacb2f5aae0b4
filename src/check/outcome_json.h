// SPDX-License-Identifier: Apache-2.0
// Outcomes as JSON: between a check's child and the runner, and in documents.
#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "check/runner.h"

namespace muster::check {

std::string Encode(const Outcome& outcome);
// internal-error: not what Encode made.
Result<Outcome> Decode(std::string_view text);

// {id, title, scope, outcome, detail, causes, seconds}; the findings stand
// beside it.
Json ToJson(const Answer& answer);
// {id, title, scope, needs, on_request, deadline_s}: what `--list` tells of a
// check.
Json ToJson(const Check& check);

}  // namespace muster::check
