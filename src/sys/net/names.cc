// SPDX-License-Identifier: Apache-2.0
#include "sys/net/names.h"

#include "sys/net/name_lookup.h"

namespace muster::sys {

Result<std::vector<std::string>> RealNames::Lookup(const std::string& host,
                                                   Deadline deadline) const {
  MUSTER_ASSIGN(const auto found, Resolve(Address{.host = host}, deadline));
  std::vector<std::string> numbers;
  for (const SocketAddress& one : found) {
    std::string text = one.Text();
    text.resize(text.rfind(':'));
    if (text.starts_with('[')) {
      text = text.substr(1, text.size() - 2);
    }
    numbers.push_back(std::move(text));
  }
  return numbers;
}

Result<std::vector<std::string>> FakeNames::Lookup(const std::string& host,
                                                   Deadline) const {
  const auto found = addresses.find(host);
  if (found == addresses.end() || found->second.empty()) {
    return Error(Cause::kNetNameResolution, "`" + host + "` does not resolve");
  }
  return found->second;
}

}  // namespace muster::sys
