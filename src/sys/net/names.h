// SPDX-License-Identifier: Apache-2.0
// Names of hosts to numbers as an interface, for code that is tested without a
// network.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "muster/deadline.h"
#include "muster/error.h"

namespace muster::sys {

class Names {
 public:
  virtual ~Names() = default;
  // Numeric addresses of the host, at least one. net-name-resolution.
  virtual Result<std::vector<std::string>> Lookup(const std::string& host,
                                                  Deadline deadline) const = 0;
};

class RealNames : public Names {
 public:
  Result<std::vector<std::string>> Lookup(const std::string& host,
                                          Deadline deadline) const override;
};

class FakeNames : public Names {
 public:
  std::map<std::string, std::vector<std::string>> addresses;
  Result<std::vector<std::string>> Lookup(const std::string& host,
                                          Deadline deadline) const override;
};

}  // namespace muster::sys
