// SPDX-License-Identifier: Apache-2.0
#include "resolve/grammar/torch_url.h"

#include "base/text.h"
#include "resolve/grammar/endpoint.h"
#include "resolve/grammar/key_values.h"

namespace muster::resolve {
namespace {

Error Wrong(std::string_view text, const std::string& what) {
  return Error(Cause::kClusterSpecInvalid,
               "the URL `" + Printable(text.substr(0, 200)) + "`: " + what);
}

Result<std::optional<int>> Number(std::string_view url, const char* key,
                                  const std::string* text,
                                  std::optional<int> given) {
  if (text == nullptr) {
    return given;
  }
  if (given) {
    return Wrong(url, std::string(key) + " is in the URL and given beside it");
  }
  const auto number = ParseInt(*text);
  if (!number || *number < 0 || *number > 1'000'000) {
    return Wrong(url, std::string(key) + " is `" + Printable(*text) +
                          "`, which is no whole number");
  }
  return std::optional<int>(static_cast<int>(*number));
}

Status ReadTarget(std::string_view text, std::string_view target,
                  TorchUrl& url) {
  if (url.scheme == "env") {
    return Ok();
  }
  if (url.scheme == "file") {
    url.path = target;
    return target.empty() ? Status(Wrong(text, "the path is missing")) : Ok();
  }
  if (url.scheme != "tcp") {
    return Wrong(text, "there is no rendezvous of the scheme `" +
                           Printable(url.scheme) +
                           "`: env, tcp and file are known");
  }
  const auto slash = target.find('/');
  const auto place = target.substr(0, slash);
  if (place.empty() || place.front() == ':') {
    return Wrong(text, "the host is missing");
  }
  MUSTER_ASSIGN(const auto split, SplitHostPort(place));
  if (!split.port) {
    return Wrong(text, "the port is missing");
  }
  url.host = split.host;
  url.port = split.port;
  return Ok();
}

}  // namespace

Result<TorchUrl> ParseTorchUrl(std::string_view text, std::optional<int> rank,
                               std::optional<int> world_size) {
  const auto colon = text.find("://");
  if (colon == std::string_view::npos || text.size() > 4096) {
    return Wrong(text, "it is not SCHEME://…");
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
  MUSTER_ASSIGN(url.rank, Number(text, "rank", find("rank"), rank));
  MUSTER_ASSIGN(url.world_size,
                Number(text, "world_size", find("world_size"), world_size));
  if (url.scheme != "env") {
    if (!url.rank) {
      return Wrong(text, "the rank is missing");
    }
    if (!url.world_size) {
      return Wrong(text, "the world_size is missing");
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

Result<NodeRange> ParseNodeRange(std::string_view text) {
  const auto parts = Split(Trim(text), ':');
  NodeRange range;
  bool good = parts.size() == 1 || parts.size() == 2;
  for (std::size_t i = 0; good && i < parts.size(); ++i) {
    const auto number = ParseInt(parts[i]);
    good = number && *number >= 0 && *number <= 1'000'000;
    if (good) {
      (i == 0 ? range.least : range.most) = static_cast<int>(*number);
    }
  }
  if (!good) {
    return Error(Cause::kClusterSpecInvalid, "the number of nodes is `" +
                                                 Printable(text) +
                                                 "`, it must be N or MIN:MAX");
  }
  if (parts.size() == 1) {
    range.most = range.least;
  }
  if (range.most < range.least || range.most < 1) {
    return Error(Cause::kClusterSpecInvalid,
                 "the number of nodes is `" + Printable(text) +
                     "`, where MIN is above MAX or nobody is left");
  }
  return range;
}

}  // namespace muster::resolve
