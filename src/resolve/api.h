// SPDX-License-Identifier: Apache-2.0
// JSON over HTTP: an answer of 200 is read, any other is a named cause.
#pragma once

#include <optional>
#include <string>

#include "base/json_fwd.h"
#include "resolve/resolve.h"

namespace muster::resolve {

// Asks and parses. nullopt: 404. `what` names the thing asked for in messages,
// `needs` the right that a 403 lacks. cloud-auth-missing (401),
// cloud-permission-denied (403), cloud-api-disabled, cloud-quota-exceeded
// (429), net-proxy (407), net-wrong-endpoint (5xx, a page), what sys::Http
// says.
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

// A text field; empty when it is absent or of another type.
std::string TextOf(const Json& json, const char* key);
// A whole number, also when it is written as text.
std::optional<int> NumberOf(const Json& json, const char* key);
// json[a][b]…, an empty object when a step is missing.
const Json& At(const Json& json, std::initializer_list<const char*> keys);

}  // namespace muster::resolve
