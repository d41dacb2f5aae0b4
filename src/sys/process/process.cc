// SPDX-License-Identifier: Apache-2.0
#include "sys/process/process.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "base/text.h"

namespace muster::sys {
namespace {

// The fields of /proc/PID/stat from the third on: the second is the command,
// which may hold blanks and brackets of its own.
std::vector<std::string> FieldsAfterCommand(std::string_view stat) {
  const auto close = stat.rfind(')');
  return close == stat.npos ? std::vector<std::string>()
                            : Split(Trim(stat.substr(close + 1)), ' ');
}

std::uint64_t NumberAt(const std::vector<std::string>& fields,
                       std::size_t index) {
  const auto number =
      index < fields.size() ? ParseInt(fields[index]) : std::nullopt;
  return static_cast<std::uint64_t>(number.value_or(0));
}

// The number on the line "Name:   123 kB".
std::uint64_t LineNumber(std::string_view text, std::string_view name) {
  const auto at = text.find(name);
  if (at == text.npos) {
    return 0;
  }
  auto rest = text.substr(at + name.size());
  rest = Trim(rest.substr(0, rest.find('\n')));
  const auto number = ParseInt(rest.substr(0, rest.find(' ')));
  return static_cast<std::uint64_t>(number.value_or(0));
}

}  // namespace

int OwnPid() {
  return getpid();
}

bool IsRoot() {
  return geteuid() == 0;
}

void LeaveNoCore() {
  prctl(PR_SET_DUMPABLE, 0);
}

std::uint64_t RaiseFileLimit(std::uint64_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return 0;
  }
  rlimit raised = limit;
  raised.rlim_cur =
      std::max(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, wanted));
  return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur
                                                : limit.rlim_cur;
}

std::optional<ProcessState> ReadProcess(int pid) {
  const RealFs fs;
  const std::string directory = "/proc/" + std::to_string(pid);
  const auto stat = fs.Read(directory + "/stat");
  const auto fields =
      stat ? FieldsAfterCommand(*stat) : std::vector<std::string>();
  if (fields.empty() || fields[0].empty()) {
    return std::nullopt;
  }
  const auto status = fs.Read(directory + "/status").value_or("");
  ProcessState state;
  state.state = fields[0][0];
  state.cpu_ticks = NumberAt(fields, 11) + NumberAt(fields, 12);
  state.rss_bytes =
      NumberAt(fields, 21) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  state.context_switches = LineNumber(status, "\nvoluntary_ctxt_switches:") +
                           LineNumber(status, "\nnonvoluntary_ctxt_switches:");
  // "0" is the kernel's word for "not waiting, or you may not know".
  state.wait_channel = fs.Read(directory + "/wchan").value_or("");
  if (state.wait_channel == "0") {
    state.wait_channel.clear();
  }
  return state;
}

std::optional<std::uint64_t> OwnMemoryOf(int pid) {
  const auto text = RealFs().Read("/proc/" + std::to_string(pid) + "/statm");
  if (!text) {
    return std::nullopt;
  }
  // Pages: all addresses, those in memory, those of files among them.
  const auto fields = Split(Trim(*text), ' ');
  const std::uint64_t there = NumberAt(fields, 1);
  return (there - std::min(there, NumberAt(fields, 2))) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

CoreTime OwnCoreTime() {
  timespec ran{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran);
  // Nanoseconds on a core (as of the last tick), nanoseconds without one,
  // turns.
  const auto text = RealFs().Read("/proc/thread-self/schedstat");
  const auto fields =
      text ? Split(Trim(*text), ' ') : std::vector<std::string>();
  return {.ran = std::chrono::seconds(ran.tv_sec) +
                 std::chrono::nanoseconds(ran.tv_nsec),
          .queued = std::chrono::nanoseconds(
              static_cast<std::int64_t>(NumberAt(fields, 1)))};
}

Result<HostMemory> ReadHostMemory() {
  MUSTER_ASSIGN(const auto text, RealFs().Read("/proc/meminfo"));
  return HostMemory{.total = LineNumber(text, "MemTotal:") * 1024,
                    .available = LineNumber(text, "MemAvailable:") * 1024};
}

}  // namespace muster::sys
