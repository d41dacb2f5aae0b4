// SPDX-License-Identifier: Apache-2.0
#include "sys/os_limit.h"

#include <sys/resource.h>

#include <cerrno>

#include "base/text.h"
#include "sys/file/fs.h"

namespace muster::sys {
namespace {

std::string ValueOf(__rlimit_resource resource, int pid) {
  rlimit limit{};
  if (prlimit(pid, resource, nullptr, &limit) != 0) {
    return "unknown";
  }
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited"
                                         : std::to_string(limit.rlim_cur);
}

}  // namespace

std::optional<OsLimit> LimitMet(std::string_view call, int error_number,
                                int pid) {
  switch (error_number) {
    case EMFILE:
      return OsLimit{"open files", "n", ValueOf(RLIMIT_NOFILE, pid), "65535"};
    case ENFILE:
      return OsLimit{"open files of the whole host", "",
                     std::string(Trim(
                         RealFs().Read("/proc/sys/fs/file-max").value_or(""))),
                     ""};
    case EAGAIN:
      // Of a call that makes a process or thread, and of no other.
      return call == "fork" || call == "clone" || call == "pthread_create"
                 ? std::optional(OsLimit{"processes of this user", "u",
                                         ValueOf(RLIMIT_NPROC, pid),
                                         "unlimited"})
                 : std::nullopt;
    case ENOMEM: {
      // There is memory, but not for this process.
      rlimit space{};
      return call == "mmap" && prlimit(pid, RLIMIT_AS, nullptr, &space) == 0 &&
                     space.rlim_cur != RLIM_INFINITY
                 ? std::optional(OsLimit{"address space", "v",
                                         std::to_string(space.rlim_cur / 1024),
                                         "unlimited"})
                 : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

std::string LimitText(const OsLimit& limit) {
  return "the limit of " + limit.name + " is " + limit.value +
         (limit.letter.empty() ? "" : " (ulimit -" + limit.letter + ")");
}

void AddTo(Fact& fact, const OsLimit& limit) {
  if (!limit.letter.empty()) {
    fact.fields["limit"] = limit.letter;
    fact.fields["value"] = limit.value;
    fact.fields["wanted"] = limit.wanted;
  }
}

}  // namespace muster::sys
