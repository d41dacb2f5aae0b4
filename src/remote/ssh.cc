// SPDX-License-Identifier: Apache-2.0
#include "remote/ssh.h"

#include <algorithm>

#include "base/text.h"

namespace muster::remote {
namespace {

constexpr std::size_t kMaxLines = 5;

// One line, without single quotes, back slashes and exclamation marks: so sh,
// bash, zsh, fish and csh all hand it on as it is. The digest stands for %.
constexpr std::string_view kScript =
    R"sh(umask 077; w=muster-ssh; no() { echo "$w failed $1 $2"; exit 96; }; )sh"
    R"sh(sum() { sha256sum "$1" 2>/dev/null | cut -c1-64; }; )sh"
    R"sh(c="${XDG_CACHE_HOME:-$HOME/.cache}/muster/%"; m="$c/muster"; )sh"
    R"sh(p="$(command -v muster 2>/dev/null)"; )sh"
    R"sh(if test -n "$p" && test "$(sum "$p")" = %; then m="$p"; fi; )sh"
    R"sh(if test -x "$m"; then echo "$w have"; else echo "$w need $(uname -sm)"; )sh"
    R"sh(fi; read -r n || exit 97; if test "$n" -gt 0; then )sh"
    R"sh(e="$(mkdir -p "$c" 2>&1 && chmod 700 "$c" 2>&1)" || no folder "$e"; )sh"
    R"sh(t="$m.$$"; drop() { rm -f "$t"; }; trap drop EXIT; )sh"
    R"sh(e="$( { head -c "$n" >"$t"; } 2>&1)" || no write "$e"; )sh"
    R"sh(test "$(wc -c <"$t")" -eq "$n" || no write "$c: the copy is too short"; )sh"
    R"sh(if command -v sha256sum >/dev/null; then )sh"
    R"sh(test "$(sum "$t")" = % || no write "$c: the copy is not complete"; fi; )sh"
    R"sh(e="$(chmod 700 "$t" 2>&1 && mv "$t" "$m" 2>&1)" || no write "$e"; )sh"
    R"sh(trap - EXIT; fi; e="$("$m" --version 2>&1)" || no exec "$e"; )sh"
    R"sh(IFS= read -r d || exit 97; IFS= read -r f || exit 97; )sh"
    R"sh(read -r n || exit 97; read -r k || exit 97; )sh"
    R"sh(if test -n "$f"; then d="$HOME/$f"; )sh"
    R"sh(e="$(mkdir -p "$d" 2>&1)" || no copy "$e"; )sh"
    R"sh(e="$(head -c "$n" | tar -xzf - --no-same-owner -C "$d" 2>&1)" )sh"
    R"sh(|| { rm -rf "$d"; no copy "$e"; }; )sh"
    R"sh(export MUSTER_RUNS_DIR="${MUSTER_RUNS_DIR:-$HOME/runs}"; fi; )sh"
    R"sh(d="${d:-$HOME}"; cd -- "$d" || no directory "$d"; )sh"
    R"sh(echo "$w ready"; )sh"
    R"sh(if test -z "$f" || test "$k" = keep; then )sh"
    R"sh(exec "$m" run --from-stdin; fi; )sh"
    R"sh("$m" run --from-stdin; s=$?; cd /; rm -rf "$d"; exit "$s")sh";

// What the program starts is found by its environment, wherever it went, and
// the reader of the points too, which would keep the channel open.
constexpr std::string_view kWatched =
    R"sh(i="$$.$(date +%s%N)"; e=0; )sh"
    R"sh(each() { r=1; for f in )sh"
    R"sh($(grep -lszx "SSH_MUSTER_ID=$2" /proc/[0-9]*/environ); do )sh"
    R"sh(q="${f#/proc/}"; kill -s "$1" "${q%/environ}" 2>/dev/null && r=0; )sh"
    R"sh(done; return "$r"; }; )sh"
    R"sh(exec 3<&0; trap "e=1" USR1; echo "muster-ssh ready"; )sh"
    R"sh(env SSH_MUSTER_ID="$i" setsid "$@" </dev/null 3<&- & p=$!; )sh"
    R"sh({ while test -n "$(SSH_MUSTER_ID="$i.w" timeout 30 head -c 1 <&3)"; )sh"
    R"sh(do :; done; kill -s USR1 $$; each TERM "$i"; n=0; )sh"
    R"sh(while test "$n" -lt 50 && each 0 "$i"; do sleep 0.1; n=$((n + 1)); )sh"
    R"sh(done; each KILL "$i"; } >/dev/null 2>&1 & w=$!; )sh"
    R"sh(while :; do wait "$p"; s=$?; kill -s 0 "$p" 2>/dev/null || break; )sh"
    R"sh(done; if test "$e" = 1; then wait "$w"; else kill "$w" 2>/dev/null; )sh"
    R"sh(each KILL "$i.w"; fi; exit "$s")sh";

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// What ssh says of a connection that it could not make, and what it means.
struct Pattern {
  std::string_view said;
  Cause cause;
  std::string_view what;
  std::string_view fix;
};
constexpr Pattern kPatterns[] = {
    {"REMOTE HOST IDENTIFICATION HAS CHANGED", Cause::kNetWrongEndpoint,
     "presents a host key that differs from the known one: another machine "
     "responds at this address, or the host was reinstalled",
     "ask the owner of the host; only if its key changed intentionally: "
     "ssh-keygen -R HOST"},
    {"Host key verification failed", Cause::kSshHostKeyUnknown,
     "has a host key that is not in any known_hosts file, so its identity is "
     "not verified",
     "compare the key with the host's key, then accept it: ssh HOST true"},
    {"Permission denied", Cause::kSshAuthRefused,
     "rejects this user: it accepts none of the keys",
     "test the login without a password: ssh -o BatchMode=yes HOST true"},
    {"Too many authentication failures", Cause::kSshAuthRefused,
     "rejects this user: ssh offered too many keys",
     "set the key for this host in ~/.ssh/config (IdentityFile, "
     "IdentitiesOnly)"},
    {"Could not resolve hostname", Cause::kNetNameResolution,
     "has a name that does not resolve", "correct the host name"},
    {"banner exchange", Cause::kNetWrongEndpoint,
     "accepts connections on the SSH port but sends no SSH banner",
     "check the host: its sshd is stopped or overloaded"},
    {"Connection refused", Cause::kNetWrongEndpoint,
     "is up but runs no SSH server on this port",
     "start sshd on the host, or set its port in ~/.ssh/config"},
    {"No route to host", Cause::kNetTimeoutFiltered, "is not reachable",
     "start the host, or correct its address"},
    {"Network is unreachable", Cause::kNetTimeoutFiltered, "is not reachable",
     "check the routes of this host"},
    {"timed out", Cause::kNetTimeoutFiltered,
     "does not respond on the SSH port",
     "start the host, or open the SSH port (firewall, security group)"},
    {"kex_exchange_identification", Cause::kNetWrongEndpoint,
     "accepts connections on the SSH port and closes them",
     "check sshd on the host: MaxStartups, and the allowed users"},
};

Finding Make(const SshEnd& end, Cause cause, std::string_view what,
             std::string_view fix) {
  Finding finding = MakeFinding(cause,
                                "ssh to " + Printable(end.login.Name()) +
                                    ": the host " + std::string(what),
                                Confidence::kCertain);
  finding.subjects = {end.login.Name()};
  finding.fixes.clear();
  std::string text(fix);
  if (const auto at = text.find("ssh HOST"); at != std::string::npos) {
    text.replace(at, 8, SshByHand(end.login));
  } else if (const auto of = text.find("HOST"); of != std::string::npos) {
    text.replace(of, 4, Printable(end.login.host));
  }
  if (!text.empty()) {
    finding.fixes.push_back({.text = std::move(text), .command = {}});
  }
  std::vector<std::string> lines;
  for (const std::string& line : Split(end.said, '\n')) {
    if (!Trim(line).empty() && !line.starts_with("@@@")) {
      lines.push_back(Printable(Trim(line)));
    }
  }
  // The last words are about the end.
  const std::size_t from =
      lines.size() > kMaxLines ? lines.size() - kMaxLines : 0;
  for (std::size_t i = from; i < lines.size(); ++i) {
    finding.evidence.push_back({.what = lines[i], .source = "ssh"});
  }
  return finding;
}

Finding StepFailed(const SshEnd& end) {
  const SshAnswer& answer = *end.answer;
  const std::string why = Printable(answer.why);
  if (answer.text == "jupyter") {
    return Make(end, Cause::kProgramNotFound,
                "has no `jupyter` on this user's PATH",
                "install it on the host: pip install jupyterlab");
  }
  if (Has(answer.why, "No space left") || Has(answer.why, "quota exceeded")) {
    return Make(
        end, Cause::kDiskFull, "has no space for muster: " + why,
        "free space on the host, or point XDG_CACHE_HOME to another disk");
  }
  if (answer.text == "directory") {
    return Make(end, Cause::kFileMissing, "has no folder " + why,
                "start the run in a folder that exists on all hosts");
  }
  if (answer.text == "copy") {
    return Make(end, Cause::kFilePermission,
                "could not unpack the copy: " + why,
                "install tar on the host, and create this user's home folder");
  }
  if (answer.text == "exec") {
    return Make(end, Cause::kProgramNotFound,
                "could not execute muster from the cache folder: " + why,
                "point XDG_CACHE_HOME on the host to a disk that is not "
                "mounted noexec, or install muster");
  }
  return Make(
      end, Cause::kFilePermission, "could not write muster: " + why,
      "create this user's home folder on the host, or set XDG_CACHE_HOME");
}

// One word for the login shell there.
std::string Quoted(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) {
    c == '\'' ? quoted += "'\\''" : quoted += c;
  }
  return quoted + "'";
}

// The same where it may stand as it is.
std::string InShell(const std::string& word) {
  const bool plain = std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '/' || c == '.' || c == '-' ||
           c == '_';
  });
  return plain ? word : Quoted(word);
}

void AddOption(std::vector<std::string>& argv, std::string option) {
  argv.emplace_back("-o");
  argv.push_back(std::move(option));
}

// A path that may have spaces.
std::string InQuotes(const std::string& path) {
  return "\"" + path + "\"";
}

void AddLogin(std::vector<std::string>& argv, const SshLogin& login) {
  if (!login.user.empty()) {
    AddOption(argv, "User=" + login.user);
  }
  if (!login.key_file.empty()) {
    argv.emplace_back("-i");
    argv.push_back(login.key_file);
    AddOption(argv, "IdentitiesOnly=yes");
  }
  if (!login.known_hosts.empty()) {
    AddOption(argv, "UserKnownHostsFile=" + InQuotes(login.known_hosts));
    AddOption(argv, "HostKeyAlias=" + login.host_key_name);
    AddOption(argv, "CheckHostIP=no");
    AddOption(argv, "HashKnownHosts=no");
    AddOption(argv, "UpdateHostKeys=no");
    AddOption(argv, "StrictHostKeyChecking=accept-new");
  }
}

void AddCommon(std::vector<std::string>& argv, const SshLogin& login,
               Duration limit) {
  const auto seconds = std::max<std::int64_t>(
      1, std::chrono::ceil<std::chrono::seconds>(limit).count());
  AddOption(argv, "ConnectTimeout=" + std::to_string(seconds));
  AddOption(argv, "ServerAliveInterval=5");
  AddOption(argv, "ServerAliveCountMax=3");
  AddOption(argv, "ControlMaster=no");
  AddOption(argv, "ControlPath=none");
  AddOption(argv, "ForwardAgent=no");
  AddOption(argv, "ForwardX11=no");
  AddLogin(argv, login);
}

// What this login has of its own to say.
Finding ForLogin(const SshLogin& login, Finding finding) {
  if (finding.cause == Cause::kSshAuthRefused && !login.if_refused.empty()) {
    finding.fixes = {{.text = login.if_refused, .command = {}}};
  }
  return finding;
}

// The key that is known is of another machine, or of an earlier life.
Finding KeyChanged(const SshLogin& login, Finding finding) {
  if (!login.known_hosts.empty()) {
    finding.fixes = {{.text =
                          "ask the owner of the TPU; only if its key changed "
                          "intentionally (it was reimaged), remove the old one",
                      .command = "ssh-keygen -f " + InShell(login.known_hosts) +
                                 " -R " + login.host_key_name}};
  }
  return finding;
}

}  // namespace

bool SaysLost(std::string_view said) {
  constexpr std::string_view kSaid[] = {
      "closed by remote host", "not responding",      "client_loop:",
      "Read from remote host", "Received disconnect", "Broken pipe"};
  return std::any_of(std::begin(kSaid), std::end(kSaid),
                     [&](std::string_view one) { return Has(said, one); });
}

std::string SshScript(const std::string& digest) {
  std::string script;
  for (const char c : kScript) {
    c == '%' ? script += digest : script += c;
  }
  return script;
}

std::string ShellLine(const std::string& script,
                      const std::vector<std::string>& words) {
  std::string line = "exec /bin/sh -c " + Quoted(script) + " muster-ssh";
  for (const std::string& word : words) {
    line += " " + Quoted(word);
  }
  return line;
}

std::string ToSshPlace(const SshPlace& place) {
  return place.directory + "\n" + place.copy + "\n" +
         std::to_string(place.archive_bytes) + "\n" +
         (place.keep ? "keep" : "remove") + "\n";
}

std::string WatchedScript() {
  return std::string(kWatched);
}

std::string NotebookScript() {
  constexpr std::string_view kReady = "echo \"muster-ssh ready\"; ";
  std::string script =
      R"sh(PATH="$HOME/.local/bin:$PATH"; )sh"
      R"sh(command -v jupyter >/dev/null || )sh"
      R"sh({ echo "muster-ssh failed jupyter"; exit 96; }; )sh" +
      std::string(kWatched);
  script.insert(script.find(kReady) + kReady.size(),
                R"sh(IFS= read -r JUPYTER_TOKEN || exit 97; )sh"
                R"sh(export JUPYTER_TOKEN; )sh");
  return script;
}

std::vector<std::string> SshCommand(const SshLogin& login, Duration limit,
                                    const std::string& remote) {
  std::vector<std::string> argv{"ssh", "-T"};
  AddOption(argv, "BatchMode=yes");
  AddCommon(argv, login, limit);
  argv.emplace_back("--");
  argv.push_back(login.host);
  argv.push_back(remote);
  return argv;
}

std::vector<std::string> SshForPerson(const SshLogin& login, Duration limit) {
  std::vector<std::string> argv{"ssh"};
  AddCommon(argv, login, limit);
  argv.emplace_back("--");
  argv.push_back(login.host);
  return argv;
}

std::string SshByHand(const SshLogin& login) {
  std::string line = "ssh ";
  line += login.key_file.empty() ? "" : "-i " + InShell(login.key_file) + " ";
  line += login.user.empty() ? "" : Printable(login.user) + "@";
  return line + Printable(login.host);
}

std::optional<SshAnswer> ReadSshAnswer(std::string_view line) {
  if (!line.starts_with(kSshWord)) {
    return std::nullopt;
  }
  line.remove_prefix(kSshWord.size());
  const auto space = line.find(' ');
  const std::string_view word = line.substr(0, space);
  const std::string rest(
      Trim(space == std::string_view::npos ? "" : line.substr(space)));
  if (word == "have") {
    return SshAnswer{.kind = SshAnswer::Kind::kHave, .text = {}, .why = {}};
  }
  if (word == "ready") {
    return SshAnswer{.kind = SshAnswer::Kind::kReady, .text = {}, .why = {}};
  }
  if (word == "need") {
    return SshAnswer{.kind = SshAnswer::Kind::kNeed, .text = rest, .why = {}};
  }
  const auto end = rest.find(' ');
  return SshAnswer{.kind = SshAnswer::Kind::kFailed,
                   .text = rest.substr(0, end),
                   .why = end == std::string::npos ? "" : rest.substr(end + 1)};
}

Finding WhyNotStarted(const SshEnd& end) {
  using Kind = SshAnswer::Kind;
  if (end.answer && end.answer->kind == Kind::kFailed) {
    return StepFailed(end);
  }
  if (end.answer && end.answer->kind == Kind::kNeed && !end.waited) {
    return Make(end, Cause::kVerAbi,
                "has another architecture (" + Printable(end.answer->text) +
                    ") than this host, so this muster does not run there",
                "install muster for that architecture on the host");
  }
  for (const Pattern& pattern : kPatterns) {
    if (Has(end.said, pattern.said)) {
      Finding finding = Make(end, pattern.cause, pattern.what, pattern.fix);
      return &pattern == &kPatterns[0]
                 ? KeyChanged(end.login, std::move(finding))
                 : ForLogin(end.login, std::move(finding));
    }
  }
  if (end.waited) {
    return Make(end, Cause::kDeadlineExceeded,
                std::string(end.answer ? "did not start muster within "
                                       : "did not complete the login within ") +
                    ToString(*end.waited),
                "log in manually to see what it waits for: ssh HOST true");
  }
  return Make(end, Cause::kPeerDied,
              "closed the connection with code " + std::to_string(end.code) +
                  " before muster started",
              "log in manually: ssh HOST true");
}

}  // namespace muster::remote
