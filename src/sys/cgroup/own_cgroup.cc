// SPDX-License-Identifier: Apache-2.0
#include "sys/cgroup/own_cgroup.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "muster/deadline.h"
#include "sys/cgroup/cgroup.h"
#include "sys/file/fs.h"
#include "sys/process/process.h"

namespace muster::sys {
namespace {

constexpr std::string_view kOwnPrefix = "muster-";
constexpr int kMakeTries = 10;
constexpr auto kRemoveFor = std::chrono::milliseconds(100);

Fd OpenBelow(const Fd& directory, const char* name) {
  return Fd(openat(directory.get(), name, O_WRONLY | O_CLOEXEC));
}

// Its directory, locked; no descriptor when somebody holds it, or it is gone.
Fd LockCgroup(const std::string& path) {
  Fd directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const bool locked =
      directory && flock(directory.get(), LOCK_EX | LOCK_NB) == 0;
  return locked && access(path.c_str(), F_OK) == 0 ? std::move(directory)
                                                   : Fd();
}

void KillIn(const Fd& kill) {
  [[maybe_unused]] const auto written = write(kill.get(), "1", 1);
}

// From the bottom up: a group goes when there is none below it. Those that
// still hold processes stay. Whether all are gone.
bool RemoveGroups(const std::string& path) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(path, ignored)) {
    if (entry.is_directory(ignored)) {
      RemoveGroups(entry.path());
    }
  }
  return rmdir(path.c_str()) == 0 || errno == ENOENT;
}

// What an owner has left that was killed together with all who watch over it.
void EndAbandoned(const std::string& parent) {
  const auto names = RealFs().List(parent).value_or(std::vector<std::string>());
  for (const auto& name : names) {
    if (!name.starts_with(kOwnPrefix)) {
      continue;
    }
    const std::string path = JoinPath(parent, name);
    if (const Fd directory = LockCgroup(path)) {
      MUSTER_LOG(kWarn, "ending processes that a killed run has left",
                 {{"cgroup", path}});
      KillIn(OpenBelow(directory, "cgroup.kill"));
      // The processes go one by one. A group that still stands is the next
      // run's to remove.
      const Deadline deadline = Deadline::After(kRemoveFor);
      while (!RemoveGroups(path) && !deadline.Expired()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
  }
}

Error CannotUse(const std::string& path, const std::string& why) {
  return Error(Cause::kFilePermission, "the cgroup `" + path + "` " + why);
}

}  // namespace

// Another owner may take it for abandoned before it is locked, and removes it.
Result<OwnCgroup> OwnCgroup::MakeBelow(const std::string& parent) {
  for (int number = 0;; ++number) {
    std::string path =
        JoinPath(parent, std::string(kOwnPrefix) + std::to_string(OwnPid()) +
                             (number == 0 ? "" : "." + std::to_string(number)));
    if (mkdir(path.c_str(), 0755) != 0) {
      const int why = errno;
      if (why == EEXIST && number < kMakeTries) {
        continue;
      }
      return FromErrno("mkdir", path, why);
    }
    if (Fd lock = LockCgroup(path)) {
      return OwnCgroup(std::move(path), std::move(lock));
    }
    if (number == kMakeTries) {
      return CannotUse(path, "is removed by others");
    }
  }
}

Result<OwnCgroup> OwnCgroup::Make() {
  const RealFs fs;
  const auto parent = FindUnifiedCgroup(fs);
  if (!parent) {
    return Error(Cause::kFileMissing, "no hierarchy of cgroup v2 is mounted");
  }
  // A part of the hierarchy that is mounted here need not be ours.
  MUSTER_ASSIGN(const std::string members,
                fs.Read(JoinPath(*parent, "cgroup.procs")));
  const auto pids = Split(members, '\n');
  if (std::ranges::find(pids, std::to_string(OwnPid())) == pids.end()) {
    return CannotUse(*parent, "does not hold this process");
  }
  // To move a process, one writes to the group that holds both places.
  if (access(JoinPath(*parent, "cgroup.procs").c_str(), W_OK) != 0) {
    const int why = errno;
    return FromErrno("access", JoinPath(*parent, "cgroup.procs"), why);
  }
  EndAbandoned(*parent);
  MUSTER_ASSIGN(OwnCgroup made, MakeBelow(*parent));
  made.kill_ = OpenBelow(made.lock_, "cgroup.kill");
  made.entrance_ = OpenBelow(made.lock_, "cgroup.procs");
  const int why = errno;
  // A threaded hierarchy takes no processes one by one.
  const auto type = fs.Read(JoinPath(made.path_, "cgroup.type"));
  const bool whole = type && Trim(*type) == "domain";
  if (made.kill_ && made.entrance_ && whole) {
    return made;
  }
  made.Remove();
  if (!made.kill_) {  // Linux 5.14
    return CannotUse(made.path_, "has no cgroup.kill; the kernel is too old");
  }
  return whole ? FromErrno("open", JoinPath(made.path_, "cgroup.procs"), why)
               : CannotUse(made.path_, "is part of a threaded hierarchy");
}

void OwnCgroup::Kill() const {
  KillIn(kill_);
}

void OwnCgroup::Remove() const {
  RemoveGroups(path_);
}

}  // namespace muster::sys
