// SPDX-License-Identifier: Apache-2.0
// What the kernel tells of this machine by a call and not by a file: space,
// rights, ports, holders of devices, routes, the state of its clock, its log.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "muster/address.h"
#include "muster/deadline.h"
#include "muster/error.h"
#include "sys/process/open_files.h"

namespace muster::sys {

// Of the file system that holds a path.
struct Space {
  std::uint64_t bytes = 0;
  std::uint64_t free_bytes = 0;  // for us, without what is kept for root
  std::uint64_t files = 0;       // inodes; 0: it does not count them
  std::uint64_t free_files = 0;
  // Another host serves it, or a process of this one (FUSE).
  bool served = false;
};

enum class Access { kRead, kWrite };

// What the kernel knows of its own clock.
struct ClockState {
  bool synchronized = false;
  Duration max_error{};  // a bound, where it is synchronized
};

// Any thread. A dead network disk lets SpaceOf and MayAccess wait for ever: a
// caller that must not wait asks in a child (sys/child_work.h).
class Machine {
 public:
  virtual ~Machine() = default;
  // file-missing, file-permission.
  virtual Result<Space> SpaceOf(const std::string& path) const = 0;
  // file-missing, file-permission (EACCES, EROFS).
  virtual Status MayAccess(const std::string& path, Access access) const = 0;
  // That the port could be listened on now; net-port-in-use names its holder
  // where that is visible. Host "" stands for every interface.
  virtual Status TryPort(const Address& address) const = 0;
  // Processes, but for this one, that have one of the files open.
  virtual std::vector<Holder> HoldersOf(
      const std::vector<std::string>& paths) const = 0;
  // nullopt: the kernel does not tell (a sandbox).
  virtual std::optional<ClockState> AskClock() const = 0;
  // The own address with which packets to this number leave; nothing is sent.
  // net-timeout-filtered: there is no route.
  virtual Result<std::string> RouteTo(const std::string& number) const = 0;
  // What a small program prints, which changes nothing: 1 MiB at most, its
  // stderr goes nowhere. The errors of RunProgram; device-driver-state: it ends
  // with a bad status, which the message has with what it printed. Main thread.
  virtual Result<std::string> Ask(const std::vector<std::string>& argv,
                                  Deadline deadline) const = 0;
  // The errors and the form of sys::KernelLog.
  virtual Result<std::string> KernelLog(std::size_t limit) const = 0;
};

class RealMachine : public Machine {
 public:
  Result<Space> SpaceOf(const std::string& path) const override;
  Status MayAccess(const std::string& path, Access access) const override;
  Status TryPort(const Address& address) const override;
  std::vector<Holder> HoldersOf(
      const std::vector<std::string>& paths) const override;
  std::optional<ClockState> AskClock() const override;
  Result<std::string> RouteTo(const std::string& number) const override;
  Result<std::string> Ask(const std::vector<std::string>& argv,
                          Deadline deadline) const override;
  Result<std::string> KernelLog(std::size_t limit) const override;
};

}  // namespace muster::sys
