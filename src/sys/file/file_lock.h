// SPDX-License-Identifier: Apache-2.0
// A lock between processes.
#pragma once

#include <optional>
#include <string>

#include "muster/error.h"
#include "sys/file/fd.h"

namespace muster::sys {

// The lock of a file, held until the descriptor is closed, at the latest by the
// end of the process. A program that this process starts does not inherit it;
// what it forks does.
struct FileLock {
  Fd file;  // none: it is locked already, by this process or another
  // Then: by a process of this machine. One of another machine may be gone with
  // it: a file server keeps the lock for some time, NFS 3 for ever.
  bool held_here = false;
};

// Makes the file where it is not there; it stays, and names the boot of the
// machine that has locked it last. On a file system without locks nothing is
// locked, and the log says so. Errors as Fs.
Result<FileLock> LockFile(const std::string& path);

// Every Appender of RealFs holds its file so until it is closed; the second of
// the same file holds nothing. Where the file system has no locks nothing is
// held.
void HoldGrowing(int fd);
// Whether some process, also of another host where the file system keeps locks
// between hosts, has the file open to append to it. nullopt: it cannot be told.
std::optional<bool> IsGrowing(const std::string& path);

}  // namespace muster::sys
