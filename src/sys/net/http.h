// SPDX-License-Identifier: Apache-2.0
// One HTTP request with its deadlines; the real client is in a library of its
// own (sys/curl_http.h), which brings libcurl.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "muster/deadline.h"
#include "muster/error.h"

namespace muster::sys {

struct HttpRequest {
  std::string url;
  std::string method = "GET";
  std::map<std::string, std::string> headers;  // may hold a token: never logged
  std::string body;
  Duration connect_timeout = std::chrono::seconds(1);
  Duration timeout = std::chrono::seconds(2);
  std::string ca_file;                // empty: the system's
  std::string proxy;                  // empty: none; may hold a password
  std::size_t most_bytes = 4U << 20;  // of the answer's body
};

struct HttpResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  std::string Header(const std::string& name) const;
};

// An answer of any status is a response. Errors: net-name-resolution,
// net-wrong-endpoint (refused, reset, not HTTP; with the fact http.tls_failed:
// a certificate that is not trusted), net-timeout-filtered, file-corrupt
// (larger than most_bytes), net-proxy (the proxy that the request names does
// not let it through). Through no other proxy, whatever the environment says,
// never redirected. One thread at a time.
class Http {
 public:
  virtual ~Http() = default;
  virtual Result<HttpResponse> Send(const HttpRequest& request) = 0;
};

// Asks each URL once for the life of the object, a host that did not answer
// never again, and nothing once `total` has been spent on those that did not.
class PatientHttp : public Http {
 public:
  PatientHttp(Http& http, Duration total) : http_(http), left_(total) {}
  Result<HttpResponse> Send(const HttpRequest& request) override;
  // Another `total` to wait; what was answered stays answered.
  void Refill(Duration total) { left_ = total; }

 private:
  Http& http_;
  Duration left_;
  std::map<std::string, Result<HttpResponse>> answers_;
  std::map<std::string, Error> silent_hosts_;
};

// For tests: answers by URL. A host without any answer does not resolve; a URL
// without one on a host that has some is 404. Query parameters that the
// listed URL does not have are ignored, as is their order.
class FakeHttp : public Http {
 public:
  struct Answer {
    HttpResponse response;
    std::string fault;  // "", nxdomain, timeout, refused
  };
  std::map<std::string, Answer> answers;
  // What a 404 of the metadata server carries.
  bool flavor_on_404 = true;
  std::vector<HttpRequest> requests;  // that were sent

  Result<HttpResponse> Send(const HttpRequest& request) override;
};

// "http://host:80/path?query" in parts; the host with its port.
struct UrlParts {
  std::string host;
  std::string path;
  std::string query;
};
UrlParts SplitUrl(const std::string& url);
// %XX for all that is no letter, digit, `-`, `.`, `_` or `~`; and back.
std::string PercentEncode(const std::string& text);
std::string PercentDecode(const std::string& text);

}  // namespace muster::sys
