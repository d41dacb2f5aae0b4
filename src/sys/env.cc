// SPDX-License-Identifier: Apache-2.0
#include "sys/env.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cmath>
#include <numeric>

#include "base/text.h"
#include "sys/cgroup/cgroup.h"
#include "sys/file/fs.h"

namespace muster::sys {
namespace {

std::string AddressText(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* number = nullptr;
  if (address->sa_family == AF_INET) {
    number = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  } else if (address->sa_family == AF_INET6) {
    number = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  }
  if (number == nullptr || inet_ntop(address->sa_family, number, text.data(),
                                     text.size()) == nullptr) {
    return "";
  }
  return text.data();
}

}  // namespace

bool IsSet(const Env& env, const std::string& name) {
  return !env.Get(name).value_or("").empty();
}

std::optional<Variable> FirstSet(const Env& env,
                                 const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    std::string value(Trim(env.Get(name).value_or("")));
    if (!value.empty()) {
      return Variable{.name = name, .value = std::move(value)};
    }
  }
  return std::nullopt;
}

std::map<std::string, std::string> RealEnv::All() const {
  std::map<std::string, std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    // The first of two with one name counts, as for getenv(3).
    if (equals != text.npos && equals > 0) {
      all.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return all;
}

std::optional<std::string> RealEnv::Get(const std::string& name) const {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.size() > name.size() && text[name.size()] == '=' &&
        text.starts_with(name)) {
      return std::string(text.substr(name.size() + 1));
    }
  }
  return std::nullopt;
}

std::string RealEnv::Hostname() const {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data()
                                                        : "localhost";
}

std::vector<std::string> RealEnv::LocalAddresses() const {
  std::vector<std::string> addresses;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) {
    return addresses;  // sandboxes without netlink: nothing is known
  }
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    auto text = one->ifa_addr == nullptr ? "" : AddressText(one->ifa_addr);
    if (!text.empty()) {
      addresses.push_back(std::move(text));
    }
  }
  freeifaddrs(all);
  return addresses;
}

std::vector<Core> RealEnv::CoreIds() const {
  // The kernel refuses a set that is too small for all cores it may have.
  for (std::size_t size = CPU_SETSIZE; size <= 1U << 16; size *= 4) {
    cpu_set_t* set = CPU_ALLOC(size);
    const std::size_t bytes = CPU_ALLOC_SIZE(size);
    const bool known = sched_getaffinity(0, bytes, set) == 0;
    const int why = errno;
    std::vector<int> ids;
    for (std::size_t id = 0; known && id < size; ++id) {
      if (CPU_ISSET_S(id, bytes, set)) {
        ids.push_back(static_cast<int>(id));
      }
    }
    CPU_FREE(set);
    if (known && !ids.empty()) {
      return InTopologyOrder(RealFs(), ids);
    }
    if (why != EINVAL) {
      break;
    }
  }
  return {Core()};
}

int RealEnv::Cores() const {
  const double allowed = static_cast<double>(CoreIds().size());
  const double quota = CpuQuota(RealFs(), 0).value_or(allowed);
  return std::max(1, static_cast<int>(std::floor(std::min(allowed, quota))));
}

std::string RealEnv::WorkingDirectory() const {
  std::array<char, PATH_MAX> path{};
  return getcwd(path.data(), path.size()) != nullptr ? path.data() : "";
}

std::string RealEnv::MachineId() const {
  const RealFs fs;
  const auto boot = fs.Read("/proc/sys/kernel/random/boot_id", 4096);
  struct stat network {};
  if (!boot || stat("/proc/self/ns/net", &network) != 0) {
    return "";
  }
  const auto machine = fs.Read("/etc/machine-id", 4096);
  return Digest((machine ? *machine : std::string()) + *boot +
                std::to_string(network.st_ino));
}

}  // namespace muster::sys
