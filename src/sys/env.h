// SPDX-License-Identifier: Apache-2.0
// The environment of this process and the names of this host.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sys/cpu_topology.h"

namespace muster::sys {

// Read-only and fixed for the life of the process; any thread.
class Env {
 public:
  virtual ~Env() = default;
  virtual std::optional<std::string> Get(const std::string& name) const = 0;
  virtual std::map<std::string, std::string> All() const = 0;
  virtual std::string Hostname() const = 0;
  // Addresses of this host's interfaces, numeric, loopback included.
  virtual std::vector<std::string> LocalAddresses() const = 0;
  // Cores that this process may use (affinity and cgroup quota), at least 1.
  virtual int Cores() const = 0;
  // The cores of its affinity, neighbors side by side. More than Cores() where
  // a quota limits the time but not the place: then nothing should be bound to
  // a core.
  virtual std::vector<Core> CoreIds() const = 0;
  virtual std::string WorkingDirectory() const = 0;
  // Equal for processes that share a kernel and a network namespace: machine
  // and boot id, and the namespace. Empty: not known.
  virtual std::string MachineId() const = 0;
};

// A variable that is set and not empty: an empty one counts as not set
// everywhere.
struct Variable {
  std::string name, value;
};
bool IsSet(const Env& env, const std::string& name);
// The first of them that holds more than white space, without that around it.
std::optional<Variable> FirstSet(const Env& env,
                                 const std::vector<std::string>& names);

class RealEnv : public Env {
 public:
  std::optional<std::string> Get(const std::string& name) const override;
  std::map<std::string, std::string> All() const override;
  std::string Hostname() const override;
  std::vector<std::string> LocalAddresses() const override;
  int Cores() const override;
  std::vector<Core> CoreIds() const override;
  std::string WorkingDirectory() const override;
  std::string MachineId() const override;
};

}  // namespace muster::sys
