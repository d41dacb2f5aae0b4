// SPDX-License-Identifier: Apache-2.0
#include "sys/file/file_digest.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/text.h"
#include "sys/file/byte_source.h"
#include "sys/file/fd.h"
#include "sys/file/fs.h"

namespace muster::sys {
namespace {

constexpr std::size_t kReadPiece = 1U << 20;

class Reader {
 public:
  Reader(const DigestLimits& limits, Deadline deadline)
      : left_(limits.bytes), deadline_(deadline), piece_(kReadPiece, '\0') {}

  void Name(const std::string& name) { Mix(name); }

  Status File(const std::string& path) {
    const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat about {};
    if (!fd || fstat(fd.get(), &about) != 0) {
      const int why = errno;
      return FromErrno("open", path, why);
    }
    const auto size = static_cast<std::uint64_t>(about.st_size);
    result_.size += size;
    Mix(std::to_string(size));
    if (size <= left_) {
      left_ -= size;
      return Part(fd.get(), path, 0, size);
    }
    result_.whole = false;
    const std::uint64_t half = std::exchange(left_, 0) / 2;
    MUSTER_TRY(Part(fd.get(), path, 0, half));
    return Part(fd.get(), path, size - half, half);
  }

  FileDigest Take() {
    result_.digest = std::move(digest_);
    return std::move(result_);
  }

 private:
  void Mix(std::string_view bytes) {
    digest_ = Digest(digest_ + Digest(bytes));
  }

  Status Part(int fd, const std::string& path, std::uint64_t at,
              std::uint64_t size) {
    while (size > 0) {
      if (deadline_.Expired()) {
        return Error(Cause::kDeadlineExceeded,
                     "`" + path + "` could not be read in time");
      }
      const auto want = std::min<std::uint64_t>(size, piece_.size());
      const ssize_t got =
          pread(fd, piece_.data(), want, static_cast<off_t>(at));
      if (got < 0) {
        const int why = errno;
        return FromErrno("read", path, why);
      }
      if (got == 0) {
        return Ok();  // it has become shorter
      }
      const auto count = static_cast<std::uint64_t>(got);
      Mix(std::string_view(piece_).substr(0, count));
      at += count;
      size -= count;
    }
    return Ok();
  }

  std::uint64_t left_;
  Deadline deadline_;
  std::string piece_;
  std::string digest_;
  FileDigest result_;
};

}  // namespace

Result<FileDigest> DigestOf(const std::string& path, const DigestLimits& limits,
                            Deadline deadline) {
  Reader reader(limits, deadline);
  if (KindOf(path) != PathKind::kDirectory) {
    MUSTER_TRY(reader.File(path));
    return reader.Take();
  }
  const FileList list = FilesBelow(path, limits.files);
  if (!list.cut.empty()) {
    return Error(Cause::kOsLimit, "`" + path + "`: " + list.cut);
  }
  for (const std::string& file : list.paths) {
    reader.Name(file.substr(path.size()));
    MUSTER_TRY(reader.File(file));
  }
  FileDigest digest = reader.Take();
  digest.files = list.paths.size();
  return digest;
}

}  // namespace muster::sys
