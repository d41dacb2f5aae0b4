// SPDX-License-Identifier: Apache-2.0
#include "remote/tpu_lifecycle.h"

#include <gmock/gmock.h>

#include "cloud/testing.h"
#include "remote/testing.h"
#include "sys/net/net.h"

namespace muster::remote {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kRefused =
    R"({"error":{"code":403,"status":"PERMISSION_DENIED","message":"no"}})";
constexpr const char* kNotThere =
    R"({"error":{"code":404,"status":"NOT_FOUND","message":"gone"}})";
constexpr const char* kTakenOn =
    R"({"name":"projects/p/locations/z/operations/o","done":false})";

class TpuLifecycle : public ::testing::Test {
 protected:
  void SetUp() override {
    cloud.env.variables = {{"XDG_STATE_HOME", "/state"},
                           {"CLOUDSDK_AUTH_ACCESS_TOKEN", "t"}};
    api.emplace(cloud.host, cloud::Credentials::Find(cloud.host).value(),
                Sourced<std::string>{"p", "env P"}, cloud.Patient());
    node.request = "r1";
  }
  Status Remove() {
    auto stoppable =
        MakeStoppable(*settings::ReadSettings({{"poll", "1ms"}}, cloud.env));
    EXPECT_TRUE(stoppable);
    return RemoveSeen(*api, WhatGoes(*api, node), cloud.host, *stoppable);
  }

  cloud::FakeCloud cloud;
  std::optional<cloud::TpuApi> api;
  resolve::TpuNode node = Tpu(TpuJson("READY"));
};

TEST_F(TpuLifecycle, ANodeGoesByItself) {
  const auto goes = WhatGoes(*api, node);
  EXPECT_EQ(goes.kind, "node");
  EXPECT_EQ(goes.name, "t");
  EXPECT_EQ(goes.project, "p");
  EXPECT_EQ(goes.request, "r1");
}

TEST_F(TpuLifecycle, ANodeOfAQueuedResourceGoesWithIt) {
  node.queued_resource = "q";
  const auto goes = WhatGoes(*api, node);
  EXPECT_EQ(goes.kind, "queued");
  EXPECT_EQ(goes.name, "q");
  EXPECT_EQ(goes.request, "r1");
}

TEST_F(TpuLifecycle, TheJournalKeepsWhatMakesAnotherLikeIt) {
  const auto made = ToMade(*api, node);
  EXPECT_EQ(made.type, node.accelerator_type);
  EXPECT_EQ(made.version, node.runtime_version);
  EXPECT_EQ(made.zone, "z");
  const cloud::QueuedResource queued{.name = "q",
                                     .zone = "y",
                                     .request = "r2",
                                     .accelerator_type = "v4-8",
                                     .runtime_version = "v",
                                     .scheduling = "spot"};
  const auto of_queued = ToMade(*api, queued);
  EXPECT_EQ(of_queued.kind, "queued");
  EXPECT_EQ(of_queued.zone, "y");
  EXPECT_EQ(of_queued.scheduling, "spot");
}

TEST_F(TpuLifecycle, NamesWhatAndWhere) {
  EXPECT_THAT(NameOf(ToMade(*api, node)),
              AllOf(HasSubstr("TPU `t`"), HasSubstr("z")));
  node.queued_resource = "q";
  EXPECT_THAT(NameOf(WhatGoes(*api, node)), HasSubstr("queued resource `q`"));
  EXPECT_THAT(OfProject(*api), AllOf(HasSubstr("p"), HasSubstr("env P")));
  EXPECT_THAT(Described(*api, node),
              AllOf(HasSubstr("`t`"), HasSubstr("v4-16"), HasSubstr("READY"),
                    HasSubstr(OfProject(*api))));
}

TEST_F(TpuLifecycle, NamesDoNotReachTheTerminalAsTheyAre) {
  node.name = "t\x1b[2J";
  EXPECT_THAT(Described(*api, node), Not(HasSubstr("\x1b")));
  EXPECT_THAT(NameOf(ToMade(*api, node)), Not(HasSubstr("\x1b")));
}

TEST_F(TpuLifecycle, ARemovalIsWaitedForUntilItIsGone) {
  cloud.http.Answer(200, kTakenOn);
  cloud.http.Answer(200, R"({"name":"projects/p/locations/z/nodes/t",)"
                         R"("labels":{"muster-request":"r1"}})");
  cloud.http.Answer(404, kNotThere);
  const auto removed = Remove();
  EXPECT_TRUE(removed) << removed.error().ToString();
  EXPECT_THAT(cloud.http.requests, SizeIs(3));
  EXPECT_EQ(cloud.http.requests.front().method, "DELETE");
}

TEST_F(TpuLifecycle, ARemovalThatIsRefusedSaysWhy) {
  cloud.http.Answer(403, kRefused);
  const auto removed = Remove();
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().cause(), Cause::kCloudPermissionDenied);
}

TEST_F(TpuLifecycle, WhatCouldNotBeRemovedHasTheFirstError) {
  const auto made = ToMade(*api, node);
  EXPECT_TRUE(PrintRemoved({}));
  EXPECT_TRUE(PrintRemoved({{.made = made, .error = std::nullopt}}));
  const auto removed = PrintRemoved(
      {{.made = made, .error = std::nullopt},
       {.made = made, .error = Error(Cause::kDeadlineExceeded, "a")},
       {.made = made, .error = Error(Cause::kTpuNotFound, "b")}});
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().cause(), Cause::kDeadlineExceeded);
}

TEST_F(TpuLifecycle, AWorkerIsReachedByEitherAddress) {
  const auto open = sys::Listen({.host = "127.0.0.1", .port = 0});
  ASSERT_TRUE(open);
  node.endpoints = {"127.0.0.1:8470", "127.0.0.1:8470"};
  EXPECT_TRUE(DialWorkers(node, open->address.port));
  // Nobody listens there: the other address is taken.
  node.external_addresses = {"127.0.0.2", ""};
  EXPECT_TRUE(DialWorkers(node, open->address.port));
}

TEST_F(TpuLifecycle, AWorkerThatRefusesIsNamed) {
  auto held = sys::Listen({.host = "127.0.0.1", .port = 0});
  ASSERT_TRUE(held);
  const std::uint16_t port = held->address.port;
  held->fd.Close();
  node.endpoints = {"127.0.0.1:8470"};
  const auto dialled = DialWorkers(node, port);
  ASSERT_FALSE(dialled);
  EXPECT_EQ(dialled.error().cause(), Cause::kNetWrongEndpoint);
  EXPECT_THAT(dialled.error().message(), HasSubstr("worker 0"));
}

}  // namespace
}  // namespace muster::remote
