// SPDX-License-Identifier: Apache-2.0
#include "sys/process/open_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "sys/file/fs.h"
#include "sys/process/process_tree.h"

namespace muster::sys {
namespace {

// False for what has the same path elsewhere: another mount namespace has chips
// of its own. Where one cannot be looked at, the path has to do.
bool MayBeTheSame(const std::string& descriptor, const std::string& path) {
  struct stat held {};
  struct stat ours {};
  if (stat(descriptor.c_str(), &held) != 0 || stat(path.c_str(), &ours) != 0) {
    return true;
  }
  return S_ISCHR(ours.st_mode)
             ? S_ISCHR(held.st_mode) && held.st_rdev == ours.st_rdev
             : held.st_dev == ours.st_dev && held.st_ino == ours.st_ino;
}

bool HasDescriptor(const Fs& fs, const std::string& process,
                   const std::vector<std::string>& targets) {
  const std::string directory = process + "/fd";
  for (const auto& name :
       fs.List(directory).value_or(std::vector<std::string>())) {
    const std::string descriptor = JoinPath(directory, name);
    std::array<char, 256> target{};
    const auto length =
        readlink(descriptor.c_str(), target.data(), target.size() - 1);
    const auto found = std::find(targets.begin(), targets.end(), target.data());
    if (length > 0 && found != targets.end() &&
        (!found->starts_with('/') || MayBeTheSame(descriptor, *found))) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string ToText(const Holder& holder) {
  return "process " + std::to_string(holder.pid) + " (" +
         Printable(holder.command) + ")";
}

std::string ToText(const std::vector<Holder>& holders) {
  std::vector<std::string> texts;
  texts.reserve(holders.size());
  for (const Holder& one : holders) {
    texts.push_back(ToText(one));
  }
  return Join(texts, ", ");
}

std::vector<Holder> FindHolders(const std::vector<std::string>& targets,
                                std::size_t most) {
  const RealFs fs;
  std::vector<Holder> holders;
  for (const auto& name :
       fs.List("/proc").value_or(std::vector<std::string>())) {
    if (holders.size() >= most) {
      break;
    }
    const std::string process = "/proc/" + name;
    const auto pid = ParseInt(name);
    if (pid && HasDescriptor(fs, process, targets)) {
      const auto command = fs.Read(process + "/comm").value_or("");
      holders.push_back({static_cast<int>(*pid), std::string(Trim(command))});
    }
  }
  return holders;
}

bool TreeHolds(int root, const std::vector<std::string>& targets) {
  const RealFs fs;
  const auto below = Descendants(root);
  return std::any_of(below.begin(), below.end(), [&](const Descendant& one) {
    return HasDescriptor(fs, "/proc/" + std::to_string(one.id.pid), targets);
  });
}

}  // namespace muster::sys
