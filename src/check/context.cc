// SPDX-License-Identifier: Apache-2.0
#include "check/context.h"

#include <algorithm>

#include "accelerator/device_files.h"
#include "base/text.h"

namespace muster::check {
namespace {

template <typename Wanted>
int CountPci(const sys::Fs& fs, Wanted wanted) {
  const auto devices = accelerator::PciDevices(fs).value_or(
      std::vector<accelerator::PciDevice>());
  return static_cast<int>(
      std::count_if(devices.begin(), devices.end(), wanted));
}

std::optional<std::int64_t> LimitNumber(const std::string& word) {
  return word == "unlimited" ? std::nullopt : ParseInt(word);
}

}  // namespace

const Member* Self(const Context& context) {
  if (context.cluster == nullptr || !context.cluster->self) {
    return nullptr;
  }
  const auto rank = static_cast<std::size_t>(context.cluster->self->value);
  const auto& members = context.cluster->members;
  return rank < members.size() ? &members[rank] : nullptr;
}

int RanksHere(const Context& context) {
  if (context.cluster == nullptr) {
    return 1;
  }
  if (context.cluster->one_host) {
    return std::max(1, static_cast<int>(context.cluster->members.size()));
  }
  const auto local =
      ParseInt(context.host.env.Get("LOCAL_WORLD_SIZE").value_or(""));
  if (local && *local > 0 && *local < 100'000) {
    return static_cast<int>(*local);
  }
  const Member* self = Self(context);
  if (self == nullptr || !self->address) {
    return 1;
  }
  const auto& members = context.cluster->members;
  return static_cast<int>(
      std::count_if(members.begin(), members.end(), [&](const Member& one) {
        return one.address &&
               one.address->value.host == self->address->value.host;
      }));
}

bool Coordinates(const Context& context) {
  const Member* self = Self(context);
  return self != nullptr && self->rank == 0 && SeveralHosts(*context.cluster);
}

std::vector<std::string> HostsOf(const Cluster& cluster) {
  std::vector<std::string> hosts;
  const auto add = [&](const std::optional<Sourced<Address>>& address) {
    if (address && !address->value.host.empty() &&
        std::find(hosts.begin(), hosts.end(), address->value.host) ==
            hosts.end()) {
      hosts.push_back(address->value.host);
    }
  };
  for (const Member& member : cluster.members) {
    add(member.address);
  }
  add(cluster.coordinator);
  return hosts;
}

bool SeveralHosts(const Cluster& cluster) {
  if (cluster.one_host || cluster.size.value <= 1) {
    return false;
  }
  const auto hosts = HostsOf(cluster);
  // Without addresses the members may be anywhere.
  return hosts.empty() || hosts.size() > 1;
}

int TpusOnBus(const sys::Fs& fs) {
  return CountPci(fs, [](const accelerator::PciDevice& device) {
    return accelerator::TpuByPci(device) != nullptr;
  });
}

int GpusOnBus(const sys::Fs& fs) {
  return CountPci(fs, accelerator::IsNvidiaGpu);
}

std::vector<std::string> TpuDevices(const sys::Fs& fs) {
  std::vector<std::string> paths =
      accelerator::NumberedFiles(fs, "/dev", "accel");
  if (paths.empty()) {
    paths = accelerator::NumberedFiles(fs, "/dev/vfio", "");
    // The bus is looked at last: it may have hundreds of devices.
    if (!paths.empty() && TpusOnBus(fs) == 0) {
      paths.clear();
    }
  }
  return paths;
}

std::vector<std::string> GpuDevices(const sys::Fs& fs) {
  return accelerator::NumberedFiles(fs, "/dev", "nvidia");
}

std::optional<std::int64_t> NumberIn(const sys::Fs& fs,
                                     const std::string& path) {
  return ParseInt(Trim(fs.Read(path).value_or("")));
}

std::optional<std::int64_t> Field(std::string_view text,
                                  std::string_view name) {
  for (const std::string& line : Split(text, '\n')) {
    if (!line.starts_with(name) || line.size() <= name.size() ||
        line[name.size()] != ':') {
      continue;
    }
    const auto rest = Trim(std::string_view(line).substr(name.size() + 1));
    return ParseInt(rest.substr(0, rest.find_first_of(" \t")));
  }
  return std::nullopt;
}

std::optional<Limit> ReadLimit(const sys::Fs& fs, std::string_view name) {
  const auto text = fs.Read("/proc/self/limits");
  if (!text) {
    return std::nullopt;
  }
  for (const std::string& line : Split(*text, '\n')) {
    if (!line.starts_with(name)) {
      continue;
    }
    std::vector<std::string> words =
        Split(std::string_view(line).substr(name.size()), ' ');
    std::erase(words, "");
    if (words.size() >= 2) {
      return Limit{LimitNumber(words[0]), LimitNumber(words[1])};
    }
  }
  return std::nullopt;
}

std::string NearestExisting(const sys::Host& host, const std::string& path) {
  std::string at = path.starts_with('/')
                       ? path
                       : sys::JoinPath(host.env.WorkingDirectory(), path);
  while (at.size() > 1 && !host.fs.Exists(at)) {
    const auto slash = at.rfind('/');
    at.resize(slash == 0 || slash == std::string::npos ? 1 : slash);
  }
  return at;
}

bool IsRemote(std::string_view path) {
  return path.find("://") != std::string_view::npos;
}

}  // namespace muster::check
