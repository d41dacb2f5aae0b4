// SPDX-License-Identifier: Apache-2.0
#include "sys/net/http.h"

#include <gtest/gtest.h>

namespace muster::sys {
namespace {

TEST(FakeHttp, MatchesThePathAndTheListedParameters) {
  FakeHttp http;
  http.answers["http://h/pods?labelSelector=a%3Db"].response = {.status = 200};
  EXPECT_EQ(
      http.Send({.url = "http://h/pods?limit=1&labelSelector=a%3Db"})->status,
      200);
  EXPECT_EQ(http.Send({.url = "http://h/pods?labelSelector=c"})->status, 404);
  EXPECT_EQ(http.Send({.url = "http://other/"}).error().cause(),
            Cause::kNetNameResolution);
}

TEST(FakeHttp, WantsTheHeaderOfTheMetadataServer) {
  FakeHttp http;
  http.answers["http://m/computeMetadata/v1/x"].response = {.status = 200};
  EXPECT_EQ(http.Send({.url = "http://m/computeMetadata/v1/x"})->status, 403);
}

TEST(PatientHttp, AsksOnceAndNeverAgainASilentHost) {
  FakeHttp fake;
  fake.answers["http://a/1"].response = {.status = 200};
  fake.answers["http://b/0"].fault = "timeout";
  PatientHttp http(fake, std::chrono::seconds(4));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(http.Send({.url = "http://a/1"}));
    EXPECT_FALSE(http.Send({.url = "http://b/" + std::to_string(i)}));
  }
  EXPECT_EQ(fake.requests.size(), 2U);
}

TEST(PatientHttp, AsksAgainAfterAnErrorOfTheServer) {
  FakeHttp fake;
  fake.answers["http://a/1"].response = {.status = 503};
  PatientHttp http(fake, std::chrono::seconds(4));
  EXPECT_EQ(http.Send({.url = "http://a/1"})->status, 503);
  fake.answers["http://a/1"].response = {.status = 200};
  EXPECT_EQ(http.Send({.url = "http://a/1"})->status, 200);
}

// Answers, but not at once.
class SlowHttp : public Http {
 public:
  Result<HttpResponse> Send(const HttpRequest& /*request*/) override {
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(3);
    while (std::chrono::steady_clock::now() < until) {
    }
    return HttpResponse{.status = 200};
  }
};

TEST(PatientHttp, HasTimeForAllThatAnswer) {
  SlowHttp slow;
  PatientHttp http(slow, std::chrono::milliseconds(5));
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(http.Send({.url = "http://a/" + std::to_string(i)})) << i;
  }
}

TEST(PatientHttp, StopsWhenItsTimeIsSpent) {
  FakeHttp fake;
  fake.answers["http://a/1"].response = {.status = 200};
  PatientHttp http(fake, Duration::zero());
  EXPECT_EQ(http.Send({.url = "http://a/1"}).error().cause(),
            Cause::kNetTimeoutFiltered);
}

TEST(Url, IsEncodedAndDecoded) {
  EXPECT_EQ(PercentEncode("a=b c/ü"), "a%3Db%20c%2F%C3%BC");
  EXPECT_EQ(PercentDecode("a%3Db%2"), "a=b%2");
}

}  // namespace
}  // namespace muster::sys
