// SPDX-License-Identifier: Apache-2.0
// One conformance vector: what is asked on a host that is described whole, and
// what the answer must be. The format is that of cases/resolve.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "sys/fake/fake_clock.h"
#include "sys/fake/fake_env.h"
#include "sys/fake/fake_fs.h"
#include "sys/fake/fake_http.h"
#include "sys/fake/fake_names.h"
#include "sys/host.h"

namespace muster::conformance {

// What the resolver may see. Neither the vector's name nor what is expected is
// among it.
struct Question {
  std::string resolver;
  std::unique_ptr<Json> args;

  // The fake host: nothing of the real machine.
  sys::FakeEnv env;
  sys::FakeClock clock;
  sys::FakeFs fs;
  sys::FakeHttp http;
  sys::FakeNames names;

  sys::Host Host() {
    return {
        .env = env, .clock = clock, .fs = fs, .http = &http, .names = &names};
  }
};

// A place where the answer differs from what is expected.
struct Difference {
  std::string key, expected, got;
};

std::unique_ptr<Question> MakeQuestion(const Json& vector);

// Asks the resolver. The answer is an object of outputs; internal-error when
// there is no such resolver, or the question cannot be put to it.
Result<Json> Answer(Question& question);

// Empty: the answer is right.
std::vector<Difference> Compare(const Json& vector, const Result<Json>& answer);

}  // namespace muster::conformance
