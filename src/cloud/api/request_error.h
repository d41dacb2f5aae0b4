// SPDX-License-Identifier: Apache-2.0
// A refusal of the Cloud TPU API as an Error that says who was refused what.
#pragma once

#include <string>
#include <string_view>

#include "cloud/api/api_error.h"
#include "cloud/api/sender.h"

namespace muster::cloud {

// One question to the API, in words.
struct Question {
  std::string what;        // "the TPUs of zone us-west4-a"
  std::string permission;  // that it needs: "tpu.nodes.list"
  std::string project, project_source;
  std::string zone;  // empty: none is concerned
  std::string type;  // accelerator type; empty: none is concerned
  std::string name;  // of the node or queued resource; empty: none
};

// Its fact `cloud.refused` has http, status, reason, decided_by, account,
// project, zone, passes where a repeat may succeed, and all that the service
// named, for cloud/advice.h.
Error ErrorOf(const Refusal& refusal, const Question& question,
              const std::string& account, const Sender& sender);

// The first of the error's evidence of that name; null: there is none.
const Fact* FactOf(const Error& error, std::string_view name);

// The service's limit on requests in a time, which passes by itself; no quota
// of TPUs.
bool IsRateLimit(const Error& error);

}  // namespace muster::cloud
