// SPDX-License-Identifier: Apache-2.0
// Requests to Google's services: through the environment's proxy, with its
// certificates, repeated where a repeat helps.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cloud/api/api_error.h"
#include "muster/deadline.h"
#include "sys/host.h"

namespace muster::cloud {

// How long the cloud may be asked, and how the time between two tries passes.
struct Patience {
  Deadline deadline;
  // How often at most one request is sent.
  int tries = 8;
  // The first wait, doubled each time up to 32 s, a quarter more or less.
  Duration first_pause = std::chrono::seconds(1);
  // Waits so long; false when a stop was asked for. Absent: real time.
  std::function<bool(Duration)> pause;
  // Of one request.
  Duration connect_timeout = std::chrono::seconds(5);
  Duration timeout = std::chrono::seconds(60);

  // For a look beside other work: one repeat, at once, with the deadlines of
  // sys::HttpRequest.
  static Patience Hasty();
};

// What may be repeated.
enum class Repeat {
  kRead,   // whatever passes: no answer, the service's trouble, its limit on
           // requests
  kToken,  // the same, three times at most
  kOnce,   // as kRead: what takes effect once however often it is sent
  kNever,  // what makes something and has no id of its own
};

// How far this machine's clock is behind (positive) or ahead of a server's, by
// its Date.
struct ClockOffset {
  std::string server;
  Duration ahead_of_us{};
};

// One thread at a time.
class Sender {
 public:
  Sender(const sys::Host& host, Patience patience);

  // An answer of any status; of those that passed, the last. Errors: what
  // sys::Http says; net-wrong-endpoint when there is no network to ask.
  Result<sys::HttpResponse> Send(sys::HttpRequest request, Repeat repeat);

  // What is asked from now on has until then.
  void SetDeadline(Deadline deadline) { patience_.deadline = deadline; }

  const sys::Host& host() const { return host_; }
  // How often a request was sent again, of all: a refusal of what was sent
  // again says nothing of the tries before it.
  int repeats() const { return repeats_; }
  // Of the last answer that told a date.
  const std::optional<ClockOffset>& clock_offset() const { return offset_; }
  // More than five minutes, which is what Google's services allow.
  bool ClockIsWrong() const;
  // "this machine's clock is 12 min behind that of oauth2.googleapis.com".
  std::string ClockText() const;

 private:
  Result<sys::HttpResponse> SendOnce(const sys::HttpRequest& request);
  bool WaitFor(Duration pause) const;

  const sys::Host& host_;
  Patience patience_;
  int repeats_ = 0;
  std::optional<ClockOffset> offset_;
};

// "Sun, 06 Nov 1994 08:49:37 GMT".
std::optional<WallTime> ParseHttpDate(const std::string& text);

// A new number from 0 to 1 each time.
double Dice();
// A quarter less (dice 0) to a quarter more (1). Pure.
Duration Spread(Duration pause, double dice);

// The wait before try `next` (2, 3, …): what the service asks for, else the
// doubled first pause, spread by `dice` (0 to 1). Pure.
Duration PauseBefore(int next, const std::optional<Duration>& asked,
                     Duration first, double dice);

}  // namespace muster::cloud
