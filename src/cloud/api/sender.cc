// SPDX-License-Identifier: Apache-2.0
#include "cloud/api/sender.h"

#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cloud/api/request_error.h"
#include "muster/retry.h"
#include "sys/net/proxy.h"

namespace muster::cloud {
namespace {

using std::chrono::seconds;

constexpr Duration kLongestPause = seconds(32);
constexpr Duration kAllowedSkew = seconds(300);
constexpr int kTokenTries = 3;
constexpr std::int64_t kFirstYear = 1970;
constexpr std::int64_t kLastYear = 2200;
// A network that does not answer is not worth the whole patience.
constexpr int kTransportTries = 3;

bool HealsByItself(const Error& error) {
  if (FactOf(error, "http.tls_failed") != nullptr) {
    return false;
  }
  switch (error.cause()) {
    case Cause::kNetNameResolution:
    case Cause::kNetTimeoutFiltered:
    case Cause::kNetWrongEndpoint:
      return true;
    default:
      return false;
  }
}

int MostTries(Repeat repeat, const RetryLimits& request_timeout) {
  switch (repeat) {
    case Repeat::kRead:
    case Repeat::kOnce:
      return request_timeout.tries;
    case Repeat::kToken:
      return std::min(request_timeout.tries, kTokenTries);
    case Repeat::kNever:
      break;
  }
  return 1;
}

// Whether a repeat may succeed, and how long the service asks to wait.
struct Chance {
  bool passes = false;
  std::optional<Duration> asked;
};
Chance ChanceOf(const Result<sys::HttpResponse>& response, int tries) {
  if (!response) {
    return {.passes =
                HealsByItself(response.error()) && tries < kTransportTries};
  }
  if (response->status == 200) {
    return {};
  }
  const ApiError refusal = Classify(*response);
  return {.passes = refusal.passes, .asked = refusal.retry_after};
}

// An error says through whom and how often it was asked.
Result<sys::HttpResponse> Ended(Result<sys::HttpResponse> response, int tries,
                                const std::optional<sys::Proxy>& proxy) {
  if (response) {
    return response;
  }
  std::vector<std::string> how;
  if (proxy) {
    how.push_back("using the proxy in " + proxy->variable);
  }
  if (tries > 1) {
    how.push_back("trying " + std::to_string(tries) + " times");
  }
  if (how.empty()) {
    return std::move(response).error();
  }
  return std::move(response).error().While(Join(how, ", "));
}

}  // namespace

RetryLimits RetryLimits::Hasty() {
  const sys::HttpRequest usual;
  return {.deadline = Deadline::After(std::chrono::hours(1)),
          .tries = 2,
          .first_pause = Duration::zero(),
          .pause = [](Duration wait) { return wait <= Duration::zero(); },
          .connect_timeout = usual.connect_timeout,
          .timeout = usual.timeout};
}

Sender::Sender(const sys::Host& host, RetryLimits request_timeout)
    : host_(host), request_timeout_(std::move(request_timeout)) {}

Result<sys::HttpResponse> Sender::SendOnce(const sys::HttpRequest& request) {
  auto response = host_.http->Send(request);
  if (response) {
    if (const auto date = ParseHttpDate(response->Header("date"))) {
      offset_ = ClockOffset{.server = sys::SplitUrl(request.url).host,
                            .ahead_of_us = *date - host_.clock.WallNow()};
    }
  }
  return response;
}

bool Sender::WaitFor(Duration pause) const {
  if (request_timeout_.deadline.Remaining() <= pause) {
    return false;
  }
  return request_timeout_.pause
             ? request_timeout_.pause(pause)
             : internal::WaitUntil(Deadline::After(pause), std::stop_token());
}

Result<sys::HttpResponse> Sender::Send(sys::HttpRequest request,
                                       Repeat repeat) {
  const std::string server = Printable(sys::SplitUrl(request.url).host);
  if (host_.http == nullptr) {
    return Error(
        Cause::kNetWrongEndpoint,
        "`" + server + "` was not contacted: network access is disabled");
  }
  const auto proxy = sys::ProxyForUrl(request.url, host_.env);
  request.proxy = proxy ? proxy->address : "";
  const auto own = sys::FirstSet(
      host_.env, {"CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", "SSL_CERT_FILE"});
  request.ca_file = own ? own->value : "";
  const int most = MostTries(repeat, request_timeout_);
  for (int tries = 1;; ++tries) {
    request.timeout = std::min(request_timeout_.timeout,
                               request_timeout_.deadline.Remaining());
    request.connect_timeout =
        std::min(request_timeout_.connect_timeout, request.timeout);
    auto response = SendOnce(request);
    const Chance chance = ChanceOf(response, tries);
    if (!chance.passes || tries >= most ||
        !WaitFor(PauseBefore(tries + 1, chance.asked,
                             request_timeout_.first_pause, Dice()))) {
      return Ended(std::move(response), tries, proxy);
    }
    ++repeats_;
    MUSTER_LOG(kInfo, "retrying `" + server + "`, attempt " +
                          std::to_string(tries + 1));
  }
}

bool Sender::ClockIsWrong() const {
  return offset_ && (offset_->ahead_of_us > kAllowedSkew ||
                     offset_->ahead_of_us < -kAllowedSkew);
}

std::string Sender::ClockText() const {
  if (!offset_) {
    return "";
  }
  const bool behind = offset_->ahead_of_us > Duration::zero();
  return "this machine's clock is " +
         ToString(behind ? offset_->ahead_of_us : -offset_->ahead_of_us) +
         (behind ? " behind" : " ahead of") + " that of " +
         Printable(offset_->server);
}

std::optional<WallTime> ParseHttpDate(const std::string& text) {
  static constexpr std::array<std::string_view, 12> kMonths{
      "Jan", "Feb", "Mar", "Apr", "May", "Jun",
      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto parts = Split(text, ' ');
  if (parts.size() != 6 || parts[5] != "GMT") {
    return std::nullopt;
  }
  const auto month = std::find(kMonths.begin(), kMonths.end(), parts[2]);
  const auto day = ParseInt(parts[1]);
  const auto year = ParseInt(parts[3]);
  const auto time = Split(parts[4], ':');
  if (month == kMonths.end() || !day || !year || time.size() != 3) {
    return std::nullopt;
  }
  const auto hour = ParseInt(time[0]);
  const auto minute = ParseInt(time[1]);
  const auto second = ParseInt(time[2]);
  const std::chrono::year_month_day date{
      std::chrono::year(static_cast<int>(
          std::clamp<std::int64_t>(*year, kFirstYear - 1, kLastYear + 1))),
      std::chrono::month(static_cast<unsigned>(month - kMonths.begin() + 1)),
      std::chrono::day(
          static_cast<unsigned>(std::clamp<std::int64_t>(*day, 0, 99)))};
  // Another year than a clock may have is none; a difference of these fits a
  // Duration.
  if (!date.ok() || *year < kFirstYear || *year > kLastYear || !hour ||
      !minute || !second || *hour < 0 || *hour > 23 || *minute < 0 ||
      *minute > 59 || *second < 0 || *second > 60) {
    return std::nullopt;
  }
  return std::chrono::sys_days(date) + std::chrono::hours(*hour) +
         std::chrono::minutes(*minute) + seconds(*second);
}

double Dice() {
  thread_local std::minstd_rand random{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(random);
}

Duration Spread(Duration pause, double dice) {
  return std::chrono::duration_cast<Duration>(pause * (0.75 + dice / 2));
}

Duration PauseBefore(int next, const std::optional<Duration>& asked,
                     Duration first, double dice) {
  if (asked) {
    return *asked;
  }
  const Duration doubled = std::min<Duration>(
      first * (1LL << std::clamp(next - 2, 0, 20)), kLongestPause);
  return Spread(doubled, dice);
}

}  // namespace muster::cloud
