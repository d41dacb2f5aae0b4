// SPDX-License-Identifier: Apache-2.0
#include "sys/fake/fake_http.h"

#include "base/text.h"

namespace muster::sys {
namespace {

std::map<std::string, std::string> Parameters(const std::string& query) {
  std::map<std::string, std::string> parameters;
  for (const std::string& pair : Split(query, '&')) {
    const auto equals = pair.find('=');
    parameters[PercentDecode(pair.substr(0, equals))] =
        equals == std::string::npos ? ""
                                    : PercentDecode(pair.substr(equals + 1));
  }
  return parameters;
}

// Every parameter of the listed URL is in the asked one.
bool Fits(const UrlParts& listed, const UrlParts& asked) {
  if (listed.host != asked.host || listed.path != asked.path) {
    return false;
  }
  const auto given = Parameters(asked.query);
  for (const auto& [name, value] : Parameters(listed.query)) {
    const auto found = given.find(name);
    if (found == given.end() || found->second != value) {
      return false;
    }
  }
  return true;
}

bool IsMetadata(const std::string& path) {
  return path.starts_with("/computeMetadata/");
}

Error Fault(const std::string& fault, const std::string& host) {
  if (fault == "timeout") {
    return Error(Cause::kNetTimeoutFiltered,
                 "`" + host + "` did not respond in time");
  }
  if (fault == "refused") {
    return Error(Cause::kNetWrongEndpoint,
                 "`" + host + "` refused the connection");
  }
  return Error(Cause::kNetNameResolution, "`" + host + "` does not resolve");
}

}  // namespace

Result<HttpResponse> FakeHttp::Send(const HttpRequest& request) {
  requests.push_back(request);
  const UrlParts asked = SplitUrl(request.url);
  bool known_host = false;
  // From the last: of two that fit, the one with more parameters.
  for (auto it = answers.rbegin(); it != answers.rend(); ++it) {
    const auto& [url, answer] = *it;
    const UrlParts listed = SplitUrl(url);
    known_host =
        known_host || (listed.host == asked.host && answer.fault != "nxdomain");
    if (!Fits(listed, asked)) {
      continue;
    }
    if (!answer.fault.empty()) {
      return Fault(answer.fault, asked.host);
    }
    const auto flavor = request.headers.find("Metadata-Flavor");
    if (IsMetadata(asked.path) &&
        (flavor == request.headers.end() || flavor->second != "Google")) {
      return HttpResponse{.status = 403, .body = "missing Metadata-Flavor"};
    }
    return answer.response;
  }
  if (!known_host) {
    return Fault("nxdomain", asked.host);
  }
  HttpResponse missing{.status = 404,
                       .body = "<!DOCTYPE html><html>not found</html>"};
  if (IsMetadata(asked.path) && flavor_on_404) {
    missing.headers["metadata-flavor"] = "Google";
  }
  return missing;
}

}  // namespace muster::sys
