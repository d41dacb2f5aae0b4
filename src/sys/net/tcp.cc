// SPDX-License-Identifier: Apache-2.0
#include "sys/net/tcp.h"

#include <linux/sockios.h>
#include <linux/tcp.h>  // knows more of tcp_info than the C library's header
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace muster::sys {
namespace {

std::string TextOf(const SocketAddress& address) {
  return address.length == 0 ? "" : address.Text();
}

SocketAddress EndOf(int fd, bool own) {
  SocketAddress end;
  end.length = sizeof end.storage;
  const int failed = own ? getsockname(fd, end.get(), &end.length)
                         : getpeername(fd, end.get(), &end.length);
  if (failed != 0) {
    end.length = 0;
  }
  return end;
}

// Bytes that wait to be sent for the first time.
std::uint32_t UnsentOf(int fd) {
  int bytes = 0;
  return ioctl(fd, SIOCOUTQNSD, &bytes) == 0 && bytes > 0
             ? static_cast<std::uint32_t>(bytes)
             : 0;
}

}  // namespace

Dialling StartDial(const SocketAddress& address) {
  Dialling dialling;
  dialling.fd = Fd(
      socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  dialling.why = errno;
  if (!dialling.fd) {
    return dialling;
  }
  const int on = 1;
  setsockopt(dialling.fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const bool now =
      connect(dialling.fd.get(), address.get(), address.length) == 0;
  dialling.why = now ? DialOutcome(dialling.fd.get()) : errno;
  return dialling;
}

int DialOutcome(int fd) {
  const int why = PendingError(fd);
  if (why != 0) {
    return why;
  }
  const std::string own = OwnEnd(fd);
  return !own.empty() && own == OtherEnd(fd) ? ECONNREFUSED : 0;
}

std::optional<Accepted> AcceptNow(int listener) {
  SocketAddress peer;
  peer.length = sizeof peer.storage;
  Fd fd(accept4(listener, peer.get(), &peer.length,
                SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd) {
    return std::nullopt;
  }
  const int on = 1;
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return Accepted{std::move(fd), TextOf(peer)};
}

void ResetOnClose(int fd) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

std::string OwnEnd(int fd) {
  return TextOf(EndOf(fd, true));
}

std::string OtherEnd(int fd) {
  return TextOf(EndOf(fd, false));
}

std::optional<TcpState> StateOf(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) {
    return std::nullopt;
  }
  return TcpState{.segment = info.tcpi_snd_mss,
                  .unanswered = info.tcpi_unacked,
                  .unsent = UnsentOf(fd),
                  .sent_again = info.tcpi_total_retrans,
                  .sent = info.tcpi_segs_out,
                  // All ones until there was a round trip.
                  .least_round_trip = std::chrono::microseconds(
                      info.tcpi_min_rtt == ~0U ? 0 : info.tcpi_min_rtt)};
}

void KeepUnsentBelow(int fd, int bytes) {
  setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof bytes);
}

Arrived ReceiveTcp(int fd, std::string& buffer) {
  char bytes[64 << 10];  // not cleared
  ssize_t got = 0;
  int why = 0;
  do {
    got = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
    why = errno;
  } while (got < 0 && why == EINTR);
  if (got > 0) {
    buffer.append(bytes, static_cast<std::size_t>(got));
    return Arrived::kSome;
  }
  return got < 0 && why == EAGAIN ? Arrived::kNothing : Arrived::kEnd;
}

Discarded DiscardTcp(int fd, std::uint64_t most) {
  char
      bytes[256 << 10];  // not cleared, and not filled where MSG_TRUNC is known
  const auto size =
      static_cast<std::size_t>(std::min<std::uint64_t>(sizeof bytes, most));
  ssize_t got = 0;
  int why = 0;
  do {
    got = recv(fd, bytes, size, MSG_DONTWAIT | MSG_TRUNC);
    why = errno;
  } while (got < 0 && why == EINTR);
  if (got > 0) {
    return {Arrived::kSome, static_cast<std::size_t>(got)};
  }
  return {got < 0 && why == EAGAIN ? Arrived::kNothing : Arrived::kEnd, 0};
}

int PendingError(int fd) {
  int why = 0;
  socklen_t size = sizeof why;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &size) == 0 ? why : errno;
}

}  // namespace muster::sys
