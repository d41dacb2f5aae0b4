// SPDX-License-Identifier: Apache-2.0
// Env of tests; linked by them alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sys/env.h"

namespace muster::sys {

// For tests: exactly what it was given and nothing of the real machine.
class FakeEnv : public Env {
 public:
  std::map<std::string, std::string> variables;
  std::string hostname = "testhost";
  std::vector<std::string> addresses{"127.0.0.1", "::1"};
  int cores = 2;
  std::string directory = "/home/test";
  std::string machine_id;  // empty: as that of no other

  std::optional<std::string> Get(const std::string& name) const override;
  std::map<std::string, std::string> All() const override;
  std::string Hostname() const override { return hostname; }
  std::vector<std::string> LocalAddresses() const override { return addresses; }
  int Cores() const override { return cores; }
  std::vector<Core> CoreIds() const override;
  std::string WorkingDirectory() const override { return directory; }
  std::string MachineId() const override { return machine_id; }
};

}  // namespace muster::sys
