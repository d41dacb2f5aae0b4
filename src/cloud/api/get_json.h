// SPDX-License-Identifier: Apache-2.0
// One question over HTTP whose answer is JSON: 200 is read, any other status
// is a named cause.
#pragma once

#include <optional>
#include <string>

#include "base/json_fwd.h"
#include "sys/host.h"

namespace muster::cloud {

// Asks and parses, with one repeat where the server is in trouble. nullopt:
// 404. `what` names the thing asked for in messages, `needs` the right that a
// 403 lacks. What cloud/refusal.h says; net-wrong-endpoint (5xx, a page), what
// sys::Http says.
struct ApiCall {
  sys::HttpRequest request;
  std::string what;
  std::string needs;
  std::string identity = {};  // who asks, where that is known
  // One of the world's services, which a proxy of the environment may be
  // needed for; never a metadata server nor an address of the cluster.
  bool is_public = false;
};
Result<std::optional<Json>> Ask(const ApiCall& call, const sys::Host& host);

}  // namespace muster::cloud
