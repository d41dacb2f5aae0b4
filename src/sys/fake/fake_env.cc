// SPDX-License-Identifier: Apache-2.0
#include "sys/fake/fake_env.h"

#include <numeric>

namespace muster::sys {

std::optional<std::string> FakeEnv::Get(const std::string& name) const {
  auto found = variables.find(name);
  return found == variables.end() ? std::nullopt : std::optional(found->second);
}

std::map<std::string, std::string> FakeEnv::All() const {
  return variables;
}

std::vector<int> FakeEnv::CoreIds() const {
  std::vector<int> ids(static_cast<std::size_t>(cores));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

}  // namespace muster::sys
