// SPDX-License-Identifier: Apache-2.0
// Machine of tests; linked by them alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sys/machine.h"

namespace muster::sys {

// For tests: a healthy machine but for what a test changes.
class FakeMachine : public Machine {
 public:
  Space space{.bytes = 100ULL << 30,
              .free_bytes = 50ULL << 30,
              .files = 1'000'000,
              .free_files = 900'000};
  std::map<std::string, Space> spaces;                 // of single paths
  std::map<std::string, Cause> denied;                 // path -> why
  std::map<std::uint16_t, std::string> taken;          // port -> by whom
  std::map<std::string, std::vector<Holder>> holders;  // path -> who
  std::optional<ClockState> clock = ClockState{
      .synchronized = true, .max_error = std::chrono::milliseconds(5)};
  std::map<std::string, Cause> no_route;
  // "nvidia-smi --a --b" -> what it says; others are not there.
  std::map<std::string, std::string> programs;
  // The same -> how it ends: "status 2".
  std::map<std::string, std::string> failing;
  Result<std::string> kernel_log = std::string();

  Result<Space> SpaceOf(const std::string& path) const override;
  Status MayAccess(const std::string& path, Access access) const override;
  Status TryPort(const Address& address) const override;
  std::vector<Holder> HoldersOf(
      const std::vector<std::string>& paths) const override;
  std::optional<ClockState> AskClock() const override { return clock; }
  Result<std::string> RouteTo(const std::string& number) const override;
  Result<std::string> Ask(const std::vector<std::string>& argv,
                          Deadline deadline) const override;
  Result<std::string> KernelLog(std::size_t /*limit*/) const override {
    return kernel_log;
  }
};

}  // namespace muster::sys
