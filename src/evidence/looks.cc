// SPDX-License-Identifier: Apache-2.0
#include "evidence/looks.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

#include "base/text.h"
#include "sys/accelerators.h"
#include "sys/process.h"

namespace muster::evidence {
namespace {

constexpr std::size_t kMostBytes = 1U << 20;  // of one file
constexpr std::size_t kMostProcesses = 512;
constexpr std::size_t kMostPorts = 20;
constexpr std::int64_t kSmallShmKiB = 65'536;  // what containers get unasked

Fact FactOf(std::string name, const std::string& from, std::string text) {
  Fact fact;
  fact.name = std::move(name);
  fact.by = from;
  fact.fields["text"] = std::move(text);
  fact.fields["source"] = from;
  return fact;
}

using Facts = std::vector<Fact>;

void Seen(Facts& facts, const std::string& from, const std::string& text) {
  facts.push_back(FactOf("look.seen", from, text));
}

// Killed processes count in the group that had the limit and in its parents.
void MemoryOfGroups(const sys::Fs& fs, Facts& facts) {
  const auto kills = sys::OomKillsOfGroup(fs, 0);
  if (!kills) {
    Seen(facts, "memory cgroup", "no counter can be read here");
    return;
  }
  const auto count = static_cast<std::int64_t>(kills->count);
  Seen(facts, kills->path, "oom_kill " + std::to_string(count));
  if (count > 0) {
    Fact fact = FactOf("oom.counter", kills->path,
                       "the kernel killed for memory " + Count(count, "time") +
                           " in this group");
    fact.fields["kills"] = count;
    facts.push_back(std::move(fact));
  }
}

// "tmpfs /dev/shm tmpfs rw,size=65536k 0 0".
void SharedMemory(const sys::Fs& fs, Facts& facts) {
  const auto mounts = fs.Read("/proc/self/mounts", kMostBytes);
  for (const std::string& line : Split(mounts ? *mounts : "", '\n')) {
    const auto words = Split(line, ' ');
    const auto size = line.find("size=");
    if (words.size() < 4 || words[1] != "/dev/shm" || size == line.npos) {
      continue;
    }
    const std::string number = line.substr(
        size + 5, line.find_first_not_of("0123456789", size + 5) - size - 5);
    const auto kib = ParseInt(number).value_or(0);
    Seen(facts, "/proc/self/mounts",
         "/dev/shm has " + std::to_string(kib >> 10) + " MiB");
    if (kib > 0 && kib <= kSmallShmKiB) {
      facts.push_back(
          FactOf("look.shm_small", "/proc/self/mounts",
                 "/dev/shm has only " + std::to_string(kib >> 10) + " MiB"));
    }
    return;
  }
  Seen(facts, "/proc/self/mounts", "/dev/shm has no limit of its own");
}

// Columns as words.
std::string OneSpace(std::string_view text) {
  std::vector<std::string> words = Split(text, ' ');
  std::erase(words, "");
  return Join(words, " ");
}

void Limits(const sys::Fs& fs, Facts& facts) {
  const auto limits = fs.Read("/proc/self/limits", kMostBytes);
  for (const std::string& line : Split(limits ? *limits : "", '\n')) {
    if (line.starts_with("Max open files") ||
        line.starts_with("Max locked memory") ||
        line.starts_with("Max processes")) {
      Seen(facts, "/proc/self/limits", OneSpace(line));
    }
  }
}

void Devices(const sys::Fs& fs, Facts& facts) {
  std::vector<std::string> found;
  const std::pair<const char*, const char*> places[] = {
      {"/dev", "nvidia"}, {"/dev", "accel"}, {"/dev/vfio", ""}};
  for (const auto& [folder, prefix] : places) {
    const auto files = sys::NumberedFiles(fs, folder, prefix);
    found.insert(found.end(), files.begin(), files.end());
  }
  if (fs.Exists("/dev/kfd")) {
    found.emplace_back("/dev/kfd");
  }
  Seen(facts, "/dev",
       found.empty() ? "no accelerator" : "accelerators: " + Join(found, ", "));
  if (found.empty()) {
    facts.push_back(FactOf("look.no_device", "/dev",
                           "there is no /dev/nvidia*, /dev/accel* or "
                           "/dev/vfio/N here"));
  }
}

// Processes that have a device mapped; those of other users stay hidden.
void Holders(const sys::Fs& fs, Facts& facts) {
  std::vector<std::string> holders;
  std::size_t looked = 0;
  const auto names = fs.List("/proc");
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    if (!ParseInt(name) || ++looked > kMostProcesses) {
      continue;
    }
    const auto maps = fs.Read("/proc/" + name + "/maps", kMostBytes);
    if (maps && (maps->find(" /dev/nvidia") != std::string::npos ||
                 maps->find(" /dev/accel") != std::string::npos ||
                 maps->find("libtpu.so") != std::string::npos)) {
      holders.push_back(name);
    }
  }
  Seen(facts, "/proc",
       holders.empty() ? "no process that we may see has a device mapped"
                       : "a device is mapped by " + Join(holders, ", "));
  if (!holders.empty()) {
    facts.push_back(
        FactOf("look.holder", "/proc",
               "a device is mapped by process " + Join(holders, ", ")));
  }
  if (fs.Exists(sys::kTpuLock)) {
    Seen(facts, sys::kTpuLock, "the lock of libtpu is there");
    facts.push_back(
        FactOf(holders.empty() ? "look.lock_without_holder" : "look.lock",
               sys::kTpuLock, "the lock of libtpu is there"));
  }
}

// "  0: 0100007F:2103 00000000:0000 0A": a socket that listens.
void Ports(const sys::Fs& fs, Facts& facts) {
  std::set<std::int64_t> ports;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    const auto text = fs.Read(table, kMostBytes);
    for (const std::string& line : Split(text ? *text : "", '\n')) {
      const auto words = Split(OneSpace(line), ' ');
      if (words.size() > 3 && words[3] == "0A") {
        ports.insert(std::strtol(
            words[1].substr(words[1].rfind(':') + 1).c_str(), nullptr, 16));
      }
    }
  }
  std::vector<std::string> some;
  for (const std::int64_t port : ports) {
    if (some.size() < kMostPorts) {
      some.push_back(std::to_string(port));
    }
  }
  Seen(facts, "/proc/net/tcp",
       ports.empty() ? "nothing listens"
                     : Count(static_cast<std::int64_t>(ports.size()), "port") +
                           " listened on: " + Join(some, ", "));
}

}  // namespace

std::vector<Fact> LookAround(const sys::Fs& fs) {
  Facts facts;
  MemoryOfGroups(fs, facts);
  SharedMemory(fs, facts);
  Limits(fs, facts);
  Devices(fs, facts);
  Holders(fs, facts);
  Ports(fs, facts);
  return facts;
}

}  // namespace muster::evidence
