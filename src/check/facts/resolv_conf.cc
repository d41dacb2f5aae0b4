// SPDX-License-Identifier: Apache-2.0
#include "check/facts/resolv_conf.h"

#include <algorithm>

#include "base/text.h"

namespace muster::check {

Result<Resolver> ReadResolver(const sys::Fs& fs) {
  MUSTER_ASSIGN(std::string text, fs.Read("/etc/resolv.conf"));
  std::replace(text.begin(), text.end(), '\t', ' ');
  Resolver resolver;
  for (const std::string& line : Split(text, '\n')) {
    std::vector<std::string> words = Split(Trim(line), ' ');
    std::erase(words, "");
    if (words.size() < 2) {
      continue;
    }
    const std::string kind = words.front();
    words.erase(words.begin());
    if (kind == "nameserver") {
      resolver.servers.push_back(words.front());
    } else if (kind == "search" || kind == "domain") {
      resolver.search = words;  // the last line of its kind holds
    } else if (kind == "options") {
      resolver.options.insert(resolver.options.end(), words.begin(),
                              words.end());
    }
  }
  return resolver;
}

std::string ServersText(const Resolver& resolver) {
  std::vector<std::string> parts;
  for (const std::string& server : resolver.servers) {
    parts.push_back("nameserver " + server);
  }
  if (!resolver.search.empty()) {
    parts.push_back("search " + Join(resolver.search, " "));
  }
  if (!resolver.options.empty()) {
    parts.push_back("options " + Join(resolver.options, " "));
  }
  return parts.empty() ? "names no server" : Printable(Join(parts, ", "));
}

}  // namespace muster::check
