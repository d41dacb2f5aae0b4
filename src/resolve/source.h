// SPDX-License-Identifier: Apache-2.0
// What a source of clusters is. Adding one: a file NAME.cc in sources/ that
// defines muster::resolve::NAME::kSource; the build finds it by its name.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "resolve/resolve.h"

namespace muster::resolve {

// Whether a source speaks here.
struct Match {
  bool speaks = false;
  std::string why;                  // it does not: "TF_CONFIG is not set"
  std::optional<Cause> suspicious;  // the reason is worth a warning
  bool asks_network = false;        // it speaks, by asking
};
inline Match Speaks() {
  return {.speaks = true};
}
inline Match Silent(std::string why) {
  return {.why = std::move(why)};
}
inline Match Suspicious(Cause cause, std::string why) {
  return {.why = std::move(why), .suspicious = cause};
}

// Who a source speaks for. A contradiction between two that were made for this
// very process is an error; one with the surroundings is a warning.
enum class Scope { kProcess, kSurroundings };

struct Source {
  std::string_view name;
  int precedence;  // the lowest that speaks wins
  Scope scope = Scope::kSurroundings;
  // Asks the network, so it is asked only when nobody before it spoke.
  bool network = false;
  // Speaks only when the request names what it needs.
  bool on_request = false;
  // Each of its members is one process, which may be an agent of several ranks
  // (-n N in each task).
  bool starts_agents = false;
  // Its variables outlive the shell that set them: a part of them
  // (launch-env-missing) is a finding where another source tells the cluster.
  bool may_be_left_over = false;
  std::string_view doc;    // one line for the reference page
  std::string_view reads;  // variables, files and URLs, comma separated
  std::string_view ports;  // defaults: "jax 8482"; empty: none
  // No errors: what is there and malformed speaks, and Read says what is wrong
  // with it.
  Match (*match)(const Request& request, const sys::Host& host);
  // What it claims, checked in itself: sizes, ranks and addresses fit.
  Result<Claim> (*read)(const Request& request, const sys::Host& host);
  // What muster concludes where the framework leaves it open: who this process
  // is. Null where read finds all of it.
  Status (*conclude)(const Request& request, const sys::Host& host,
                     Claim& claim) = nullptr;
};

// All of sources/, by precedence.
std::span<const Source* const> AllSources();

// A fact that this host observed in its own environment.
Fact Observed(std::string name, std::map<std::string, FactValue> fields,
              const sys::Host& host);

}  // namespace muster::resolve
