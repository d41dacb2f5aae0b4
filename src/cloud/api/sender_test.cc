// SPDX-License-Identifier: Apache-2.0
#include "cloud/api/sender.h"

#include <gmock/gmock.h>

#include "cloud/testing.h"

namespace muster::cloud {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kRate =
    R"({"error": {"status": "RESOURCE_EXHAUSTED", "details": [
        {"@type": "google.rpc.ErrorInfo", "reason": "RATE_LIMIT_EXCEEDED"},
        {"@type": "google.rpc.RetryInfo", "retryDelay": "9s"}]}})";

Error Silent() {
  return Error(Cause::kNetTimeoutFiltered, "no answer");
}

struct Asked {
  FakeCloud cloud;
  Result<sys::HttpResponse> Send(Repeat repeat = Repeat::kRead) {
    return Sender(cloud.host, cloud.Patient())
        .Send({.url = "https://tpu.example/v2"}, repeat);
  }
};

TEST(Sender, RepeatsAfterTheTimeThatTheServiceAsksFor) {
  Asked asked;
  asked.cloud.http.Answer(429, kRate);
  asked.cloud.http.Answer(200, "{}");
  EXPECT_EQ(asked.Send()->status, 200);
  EXPECT_THAT(asked.cloud.pauses, ElementsAre(seconds(9)));
}

TEST(Sender, WaitsLongerEachTimeUpToAnEnd) {
  Asked asked;
  asked.cloud.http.Answer(503, "");
  EXPECT_EQ(asked.Send()->status, 503);
  ASSERT_THAT(asked.cloud.pauses, SizeIs(7));
  EXPECT_LT(asked.cloud.pauses.front(), milliseconds(1251));
  EXPECT_GT(asked.cloud.pauses.back(), seconds(23));
  EXPECT_LT(asked.cloud.pauses.back(), seconds(41));
}

TEST(Sender, DoesNotRepeatWhatStays) {
  for (const int status : {400, 401, 403, 404, 409, 301, 501}) {
    Asked asked;
    asked.cloud.http.Answer(status, "");
    EXPECT_EQ(asked.Send()->status, status);
    EXPECT_THAT(asked.cloud.http.requests, SizeIs(1)) << status;
  }
}

TEST(Sender, AsksASilentNetworkThreeTimes) {
  Asked asked;
  asked.cloud.http.answers.emplace_back(Silent());
  EXPECT_THAT(asked.Send().error().ToString(), HasSubstr("trying 3 times"));
  EXPECT_THAT(asked.cloud.http.requests, SizeIs(3));
}

TEST(Sender, DoesNotRepeatAnUntrustedServer) {
  Asked asked;
  asked.cloud.http.answers.emplace_back(
      Error(Cause::kNetWrongEndpoint, "TLS").With({.name = "http.tls_failed"}));
  EXPECT_FALSE(asked.Send());
  EXPECT_THAT(asked.cloud.http.requests, SizeIs(1));
}

TEST(Sender, DoesNotRepeatWhatHasNoIdOfItsOwn) {
  Asked asked;
  asked.cloud.http.Answer(503, "");
  EXPECT_EQ(asked.Send(Repeat::kNever)->status, 503);
  EXPECT_THAT(asked.cloud.http.requests, SizeIs(1));
}

TEST(Sender, EndsWhenTheWaitWouldPassTheDeadline) {
  FakeCloud cloud;
  cloud.http.Answer(429, kRate);
  RetryLimits request_timeout = cloud.Patient();
  request_timeout.deadline = Deadline::After(seconds(5));
  EXPECT_EQ(Sender(cloud.host, request_timeout)
                .Send({.url = "https://tpu.example/"}, Repeat::kRead)
                ->status,
            429);
  EXPECT_THAT(cloud.pauses, SizeIs(0));
}

TEST(Sender, FindsAClockThatIsOff) {
  FakeCloud cloud;  // at 2027-01-15T08:00:00Z
  cloud.http.Answer(200, "{}", {{"date", "Fri, 15 Jan 2027 08:12:00 GMT"}});
  Sender sender(cloud.host, cloud.Patient());
  ASSERT_TRUE(sender.Send({.url = "https://tpu.example/"}, Repeat::kRead));
  EXPECT_TRUE(sender.ClockIsWrong());
  EXPECT_EQ(sender.ClockText(),
            "this machine's clock is 12 min 0 s behind that of tpu.example");
}

TEST(Sender, TakesTheEnvironmentsCertificatesAndProxy) {
  FakeCloud cloud;
  cloud.env.variables = {{"SSL_CERT_FILE", "/ca.pem"},
                         {"https_proxy", "http://proxy:3128"}};
  cloud.http.Answer(200, "{}");
  Sender sender(cloud.host, cloud.Patient());
  ASSERT_TRUE(sender.Send({.url = "https://tpu.example/"}, Repeat::kRead));
  EXPECT_EQ(cloud.http.requests.front().ca_file, "/ca.pem");
  EXPECT_EQ(cloud.http.requests.front().proxy, "http://proxy:3128");
}

TEST(HttpDate, IsReadOrRefused) {
  EXPECT_EQ(ParseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT"),
            WallTime(seconds(784111777)));
  for (const char* text :
       {"", "now", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, -9 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 9999 08:49:37 GMT",
        "Sun, 06 Nov 0001 08:49:37 GMT", "a b c d e GMT"}) {
    EXPECT_FALSE(ParseHttpDate(text)) << text;
  }
}

TEST(PauseBefore, IsDoubledAndSpread) {
  EXPECT_EQ(PauseBefore(2, {}, seconds(1), 0.5), seconds(1));
  EXPECT_EQ(PauseBefore(4, {}, seconds(1), 0), seconds(3));
  EXPECT_EQ(PauseBefore(40, {}, seconds(1), 1), seconds(40));
  EXPECT_EQ(PauseBefore(40, seconds(2), seconds(1), 1), seconds(2));
}

}  // namespace
}  // namespace muster::cloud
