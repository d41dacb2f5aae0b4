// SPDX-License-Identifier: Apache-2.0
// What tests share that start agents over ssh or ask for a TPU.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>

#include "base/json.h"
#include "resolve/platform/cloud_tpu.h"
#include "sys/fake/fake_env.h"
#include "sys/process/spawner.h"
#include "sys/testing.h"
#include "sys/time/loop.h"

namespace muster::remote {

// The system's ssh as a script of the test, and a loop that waits for it for
// 20 s at most.
class ScriptedSsh {
 public:
  ScriptedSsh() {
    EXPECT_TRUE(spawner->Attach(*loop));
    env.variables = {{"PATH", folder.path() + ":/usr/bin:/bin"},
                     {"HOME", folder.path()}};
    env.directory = folder.path();
    limit_ = loop->After(std::chrono::seconds(20), [this] {
      ADD_FAILURE() << "nothing has come for 20 s";
      loop->Quit();
    });
  }

  // What ssh does, in the language of /bin/sh. Its last argument is what the
  // login shell of the host would get.
  void Does(const std::string& script) const {
    const std::string path = folder / "ssh";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  // It runs that on this machine.
  void RunsHere() const {
    Does("for last; do :; done; exec /bin/sh -c \"$last\"");
  }

  // Whatever may make it true quits the loop.
  void Until(const std::function<bool()>& done) const {
    while (!done() && limit_.active()) {
      loop->Run();
    }
    EXPECT_TRUE(done());
  }

  sys::TemporaryFolder folder;
  sys::FakeEnv env;
  std::unique_ptr<sys::GuardianSpawner> spawner =
      sys::GuardianSpawner::Fork().value();
  std::unique_ptr<sys::Loop> loop = sys::Loop::Make().value();
  sys::Console console{*loop, {}};

 private:
  sys::Loop::Handle limit_;
};

// A TPU of two workers, as the API shows it.
inline Json TpuJson(const std::string& state, const std::string& id = "17") {
  return {{"name", "projects/p/locations/z/nodes/t"},
          {"id", id},
          {"state", state},
          {"health", "HEALTHY"},
          {"acceleratorType", "v4-16"},
          {"runtimeVersion", "tpu-ubuntu2204-base"},
          {"networkEndpoints",
           {{{"ipAddress", "10.0.0.2"}}, {{"ipAddress", "10.0.0.3"}}}}};
}
inline resolve::TpuNode Tpu(const Json& json) {
  return {cloud::ToTpuNode(json),
          {.name = "t",
           .project = "p",
           .project_source = "test",
           .zone = "z",
           .zone_source = "test"}};
}

}  // namespace muster::remote
