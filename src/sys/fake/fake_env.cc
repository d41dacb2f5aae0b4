// SPDX-License-Identifier: Apache-2.0
#include "sys/fake/fake_env.h"

namespace muster::sys {

std::optional<std::string> FakeEnv::Get(const std::string& name) const {
  auto found = variables.find(name);
  return found == variables.end() ? std::nullopt : std::optional(found->second);
}

std::map<std::string, std::string> FakeEnv::All() const {
  return variables;
}

std::vector<Core> FakeEnv::CoreIds() const {
  std::vector<Core> all;
  all.reserve(static_cast<std::size_t>(cores));
  for (int id = 0; id < cores; ++id) {
    all.push_back({.id = id});
  }
  return all;
}

}  // namespace muster::sys
