// SPDX-License-Identifier: Apache-2.0
#include "sys/fake/fake_names.h"

namespace muster::sys {

Result<std::vector<std::string>> FakeNames::Lookup(const std::string& host,
                                                   Deadline) const {
  const auto found = addresses.find(host);
  if (found == addresses.end() || found->second.empty()) {
    return Error(Cause::kNetNameResolution, "`" + host + "` does not resolve");
  }
  return found->second;
}

}  // namespace muster::sys
