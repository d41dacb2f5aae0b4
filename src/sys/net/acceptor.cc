// SPDX-License-Identifier: Apache-2.0
#include "sys/net/acceptor.h"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "base/log.h"

namespace muster::sys {
namespace {

constexpr rlim_t kLeastFree = 32;
constexpr rlim_t kPartFree = 16;
// How often the thread looks whether it should end, should it not be woken.
constexpr int kLookMs = 1000;
// After a failure that may last: the socket stays ready all the while.
constexpr int kPauseMs = 20;

// The kernel gives the lowest free number, so a high one tells that few are
// left.
bool FewAreLeft(int fd) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
      limit.rlim_cur == RLIM_INFINITY) {
    return false;
  }
  const rlim_t kept = std::max(kLeastFree, limit.rlim_cur / kPartFree);
  return static_cast<rlim_t>(fd) + kept >= limit.rlim_cur;
}

Fd Spare() {
  return Fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

}  // namespace

Acceptor::Acceptor(Listening listening, OnConnection on_connection)
    : listening_(std::move(listening)),
      on_connection_(std::move(on_connection)),
      spare_(Spare()),
      thread_([this](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          Serve();
        }
      }) {}

Acceptor::~Acceptor() {
  thread_.request_stop();
  shutdown(listening_.fd.get(), SHUT_RDWR);  // wakes the thread
  thread_.join();
}

void Acceptor::Serve() {
  pollfd ready{listening_.fd.get(), POLLIN, 0};
  if (poll(&ready, 1, kLookMs) > 0) {
    AcceptOne();
  }
}

void Acceptor::AcceptOne() {
  Fd fd(accept4(listening_.fd.get(), nullptr, nullptr,
                SOCK_NONBLOCK | SOCK_CLOEXEC));
  const int why = errno;
  if (fd) {
    if (FewAreLeft(fd.get())) {
      SayThatFewAreLeft();
      return;
    }
    const int on = 1;
    setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    on_connection_(std::move(fd));
    return;
  }
  if (why == EMFILE || why == ENFILE) {
    SayThatFewAreLeft();
    spare_ = Fd();
    // Taken and closed, so that the other side learns it.
    fd = Fd(accept4(listening_.fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
    fd = Fd();
    spare_ = Spare();
  }
  if (why != EAGAIN && why != EINTR && why != ECONNABORTED) {
    poll(nullptr, 0, kPauseMs);
  }
}

void Acceptor::SayThatFewAreLeft() {
  if (!said_) {
    said_ = true;
    MUSTER_LOG(kWarn,
               "closing new connections: the limit of open files is almost "
               "reached (ulimit -n)",
               {{"listens_at", ToString(listening_.address)}});
  }
}

}  // namespace muster::sys
