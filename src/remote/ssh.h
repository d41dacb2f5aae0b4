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

namespace muster::remote {

// Word that begins a line of the other side until the agent runs.
inline constexpr std::string_view kSshWord = "muster-ssh ";

// How one host is logged in to; what is empty is as the user's own settings of
// ssh say.
struct SshLogin {
  std::string host;  // what ssh connects to
  std::string name;  // of the host in words; empty: `host`
  std::string user, key_file;
  // Where host keys are kept, and under which name. A key that nobody has seen
  // is kept there; one that has changed is refused.
  std::string known_hosts, host_key_name;
  std::string if_refused;  // what to do when no key of the user is accepted

  const std::string& Name() const { return name.empty() ? host : name; }
};

// ssh for one host. Nothing is asked of a person, host keys are respected, and
// the connection is no shared one: it ends with this process. `remote` is for
// the login shell there.
std::vector<std::string> SshCommand(const SshLogin& login, Duration limit,
                                    const std::string& remote);
// ssh for a person at this terminal.
std::vector<std::string> SshForPerson(const SshLogin& login, Duration limit);
// What a person types to log in by hand.
std::string SshByHand(const SshLogin& login);

// `/bin/sh -c SCRIPT NAME WORDS…` for any login shell that knows single quotes.
std::string ShellLine(const std::string& script,
                      const std::vector<std::string>& words);

// What runs on the other side before muster does. It says `have` when a muster
// with this SHA-256 is installed or in the cache, else `need SYSTEM MACHINE`;
// then it reads one line, the number of bytes that follow (0: none), those, and
// ToSshPlace; then it runs `muster run --from-stdin`. What fails is said as
// `failed STEP TEXT`.
std::string SshScript(const std::string& digest);
// Where it runs there: a folder, or the home folder of the user; or a folder
// below that one which is made of `archive_bytes` of a tar archive that follow,
// and which is removed at the end unless it is kept. Four lines.
struct SshPlace {
  std::string directory;  // empty: the home folder
  std::string copy;       // below the home folder; empty: no copy
  std::size_t archive_bytes = 0;
  bool keep = false;
};
std::string ToSshPlace(const SshPlace& place);

// Runs its words as a program that lives no longer than standard input, on
// which a point is said every kSshBeat: when it ends, or nothing comes for 30
// s, all that the program has started gets TERM, and KILL 5 s later. Says
// `ready` before, ends as the program does.
inline constexpr auto kSshBeat = std::chrono::seconds(5);
std::string WatchedScript();
// The same for Jupyter: it says `failed jupyter` where there is none, and reads
// one line once it is ready, the token, which Jupyter gets by JUPYTER_TOKEN.
std::string NotebookScript();

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
  SshLogin login;
  std::string said;                 // by ssh, on its stderr
  std::optional<SshAnswer> answer;  // the last one
  int code = 255;
  std::optional<Duration> waited;  // set when it was given up
};
Finding WhyNotStarted(const SshEnd& end);
// Whether ssh says that it has lost a connection which it had.
bool SaysLost(std::string_view said);

}  // namespace muster::remote
