// SPDX-License-Identifier: Apache-2.0
// A host with exactly what a test gives it.
#pragma once

#include "resolve/resolve.h"
#include "sys/fake/fake_clock.h"
#include "sys/fake/fake_env.h"
#include "sys/fake/fake_fs.h"
#include "sys/fake/fake_http.h"
#include "sys/fake/fake_names.h"

namespace muster::resolve {

struct FakeHere {
  sys::FakeEnv env;
  sys::FakeClock clock;
  sys::FakeFs fs;
  sys::FakeHttp http;
  sys::FakeNames names;
  Request request;

  FakeHere() {
    env.hostname = "w-1";
    env.addresses = {"127.0.0.1", "::1", "10.0.0.2"};
  }
  Result<Resolved> Ask() {
    return Resolve(
        request,
        {.env = env, .clock = clock, .fs = fs, .http = &http, .names = &names});
  }
  // "" when it was resolved.
  std::string Refusal() {
    const auto resolved = Ask();
    return resolved ? "" : resolved.error().ToString();
  }
  // An attribute of the metadata server.
  void Metadata(const std::string& path, const std::string& body) {
    http.answers["http://metadata.google.internal/computeMetadata/v1/" + path] =
        {.response = {.status = 200,
                      .headers = {{"metadata-flavor", "Google"}},
                      .body = body}};
  }
  // A JSON answer of any server.
  void Json(const std::string& url, const std::string& body, int status = 200) {
    http.answers[url] = {.response = {.status = status, .body = body}};
  }
};

}  // namespace muster::resolve
