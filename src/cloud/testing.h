// SPDX-License-Identifier: Apache-2.0
// A host with exactly what a test gives it, and a server that plays a script.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "cloud/auth/credentials.h"
#include "sys/host.h"

namespace muster::cloud {

// Answers in turn, whatever is asked; the last one for ever.
class ScriptedHttp : public sys::Http {
 public:
  std::deque<Result<sys::HttpResponse>> answers;
  std::vector<sys::HttpRequest> requests;

  void Answer(int status, std::string body,
              std::map<std::string, std::string> headers = {}) {
    answers.emplace_back(sys::HttpResponse{.status = status,
                                           .headers = std::move(headers),
                                           .body = std::move(body)});
  }
  Result<sys::HttpResponse> Send(const sys::HttpRequest& request) override {
    requests.push_back(request);
    MUSTER_CHECK(!answers.empty());
    auto answer = answers.front();
    if (answers.size() > 1) {
      answers.pop_front();
    }
    return answer;
  }
};

struct FakeCloud {
  sys::FakeEnv env;
  sys::FakeClock clock;
  sys::FakeFs fs;
  ScriptedHttp http;
  std::vector<Duration> pauses;  // that were waited
  sys::Host host{.env = env, .clock = clock, .fs = fs, .http = &http};

  Patience Patient() {
    return {.deadline = Deadline::After(std::chrono::hours(1)),
            .pause = [this](Duration pause) {
              pauses.push_back(pause);
              return true;
            }};
  }
  // Credentials in a file that the environment names.
  void GiveFile(const std::string& json) {
    env.variables["GOOGLE_APPLICATION_CREDENTIALS"] = "/k.json";
    fs.files["/k.json"] = json;
  }
};

}  // namespace muster::cloud
