// SPDX-License-Identifier: Apache-2.0
#include "run/ssh.h"

#include <algorithm>

#include "base/text.h"

namespace muster::run {
namespace {

constexpr std::size_t kMostLines = 5;

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
    R"sh(IFS= read -r d || exit 97; cd -- "$d" || no directory "$d"; )sh"
    R"sh(echo "$w ready"; exec "$m" run --from-stdin)sh";

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
     "shows another host key than the one that is known: another machine "
     "answers at this address, or it was installed anew",
     "ask who runs the host; only when its key was changed on purpose: "
     "ssh-keygen -R HOST"},
    {"Host key verification failed", Cause::kUsageInvalid,
     "has a host key that is in no known_hosts file: nobody vouches for it",
     "compare the key with the host's own, then accept it: ssh HOST true"},
    {"Permission denied", Cause::kCloudAuthMissing,
     "refuses this user: none of the keys is accepted",
     "log in without a password once: ssh -o BatchMode=yes HOST true"},
    {"Too many authentication failures", Cause::kCloudAuthMissing,
     "refuses this user: too many keys were tried",
     "name the key of this host in ~/.ssh/config (IdentityFile, "
     "IdentitiesOnly)"},
    {"Could not resolve hostname", Cause::kNetNameResolution,
     "has a name that does not resolve here", "correct the name of the host"},
    {"banner exchange", Cause::kNetWrongEndpoint,
     "takes connections at the port of ssh and stays silent",
     "look at the host: its sshd is stopped or overloaded"},
    {"Connection refused", Cause::kNetWrongEndpoint,
     "is up and runs no ssh server at this port",
     "start sshd there, or give its port in ~/.ssh/config"},
    {"No route to host", Cause::kNetTimeoutFiltered, "cannot be reached",
     "start the host, or correct its address"},
    {"Network is unreachable", Cause::kNetTimeoutFiltered, "cannot be reached",
     "look at the routes of this host"},
    {"timed out", Cause::kNetTimeoutFiltered,
     "gives no answer at the port of ssh",
     "start the host, or open the port of ssh (firewall, security group)"},
    {"kex_exchange_identification", Cause::kNetWrongEndpoint,
     "takes connections at the port of ssh and closes them",
     "look at sshd there: MaxStartups, and who may connect"},
};

Finding Make(const SshEnd& end, Cause cause, std::string_view what,
             std::string_view fix) {
  Finding finding = MakeFinding(
      cause,
      "ssh to " + Printable(end.host) + ": the host " + std::string(what),
      Confidence::kCertain);
  finding.subjects = {end.host};
  finding.fixes.clear();
  std::string text(fix);
  if (const auto at = text.find("HOST"); at != std::string::npos) {
    text.replace(at, 4, Printable(end.host));
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
      lines.size() > kMostLines ? lines.size() - kMostLines : 0;
  for (std::size_t i = from; i < lines.size(); ++i) {
    finding.evidence.push_back({.what = lines[i], .source = "ssh"});
  }
  return finding;
}

Finding StepFailed(const SshEnd& end) {
  const SshAnswer& answer = *end.answer;
  const std::string why = Printable(answer.why);
  if (Has(answer.why, "No space left") || Has(answer.why, "quota exceeded")) {
    return Make(end, Cause::kDiskFull, "has no space for muster: " + why,
                "free space there, or point XDG_CACHE_HOME to another disk");
  }
  if (answer.text == "directory") {
    return Make(end, Cause::kFileMissing, "has no folder " + why,
                "start the run in a folder that all hosts have");
  }
  if (answer.text == "exec") {
    return Make(end, Cause::kProgramNotFound,
                "does not let muster run from its cache: " + why,
                "point XDG_CACHE_HOME there to a disk that is not mounted "
                "noexec, or install muster");
  }
  return Make(end, Cause::kFilePermission,
              "does not let muster be written: " + why,
              "give this user a home folder there, or set XDG_CACHE_HOME");
}

}  // namespace

std::string SshScript(const std::string& digest) {
  std::string script;
  for (const char c : kScript) {
    c == '%' ? script += digest : script += c;
  }
  return script;
}

std::vector<std::string> SshCommand(const std::string& host, Duration limit,
                                    const std::string& digest) {
  const auto seconds = std::max<std::int64_t>(
      1, std::chrono::ceil<std::chrono::seconds>(limit).count());
  return {"ssh",
          "-T",
          "-o",
          "BatchMode=yes",
          "-o",
          "ConnectTimeout=" + std::to_string(seconds),
          "-o",
          "ServerAliveInterval=5",
          "-o",
          "ServerAliveCountMax=3",
          "-o",
          "ControlMaster=no",
          "-o",
          "ControlPath=none",
          "-o",
          "ForwardAgent=no",
          "-o",
          "ForwardX11=no",
          "--",
          host,
          "exec /bin/sh -c '" + SshScript(digest) + "'"};
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
                "is another kind of machine (" + Printable(end.answer->text) +
                    ") than this one, so that this muster does not run there",
                "install muster for it there");
  }
  for (const Pattern& pattern : kPatterns) {
    if (Has(end.said, pattern.said)) {
      return Make(end, pattern.cause, pattern.what, pattern.fix);
    }
  }
  if (end.waited) {
    return Make(end, Cause::kDeadlineExceeded,
                std::string(end.answer ? "did not start muster within "
                                       : "did not let this user in within ") +
                    ToText(*end.waited),
                "log in by hand and see what it waits for: ssh HOST true");
  }
  return Make(end, Cause::kPeerDied,
              "ended the connection with code " + std::to_string(end.code) +
                  " before muster ran",
              "log in by hand: ssh HOST true");
}

}  // namespace muster::run
