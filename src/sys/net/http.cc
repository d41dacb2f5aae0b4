// SPDX-License-Identifier: Apache-2.0
#include "sys/net/http.h"

#include <chrono>

#include "base/text.h"

namespace muster::sys {
namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";

int HexValue(char c) {
  const auto at = kHex.find(static_cast<char>(c >= 'a' ? c - 32 : c));
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

}  // namespace

std::string HttpResponse::Header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

UrlParts SplitUrl(const std::string& url) {
  const auto scheme = url.find("://");
  const auto from = scheme == std::string::npos ? 0 : scheme + 3;
  const auto slash = std::min(url.find_first_of("/?", from), url.size());
  const auto mark = std::min(url.find('?', slash), url.size());
  return {.host = url.substr(from, slash - from),
          .path = url.substr(slash, mark - slash),
          .query = mark < url.size() ? url.substr(mark + 1) : ""};
}

std::string PercentEncode(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') || c == '-' || c == '.' ||
                       c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    }
  }
  return out;
}

std::string PercentDecode(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && HexValue(text[i + 1]) >= 0 &&
        HexValue(text[i + 2]) >= 0) {
      out +=
          static_cast<char>(HexValue(text[i + 1]) * 16 + HexValue(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

Result<HttpResponse> CachingHttp::Send(const HttpRequest& request) {
  const std::string key = request.method + " " + request.url;
  if (const auto known = answers_.find(key); known != answers_.end()) {
    return known->second;
  }
  const std::string host = SplitUrl(request.url).host;
  if (const auto silent = silent_hosts_.find(host);
      silent != silent_hosts_.end()) {
    return silent->second;
  }
  if (left_ <= Duration::zero()) {
    return Error(Cause::kNetTimeoutFiltered,
                 "`" + host +
                     "` was not contacted: other hosts that did not respond "
                     "used up the time");
  }
  HttpRequest bounded = request;
  bounded.timeout = std::min(bounded.timeout, left_);
  bounded.connect_timeout = std::min(bounded.connect_timeout, bounded.timeout);
  const auto from = std::chrono::steady_clock::now();
  auto answer = http_.Send(bounded);
  if (!answer) {
    left_ -= std::chrono::steady_clock::now() - from;
    silent_hosts_.emplace(host, answer.error());
  } else if (answer->status >= 500) {
    return answer;  // it may be better soon
  }
  return answers_.emplace(key, std::move(answer)).first->second;
}

}  // namespace muster::sys
