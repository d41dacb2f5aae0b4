// SPDX-License-Identifier: Apache-2.0
// What the resolvers of other projects assert, as data: our answer equals
// theirs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/json.h"
#include "resolve/resolve.h"
#include "sys/fake/fake_clock.h"
#include "sys/fake/fake_env.h"
#include "sys/fake/fake_fs.h"

namespace muster::resolve {
namespace {

// Cases that ask for what `resolve` does not do, and why.
const std::map<std::string, std::string>& NotAsked() {
  static const std::map<std::string, std::string> cases{
      {"tf-config-index-override", "arguments of a constructor"},
      {"tf-config-override-ctor", "arguments of a constructor"},
      {"tf-config-override-later", "arguments of a setter"},
      {"torchrun-env-url-rank", "a rendezvous URL"},
      {"torchrun-env-url-world-size", "a rendezvous URL"},
  };
  return cases;
}

std::vector<Json> Cases() {
  std::ifstream in(MUSTER_TEST_DATA "/resolve/cases.json");
  std::stringstream text;
  text << in.rdbuf();
  return Json::parse(text.str()).get<std::vector<Json>>();
}

class PeerCase : public testing::TestWithParam<Json> {
 protected:
  Result<Resolved> Ask() {
    env_.addresses.clear();
    for (const auto& [name, value] : GetParam()["env"].items()) {
      std::string text = value.get<std::string>();
      // The peers take port 0; nobody can be reached there.
      for (auto at = text.find(":0\""); at != std::string::npos;
           at = text.find(":0\"")) {
        text.replace(at, 2, ":9");
      }
      env_.variables[name] = text;
    }
    return Resolve({}, {env_, clock_, fs_});
  }

  sys::FakeEnv env_;
  sys::FakeClock clock_;
  sys::FakeFs fs_;
};

void ExpectSpec(const Cluster& cluster, const Json& expected) {
  const auto spec = cluster.Spec();
  if (expected.empty()) {
    EXPECT_EQ(cluster.size.value, 1);
    return;
  }
  EXPECT_EQ(spec.size(), expected.size());
  for (const auto& [task, addresses] : expected.items()) {
    auto wanted = addresses.get<std::vector<std::string>>();
    for (std::string& address : wanted) {
      address = address.ends_with(":0")
                    ? address.substr(0, address.size() - 1) + "9"
                    : address;
    }
    ASSERT_TRUE(spec.count(task)) << task;
    EXPECT_EQ(spec.at(task), wanted) << task;
  }
}

void ExpectEqual(const Cluster& cluster, const Json& expect) {
  if (expect.contains("cluster_spec")) {
    ExpectSpec(cluster, expect["cluster_spec"]);
  }
  const Member* self =
      cluster.self
          ? &cluster.members[static_cast<std::size_t>(cluster.self->value)]
          : nullptr;
  for (const auto& [key, value] : expect.items()) {
    if (key == "task_type") {
      EXPECT_EQ(self->task, value);
    } else if (key == "task_id") {
      EXPECT_EQ(self->index, value);
    } else if (key == "global_id" && self->task != "other_type") {
      // Tasks of other names come after the workers with us, before with them.
      EXPECT_EQ(self->rank, value);
    } else if (key == "process_id") {
      EXPECT_EQ(self->rank, value);
    } else if (key == "num_processes") {
      EXPECT_EQ(cluster.size.value, value);
    } else if (key == "coordinator_host") {
      EXPECT_EQ(cluster.coordinator->value.host, value);
    } else if (key == "coordinator_port") {
      EXPECT_EQ(cluster.coordinator->value.port, value);
    }
  }
}

TEST_P(PeerCase, GivesTheSameAnswer) {
  const Json& one = GetParam();
  if (const auto found = NotAsked().find(one["id"]);
      found != NotAsked().end()) {
    GTEST_SKIP() << found->second;
  }
  auto resolved = Ask();
  if (one.contains("expect_error")) {
    ASSERT_FALSE(resolved) << one["expect_error"];
    for (const Json& name : one["error_must_name"]) {
      EXPECT_THAT(resolved.error().ToString(),
                  testing::HasSubstr(name.get<std::string>()));
    }
    return;
  }
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  ExpectEqual(resolved->cluster, one["expect"]);
}

std::string NameOf(const testing::TestParamInfo<Json>& info) {
  auto name = info.param["id"].get<std::string>();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, PeerCase, testing::ValuesIn(Cases()), NameOf);

}  // namespace
}  // namespace muster::resolve
