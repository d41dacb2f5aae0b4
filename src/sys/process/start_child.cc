// SPDX-License-Identifier: Apache-2.0
#include "sys/process/start_child.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

namespace muster::sys {
namespace {

// What the child tells over the pipe that its exec closes.
struct StageWord {
  // It goes on with what it can be without.
  enum class Lacks { kNothing, kCores, kCgroup };

  wire::StartStage stage{};
  int error_number = 0;
  int program = 0;
  Lacks lacks = Lacks::kNothing;
};

// All that the child needs, made before the fork: the child only makes system
// calls.
struct Recipe {
  std::vector<char*> argv;
  std::vector<char*> environment;
  std::vector<char*> programs;
  const char* directory = nullptr;
  std::vector<int> sources;  // moved out of the way of the targets
  std::vector<int> targets;
  int highest_target = 2;
  cpu_set_t* cores = nullptr;
  std::size_t cores_size = 0;
  const sigset_t* mask = nullptr;
  pid_t parent = 0;
  int report = -1;  // write end of the pipe
  int entrance = -1;
};

void Say(int report, const StageWord& word) {
  [[maybe_unused]] auto written = write(report, &word, sizeof word);
}

[[noreturn]] void Fail(int report, wire::StartStage stage, int error_number) {
  Say(report, {.stage = stage, .error_number = error_number});
  _exit(127);
}

void CloseRange(unsigned first, unsigned last) {
  if (first > last || syscall(SYS_close_range, first, last, 0) == 0) {
    return;
  }
  // Kernels before 5.9 and sandboxes. Numbers are given lowest first, so what
  // is open lies far below this bound.
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const auto end = std::min<rlim_t>({limit.rlim_cur, 65536, rlim_t{last} + 1});
  for (auto fd = first; fd < end; ++fd) {
    close(static_cast<int>(fd));
  }
}

void PlaceDescriptors(Recipe& recipe) {
  // Above all targets first, so that no dup2 overwrites a source.
  const int above = recipe.highest_target + 1;
  recipe.report = fcntl(recipe.report, F_DUPFD_CLOEXEC, above);
  for (int& source : recipe.sources) {
    source = fcntl(source, F_DUPFD_CLOEXEC, above);
    if (source < 0) {
      Fail(recipe.report, wire::StartStage::kDescriptors, errno);
    }
  }
  for (int number = 0; number <= recipe.highest_target; ++number) {
    const auto found =
        std::find(recipe.targets.begin(), recipe.targets.end(), number);
    if (found != recipe.targets.end()) {
      const auto index =
          static_cast<std::size_t>(found - recipe.targets.begin());
      if (dup2(recipe.sources[index], number) < 0) {
        Fail(recipe.report, wire::StartStage::kDescriptors, errno);
      }
      continue;
    }
    close(number);
    // A program whose first file became its stdout would write into it. Gets
    // this very number, the lowest that is free.
    if (number <= 2 &&
        open("/dev/null", number == 0 ? O_RDONLY : O_WRONLY) != number) {
      Fail(recipe.report, wire::StartStage::kDescriptors, errno);
    }
  }
  // The pipe gets the lowest number above; all the rest goes later.
  if (recipe.report != above) {
    dup3(recipe.report, above, O_CLOEXEC);
    recipe.report = above;
  }
}

void TryPrograms(const Recipe& recipe) {
  // As the shell does it: a program that may not be executed is passed over
  // for one further on the path, and is the answer only if there is none.
  StageWord word{.stage = wire::StartStage::kExec, .error_number = ENOENT};
  for (std::size_t i = 0; i < recipe.programs.size(); ++i) {
    execve(recipe.programs[i], recipe.argv.data(), recipe.environment.data());
    const int why = errno;
    if ((why == ENOENT || why == ENOTDIR) &&
        access(recipe.programs[i], F_OK) != 0) {
      continue;
    }
    word.stage = why == ENOENT ? wire::StartStage::kInterpreter
                               : wire::StartStage::kExec;
    word.error_number = why;
    word.program = static_cast<int>(i);
    if (why != EACCES) {
      break;
    }
  }
  Say(recipe.report, word);
}

[[noreturn]] void BecomeProgram(Recipe& recipe) {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != recipe.parent) {
    _exit(127);  // it died before the line above
  }
  if (recipe.entrance >= 0 && write(recipe.entrance, "0", 1) != 1) {
    Say(recipe.report,
        {.error_number = errno, .lacks = StageWord::Lacks::kCgroup});
  }
  PlaceDescriptors(recipe);
  if (recipe.cores != nullptr &&
      sched_setaffinity(0, recipe.cores_size, recipe.cores) != 0) {
    Say(recipe.report,
        {.error_number = errno, .lacks = StageWord::Lacks::kCores});
  }
  if (*recipe.directory != '\0' && chdir(recipe.directory) != 0) {
    Fail(recipe.report, wire::StartStage::kDirectory, errno);
  }
  // The rest of what was open has close-on-exec set or is closed here.
  CloseFrom(recipe.report + 1);
  signal(SIGCHLD, SIG_DFL);
  pthread_sigmask(SIG_SETMASK, recipe.mask, nullptr);
  TryPrograms(recipe);
  _exit(127);
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const auto& text : texts) {
    pointers.push_back(const_cast<char*>(text.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

void SetCores(Recipe& recipe, const std::vector<std::int64_t>& cores) {
  if (cores.empty()) {
    return;
  }
  const auto size =
      static_cast<std::size_t>(*std::max_element(cores.begin(), cores.end())) +
      1;
  recipe.cores = CPU_ALLOC(size);
  recipe.cores_size = CPU_ALLOC_SIZE(size);
  CPU_ZERO_S(recipe.cores_size, recipe.cores);
  for (const auto core : cores) {
    CPU_SET_S(static_cast<std::size_t>(core), recipe.cores_size, recipe.cores);
  }
}

Recipe MakeRecipe(const wire::StartRequest& request, std::span<const Fd> given,
                  const sigset_t& mask) {
  Recipe recipe;
  recipe.argv = Pointers(request.argv);
  recipe.environment = Pointers(request.environment);
  recipe.programs = Pointers(request.programs);
  recipe.programs.pop_back();
  recipe.directory = request.directory.c_str();
  for (std::size_t i = 0; i < given.size(); ++i) {
    recipe.sources.push_back(given[i].get());
    recipe.targets.push_back(static_cast<int>(request.targets[i]));
    recipe.highest_target =
        std::max(recipe.highest_target, recipe.targets.back());
  }
  SetCores(recipe, request.cores);
  recipe.mask = &mask;
  recipe.parent = getpid();
  return recipe;
}

}  // namespace

StartingChild ForkChild(const wire::StartRequest& request,
                        std::span<const Fd> given, int entrance,
                        const sigset_t& mask, Deadline give_up) {
  Recipe recipe = MakeRecipe(request, given, mask);
  recipe.entrance = entrance;
  StartingChild child{.id = request.id, .give_up = give_up};
  const auto fail = [&](int error_number) {
    child.failure = wire::StartFailure{.id = request.id,
                                       .stage = wire::StartStage::kFork,
                                       .error_number = error_number};
  };
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    fail(errno);
    return child;
  }
  child.said = Fd(ends[0]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const Fd report(ends[1]);
  recipe.report = report.get();
  const pid_t pid = fork();
  const int why = errno;
  if (pid == 0) {
    BecomeProgram(recipe);
  }
  CPU_FREE(recipe.cores);
  if (pid < 0) {
    fail(why);
  } else {
    child.pid = pid;
  }
  return child;
}

bool Hear(StartingChild& child) {
  while (!child.failure) {
    StageWord word;
    const ssize_t got = read(child.said.get(), &word, sizeof word);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got != sizeof word) {
      return got == 0;
    }
    if (word.lacks != StageWord::Lacks::kNothing) {
      (word.lacks == StageWord::Lacks::kCores ? child.affinity_errno
                                              : child.cgroup_errno) =
          word.error_number;
      continue;
    }
    waitpid(child.pid, nullptr, 0);
    child.failure = wire::StartFailure{.id = child.id,
                                       .stage = word.stage,
                                       .error_number = word.error_number,
                                       .program = word.program};
  }
  return true;
}

void GiveUp(StartingChild& child, int error_number) {
  child.failure = wire::StartFailure{.id = child.id,
                                     .stage = wire::StartStage::kExec,
                                     .error_number = error_number};
}

void CloseFrom(int first, std::vector<int> kept) {
  std::ranges::sort(kept);
  auto from = static_cast<unsigned>(first);
  for (const int fd : kept) {
    if (fd >= first) {
      CloseRange(from, static_cast<unsigned>(fd) - 1);
      from = static_cast<unsigned>(fd) + 1;
    }
  }
  CloseRange(from, ~0U);
}

}  // namespace muster::sys
