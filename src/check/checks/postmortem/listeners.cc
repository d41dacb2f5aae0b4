// SPDX-License-Identifier: Apache-2.0
// The TCP ports on which something listens on this host now.
#include <cstdlib>
#include <set>

#include "base/text.h"
#include "check/check.h"

namespace muster::check::postmortem_listeners {
namespace {

// Of the table of sockets: some 100,000 of them.
constexpr std::size_t kMaxBytes = 16U << 20;
constexpr std::size_t kMaxPorts = 20;

// "  0: 0100007F:2103 00000000:0000 0A": a socket that listens.
void AddPorts(const std::string& table, std::set<std::int64_t>& ports) {
  for (const std::string& line : Split(table, '\n')) {
    std::vector<std::string> words = Split(line, ' ');
    std::erase(words, "");
    if (words.size() > 3 && words[3] == "0A") {
      ports.insert(std::strtol(words[1].substr(words[1].rfind(':') + 1).c_str(),
                               nullptr, 16));
    }
  }
}

std::string PortsText(const std::set<std::int64_t>& ports) {
  std::vector<std::string> texts;
  texts.reserve(ports.size());
  for (const std::int64_t port : ports) {
    texts.push_back(std::to_string(port));
  }
  return texts.empty() ? "no listeners"
                       : Count(std::ssize(texts), "port") +
                             " in use: " + JoinSome(texts, kMaxPorts);
}

Outcome Run(const Context& context) {
  std::set<std::int64_t> ports;
  std::string unread;
  for (const std::string table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    const auto text = context.host.fs.Read(table, kMaxBytes);
    if (text) {
      AddPorts(*text, ports);
    } else if (table == "/proc/net/tcp" ||
               text.error().cause() != Cause::kFileMissing) {
      // Without IPv6 there is no second table.
      unread += "; not readable: " + text.error().message();
    }
  }
  if (!unread.empty() && ports.empty()) {
    return Broken(unread.substr(2));
  }
  return Pass(PortsText(ports) + unread);
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "postmortem.listeners",
                   .title = "the ports on which this host listens",
                   .on_request = true,
                   .after_failure = true,
                   .before_run = BeforeRun::kNever,
                   .run = Run};

}  // namespace muster::check::postmortem_listeners
