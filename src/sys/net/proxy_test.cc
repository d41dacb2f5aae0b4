// SPDX-License-Identifier: Apache-2.0
#include "sys/net/proxy.h"
#include "sys/fake/fake_env.h"

#include <gtest/gtest.h>

namespace muster::sys {
namespace {

FakeEnv Env(std::map<std::string, std::string> variables) {
  FakeEnv env;
  env.variables = std::move(variables);
  return env;
}

Diversion Diverted(const std::string& host, const std::string& exceptions) {
  return DiversionOf(
      host, Env({{"http_proxy", "http://p:1"}, {"no_proxy", exceptions}}));
}

std::string AskedThrough(const std::string& url,
                         std::map<std::string, std::string> variables) {
  const auto proxy = ProxyForUrl(url, Env(std::move(variables)));
  return proxy ? proxy->variable : "";
}

TEST(GrpcProxy, IsTheFirstThatIsSetInLowerCase) {
  const auto variable = [](std::map<std::string, std::string> variables) {
    const auto proxy = GrpcProxy(Env(std::move(variables)));
    return proxy ? proxy->variable : "";
  };
  EXPECT_EQ(variable({{"http_proxy", "http://a"}, {"grpc_proxy", "http://b"}}),
            "grpc_proxy");
  EXPECT_EQ(variable({{"http_proxy", "http://a"}, {"https_proxy", ""}}), "");
  EXPECT_EQ(variable({{"http_proxy", "socks5://a"}}), "");
  EXPECT_EQ(variable({{"HTTPS_PROXY", "http://a"}}), "");
}

TEST(Diversion, EndsWhereAnEntryIsTheEndOfTheName) {
  EXPECT_EQ(Diverted("10.0.0.1", "localhost,10.0.0.1"), Diversion::kNone);
  EXPECT_EQ(Diverted("a.svc.Cluster.local", ".svc.cluster.local"),
            Diversion::kNone);
  EXPECT_EQ(Diverted("fd00::1", "::1"), Diversion::kNone);
  EXPECT_EQ(Diverted("10.0.0.2", "localhost,10.0.0.1"), Diversion::kByAll);
}

TEST(Diversion, IsNotEndedByAStar) {
  EXPECT_EQ(Diverted("10.0.0.1", "*"), Diversion::kByAll);
}

TEST(Diversion, IsEndedByRangesAndSpacesInNewerVersionsOnly) {
  EXPECT_EQ(Diverted("10.0.0.1", "10.0.0.0/8"), Diversion::kByOlderVersions);
  EXPECT_EQ(Diverted("fd00::1", "fd00::/7"), Diversion::kByOlderVersions);
  EXPECT_EQ(Diverted("b", "a, b"), Diversion::kByOlderVersions);
  EXPECT_EQ(Diverted("11.0.0.1", "10.0.0.0/8"), Diversion::kByAll);
  for (const char* odd : {"10.0.0.0/33", "10.0.0.0/", "/8", "10.0.0.0/-1"}) {
    EXPECT_EQ(Diverted("10.0.0.1", odd), Diversion::kByAll) << odd;
  }
}

TEST(Diversion, AsksNoProxyOnlyWhereGrpcHasNoneOfItsOwn) {
  const auto env = Env(
      {{"http_proxy", "http://p:1"}, {"no_proxy", "b"}, {"no_grpc_proxy", ""}});
  EXPECT_EQ(DiversionOf("b", env), Diversion::kByAll);
}

TEST(ProxyForUrl, IsThatOfTheSchemeElseOfAll) {
  EXPECT_EQ(AskedThrough("https://a/", {{"HTTPS_PROXY", "p"}}), "HTTPS_PROXY");
  EXPECT_EQ(AskedThrough("http://a/", {{"HTTP_PROXY", "p"}}), "");
  EXPECT_EQ(AskedThrough("http://a/", {{"http_proxy", "p"}}), "http_proxy");
  EXPECT_EQ(AskedThrough("https://a/", {{"http_proxy", "p"}}), "");
  EXPECT_EQ(AskedThrough("https://a/", {{"https_proxy", ""},  //
                                        {"ALL_PROXY", "p"}}),
            "ALL_PROXY");
}

TEST(ProxyForUrl, IsNoneForTheHostsOfNoProxy) {
  for (const char* spared : {"googleapis.com", ".googleapis.com", "*",
                             "a, TPU.googleapis.com", "a tpu.googleapis.com"}) {
    EXPECT_EQ(AskedThrough("https://tpu.googleapis.com:443/v2?a=b",
                           {{"https_proxy", "p"}, {"no_proxy", spared}}),
              "")
        << spared;
  }
  for (const char* other : {"u.googleapis.com", "oogleapis.com", "*,a", "."}) {
    EXPECT_EQ(AskedThrough("https://tpu.googleapis.com/",
                           {{"https_proxy", "p"}, {"NO_PROXY", other}}),
              "https_proxy")
        << other;
  }
}

TEST(ProxyForUrl, KnowsRangesOfAddresses) {
  const std::map<std::string, std::string> env{
      {"http_proxy", "p"}, {"no_proxy", "10.0.0.0/9,[::1],fd00::/8"}};
  EXPECT_EQ(AskedThrough("http://10.1.2.3:80/", env), "");
  EXPECT_EQ(AskedThrough("http://10.129.2.3:80/", env), "http_proxy");
  EXPECT_EQ(AskedThrough("http://[::1]:80/", env), "");
  EXPECT_EQ(AskedThrough("http://[fd00::7]/", env), "");
}

TEST(Proxy, HasAPlace) {
  const auto text = [](const char* address) {
    const auto place = PlaceOf(address);
    return place ? place->host + " " + std::to_string(place->port)
                 : place.error().message();
  };
  EXPECT_EQ(text("http://me:a%40b@proxy:3128/"), "proxy 3128");
  EXPECT_EQ(text("proxy:3128"), "proxy 3128");
  EXPECT_EQ(text("http://[fd00::1]:80"), "fd00::1 80");
  EXPECT_EQ(text("HTTP://proxy"), "proxy 1080");
  EXPECT_EQ(text("https://proxy"), "proxy 443");
  EXPECT_EQ(text("http://me:secret@proxy:x"),
            "the proxy `http://proxy:x` is not http://HOST:PORT");
  EXPECT_EQ(text("socks5://proxy:1"),
            "the proxy `socks5://proxy:1` is not an HTTP proxy: add the host "
            "to no_proxy to connect to it directly");
}

TEST(Proxy, IsShownWithoutItsUser) {
  EXPECT_EQ(WithoutUser("http://me:secret@p:3128"), "http://p:3128");
  EXPECT_EQ(WithoutUser("me:secret@p"), "p");
  EXPECT_EQ(WithoutUser("http://p"), "http://p");
}

}  // namespace
}  // namespace muster::sys
