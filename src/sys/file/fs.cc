// SPDX-License-Identifier: Apache-2.0
#include "sys/file/fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/text.h"
#include "sys/file/fd.h"
#include "sys/file/file_lock.h"
#include "sys/file/file_writer.h"
#include "sys/file/open_file.h"
#include "sys/os_limit.h"
#include "sys/time/clock.h"

namespace muster::sys {
namespace {

Status WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      const int why = errno;
      if (why == EINTR) {
        continue;
      }
      return FromErrno("write", path, why);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return Ok();
}

std::string Parent(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "."
                                    : path.substr(0, std::max(slash, 1UL));
}

// Everything of Write that happens to the temporary file. Errors name `path`,
// of which it is to take the place.
Status WriteTemporary(const std::string& path, std::string_view bytes,
                      const std::string& temporary) {
  Fd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd) {
    const int why = errno;
    return FromErrno("open", path, why);
  }
  MUSTER_TRY(WriteAll(fd.get(), bytes, path));
  return Sync(fd.get(), path);
}

Result<std::string> ReadAll(Fd fd, const std::string& path, std::size_t limit) {
  struct stat about {};
  std::string bytes;
  std::size_t told = 0;
  if (fstat(fd.get(), &about) == 0 && about.st_size > 0) {
    told = static_cast<std::size_t>(about.st_size);
  }
  FileReader reader(std::move(fd), path);
  while (true) {
    const std::size_t have = bytes.size();
    const std::size_t room =
        RoomToRead({.have = have, .told = told, .limit = limit});
    bytes.resize(have + room);
    MUSTER_ASSIGN(const std::size_t got,
                  reader.Read(bytes.data() + have, room));
    bytes.resize(have + got);
    if (got == 0) {
      return bytes;
    }
    if (bytes.size() > limit) {
      return Error(
          Cause::kFileCorrupt,
          "`" + path + "` is larger than the limit of " + BytesText(limit));
    }
  }
}

class RealAppender : public Appender {
 public:
  RealAppender(Fd fd, std::string path)
      : fd_(std::move(fd)), path_(std::move(path)) {}
  Status Append(std::string_view bytes) override {
    return WriteAll(fd_.get(), bytes, path_);
  }
  Status Sync() override {
    MUSTER_TRY(sys::Sync(fd_.get(), path_));
    if (!name_is_durable_) {
      const auto slash = path_.rfind('/');
      MUSTER_TRY(SyncDirectory(
          slash == std::string::npos ? "." : path_.substr(0, slash + 1)));
      name_is_durable_ = true;
    }
    return Ok();
  }

 private:
  Fd fd_;
  std::string path_;
  bool name_is_durable_ = false;
};

}  // namespace

Result<std::string> RealFs::Read(const std::string& path,
                                 std::size_t limit) const {
  MUSTER_ASSIGN(Fd fd, OpenToRead(path));
  return ReadAll(std::move(fd), path, limit);
}

Result<std::string> RealFs::ReadNamed(const std::string& path,
                                      std::size_t limit) const {
  MUSTER_ASSIGN(Fd fd, OpenToRead(path, OpenKind::kFileOrPipe));
  return ReadAll(std::move(fd), path, limit);
}

Status RealFs::Write(const std::string& path, std::string_view bytes) {
  static std::atomic<std::uint64_t> counter{0};
  const std::string temporary = path + ".tmp-" + std::to_string(getpid()) +
                                "-" + std::to_string(++counter);
  auto written = WriteTemporary(path, bytes, temporary);
  if (written && rename(temporary.c_str(), path.c_str()) != 0) {
    const int why = errno;
    written = FromErrno("rename", path, why);
  }
  if (!written) {
    unlink(temporary.c_str());
    return written;
  }
  return SyncDirectory(Parent(path));
}

Result<std::unique_ptr<Appender>> RealFs::OpenAppender(
    const std::string& path) {
  MUSTER_ASSIGN(Fd fd, OpenToWrite(path, O_WRONLY | O_CREAT | O_APPEND));
  HoldGrowing(fd.get());
  return std::unique_ptr<Appender>(
      std::make_unique<RealAppender>(std::move(fd), path));
}

Status RealFs::MakeDirectories(const std::string& path, Access access) {
  for (std::size_t slash = 0; slash != std::string::npos;) {
    slash = path.find('/', slash + 1);
    const std::string part = path.substr(0, slash);
    struct stat about {};
    // The question first: mkdir of an existing directory on a read-only disk
    // says EROFS.
    if (stat(part.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) {
      continue;
    }
    if (mkdir(part.c_str(), access == Access::kOwner ? 0700 : 0777) != 0) {
      const int why = errno;
      if (why == EEXIST && stat(part.c_str(), &about) == 0 &&
          S_ISDIR(about.st_mode)) {
        continue;
      }
      return FromErrno("mkdir", part, why == EEXIST ? ENOTDIR : why);
    }
  }
  return Ok();
}

Result<std::vector<std::string>> RealFs::List(const std::string& path) const {
  DIR* directory = opendir(path.c_str());
  if (directory == nullptr) {
    const int why = errno;
    return FromErrno("opendir", path, why);
  }
  std::vector<std::string> names;
  errno = 0;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): safe on a DIR of one's own.
  while (const dirent* entry = readdir(directory)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") {
      names.emplace_back(name);
    }
  }
  const int why = errno;
  closedir(directory);
  if (why != 0) {
    return FromErrno("readdir", path, why);
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool RealFs::Exists(const std::string& path) const {
  struct stat about {};
  return stat(path.c_str(), &about) == 0;
}

Status RealFs::Remove(const std::string& path) {
  if (remove(path.c_str()) != 0) {
    const int why = errno;
    return FromErrno("remove", path, why);
  }
  return Ok();
}

Status RealFs::RemoveRecursively(const std::string& path) {
  struct stat about {};
  if (lstat(path.c_str(), &about) != 0) {
    const int why = errno;
    return why == ENOENT ? Ok() : Status(FromErrno("lstat", path, why));
  }
  if (!S_ISDIR(about.st_mode)) {
    return Remove(path);
  }
  MUSTER_ASSIGN(const auto names, List(path));
  for (const auto& name : names) {
    MUSTER_TRY(RemoveRecursively(JoinPath(path, name)));
  }
  return Remove(path);
}

Status RealFs::Rename(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0) {
    const int why = errno;
    return FromErrno("rename", from + " to " + to, why);
  }
  return Ok();
}

Status RealFs::Link(const std::string& target, const std::string& path) {
  // Renamed into its place, so that a reader never finds none.
  const std::string fresh = path + "." + std::to_string(getpid()) + ".tmp";
  unlink(fresh.c_str());
  if (symlink(target.c_str(), fresh.c_str()) != 0) {
    const int why = errno;
    return FromErrno("symlink", fresh, why);
  }
  auto renamed = Rename(fresh, path);
  if (!renamed) {
    unlink(fresh.c_str());
  }
  return renamed;
}

bool IsThere(const std::string& path) {
  struct stat about {};
  return lstat(path.c_str(), &about) == 0;
}

Result<std::uint64_t> SizeOfFile(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) {
    const int why = errno;
    return FromErrno("stat", path, why);
  }
  return static_cast<std::uint64_t>(about.st_size);
}

// One call gives at most 2 GiB: a larger file must not double its memory for
// what the next call gives.
std::size_t RoomToRead(const ReadingState& state) {
  const std::size_t most = std::min(state.told, state.limit) + 1;
  const bool more = state.told > 0 && state.have < most;
  return more ? most - state.have : std::max<std::size_t>(4096, state.have);
}

std::string JoinPath(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (!path.empty() && !path.ends_with('/')) {
    path += '/';
  }
  return path += name;
}

Cause CauseOfErrno(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
    // Something else is there: a folder, a socket, a loop of links.
    case EISDIR:
    case ENXIO:
    case ENODEV:
    case ELOOP:
    case ENAMETOOLONG:
      return Cause::kFileMissing;
    case EACCES:
    case EPERM:
    case EROFS:
      return Cause::kFilePermission;
    case ENOSPC:
    case EDQUOT:
      return Cause::kDiskFull;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
    case E2BIG:
      return Cause::kOsLimit;
    case EIO:
      return Cause::kFileCorrupt;
    case ESTALE:
      return Cause::kDataPathUnreachable;
    default:
      return Cause::kInternalError;
  }
}

std::string ErrnoName(int error_number) {
  const char* name = strerrorname_np(error_number);
  return name != nullptr ? name : "errno " + std::to_string(error_number);
}

Error FromErrno(std::string_view call, std::string_view object,
                int error_number) {
  const char* meaning = strerrordesc_np(error_number);
  std::string message = std::string(call) + " of `" + Printable(object) +
                        "` failed: " + ErrnoName(error_number) + " (" +
                        (meaning != nullptr ? meaning : "unknown") + ")";
  Fact fact{.name = "os.call_failed",
            .fields = {{"call", std::string(call)},
                       {"object", std::string(object)},
                       {"errno", ErrnoName(error_number)}},
            .subject = std::string(object),
            .by = "the operating system",
            .at = RealClock().EventNow()};
  if (const auto limit = LimitMet(call, error_number)) {
    message += ": " + LimitText(*limit);
    AddTo(fact, *limit);
  }
  return Error(CauseOfErrno(error_number), std::move(message))
      .With(std::move(fact));
}

}  // namespace muster::sys
