// SPDX-License-Identifier: Apache-2.0
// One place, against a server that plays a script; several places at once are
// in tests/system/tpu_create_test.py.
#include "cloud/tpu/provisioner.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "cloud/testing.h"

namespace muster::cloud {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kTaken =
    R"({"error":{"code":409,"status":"ALREADY_EXISTS","message":"exists"}})";
constexpr const char* kStockOut =
    R"({"name":"projects/p/locations/z/operations/o","done":true,"error":)"
    R"({"code":8,"message":"There is no more capacity in the zone \"z\""}})";
constexpr const char* kNo =
    R"({"error":{"code":403,"status":"PERMISSION_DENIED","message":"no"}})";
constexpr const char* kTooMany =
    R"({"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":)"
    R"("Quota exceeded for limit 'Create requests per minute'"}})";
constexpr const char* kNotThere =
    R"({"error":{"code":404,"status":"NOT_FOUND","message":"gone"}})";

std::string Operation(bool done) {
  return Json{{"name", "projects/p/locations/z/operations/o"}, {"done", done}}
      .dump();
}

class Search : public ::testing::Test {
 protected:
  void SetUp() override {
    cloud.env.variables = {{"XDG_STATE_HOME", "/state"},
                           {"CLOUDSDK_AUTH_ACCESS_TOKEN", "t"}};
    auto credentials = Credentials::Find(cloud.host);
    ASSERT_TRUE(credentials);
    api.emplace(cloud.host, *std::move(credentials),
                Sourced<std::string>{"p", "test"}, cloud.Patient());
    auto opened = TpuJournal::Open(cloud.host);
    ASSERT_TRUE(opened);
    journal.emplace(*std::move(opened));
  }
  // The node as it is, made by the last request that was sent.
  std::string Node(const std::string& state, const std::string& request = "") {
    return Json{{"name", "projects/p/locations/z/nodes/t"},
                {"state", state},
                {"health", "HEALTHY"},
                {"acceleratorType", "v5litepod-8"},
                {"labels", {{kRequestLabel, request}}},
                {"networkEndpoints", {{{"ipAddress", "10.0.0.2"}}}}}
        .dump();
  }
  static SearchPlan Plan() {
    return {.places = {{.zone = "z", .name = "t", .scheduling = "on-demand"}},
            .type = "v5litepod-8",
            .version = "v2-alpha-tpuv5-lite"};
  }
  Result<Found> Run(bool until_usable = true, const std::string& like = "") {
    SearchPlan plan = Plan();
    plan.until_usable = until_usable;
    plan.like = like;
    return Run(std::move(plan));
  }
  Result<Found> Run(SearchPlan plan) {
    search.emplace(*api, *journal, std::move(plan),
                   Waiting{.deadline = Deadline::After(std::chrono::minutes(5)),
                           .poll = std::chrono::milliseconds(1),
                           .pause = [](Duration) { return true; },
                           .say = [](const std::string&) {}});
    return search->Run();
  }
  // An unfinished creation of an earlier program.
  void Begin(const std::string& request) {
    ASSERT_TRUE(
        journal->Write(TpuStep::kAsked, {.kind = "node",
                                         .project = "p",
                                         .zone = "z",
                                         .name = "t",
                                         .request = request,
                                         .type = "v5litepod-8",
                                         .version = "v2-alpha-tpuv5-lite",
                                         .scheduling = "on-demand"}));
  }

  // The journal, as that process has left it; process 1 is alive everywhere.
  void BelongsTo(int pid, const std::string& host) {
    std::string& text = cloud.fs.files["/state/muster/tpu.jsonl"];
    Json line = Json::parse(text, nullptr, false);
    line["pid"] = pid;
    line["host"] = host;
    text = line.dump() + "\n";
    cloud.fs.files["/proc/self/comm"] = "muster\n";
    cloud.fs.files["/proc/1/comm"] = "muster\n";
    journal.emplace(*TpuJournal::Open(cloud.host));
  }

  FakeCloud cloud;
  std::optional<TpuApi> api;
  std::optional<TpuJournal> journal;
  std::optional<TpuProvisioner> search;
};

TEST_F(Search, WritesItDownBeforeItAsks) {
  cloud.http.Answer(403, R"({"error":{"code":403,"message":"no"}})");
  EXPECT_FALSE(Run());
  ASSERT_THAT(cloud.http.requests, SizeIs(1));
  EXPECT_THAT(cloud.fs.files["/state/muster/tpu.jsonl"],
              HasSubstr("\"step\":\"asked\""));
  EXPECT_THAT(search->Left(), IsEmpty());
}

TEST_F(Search, AsksNothingThatCannotBeWrittenDown) {
  cloud.fs.fail["/state/muster/tpu.jsonl"] = Cause::kDiskFull;
  const auto found = Run();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().cause(), Cause::kDiskFull);
  EXPECT_THAT(cloud.http.requests, IsEmpty());
}

TEST_F(Search, ACreationThatIsTakenOnIsKept) {
  cloud.http.Answer(200, Operation(false));
  const auto found = Run(false);
  ASSERT_TRUE(found);
  EXPECT_THAT(journal->Unfinished(), IsEmpty());
  const Json sent =
      Json::parse(cloud.http.requests.front().body, nullptr, false);
  EXPECT_THAT(sent["labels"][kRequestLabel].dump(), SizeIs(38));
}

TEST_F(Search, OneLikeAnotherHasWhatItsMakerChose) {
  const Json old{{"name", "projects/p/locations/z/nodes/t"},
                 {"state", "PREEMPTED"},
                 {"networkConfig", {{"network", "n"}}},
                 {"schedulingConfig", {{"preemptible", true}}},
                 {"metadata", {{"ssh-keys", "me:key"}}},
                 {"labels", {{"team", "a"}, {kRequestLabel, "old"}}}};
  cloud.http.Answer(200, Operation(false));
  ASSERT_TRUE(Run(false, ToTpuNode(old).chosen));
  const Json sent =
      Json::parse(cloud.http.requests.front().body, nullptr, false);
  for (const char* field : {"networkConfig", "schedulingConfig", "metadata"}) {
    EXPECT_EQ(sent[field], old[field]) << field;
  }
  EXPECT_EQ(sent["labels"]["team"], "a");
  EXPECT_NE(sent["labels"][kRequestLabel], "old");
  EXPECT_FALSE(sent.contains("state"));
}

TEST_F(Search, AnUnfinishedOneOfTheSameIsFoundAgain) {
  Begin("earlier");
  cloud.http.Answer(409, kTaken);
  cloud.http.Answer(200, Node("READY", "earlier"));
  const auto found = Run();
  ASSERT_TRUE(found) << found.error().ToString();
  EXPECT_TRUE(found->found_again);
  EXPECT_THAT(journal->Unfinished(), IsEmpty());
}

TEST_F(Search, WhatAnotherProcessIsAtIsLeftToIt) {
  Begin("earlier");
  BelongsTo(1, "testhost");
  const auto found = Run();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().cause(), Cause::kUsageInvalid);
  EXPECT_THAT(found.error().message(),
              HasSubstr("process 1 on testhost is still running"));
  EXPECT_THAT(cloud.http.requests, IsEmpty());
  EXPECT_THAT(search->Left(), IsEmpty());
}

TEST_F(Search, ARefusedRepeatForgetsNothingThatIsThere) {
  Begin("earlier");
  cloud.http.Answer(403, kNo);
  cloud.http.Answer(200, Node("READY", "earlier"));
  const auto found = Run();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().cause(), Cause::kCloudPermissionDenied);
  EXPECT_THAT(found.error().message(),
              HasSubstr("an earlier attempt created it"));
  EXPECT_THAT(journal->Unfinished(), SizeIs(1));
  EXPECT_THAT(search->Left(), SizeIs(1));
}

TEST_F(Search, ARefusedRepeatOfWhatIsNotThereIsOver) {
  for (const bool another : {false, true}) {
    Begin("earlier");
    cloud.http.answers.clear();
    cloud.http.Answer(403, kNo);
    cloud.http.Answer(another ? 200 : 404,
                      another ? Node("READY", "theirs") : kNotThere);
    EXPECT_FALSE(Run());
    EXPECT_THAT(journal->Unfinished(), IsEmpty()) << another;
  }
}

TEST_F(Search, ARefusalAfterASilenceIsNoProofThatNothingWasMade) {
  cloud.http.answers.emplace_back(
      Error(Cause::kNetTimeoutFiltered, "no answer"));
  cloud.http.Answer(403, kNo);
  const auto found = Run();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().cause(), Cause::kCloudPermissionDenied);
  ASSERT_THAT(cloud.http.requests, SizeIs(3));
  EXPECT_EQ(cloud.http.requests.back().method, "GET");
  EXPECT_THAT(search->Left(), SizeIs(1));
}

TEST_F(Search, WhatAnotherMadeIsNotTaken) {
  cloud.http.Answer(409, kTaken);
  cloud.http.Answer(200, Node("READY", "theirs"));
  const auto found = Run();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().cause(), Cause::kUsageInvalid);
  EXPECT_THAT(found.error().message(), HasSubstr("was not created from here"));
  EXPECT_THAT(journal->Unfinished(), IsEmpty());
}

TEST_F(Search, ALimitOnRequestsIsWaitedOut) {
  SearchPlan plan = Plan();
  plan.search = true;
  // Each round has eight tries; three rounds without an answer are the most.
  for (int i = 0; i < 40; ++i) {
    cloud.http.Answer(429, kTooMany);
  }
  cloud.http.Answer(200, Operation(true));
  for (int i = 0; i < 40; ++i) {
    cloud.http.Answer(429, kTooMany);
  }
  cloud.http.Answer(200, Operation(true));
  cloud.http.Answer(200, Node("READY"));
  const auto found = Run(std::move(plan));
  ASSERT_TRUE(found) << found.error().ToString();
  EXPECT_THAT(journal->Unfinished(), IsEmpty());
}

TEST_F(Search, WhatLostGoesThoughWhatWonCannotBeWrittenDown) {
  SearchPlan plan = Plan();
  plan.search = true;
  plan.places.push_back({.zone = "y", .name = "t", .scheduling = "on-demand"});
  plan.reach = [this](const TpuNode&) -> Status {
    cloud.fs.fail["/state/muster/tpu.jsonl"] = Cause::kDiskFull;
    return Ok();
  };
  cloud.http.Answer(200, Operation(false));
  cloud.http.Answer(200, Operation(false));
  cloud.http.Answer(200, Operation(true));
  cloud.http.Answer(200, Node("READY"));
  cloud.http.Answer(200, Operation(false));
  cloud.http.Answer(404, kNotThere);
  const auto found = Run(std::move(plan));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().cause(), Cause::kDiskFull);
  ASSERT_THAT(cloud.http.requests, SizeIs(6));
  EXPECT_EQ(cloud.http.requests[4].method, "DELETE");
  EXPECT_THAT(cloud.http.requests[4].url, HasSubstr("/locations/y/"));
  ASSERT_THAT(search->Left(), SizeIs(1));
  EXPECT_EQ(search->Left().front().zone, "z");
}

TEST_F(Search, WhatFailedIsRemovedAndToldWithItsCause) {
  cloud.http.Answer(200, Operation(false));
  cloud.http.Answer(200, kStockOut);
  cloud.http.Answer(404, kNotThere);
  const auto found = Run();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().cause(), Cause::kCloudNoCapacity);
  EXPECT_THAT(journal->Unfinished(), IsEmpty());
}

}  // namespace
}  // namespace muster::cloud
