// SPDX-License-Identifier: Apache-2.0
// Names of tests; linked by them alone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sys/net/names.h"

namespace muster::sys {

class FakeNames : public Names {
 public:
  std::map<std::string, std::vector<std::string>> addresses;
  Result<std::vector<std::string>> Lookup(const std::string& host,
                                          Deadline deadline) const override;
};

}  // namespace muster::sys
