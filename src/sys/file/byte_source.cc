// SPDX-License-Identifier: Apache-2.0
#include "sys/file/byte_source.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/text.h"
#include "sys/file/fs.h"
#include "sys/file/open_file.h"

namespace muster::sys {
namespace {

bool MayList(const std::string& directory) {
  return ::faccessat(AT_FDCWD, directory.c_str(), R_OK | X_OK, AT_EACCESS) ==
             0 ||
         errno != EACCES;
}

// Follows symbolic links as long as they stay in the directory; where the
// kernel (before 5.6) or a sandbox does not know how, none at the end of the
// path. With errno.
Fd OpenInside(int directory, const char* path) {
  // Not a FIFO that took the file's place, and waits for a writer.
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  open_how how{};
  how.flags = kFlags;
  how.resolve = RESOLVE_BENEATH;
  Fd fd(static_cast<int>(
      ::syscall(SYS_openat2, directory, path, &how, sizeof how)));
  if (!fd && (errno == ENOSYS || errno == EPERM)) {
    fd = Fd(::openat(directory, path, kFlags | O_NOFOLLOW));
  }
  return fd;
}

}  // namespace

ByteSource::ByteSource(Fd fd, bool owned, std::string name)
    : reader_(std::move(fd), name), owned_(owned), name_(std::move(name)) {}

ByteSource::~ByteSource() {
  if (!owned_) {
    reader_.Release();
  }
}

Result<ByteSource> ByteSource::OpenFile(const std::string& path) {
  MUSTER_ASSIGN(Fd fd, OpenToRead(path, OpenKind::kFileOrPipe));
  (void)::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  return ByteSource(std::move(fd), true, path);
}

Result<ByteSource> ByteSource::OpenBelow(const std::string& directory,
                                         const std::string& file) {
  // The directory itself may be a link: it was named.
  const Fd from(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const int no_directory = errno;
  if (!from) {
    return FromErrno("open", directory, no_directory);
  }
  const std::string inside =
      std::filesystem::path(file).lexically_relative(directory).string();
  Fd fd = OpenInside(from.get(), inside.c_str());
  const int error = errno;
  if (!fd && (error == EXDEV || error == ELOOP)) {
    return Error(Cause::kUsageInvalid,
                 "`" + Printable(file) +
                     "` is a symbolic link that may lead out of `" +
                     Printable(directory) +
                     "`, not read: name the file itself to read it");
  }
  struct stat about {};
  if (!fd || ::fstat(fd.get(), &about) != 0) {
    return FromErrno("open", file, fd ? errno : error);
  }
  if (!S_ISREG(about.st_mode)) {
    return Error(Cause::kFileCorrupt,
                 "`" + Printable(file) + "` is not a regular file");
  }
  (void)::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  return ByteSource(std::move(fd), true, file);
}

Result<ByteSource> ByteSource::OpenTail(const std::string& path,
                                        std::size_t bytes) {
  MUSTER_ASSIGN(ByteSource source, OpenFile(path));
  const int fd = source.reader_.fd();
  const off_t size = ::lseek(fd, 0, SEEK_END);
  const off_t begin = std::max<off_t>(0, size - static_cast<off_t>(bytes));
  if (size < 0 || ::lseek(fd, begin, SEEK_SET) < 0) {
    return FromErrno("seek in", path, errno);
  }
  return source;
}

ByteSource ByteSource::Stdin() {
  return {Fd(STDIN_FILENO), false, "standard input"};
}

Result<std::size_t> ByteSource::Read(std::span<char> into) {
  if (owned_) {
    return reader_.Read(into.data(), into.size());
  }
  for (;;) {  // standard input ends when its writer says so
    const ssize_t count = ::read(reader_.fd(), into.data(), into.size());
    const int error = errno;
    if (count >= 0) {
      return static_cast<std::size_t>(count);
    }
    if (error != EINTR) {
      return FromErrno("read", name_, error);
    }
  }
}

PathKind KindOf(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  switch (status.type()) {
    case std::filesystem::file_type::regular:
    case std::filesystem::file_type::fifo:
      return PathKind::kFile;
    case std::filesystem::file_type::directory:
      return PathKind::kDirectory;
    case std::filesystem::file_type::none:
    case std::filesystem::file_type::not_found:
      return PathKind::kNothing;
    default:
      return PathKind::kOther;
  }
}

FileList FilesBelow(const std::string& directory, std::size_t limit) {
  FileList list;
  if (!MayList(directory)) {
    list.refused.push_back(directory);
    return list;
  }
  std::error_code error;
  auto entry = std::filesystem::recursive_directory_iterator(
      directory, std::filesystem::directory_options::skip_permission_denied,
      error);
  for (const std::filesystem::recursive_directory_iterator end;
       !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored) && !entry->is_symlink(ignored) &&
        !MayList(entry->path().string())) {
      list.refused.push_back(entry->path().string());
      entry.disable_recursion_pending();
    }
    if (!entry->is_regular_file(ignored)) {
      continue;
    }
    if (list.paths.size() == limit) {
      list.cut =
          "only the first " + std::to_string(limit) + " files in it are read";
      break;
    }
    list.paths.push_back(entry->path().string());
  }
  if (error) {
    list.cut = "not all files in it are read: " + error.message();
  }
  std::sort(list.paths.begin(), list.paths.end());
  std::sort(list.refused.begin(), list.refused.end());
  return list;
}

}  // namespace muster::sys
