// SPDX-License-Identifier: Apache-2.0
#include "sys/machine.h"

#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.h"
#include "sys/file/fd.h"
#include "sys/file/fs.h"
#include "sys/kernel_log.h"
#include "sys/net/name_lookup.h"
#include "sys/net/net.h"
#include "sys/process/process.h"
#include "sys/process/run_program.h"

namespace muster::sys {
namespace {

// Enough to name; a device with more holders is no less busy.
constexpr std::size_t kMaxHolders = 8;

// Any port will do: connect of a datagram socket asks for the route alone.
constexpr std::uint16_t kAnyPort = 9;

std::string HostOf(const SocketAddress& address) {
  std::string text = address.Text();
  text.resize(text.rfind(':'));
  return text.starts_with('[') ? text.substr(1, text.size() - 2) : text;
}

// By the numbers that file systems have; <linux/magic.h> lacks those that are
// not part of the kernel.
bool IsServed(const std::string& path) {
  constexpr std::array<std::uint32_t, 14> kServed{
      0x6969,      // NFS
      0xFF534D42,  // CIFS
      0xFE534D42,  // SMB 2
      0x517B,      // SMB
      0x65735546,  // FUSE
      0x0BD00BD0,  // Lustre
      0x00C36400,  // Ceph
      0x01021997,  // 9P
      0x5346414F,  // AFS
      0x6B414653,  // AFS of the kernel
      0x47504653,  // GPFS
      0x19830326,  // BeeGFS
      0x7461636F,  // OCFS2
      0x01161970,  // GFS2
  };
  struct statfs about {};
  return statfs(path.c_str(), &about) == 0 &&
         std::find(kServed.begin(), kServed.end(),
                   static_cast<std::uint32_t>(about.f_type)) != kServed.end();
}

}  // namespace

Result<Space> RealMachine::SpaceOf(const std::string& path) const {
  struct statvfs about {};
  if (statvfs(path.c_str(), &about) != 0) {
    const int why = errno;
    return FromErrno("statvfs", path, why);
  }
  const std::uint64_t unit = about.f_frsize;
  return Space{.bytes = about.f_blocks * unit,
               .free_bytes = about.f_bavail * unit,
               .files = about.f_files,
               .free_files = about.f_favail,
               .served = IsServed(path)};
}

Status RealMachine::MayAccess(const std::string& path, Access access) const {
  const int wanted = access == Access::kRead ? R_OK : W_OK;
  if (::access(path.c_str(), wanted) != 0) {
    const int why = errno;
    return FromErrno(access == Access::kRead ? "reading" : "writing", path,
                     why);
  }
  return Ok();
}

Status RealMachine::TryPort(const Address& address) const {
  auto listening = Listen(address);
  if (!listening) {
    return std::move(listening).error();
  }
  return Ok();
}

std::vector<Holder> RealMachine::HoldersOf(
    const std::vector<std::string>& paths) const {
  std::vector<Holder> holders = FindHolders(paths, kMaxHolders);
  const int self = OwnPid();
  std::erase_if(holders, [&](const Holder& one) { return one.pid == self; });
  return holders;
}

std::optional<ClockState> RealMachine::AskClock() const {
  timex answer{};
  const int state = adjtimex(&answer);
  if (state < 0) {
    return std::nullopt;
  }
  return ClockState{
      .synchronized = state != TIME_ERROR && (answer.status & STA_UNSYNC) == 0,
      .max_error = std::chrono::microseconds(answer.maxerror)};
}

Result<std::string> RealMachine::RouteTo(const std::string& number) const {
  MUSTER_ASSIGN(const auto found,
                Resolve(Address{.host = number, .port = kAnyPort},
                        Deadline::After(std::chrono::seconds(1))));
  const SocketAddress& address = found.front();
  const Fd fd(socket(address.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  SocketAddress own;
  own.length = sizeof own.storage;
  if (!fd || connect(fd.get(), address.get(), address.length) != 0 ||
      getsockname(fd.get(), own.get(), &own.length) != 0) {
    const int why = errno;
    return Error(
        Cause::kNetTimeoutFiltered,
        "this host has no route to `" + number + "`: " + ErrnoName(why));
  }
  return HostOf(own);
}

Result<std::string> RealMachine::Ask(const std::vector<std::string>& argv,
                                     Deadline deadline) const {
  MUSTER_ASSIGN(ProgramAnswer answer,
                RunProgram({.argv = argv,
                            .variables = {},
                            .too_much = Program::TooMuch::kCut,
                            .silent = true},
                           deadline));
  if (!answer.Succeeded()) {
    return Error(Cause::kDeviceDriverState,
                 "`" + argv.front() + "` ended with " + answer.Ending() + ": " +
                     Printable(Trim(answer.output).substr(0, 200)));
  }
  return std::move(answer.output);
}

Result<std::string> RealMachine::KernelLog(std::size_t limit) const {
  return sys::KernelLog(limit);
}

}  // namespace muster::sys
