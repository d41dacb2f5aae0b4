// SPDX-License-Identifier: Apache-2.0
#include "sys/net/stream.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include "sys/file/fs.h"
#include "sys/net/net.h"

namespace muster::sys {
namespace {

constexpr std::size_t kChunk = 64 << 10;
constexpr std::size_t kMaxDescriptors = 64;

bool WouldBlock(int why) {
  return why == EAGAIN;
}

bool PeerGone(int why) {
  return why == EPIPE || why == ECONNRESET || why == ENOTCONN;
}

Error Gone(std::string_view call, int why) {
  return Error(Cause::kPeerDied, "the peer is gone: " + std::string(call) +
                                     " returned " + ErrnoName(why));
}

// The bytes of a control message that carries descriptors.
struct Control {
  alignas(cmsghdr)
      std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> bytes{};
};

void PutDescriptors(msghdr& message, Control& control,
                    std::span<const int> descriptors) {
  message.msg_control = control.bytes.data();
  message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
}

void TakeDescriptors(msghdr& message, std::vector<Fd>* descriptors) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(header) + i * sizeof number,
                  sizeof number);
      Fd fd(number);  // closed here when nobody wants it
      if (descriptors != nullptr) {
        descriptors->push_back(std::move(fd));
      }
    }
  }
}

// What a write takes without waiting, also of a descriptor that waits: where
// poll says that there is room, a pipe has it for PIPE_BUF bytes.
std::string_view WhatFits(int fd, std::string_view bytes) {
  if ((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0) {
    return bytes;
  }
  pollfd poll_fd{fd, POLLOUT, 0};
  const int ready = poll(&poll_fd, 1, 0);
  return bytes.substr(0, ready > 0 ? PIPE_BUF : 0);
}

// Waits until the socket can be read or written, or the deadline passes.
Status Await(int fd, short what, Deadline deadline) {
  pollfd poll_fd{fd, what, 0};
  while (true) {
    const int ready = poll(&poll_fd, 1, deadline.PollTimeout());
    const int why = errno;
    if (ready > 0) {
      return Ok();
    }
    if (ready < 0 && why != EINTR) {
      return FromErrno("poll", "socket", why);
    }
    if (deadline.Expired()) {
      return Error(Cause::kDeadlineExceeded,
                   what == POLLIN ? "received nothing from the socket in time"
                                  : "the peer did not read in time");
    }
  }
}

}  // namespace

Result<PipeEnds> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    const int why = errno;
    return FromErrno("pipe2", "pipe", why);
  }
  PipeEnds pipe{Fd(ends[0]), Fd(ends[1])};
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return pipe;
}

Result<Arrived> ReadNow(int fd, std::string& buffer) {
  const std::size_t have = buffer.size();
  buffer.resize(have + kChunk);
  ssize_t got = 0;
  int why = 0;
  do {
    got = read(fd, buffer.data() + have, kChunk);
    why = errno;
  } while (got < 0 && why == EINTR);
  buffer.resize(have + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got > 0) {
    return Arrived::kSome;
  }
  // A terminal whose other side is closed says EIO.
  if (got == 0 || PeerGone(why) || why == EIO) {
    return Arrived::kEnd;
  }
  return WouldBlock(why) ? Result<Arrived>(Arrived::kNothing)
                         : FromErrno("read", "pipe", why);
}

Result<std::size_t> WriteNow(int fd, std::string_view bytes) {
  while (true) {
    // A socket is not made non-blocking by OpenWithoutWaiting; send can do it.
    ssize_t sent =
        send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    int why = errno;
    if (sent < 0 && why == ENOTSOCK) {
      bytes = WhatFits(fd, bytes);
      if (bytes.empty()) {
        return std::size_t{0};
      }
      sent = write(fd, bytes.data(), bytes.size());
      why = errno;
    }
    if (sent >= 0) {
      return static_cast<std::size_t>(sent);
    }
    if (WouldBlock(why)) {
      return std::size_t{0};
    }
    if (PeerGone(why)) {
      return Gone("write", why);
    }
    if (why == EBADF) {
      return Error(Cause::kUsageInvalid, "it is closed");
    }
    if (why != EINTR) {
      return FromErrno("write", "output", why);
    }
  }
}

Result<std::size_t> SendNow(int fd, std::string_view bytes,
                            std::span<const int> descriptors) {
  MUSTER_CHECK(descriptors.size() <= kMaxDescriptors);
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  Control control;
  if (!descriptors.empty()) {
    PutDescriptors(message, control, descriptors);
  }
  while (true) {
    const ssize_t sent = sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    const int why = errno;
    if (sent >= 0) {
      return static_cast<std::size_t>(sent);
    }
    if (WouldBlock(why)) {
      return std::size_t{0};
    }
    if (PeerGone(why)) {
      return Gone("sendmsg", why);
    }
    if (why != EINTR) {
      return FromErrno("sendmsg", "socket", why);
    }
  }
}

Result<Arrived> ReceiveNow(int fd, std::string& buffer,
                           std::vector<Fd>* descriptors) {
  const std::size_t have = buffer.size();
  buffer.resize(have + kChunk);
  iovec part{buffer.data() + have, kChunk};
  Control control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  ssize_t got = 0;
  int why = 0;
  do {
    got = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    why = errno;
  } while (got < 0 && why == EINTR);
  buffer.resize(have + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got >= 0) {
    TakeDescriptors(message, descriptors);
    return got > 0 ? Arrived::kSome : Arrived::kEnd;
  }
  if (PeerGone(why)) {
    return Arrived::kEnd;
  }
  return WouldBlock(why) ? Result<Arrived>(Arrived::kNothing)
                         : FromErrno("recvmsg", "socket", why);
}

Status AwaitWritable(int fd, Deadline deadline) {
  return Await(fd, POLLOUT, deadline);
}

void ShutDownSending(int fd) {
  shutdown(fd, SHUT_WR);
}

Result<Fd> OpenWithoutWaiting(int fd) {
  struct stat about {};
  if (fstat(fd, &about) != 0) {
    const int why = errno;
    return FromErrno("fstat", "descriptor " + std::to_string(fd), why);
  }
  if (S_ISCHR(about.st_mode) || S_ISFIFO(about.st_mode)) {
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    Fd again(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (again) {
      return again;
    }
    // Another user's (su, sudo): WriteNow looks for room before each write.
  }
  Fd copy(fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!copy) {
    const int why = errno;
    return FromErrno("dup", "descriptor " + std::to_string(fd), why);
  }
  return copy;
}

bool IsTerminal(int fd) {
  return isatty(fd) == 1;
}

bool IsUnixSocket(int fd) {
  int domain = 0;
  socklen_t size = sizeof domain;
  return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
         domain == AF_UNIX;
}

Result<std::pair<Fd, Fd>> SocketPair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    const int why = errno;
    return FromErrno("socketpair", "socket", why);
  }
  return std::pair(Fd(ends[0]), Fd(ends[1]));
}

Status SendAll(int fd, std::string_view bytes, std::span<const int> descriptors,
               Deadline deadline) {
  while (!bytes.empty()) {
    MUSTER_ASSIGN(const std::size_t sent, SendNow(fd, bytes, descriptors));
    if (sent > 0) {
      bytes.remove_prefix(sent);
      descriptors = {};
    }
    MUSTER_TRY(sent > 0 ? Ok() : Await(fd, POLLOUT, deadline));
  }
  return Ok();
}

Status ReceiveSome(int fd, std::string& buffer, std::vector<Fd>* descriptors,
                   Deadline deadline) {
  while (true) {
    MUSTER_ASSIGN(const Arrived arrived, ReceiveNow(fd, buffer, descriptors));
    if (arrived == Arrived::kSome) {
      return Ok();
    }
    if (arrived == Arrived::kEnd) {
      return Error(Cause::kPeerDied, "the peer closed the socket");
    }
    MUSTER_TRY(Await(fd, POLLIN, deadline));
  }
}

}  // namespace muster::sys
