// SPDX-License-Identifier: Apache-2.0
#include "sys/file/byte_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "sys/file/fs.h"

namespace muster::sys {
namespace {

bool MayList(const std::string& directory) {
  return ::faccessat(AT_FDCWD, directory.c_str(), R_OK | X_OK, AT_EACCESS) ==
             0 ||
         errno != EACCES;
}

}  // namespace

ByteSource::ByteSource(Fd fd, bool owned, std::string name)
    : fd_(std::move(fd)), owned_(owned), name_(std::move(name)) {}

ByteSource::~ByteSource() {
  if (!owned_) {
    (void)fd_.Release();
  }
}

Result<ByteSource> ByteSource::OpenFile(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const int error = errno;
  if (fd < 0) {
    return FromErrno("open", path, error);
  }
  (void)::posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  return ByteSource(Fd(fd), true, path);
}

Result<ByteSource> ByteSource::OpenTail(const std::string& path,
                                        std::size_t bytes) {
  MUSTER_ASSIGN(ByteSource source, OpenFile(path));
  const off_t size = ::lseek(source.fd_.get(), 0, SEEK_END);
  const off_t begin = std::max<off_t>(0, size - static_cast<off_t>(bytes));
  if (size < 0 || ::lseek(source.fd_.get(), begin, SEEK_SET) < 0) {
    return FromErrno("seek in", path, errno);
  }
  return source;
}

ByteSource ByteSource::Stdin() {
  return {Fd(STDIN_FILENO), false, "standard input"};
}

Result<std::size_t> ByteSource::Read(std::span<char> into) {
  for (;;) {
    const ssize_t count = ::read(fd_.get(), into.data(), into.size());
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
