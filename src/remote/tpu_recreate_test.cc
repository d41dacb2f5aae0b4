// SPDX-License-Identifier: Apache-2.0
#include "remote/tpu_recreate.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "remote/testing.h"
#include "sys/fake/fake_clock.h"
#include "sys/fake/fake_fs.h"

namespace muster::remote {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The TPU `t` and perhaps the queued resource `q` in a cloud that does at once
// what it is asked for.
class Cloud : public sys::Http {
 public:
  Json node, queued;                 // null: there is none
  std::vector<std::string> changes;  // "DELETE t", "POST t"
  bool refuses = false;              // to change anything

  Result<sys::HttpResponse> Send(const sys::HttpRequest& request) override {
    const std::string path = sys::SplitUrl(request.url).path;
    if (request.method != "GET") {
      changes.push_back(request.method + " " +
                        path.substr(path.rfind('/') + 1));
      return refuses ? Answer(403, {}) : Change(request, path);
    }
    if (path.find("/operations/") != std::string::npos) {
      return Answer(200, Operation());
    }
    const Json& asked = path.ends_with("/nodes/t") ? node : queued;
    return asked.is_null() ? Answer(404, {}) : Answer(200, asked);
  }

 private:
  static Json Operation() {
    return {{"name", "projects/p/locations/z/operations/o"}, {"done", true}};
  }
  static sys::HttpResponse Answer(int status, Json body) {
    if (status != 200) {
      body = {{"error", {{"code", status}, {"message", "no"}}}};
    }
    return {.status = status, .headers = {}, .body = body.dump()};
  }
  sys::HttpResponse Change(const sys::HttpRequest& request,
                           const std::string& path) {
    if (request.method == "DELETE") {
      node = Json();
      queued = Json();
    } else if (path.ends_with("/nodes")) {
      node = TpuJson("READY", "18");
      node["labels"] = Json::parse(request.body, nullptr, false)["labels"];
    }
    return Answer(200, Operation());
  }
};

class RecreatorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // Nobody is there to be asked, wherever the test runs.
    const sys::Fd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
    dup2(null.get(), 0);
    flags.settings = *settings::ReadSettings({{"poll", "1ms"}}, env);
    flags.reach.recreate = true;
    Loses(TpuJson("READY"), TpuJson("PREEMPTED"));
  }
  // The TPU of the run, and what has become of it since.
  void Loses(const Json& was, const Json& is) {
    lost = Tpu(was);
    cloud->node = is;
  }
  Result<bool> Replace() { return recreator.Replace(lost); }
  Cause WhyNot() {
    const auto replaced = Replace();
    EXPECT_FALSE(replaced);
    return replaced ? Cause::kInternalError : replaced.error().cause();
  }

  sys::FakeEnv env = [] {
    sys::FakeEnv with;
    with.variables = {{"XDG_STATE_HOME", "/state"},
                      {"CLOUDSDK_AUTH_ACCESS_TOKEN", "t"}};
    return with;
  }();
  sys::FakeClock clock;
  sys::FakeFs fs;
  const sys::Host host{.env = env, .clock = clock, .fs = fs};
  settings::RunFlags flags;
  resolve::TpuNode lost;
  Cloud* const cloud = new Cloud;  // of the recreator
  int reached = 0;                 // workers that were tried
  Recreator recreator{flags,
                      host,
                      {.http = std::unique_ptr<sys::Http>(cloud),
                       .reach = [this](const cloud::TpuNode&) -> Status {
                         ++reached;
                         return Ok();
                       }}};
};

TEST_F(RecreatorTest, APreemptedOneIsDeletedAndCreatedWithoutAQuestion) {
  const auto replaced = Replace();
  ASSERT_TRUE(replaced) << replaced.error().ToString();
  EXPECT_TRUE(*replaced);
  EXPECT_THAT(cloud->changes, ElementsAre("DELETE t", "POST nodes"));
  EXPECT_EQ(cloud->node["id"], "18");
  EXPECT_EQ(reached, 1);
}

TEST_F(RecreatorTest, OfOneThatIsGoneNothingIsDeleted) {
  cloud->node = Json();
  flags.yes = true;
  EXPECT_TRUE(*Replace());
  EXPECT_THAT(cloud->changes, ElementsAre("POST nodes"));
}

TEST_F(RecreatorTest, AnotherLossNeedsSomebodyWhoSaysYes) {
  Loses(TpuJson("READY"), TpuJson("REPAIRING"));
  EXPECT_FALSE(*Replace());
  EXPECT_THAT(cloud->changes, IsEmpty());
  flags.yes = true;
  EXPECT_TRUE(*Replace());
  EXPECT_THAT(cloud->changes, ElementsAre("DELETE t", "POST nodes"));
}

TEST_F(RecreatorTest, OneThatAPersonStoppedStays) {
  Loses(TpuJson("READY"), TpuJson("STOPPED"));
  flags.yes = true;
  EXPECT_EQ(WhyNot(), Cause::kUsageInvalid);
  EXPECT_THAT(cloud->changes, IsEmpty());
}

TEST_F(RecreatorTest, AnotherOfTheSameNameStays) {
  Loses(TpuJson("READY", "17"), TpuJson("PREEMPTED", "18"));
  flags.yes = true;
  EXPECT_EQ(WhyNot(), Cause::kUsageInvalid);
  EXPECT_THAT(cloud->changes, IsEmpty());
}

TEST_F(RecreatorTest, WithoutTheFlagNothingIsAsked) {
  flags.reach.recreate = false;
  EXPECT_FALSE(*Replace());
  EXPECT_FALSE(cloud->node.is_null());
}

TEST_F(RecreatorTest, StopsAtTheMostThatIsAllowed) {
  flags.settings.max_recreates.value = 1;
  EXPECT_TRUE(*Replace());
  Loses(cloud->node, TpuJson("PREEMPTED", "18"));
  cloud->changes.clear();
  EXPECT_FALSE(*Replace());
  EXPECT_THAT(cloud->changes, IsEmpty());
}

TEST_F(RecreatorTest, ATryThatFailedCounts) {
  flags.settings.max_recreates.value = 1;
  cloud->refuses = true;
  EXPECT_EQ(WhyNot(), Cause::kCloudPermissionDenied);
  cloud->refuses = false;
  EXPECT_FALSE(*Replace());
  EXPECT_THAT(cloud->changes, ElementsAre("DELETE t"));
}

// One node of a queued resource, which goes with it.
Json OfQueued() {
  Json node = TpuJson("PREEMPTED");
  node["queuedResource"] = "projects/p/locations/z/queuedResources/q";
  return node;
}
Json Queued(const std::vector<std::string>& nodes) {
  Json queued{{"name", "projects/p/locations/z/queuedResources/q"},
              {"state", {{"state", "SUSPENDED"}}}};
  for (const std::string& id : nodes) {
    queued["tpu"]["nodeSpec"].push_back({{"nodeId", id}});
  }
  return queued;
}

TEST_F(RecreatorTest, AQueuedResourceGoesWithItsNode) {
  Loses(OfQueued(), OfQueued());
  cloud->queued = Queued({"t"});
  cloud->refuses = true;
  EXPECT_EQ(WhyNot(), Cause::kCloudPermissionDenied);
  EXPECT_THAT(cloud->changes, ElementsAre("DELETE q"));
}

TEST_F(RecreatorTest, AQueuedResourceOfOtherNodesStays) {
  Loses(OfQueued(), OfQueued());
  cloud->queued = Queued({"t", "u"});
  EXPECT_EQ(WhyNot(), Cause::kUsageInvalid);
  EXPECT_THAT(cloud->changes, IsEmpty());
}

}  // namespace
}  // namespace muster::remote
