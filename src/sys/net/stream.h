// SPDX-License-Identifier: Apache-2.0
// Pipes, sockets and terminals for the loop: calls that never wait.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/deadline.h"
#include "muster/error.h"
#include "sys/file/fd.h"

namespace muster::sys {

// What a read without waiting met.
enum class Arrived {
  kSome,     // bytes were appended
  kNothing,  // none are there now
  kEnd,      // there will be none: the other side is closed or gone
};

// A pipe; only the end that we read is non-blocking, the other is for a child.
// Both close-on-exec.
struct PipeEnds {
  Fd read;
  Fd write;
};
Result<PipeEnds> MakePipe();

// Appends what a non-blocking descriptor has, at most 64 KiB at a time.
Result<Arrived> ReadNow(int fd, std::string& buffer);
// Writes what fits, also to a descriptor of the blocking kind (then at most
// PIPE_BUF bytes, and may wait where there is less room than that by then: in a
// terminal, which does not tell, and in a pipe into which others write, too);
// the number of bytes written, 0 when nothing
// fits now. peer-died when nobody reads any more (the process has to ignore
// SIGPIPE, as GuardianSpawner::Fork arranges); disk-full and the like.
Result<std::size_t> WriteNow(int fd, std::string_view bytes);

// The same over a Unix socket of either mode, with descriptors: they are sent
// beside the first byte, and only if one byte is sent. Received descriptors are
// close-on-exec; with `descriptors` null they are closed.
Result<std::size_t> SendNow(int fd, std::string_view bytes,
                            std::span<const int> descriptors);
Result<Arrived> ReceiveNow(int fd, std::string& buffer,
                           std::vector<Fd>* descriptors);

// Waits until WriteNow can write; deadline-exceeded.
Status AwaitWritable(int fd, Deadline deadline);

// The other end of the socket reads its end; it may still send.
void ShutDownSending(int fd);

// A descriptor for the same terminal, pipe or file as `fd` on which WriteNow
// never waits. O_NONBLOCK set on `fd` itself would hold for every process that
// shares it, the user's shell included.
Result<Fd> OpenWithoutWaiting(int fd);
bool IsTerminal(int fd);
bool IsUnixSocket(int fd);

}  // namespace muster::sys
