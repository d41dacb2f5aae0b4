// SPDX-License-Identifier: Apache-2.0
#include "sys/fake/fake_machine.h"

#include "base/text.h"

namespace muster::sys {

Result<Space> FakeMachine::SpaceOf(const std::string& path) const {
  if (const auto why = denied.find(path); why != denied.end()) {
    return Error(why->second, "`" + path + "` fails as the test asked");
  }
  const auto found = spaces.find(path);
  return found == spaces.end() ? space : found->second;
}

Status FakeMachine::MayAccess(const std::string& path, Access) const {
  if (const auto why = denied.find(path); why != denied.end()) {
    return Error(why->second, "`" + path + "` fails as the test asked");
  }
  return Ok();
}

Status FakeMachine::TryPort(const Address& address) const {
  const auto found = taken.find(address.port);
  if (found == taken.end()) {
    return Ok();
  }
  return Error(Cause::kNetPortInUse, "port " + std::to_string(address.port) +
                                         " is in use by " + found->second);
}

std::vector<Holder> FakeMachine::HoldersOf(
    const std::vector<std::string>& paths) const {
  std::vector<Holder> all;
  for (const std::string& path : paths) {
    const auto found = holders.find(path);
    if (found != holders.end()) {
      all.insert(all.end(), found->second.begin(), found->second.end());
    }
  }
  return all;
}

Result<std::string> FakeMachine::Ask(const std::vector<std::string>& argv,
                                     Deadline /*deadline*/) const {
  const auto ended = failing.find(Join(argv, " "));
  if (ended != failing.end()) {
    return Error(Cause::kDeviceDriverState,
                 "`" + argv.front() + "` ended with " + ended->second);
  }
  const auto found = programs.find(Join(argv, " "));
  if (found == programs.end()) {
    return Error(Cause::kProgramNotFound,
                 "`" + argv.front() + "` is not installed");
  }
  return found->second;
}

Result<std::string> FakeMachine::RouteTo(const std::string& number) const {
  if (const auto why = no_route.find(number); why != no_route.end()) {
    return Error(why->second, "this host has no route to `" + number + "`");
  }
  return std::string("10.0.0.1");
}

}  // namespace muster::sys
