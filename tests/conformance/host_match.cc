// SPDX-License-Identifier: Apache-2.0
#include "host_match.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "resolve/self.h"

namespace muster::conformance {

bool MatchesThisHost(const std::string& name, const sys::Host& host) {
  if (resolve::IsThisHost({.host = name}, host.env)) {
    return true;
  }
  std::vector<std::string> theirs{name};
  std::vector<std::string> ours = host.env.LocalAddresses();
  if (host.names != nullptr) {
    const auto deadline = Deadline::After(std::chrono::seconds(1));
    for (const auto& [text, list] :
         {std::pair(name, &theirs), std::pair(host.env.Hostname(), &ours)}) {
      const auto found = host.names->Lookup(text, deadline);
      if (found) {
        list->insert(list->end(), found->begin(), found->end());
      }
    }
  }
  return std::any_of(theirs.begin(), theirs.end(), [&](const auto& one) {
    return std::any_of(ours.begin(), ours.end(), [&](const auto& other) {
      const Address their{.host = one};
      return their.HasIpOf({.host = other}) && !their.IsLoopback();
    });
  });
}

}  // namespace muster::conformance
