// SPDX-License-Identifier: Apache-2.0
// One attempt to connect, and what was observed when it fails.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "sys/file/fs.h"
#include "sys/net/name_lookup.h"
#include "sys/net/net.h"
#include "sys/net/tcp.h"
#include "sys/time/clock.h"

namespace muster::sys {
namespace {

// Connects one number; 0 or the errno. ETIMEDOUT stands for no answer until the
// deadline as well.
int Connect(int fd, const SocketAddress& address, Deadline deadline) {
  if (connect(fd, address.get(), address.length) == 0) {
    return DialOutcome(fd);
  }
  int why = errno;
  if (why != EINPROGRESS && why != EINTR) {
    return why;
  }
  pollfd poll_fd{fd, POLLOUT, 0};
  while (true) {
    const int ready = poll(&poll_fd, 1, deadline.PollTimeout());
    why = errno;
    if (ready > 0) {
      return DialOutcome(fd);
    }
    if (ready < 0 && why != EINTR) {
      return why;
    }
    if (deadline.Expired()) {
      return ETIMEDOUT;
    }
  }
}

Cause CauseOfConnect(int why) {
  switch (why) {
    case ECONNREFUSED:
    case ECONNRESET:
      return Cause::kNetWrongEndpoint;
    case ETIMEDOUT:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EHOSTDOWN:
    case ENETDOWN:
    case EACCES:  // a packet filter on this host
    case EPERM:
      return Cause::kNetTimeoutFiltered;
    case EADDRNOTAVAIL:  // no source port is left
      return Cause::kOsLimit;
    default:
      return CauseOfErrno(why);
  }
}

struct Try {
  std::string number;  // "10.0.0.7:8476"
  int why = 0;
  Duration took{};
  WallTime at{};
};

std::string Observed(const Try& attempt) {
  const std::string after = " after " + muster::ToString(attempt.took);
  switch (attempt.why) {
    case ECONNREFUSED:
      return "refused the connection" + after;
    case ETIMEDOUT:
      return "did not respond within " + muster::ToString(attempt.took);
    case EHOSTUNREACH:
    case ENETUNREACH:
      return "cannot be reached: no route" + after;
    default:
      return "connection failed" + after + ": " + ErrnoName(attempt.why);
  }
}

Fact ToFact(const Try& attempt, const Address& address) {
  const double ms =
      std::chrono::duration<double, std::milli>(attempt.took).count();
  std::string name = "connect.failed";
  if (attempt.why == ECONNREFUSED) {
    name = "connect.refused";
  } else if (CauseOfConnect(attempt.why) == Cause::kNetTimeoutFiltered) {
    name = attempt.why == ETIMEDOUT ? "connect.timeout" : "connect.unreachable";
  }
  return Fact{.name = std::move(name),
              .fields = {{"errno", ErrnoName(attempt.why)},
                         {"after_ms", ms},
                         {"address", attempt.number}},
              .subject = ToString(address),
              .by = "tcp probe",
              .at = attempt.at};
}

// A host that refuses is there: that says more than another number of it that
// gives no answer.
Error FromTries(const Address& address, const std::vector<Try>& tries) {
  const auto refused =
      std::find_if(tries.begin(), tries.end(), [](const Try& one) {
        return CauseOfConnect(one.why) == Cause::kNetWrongEndpoint;
      });
  const Try& telling = refused == tries.end() ? tries.front() : *refused;
  const std::string name = ToString(address);
  std::string who = "`" + name + "`";
  if (telling.number != name) {
    who += " (" + telling.number + ")";
  }
  Error error(CauseOfConnect(telling.why), who + " " + Observed(telling));
  for (const Try& one : tries) {
    Error more = std::move(error).With(ToFact(one, address));
    error = std::move(more);
  }
  return error;
}

}  // namespace

Result<Fd> Dial(const Address& address, Deadline deadline) {
  MUSTER_ASSIGN(const auto numbers, Resolve(address, deadline));
  std::vector<Try> tries;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto left = static_cast<std::int64_t>(numbers.size() - i);
    const auto start = std::chrono::steady_clock::now();
    Try attempt{.number = numbers[i].Text(), .at = RealClock().EventNow()};
    Fd fd(socket(numbers[i].family(),
                 SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    attempt.why = errno;
    if (fd) {
      attempt.why = Connect(fd.get(), numbers[i],
                            Deadline::After(deadline.Remaining() / left));
      if (attempt.why == 0) {
        return fd;
      }
    }
    attempt.took = std::chrono::steady_clock::now() - start;
    tries.push_back(std::move(attempt));
  }
  return FromTries(address, tries);
}

}  // namespace muster::sys
