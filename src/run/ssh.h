// SPDX-License-Identifier: Apache-2.0
// Starting agents over the system's ssh client: what is said to it, what the
// other side runs first, and what went wrong when it ends. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "finding/finding.h"
#include "muster/deadline.h"

namespace muster::run {

// Word that begins a line of the other side until the agent runs.
inline constexpr std::string_view kSshWord = "muster-ssh ";

// ssh for one host. Nothing is asked of a person, host keys are respected as
// the user's own settings say, and the connection is no shared one: it ends
// with this process.
std::vector<std::string> SshCommand(const std::string& host, Duration limit,
                                    const std::string& digest);

// What runs on the other side before muster does, for /bin/sh and for any login
// shell that knows single quotes. It says `have` when a muster with this
// SHA-256 is installed or in the cache, else `need SYSTEM MACHINE`; then it
// reads one line, the number of bytes that follow (0: none), those, and one
// line with the working directory; then it becomes `muster run --from-stdin`.
// What fails is said as `failed STEP TEXT`.
std::string SshScript(const std::string& digest);

// A line of the other side after kSshWord.
struct SshAnswer {
  enum class Kind { kHave, kNeed, kReady, kFailed };
  Kind kind = Kind::kFailed;
  std::string text;  // "Linux x86_64"; of kFailed the step
  std::string why;   // of kFailed: what was said
};
// nullopt: no line of ours (a login shell that greets).
std::optional<SshAnswer> ReadSshAnswer(std::string_view line);

// Why the host has no agent.
struct SshEnd {
  std::string host;
  std::string said;                 // by ssh, on its stderr
  std::optional<SshAnswer> answer;  // the last one
  int code = 255;
  std::optional<Duration> waited;  // set when it was given up
};
Finding WhyNotStarted(const SshEnd& end);

}  // namespace muster::run
