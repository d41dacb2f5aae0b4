// SPDX-License-Identifier: Apache-2.0
#include "diagnose/inspect/host_probe.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

#include "accelerator/device_files.h"
#include "base/text.h"
#include "sys/process/process.h"

namespace muster::diagnose {
namespace {

constexpr std::size_t kMaxFileBytes = 1U << 20;  // of one file
// Of the table of sockets: some 100,000 of them.
constexpr std::size_t kMaxSockets = 16U << 20;
constexpr std::size_t kMaxPorts = 20;
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

std::string NotRead(const Error& error) {
  return "could not be read: " + error.message();
}

// "tmpfs /dev/shm tmpfs rw,size=65536k 0 0".
void SharedMemory(const sys::Fs& fs, Facts& facts) {
  constexpr char kMounts[] = "/proc/self/mounts";
  const auto mounts = fs.Read(kMounts, kMaxFileBytes);
  if (!mounts) {
    Seen(facts, kMounts, NotRead(mounts.error()));
    return;
  }
  for (const std::string& line : Split(*mounts, '\n')) {
    const auto words = Split(line, ' ');
    const auto size = line.find("size=");
    if (words.size() < 4 || words[1] != "/dev/shm" || size == line.npos) {
      continue;
    }
    const std::string number = line.substr(
        size + 5, line.find_first_not_of("0123456789", size + 5) - size - 5);
    const auto kib = ParseInt(number).value_or(0);
    Seen(facts, kMounts, "/dev/shm has " + std::to_string(kib >> 10) + " MiB");
    if (kib > 0 && kib <= kSmallShmKiB) {
      facts.push_back(
          FactOf("look.shm_small", kMounts,
                 "/dev/shm has only " + std::to_string(kib >> 10) + " MiB"));
    }
    return;
  }
  Seen(facts, kMounts, "/dev/shm has no limit of its own");
}

// Columns as words.
std::string OneSpace(std::string_view text) {
  std::vector<std::string> words = Split(text, ' ');
  std::erase(words, "");
  return Join(words, " ");
}

void Limits(const sys::Fs& fs, Facts& facts) {
  constexpr char kLimits[] = "/proc/self/limits";
  const auto limits = fs.Read(kLimits, kMaxFileBytes);
  if (!limits) {
    Seen(facts, kLimits, NotRead(limits.error()));
    return;
  }
  for (const std::string& line : Split(*limits, '\n')) {
    if (line.starts_with("Max open files") ||
        line.starts_with("Max locked memory") ||
        line.starts_with("Max processes")) {
      Seen(facts, kLimits, OneSpace(line));
    }
  }
}

std::vector<std::string> DeviceFiles(const sys::Fs& fs) {
  std::vector<std::string> found;
  const std::pair<const char*, const char*> places[] = {
      {"/dev", "nvidia"}, {"/dev", "accel"}, {"/dev/vfio", ""}};
  for (const auto& [folder, prefix] : places) {
    const auto files = accelerator::NumberedFiles(fs, folder, prefix);
    found.insert(found.end(), files.begin(), files.end());
  }
  if (fs.Exists("/dev/kfd")) {
    found.emplace_back("/dev/kfd");
  }
  return found;
}

void Devices(const sys::Fs& fs, Facts& facts) {
  const std::vector<std::string> found = DeviceFiles(fs);
  const auto listed = fs.List("/dev");
  if (found.empty() && !listed) {
    Seen(facts, "/dev", NotRead(listed.error()));
    return;
  }
  Seen(facts, "/dev",
       found.empty() ? "no accelerator" : "accelerators: " + Join(found, ", "));
  if (found.empty()) {
    facts.push_back(FactOf("look.no_device", "/dev",
                           "there is no /dev/nvidia*, /dev/accel* or "
                           "/dev/vfio/N here"));
  }
}

// Which processes keep from us what they have open. Each is found below /proc,
// unless it is hidden from there together with the first one (hidepid=2) or of
// another container.
struct Unseen {
  bool hidden = false;
  bool elsewhere = false;   // and may use our /tmp
  std::int64_t closed = 0;  // of the others

  bool Any() const { return hidden || elsewhere || closed > 0; }
};

// A container has no thread of the kernel among its processes; what is mounted
// on its /tmp may be mounted in others as well.
bool MayShareTmp(const sys::Fs& fs) {
  if (fs.Read("/proc/2/comm", kMaxFileBytes).value_or("") == "kthreadd\n") {
    return false;
  }
  const auto mounts = fs.Read("/proc/self/mounts", kMaxFileBytes);
  return mounts && mounts->find(" /tmp ") != std::string::npos;
}

Unseen UnseenProcesses(const sys::Fs& fs) {
  const auto names = fs.List("/proc");
  Unseen unseen{.hidden = !names || !std::binary_search(names->begin(),
                                                        names->end(), "1"),
                .elsewhere = MayShareTmp(fs),
                .closed = 0};
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    if (!IsDigits(name)) {
      continue;
    }
    const auto open = fs.List("/proc/" + name + "/fd");
    // One that is gone by now holds nothing.
    if (!open && open.error().cause() != Cause::kFileMissing) {
      ++unseen.closed;
    }
  }
  return unseen;
}

std::string UnseenText(const Unseen& unseen) {
  return unseen.hidden ? "processes of others are hidden from us"
         : unseen.closed > 0
             ? "what is open in " + std::to_string(unseen.closed) +
                   " of the processes is not shown to us"
             : "other containers may use this /tmp, and are not seen from here";
}

// That nobody holds the lock is said only where every process was looked at:
// the advice that follows from it is to remove the file.
void TpuLock(const sys::Fs& fs, const std::string& held, const Unseen& unseen,
             Facts& facts) {
  if (!fs.Exists(accelerator::kTpuLock)) {
    return;
  }
  const std::string told =
      "the lock of libtpu is there; " +
      (!held.empty() ? held
       : unseen.Any()
           ? "whether a process holds it cannot be told: " + UnseenText(unseen)
           : "no process has it or a device open");
  Seen(facts, accelerator::kTpuLock, told);
  facts.push_back(FactOf(
      held.empty() && !unseen.Any() ? "look.lock_without_holder" : "look.lock",
      accelerator::kTpuLock, told));
}

// By what they have open: what they have mapped is told under a lock of theirs,
// for which a stuck process would let us wait.
void Holders(const sys::Fs& fs, const sys::Machine& machine, Facts& facts) {
  std::vector<std::string> paths = DeviceFiles(fs);
  paths.emplace_back(accelerator::kTpuLock);
  const auto holders = machine.HoldersOf(paths);
  const Unseen unseen = UnseenProcesses(fs);
  std::string held;
  if (!holders.empty()) {
    held = "a device or its lock is open in " + sys::ToString(holders);
    facts.push_back(FactOf("look.holder", "/proc", held));
  }
  Seen(facts, "/proc",
       (held.empty() ? "no process that we may see has a device open" : held) +
           (unseen.Any() ? "; " + UnseenText(unseen) : ""));
  TpuLock(fs, held, unseen, facts);
}

// "  0: 0100007F:2103 00000000:0000 0A": a socket that listens.
void AddPorts(const std::string& table, std::set<std::int64_t>& ports) {
  for (const std::string& line : Split(table, '\n')) {
    const auto words = Split(OneSpace(line), ' ');
    if (words.size() > 3 && words[3] == "0A") {
      ports.insert(std::strtol(words[1].substr(words[1].rfind(':') + 1).c_str(),
                               nullptr, 16));
    }
  }
}

std::string PortsText(const std::set<std::int64_t>& ports) {
  std::vector<std::string> some;
  for (const std::int64_t port : ports) {
    if (some.size() < kMaxPorts) {
      some.push_back(std::to_string(port));
    }
  }
  return ports.empty() ? "nothing listens"
                       : Count(std::ssize(ports), "port") +
                             " listened on: " + Join(some, ", ");
}

void Ports(const sys::Fs& fs, Facts& facts) {
  constexpr char kTable[] = "/proc/net/tcp";
  std::set<std::int64_t> ports;
  std::string not_read;
  for (const std::string table : {kTable, "/proc/net/tcp6"}) {
    const auto text = fs.Read(table, kMaxSockets);
    if (text) {
      AddPorts(*text, ports);
    } else if (table == kTable || text.error().cause() != Cause::kFileMissing) {
      // Without IPv6 there is no second table.
      not_read += (not_read.empty() ? "" : "; ") + NotRead(text.error());
    }
  }
  if (not_read.empty() || !ports.empty()) {
    Seen(facts, kTable, PortsText(ports));
  }
  if (!not_read.empty()) {
    Seen(facts, kTable, not_read);
  }
}

}  // namespace

std::vector<Fact> LookAround(const sys::Fs& fs, const sys::Machine& machine) {
  Facts facts;
  MemoryOfGroups(fs, facts);
  SharedMemory(fs, facts);
  Limits(fs, facts);
  Devices(fs, facts);
  Holders(fs, machine, facts);
  Ports(fs, facts);
  return facts;
}

}  // namespace muster::diagnose
