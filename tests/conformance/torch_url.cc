// SPDX-License-Identifier: Apache-2.0
#include "torch_url.h"

#include <map>

#include "base/text.h"
#include "resolve/formats/endpoint.h"

namespace muster::conformance {
namespace {

Error Wrong(std::string_view text, std::size_t at, const std::string& what) {
  return Error(Cause::kClusterSpecInvalid,
               "the URL `" + Printable(text.substr(0, 200)) + "`: " + what +
                   " at position " + std::to_string(at + 1));
}

// Where the value of `key` stands in the query; the last one counts.
std::size_t PlaceOfValue(std::string_view url, std::string_view key) {
  const std::string wanted = std::string(key) + "=";
  auto at = url.rfind(wanted);
  while (at != std::string_view::npos && at > 0 && url[at - 1] != '?' &&
         url[at - 1] != '&') {
    at = url.rfind(wanted, at - 1);
  }
  return at == std::string_view::npos ? url.size() : at + wanted.size();
}

Result<std::optional<int>> NumberIn(std::string_view url, const char* key,
                                    const std::string* text,
                                    std::optional<int> given) {
  if (text == nullptr) {
    return given;
  }
  const std::size_t at = PlaceOfValue(url, key);
  if (given) {
    return Wrong(url, at,
                 std::string(key) + " is in the URL and given beside it,");
  }
  const auto number = ParseInt(*text);
  if (!number || *number < 0 || *number > 1'000'000) {
    return Wrong(url, at,
                 std::string(key) + " is `" + Printable(*text) +
                     "`, which is no whole number,");
  }
  return std::optional<int>(static_cast<int>(*number));
}

// `target` is what follows SCHEME://, up to the query.
Status ReadTarget(std::string_view text, std::string_view target,
                  TorchUrl& url) {
  const auto begin = url.scheme.size() + 3;
  if (url.scheme == "env") {
    return Ok();
  }
  if (url.scheme == "file") {
    // What stands before the first slash is the host, as in every URL.
    const auto slash = target.find('/');
    if (slash == std::string_view::npos) {
      return Wrong(text, begin, "the path is missing (file:///PATH)");
    }
    url.path = target.substr(slash);
    return Ok();
  }
  if (url.scheme != "tcp") {
    return Wrong(text, 0,
                 "there is no rendezvous of the scheme `" +
                     Printable(url.scheme) + "` (env, tcp and file are known)");
  }
  const auto place = target.substr(0, target.find('/'));
  if (place.empty() || place.front() == ':') {
    return Wrong(text, begin, "the host is missing");
  }
  auto split = resolve::SplitHostPort(place);
  if (!split) {
    return std::move(split).error().While("reading `" +
                                          Printable(text.substr(0, 200)) + "`");
  }
  if (!split->port) {
    return Wrong(text, begin + place.size(), "the port is missing");
  }
  url.host = split->host;
  url.port = split->port;
  return Ok();
}

// "a=1&b=2"; a key without `=` has an empty value.
std::map<std::string, std::string> ParseQuery(std::string_view text) {
  std::map<std::string, std::string> values;
  for (const std::string& pair : Split(text, '&')) {
    const auto equals = pair.find('=');
    if (!pair.empty()) {
      values[pair.substr(0, equals)] =
          equals == std::string::npos ? "" : pair.substr(equals + 1);
    }
  }
  return values;
}

}  // namespace

Result<TorchUrl> ParseTorchUrl(std::string_view text, std::optional<int> rank,
                               std::optional<int> world_size) {
  const auto colon = text.find("://");
  if (colon == std::string_view::npos || text.size() > 4096) {
    return Wrong(text, 0, "it is not SCHEME://…");
  }
  TorchUrl url{.scheme = std::string(text.substr(0, colon))};
  const auto rest = text.substr(colon + 3);
  const auto mark = rest.find('?');
  MUSTER_TRY(ReadTarget(text, rest.substr(0, mark), url));
  const auto query = mark == std::string_view::npos
                         ? std::map<std::string, std::string>()
                         : ParseQuery(rest.substr(mark + 1));
  const auto find = [&](const char* key) {
    const auto found = query.find(key);
    return found == query.end() ? nullptr : &found->second;
  };
  MUSTER_ASSIGN(url.rank, NumberIn(text, "rank", find("rank"), rank));
  MUSTER_ASSIGN(url.world_size,
                NumberIn(text, "world_size", find("world_size"), world_size));
  if (url.scheme != "env") {
    if (!url.rank) {
      return Wrong(text, text.size(), "the rank is missing");
    }
    if (!url.world_size) {
      return Wrong(text, text.size(), "the world_size is missing");
    }
  }
  if (url.rank && url.world_size && *url.rank >= *url.world_size) {
    return Error(Cause::kRankWorldMismatch,
                 "rank " + std::to_string(*url.rank) +
                     " is outside of world_size " +
                     std::to_string(*url.world_size));
  }
  return url;
}

}  // namespace muster::conformance
