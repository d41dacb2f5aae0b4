// SPDX-License-Identifier: Apache-2.0
#include "sys/process/start_error.h"

#include <cerrno>
#include <string_view>

#include "base/text.h"
#include "sys/file/fs.h"
#include "sys/net/stream.h"
#include "sys/os_limit.h"
#include "sys/time/clock.h"

namespace muster::sys {
namespace {

struct Refusal {
  Cause cause = Cause::kProgramNotFound;
  int code = 126;
  std::string message;
};

std::string_view CallOf(wire::StartStage stage) {
  return stage == wire::StartStage::kFork ? "fork" : "exec";
}

Refusal Explain(const ProcessSpec& spec, const wire::StartFailure& failure,
                const std::string& program,
                const std::optional<OsLimit>& limit) {
  const int why = static_cast<int>(failure.error_number);
  const std::string name = "`" + Printable(spec.argv.front()) + "`";
  const std::string said =
      ": " + ErrnoName(why) + (limit ? ": " + LimitText(*limit) : "");
  if (failure.stage == wire::StartStage::kDirectory) {
    return {CauseOfErrno(why), 126,
            "the directory `" + Printable(spec.directory) +
                "` cannot be entered" + said};
  }
  if (failure.stage == wire::StartStage::kInterpreter) {
    return {.message = "the interpreter that the first line of `" +
                       Printable(program) + "` names does not exist"};
  }
  if (why == ETIMEDOUT) {
    return {
        Cause::kDeadlineExceeded, 126,
        name +
            " could not be started: the file system of the program, of a "
            "folder on the PATH or of the working directory does not respond" +
            said};
  }
  if (why == ECANCELED) {
    return {Cause::kCancelled, 126, name + " has not started yet"};
  }
  if (failure.stage != wire::StartStage::kExec || why == E2BIG ||
      why == ENOMEM) {
    return {CauseOfErrno(why), 126, name + " could not be started" + said};
  }
  if (why == ENOENT) {
    const bool searched = spec.argv.front().find('/') == std::string::npos;
    return {.code = 127,
            .message =
                name + (searched ? " is not on the PATH" : " does not exist")};
  }
  if (why == ENOEXEC) {
    return {.message = "`" + Printable(program) +
                       "` is not a program: a script needs a first line that "
                       "begins with #!"};
  }
  return {.message = "`" + Printable(program) + "` is not executable" + said};
}

}  // namespace

std::vector<std::string> ProgramsOf(const ProcessSpec& spec) {
  const std::string& name = spec.argv.front();
  if (name.empty() || name.find('/') != std::string::npos) {
    return {name};
  }
  const auto path = spec.environment.find("PATH");
  std::vector<std::string> programs;
  for (const auto& directory :
       Split(path == spec.environment.end() ? "/usr/local/bin:/usr/bin:/bin"
                                            : path->second,
             ':')) {
    // An empty piece is the working directory.
    programs.push_back(JoinPath(directory.empty() ? "." : directory, name));
  }
  return programs;
}

Error NotStarted(const ProcessSpec& spec, const wire::StartFailure& failure,
                 int guardian) {
  static constexpr std::string_view kSteps[] = {
      "fork", "descriptors", "directory", "exec", "interpreter"};
  const auto programs = ProgramsOf(spec);
  const auto index = static_cast<std::size_t>(failure.program);
  const std::string program = index < programs.size() ? programs[index] : "";
  const auto limit = LimitMet(CallOf(failure.stage),
                              static_cast<int>(failure.error_number), guardian);
  Refusal refusal = Explain(spec, failure, program, limit);
  Fact fact{
      .name = "spawn.failed",
      .fields = {{"code", std::int64_t{refusal.code}},
                 {"errno", ErrnoName(static_cast<int>(failure.error_number))},
                 {"step",
                  std::string(kSteps[static_cast<std::size_t>(failure.stage)])},
                 {"program", spec.argv.front()}},
      .subject = spec.argv.front(),
      .by = "exec",
      .at = RealClock().EventNow()};
  if (limit) {
    AddTo(fact, *limit);
  }
  return Error(refusal.cause, refusal.message).With(std::move(fact));
}

Error NothingToStart(const ProcessSpec& spec) {
  return Error(Cause::kProgramNotFound, "there is no program to start")
      .With(Fact{
          .name = "spawn.failed",
          .fields = {{"code", std::int64_t{127}},
                     {"errno", "EINVAL"},
                     {"step", "request"},
                     {"program", spec.argv.empty() ? "" : spec.argv.front()}},
          .subject = spec.argv.empty() ? "" : spec.argv.front(),
          .by = "muster",
          .at = RealClock().EventNow()});
}

}  // namespace muster::sys
