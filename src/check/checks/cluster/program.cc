// SPDX-License-Identifier: Apache-2.0
// The program that is to run is here. That it and the data are the same on
// every host is what network.reach compares.
#include "base/text.h"
#include "check/check.h"
#include "check/facts/shared_files.h"
#include "sys/process/find_program.h"

namespace muster::check::cluster_program {
namespace {

Outcome Run(const Context& context) {
  if (context.command.empty()) {
    return Skip("no command is given after `--`");
  }
  const std::string& name = context.command.front();
  if (sys::FindProgram(context.host.env, context.host.fs, name).empty()) {
    return Judge(
        {MakeProblem(context, Cause::kProgramNotFound,
                     "`" + Printable(name) + "` does not exist on this host",
                     {{"no file with that name" +
                           std::string(name.find('/') == std::string::npos
                                           ? " in any folder of PATH"
                                           : ""),
                       "file system",
                       {{"program", name}}}})},
        "");
  }
  const SharedFiles files = DigestSharedFiles(context);
  std::string detail = Printable(Join(files.seen, ", "));
  if (!files.left_out.empty()) {
    detail += "; not compared: " + Printable(Join(files.left_out, ", "));
  }
  return Pass(std::move(detail));
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "cluster.program",
                   .title = "the program exists and is identical on all hosts",
                   .may_wait = true,
                   // Agents compare it.
                   .before_run = BeforeRun::kNever,
                   .run = Run};

}  // namespace muster::check::cluster_program
