// SPDX-License-Identifier: Apache-2.0
#include "cloud/auth/credentials.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "cloud/auth/rs256.h"
#include "cloud/testing.h"
#include "cloud/tpu/tpu_api.h"

namespace muster::cloud {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kUser =
    R"({"type": "authorized_user", "client_id": "i", "client_secret": "s&",
        "refresh_token": "REFRESH", "quota_project_id": "q"})";
constexpr const char* kToken =
    R"({"access_token": "TOKEN", "expires_in": 3600, "scope": "a b"})";

struct Login {
  FakeCloud cloud;
  Sender sender{cloud.host, cloud.Patient()};

  Result<Token> Get() {
    MUSTER_ASSIGN(auto credentials, Credentials::Find(cloud.host));
    MUSTER_ASSIGN(const Token* token, credentials.Get(sender));
    return *token;
  }
  std::string ApiError() {
    const auto token = Get();
    return token ? "" : token.error().ToString();
  }
};

TEST(Credentials, OfAUserBecomeATokenUntilShortBeforeItsEnd) {
  Login login;
  login.cloud.GiveFile(kUser);
  login.cloud.http.Answer(200, kToken);
  auto found = *Credentials::Find(login.cloud.host);
  EXPECT_EQ(found.quota_project(), "q");
  EXPECT_EQ((*found.Get(login.sender))->text.Reveal(), "TOKEN");
  EXPECT_THAT((*found.Get(login.sender))->scopes, SizeIs(2));
  EXPECT_THAT(login.cloud.http.requests, SizeIs(1));
  login.cloud.clock.Advance(seconds(3600 - 226));
  ASSERT_TRUE(found.Get(login.sender));
  EXPECT_THAT(login.cloud.http.requests, SizeIs(1));
  login.cloud.clock.Advance(seconds(2));
  ASSERT_TRUE(found.Get(login.sender));
  EXPECT_THAT(login.cloud.http.requests, SizeIs(2));
}

// Answers to one question of the Cloud TPU API after another.
std::vector<bool> AskedForToken(FakeCloud& cloud, int count) {
  TpuApi api(cloud.host, *Credentials::Find(cloud.host), {"p", "test"},
             cloud.Patient());
  std::vector<bool> answered;
  for (int i = 0; i < count; ++i) {
    answered.push_back(static_cast<bool>(api.Node("z", "t")));
  }
  return answered;
}

TEST(Credentials, AreRenewedAfterEveryRefusal) {
  FakeCloud cloud;
  cloud.GiveFile(kUser);
  cloud.http.Answer(200, kToken);
  for (int i = 0; i < 2; ++i) {
    cloud.http.Answer(401, "{}");
    cloud.http.Answer(200, kToken);
    cloud.http.Answer(200, "{}");
  }
  EXPECT_THAT(AskedForToken(cloud, 2), ElementsAre(true, true));
}

TEST(Credentials, AreRenewedOnceForOneQuestion) {
  FakeCloud cloud;
  cloud.GiveFile(kUser);
  cloud.http.Answer(200, kToken);
  cloud.http.Answer(401, "{}");
  cloud.http.Answer(200, kToken);
  cloud.http.Answer(401, "{}");
  EXPECT_THAT(AskedForToken(cloud, 1), ElementsAre(false));
  EXPECT_THAT(cloud.http.requests, SizeIs(4));
}

TEST(Credentials, OfAGivenTokenAreNotRenewed) {
  Login login;
  login.cloud.env.variables["CLOUDSDK_AUTH_ACCESS_TOKEN"] = "T";
  EXPECT_FALSE(Credentials::Find(login.cloud.host)->Reject());
}

TEST(Credentials, KnowTheUserByItsIdToken) {
  Login login;
  login.cloud.GiveFile(kUser);
  login.cloud.http.Answer(200, R"({"access_token": "T", "id_token": "x.)" +
                                   Base64Url(R"({"email": "me@example.com"})") +
                                   R"(.y"})");
  auto found = *Credentials::Find(login.cloud.host);
  EXPECT_EQ(found.Who(), "the user of `/k.json`");
  ASSERT_TRUE(found.Get(login.sender));
  EXPECT_EQ(found.Who(), "me@example.com");
}

TEST(Credentials, ARevokedGrantSaysHowToLogInAgain) {
  Login login;
  login.cloud.GiveFile(kUser);
  login.cloud.http.Answer(400, R"({"error": "invalid_grant",
               "error_description": "Token has been expired or revoked."})");
  EXPECT_THAT(login.ApiError(),
              AllOf(HasSubstr("cloud-auth-missing"), HasSubstr("invalid_grant"),
                    HasSubstr("gcloud auth application-default login"),
                    Not(HasSubstr("REFRESH"))));
}

TEST(Credentials, AGrantRefusedForTheClockNamesTheClock) {
  Login login;
  login.cloud.GiveFile(kUser);
  login.cloud.http.Answer(400, R"({"error": "invalid_grant"})",
                          {{"date", "Fri, 15 Jan 2027 07:50:00 GMT"}});
  EXPECT_THAT(login.ApiError(),
              AllOf(HasSubstr("clock-skew"), HasSubstr("10 min 0 s ahead of")));
}

TEST(Credentials, ATokenEndpointIsAskedThreeTimes) {
  Login login;
  login.cloud.GiveFile(kUser);
  login.cloud.http.Answer(503, "");
  EXPECT_THAT(login.ApiError(), HasSubstr("net-wrong-endpoint"));
  EXPECT_THAT(login.cloud.http.requests, SizeIs(3));
}

TEST(Credentials, MissingFieldsAreNamedWithoutOthers) {
  Login login;
  login.cloud.GiveFile(R"({"type": "authorized_user", "client_id": "i",
                           "refresh_token": "REFRESH"})");
  EXPECT_THAT(login.ApiError(), AllOf(HasSubstr("has no `client_secret`"),
                                      Not(HasSubstr("REFRESH"))));
}

TEST(Credentials, AreFoundInTheDocumentedOrder) {
  Login login;
  auto source = [&] { return Credentials::Find(login.cloud.host)->source(); };
  EXPECT_EQ(source(), "metadata server");
  login.cloud.fs.files["/content/.adc/adc.json"] = kUser;
  EXPECT_THAT(source(), HasSubstr("Colab's file"));
  login.cloud.env.variables["HOME"] = "/h";
  login.cloud.fs
      .files["/h/.config/gcloud/application_default_credentials.json"] = kUser;
  EXPECT_THAT(source(), HasSubstr("gcloud's file"));
  login.cloud.GiveFile(kUser);
  EXPECT_THAT(source(), HasSubstr("env GOOGLE_APPLICATION_CREDENTIALS"));
  login.cloud.env.variables["CLOUDSDK_AUTH_ACCESS_TOKEN"] = "T";
  EXPECT_EQ(source(), "env CLOUDSDK_AUTH_ACCESS_TOKEN");
}

TEST(Credentials, AProgramIsRunOnlyWhereThatIsAllowed) {
  Login login;
  login.cloud.GiveFile(
      R"({"type": "external_account", "audience": "//iam/providers/x",
          "subject_token_type": "t", "token_url": "https://sts.example",
          "credential_source": {"executable": {"command": "/bin/echo"}}})");
  EXPECT_THAT(login.ApiError(),
              HasSubstr("GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1"));
}

struct UrlRow {
  const char* token_url;
  const char* source_url;
  const char* refused;  // empty: none of them
};
class ExternalUrls : public ::testing::TestWithParam<UrlRow> {};

TEST_P(ExternalUrls, AreHttpsOrStayOnThisHost) {
  const UrlRow& row = GetParam();
  Login login;
  login.cloud.GiveFile(
      Dump(Json{{"type", "external_account"},
                {"audience", "//iam/providers/x"},
                {"subject_token_type", "t"},
                {"token_url", row.token_url},
                {"credential_source", {{"url", row.source_url}}}}));
  login.cloud.http.Answer(200, "SUBJECT");
  login.cloud.http.Answer(200, kToken);
  const std::string refused = login.ApiError();
  if (*row.refused == '\0') {
    EXPECT_EQ(refused, "");
    return;
  }
  EXPECT_THAT(refused, AllOf(HasSubstr(row.refused),
                             HasSubstr("in clear text: use https")));
  EXPECT_THAT(login.cloud.http.requests, SizeIs(0));
}

INSTANTIATE_TEST_SUITE_P(
    All, ExternalUrls,
    ::testing::Values(
        UrlRow{"https://sts.example/t", "https://idp.example/t", ""},
        UrlRow{"http://127.0.0.1:80/t", "http://[::1]:80/t", ""},
        UrlRow{"https://s/t", "http://169.254.169.254/metadata/x?y=z", ""},
        UrlRow{"https://s/t", "http://localhost/t", ""},
        UrlRow{"http://sts.example/t", "https://i/t", "`token_url`"},
        UrlRow{"http://169.254.169.254/t", "https://i/t", "`token_url`"},
        UrlRow{"https://s/t", "http://idp.example/t", "credential_source.url"},
        UrlRow{"https://s/t", "http://127.0.0.1:80@idp.example/t",
               "credential_source.url"},
        UrlRow{"https://s/t", "http://127.0.0.1.idp.example/t",
               "credential_source.url"},
        UrlRow{"https://s/t", "file:///etc/shadow", "credential_source.url"}));

TEST(Credentials, ImpersonationSaysWhoLacksWhichRole) {
  Login login;
  login.cloud.GiveFile(std::string(R"({"type": "impersonated_service_account",
          "service_account_impersonation_url":
          "https://iam.example/v1/projects/-/serviceAccounts/a@p.example)") +
                       R"(:generateAccessToken", "source_credentials": )" +
                       kUser + "}");
  login.cloud.http.Answer(200, kToken);
  login.cloud.http.Answer(
      403, R"({"error": {"status": "PERMISSION_DENIED", "message": "no"}})");
  EXPECT_THAT(
      login.ApiError(),
      AllOf(HasSubstr("cloud-permission-denied"), HasSubstr("a@p.example"),
            HasSubstr("roles/iam.serviceAccountTokenCreator"),
            Not(HasSubstr("TOKEN"))));
}

TEST(Bearer, IsEmptyWhereThereAreNoCredentials) {
  FakeCloud cloud;
  cloud.env.variables["NO_GCE_CHECK"] = "true";
  const auto bearer = BearerOf(cloud.host);
  ASSERT_TRUE(bearer);
  EXPECT_TRUE(WithBearer({}, *bearer).headers.empty());
}

TEST(Base64Url, GoesBothWays) {
  for (const std::string text : {"", "a", "ab", "abc", "\xff\xfe\xfd?>"}) {
    EXPECT_EQ(FromBase64Url(Base64Url(text)), text);
  }
  EXPECT_EQ(Base64Url("\xfb\xff"), "-_8");
  EXPECT_EQ(FromBase64Url("-_8="), "\xfb\xff");
  EXPECT_EQ(FromBase64Url("YQ=="), "a");
  for (const char* bad : {"a b", " YWJj", "YWJj\n", "YWJjZ",
                          "YQ=", "YWJj=", "YQ=a", "====", "Y+==", "a/bc"}) {
    EXPECT_EQ(FromBase64Url(bad), "") << bad;
  }
}

TEST(SignedText, NamesTheKeyAndNothingOfIt) {
  const auto text = SignedText({.pem = Secret("SECRET"), .id = "k1"}, {});
  EXPECT_THAT(text.error().ToString(), AllOf(HasSubstr("`k1` is not a PEM key"),
                                             Not(HasSubstr("SECRET"))));
}

}  // namespace
}  // namespace muster::cloud
