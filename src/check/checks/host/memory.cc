// SPDX-License-Identifier: Apache-2.0
// Memory: what the host and the cgroups have left, and who took the rest.
#include <algorithm>

#include "base/text.h"
#include "check/check.h"
#include "sys/cgroup/cgroup.h"

namespace muster::check::host_memory {
namespace {

// Less does not hold the interpreter of one framework.
constexpr std::int64_t kPerRank = std::int64_t{256} << 20;
// What the coordinator holds for each member: a channel, a stream, its facts.
// Measured between 2 and 30 members over mutual TLS: 28 MiB of resident memory.
constexpr std::int64_t kPerMember = std::int64_t{1} << 20;
// Memory that is taken is worth a word only where most of it is.
constexpr int kFewPercent = 5;

std::string Text(std::int64_t bytes) {
  return BytesText(
      static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0)));
}

// The largest processes: "python3 (41) 12 GiB".
std::string Takers(const sys::Fs& fs) {
  std::vector<std::pair<std::int64_t, std::string>> takers;
  for (const std::string& pid :
       fs.List("/proc").value_or(std::vector<std::string>())) {
    if (!ParseInt(pid)) {
      continue;
    }
    const auto status = fs.Read("/proc/" + pid + "/status").value_or("");
    const std::int64_t bytes = Field(status, "VmRSS").value_or(0) * 1024;
    if (bytes > 0) {
      const auto name = fs.Read("/proc/" + pid + "/comm").value_or("");
      takers.emplace_back(
          bytes, Printable(Trim(name)) + " (" + pid + ") " + Text(bytes));
    }
  }
  std::sort(takers.rbegin(), takers.rend());
  std::vector<std::string> largest;
  for (std::size_t i = 0; i < std::min<std::size_t>(takers.size(), 3); ++i) {
    largest.push_back(takers[i].second);
  }
  return Join(largest, ", ");
}

// What a cgroup has left: its limit without what it cannot give back.
struct Room {
  std::int64_t limit = 0;
  std::int64_t left = 0;
  std::string directory;
};

// Pages of files, which the kernel gives back, of the group and all below it:
// v2 counts those in one number, v1 has others for the group alone.
std::int64_t CacheOf(const sys::Fs& fs, const std::string& directory, bool v2) {
  const std::string of_all = v2 ? "" : "total_";
  const std::string stat =
      fs.Read(sys::JoinPath(directory, "memory.stat")).value_or("");
  std::int64_t cache = 0;
  for (const std::string& line : Split(stat, '\n')) {
    const auto words = Split(line, ' ');
    if (words.size() == 2 && (words[0] == of_all + "inactive_file" ||
                              words[0] == of_all + "active_file")) {
      cache += ParseInt(words[1]).value_or(0);
    }
  }
  return cache;
}

std::optional<Room> RoomOf(const sys::Fs& fs, const std::string& directory,
                           bool v2) {
  const char* most = v2 ? "memory.max" : "memory.limit_in_bytes";
  const char* now = v2 ? "memory.current" : "memory.usage_in_bytes";
  const auto limit = NumberIn(fs, sys::JoinPath(directory, most));
  const auto used = NumberIn(fs, sys::JoinPath(directory, now));
  // v1 writes a number near 2^63 for "no limit".
  if (!limit || !used || *limit >= std::int64_t{1} << 60) {
    return std::nullopt;
  }
  return Room{*limit, *limit - *used + CacheOf(fs, directory, v2), directory};
}

std::optional<Room> TightestRoom(const sys::Fs& fs) {
  const sys::CgroupPath cgroup = sys::FindCgroup(fs, "memory", 0);
  std::optional<Room> tightest;
  for (const std::string& directory : cgroup.directories) {
    const auto room = RoomOf(fs, directory, cgroup.v2);
    if (room && (!tightest || room->left < tightest->left)) {
      tightest = room;
    }
  }
  return tightest;
}

Finding Tight(const Context& context, std::int64_t left, std::int64_t need,
              const Seen& seen) {
  const std::string takers = Takers(context.host.fs);
  std::vector<Seen> facts{seen};
  if (!takers.empty()) {
    facts.push_back({"largest: " + takers, "/proc/*/status"});
  }
  return MakeProblem(context, Cause::kOomHost,
                     Text(left) + " of memory are available for " +
                         Count(RanksHere(context), "rank") +
                         (Coordinates(context)
                              ? " and the coordinator of " +
                                    Count(context.cluster->size.value, "member")
                              : "") +
                         ", which need " + Text(need) + " to start",
                     facts);
}

Outcome Run(const Context& context) {
  const sys::Fs& fs = context.host.fs;
  const auto meminfo = fs.Read("/proc/meminfo");
  if (!meminfo) {
    return Broken(meminfo.error().message());
  }
  const auto total = Field(*meminfo, "MemTotal");
  const auto available = Field(*meminfo, "MemAvailable");
  if (!total || !available || *total <= 0) {
    return Broken("/proc/meminfo does not contain MemTotal and MemAvailable");
  }
  std::int64_t need = RanksHere(context) * kPerRank;
  if (Coordinates(context)) {
    need += context.cluster->size.value * kPerMember;
  }
  const std::int64_t left = *available * 1024;
  const Seen host{Text(left) + " of " + Text(*total * 1024) + " available",
                  "/proc/meminfo"};
  const auto room = TightestRoom(fs);
  if (room && room->left < need && room->left < left) {
    return Judge(
        {Tight(context, room->left, need,
               {"limit " + Text(room->limit) + ", left " + Text(room->left),
                room->directory})},
        "");
  }
  if (left < need) {
    return Judge({Tight(context, left, need, host)}, "");
  }
  if (*available * 100 < *total * kFewPercent) {
    Finding finding = Tight(context, left, need, host);
    finding.what = "only " + host.what;
    finding.severity = Severity::kWarning;
    finding.confidence = Confidence::kPossible;
    return Judge({std::move(finding)}, "");
  }
  return Pass(host.what +
              (room ? ", limit of the cgroup " + Text(room->limit) : ""));
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "host.memory",
                   .title = "this host has enough memory for its ranks",
                   .after_failure = true,
                   .run = Run};

}  // namespace muster::check::host_memory
