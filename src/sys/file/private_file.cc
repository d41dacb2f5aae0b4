// SPDX-License-Identifier: Apache-2.0
#include "sys/file/private_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>

#include "base/text.h"
#include "sys/file/fd.h"
#include "sys/file/fs.h"
#include "sys/file/open_file.h"

namespace muster::sys {
namespace {

std::string Mode(mode_t mode) {
  char text[16];
  std::snprintf(text, sizeof text, "%04o", mode & 07777U);
  return text;
}

std::optional<Error> WhyNotPrivate(const std::string& path,
                                   const struct stat& about) {
  const std::string name = "`" + Printable(path) + "`";
  if (about.st_uid != 0 && about.st_uid != geteuid()) {
    return Error(Cause::kFilePermission,
                 name + " belongs to user " + std::to_string(about.st_uid) +
                     ": a secret must belong to this user (" +
                     std::to_string(geteuid()) + ") or to root");
  }
  const mode_t for_others =
      about.st_uid == 0 ? about.st_mode & 037 : about.st_mode & 077;
  if (for_others != 0) {
    return Error(Cause::kFilePermission,
                 name + " has mode " + Mode(about.st_mode) +
                     ": other users can read or change the secret; create a "
                     "new one with mode 0600");
  }
  return std::nullopt;
}

std::optional<Error> WhyNotTrusted(const std::string& path,
                                   const struct stat& about) {
  const std::string name = "`" + Printable(path) + "`";
  if (about.st_uid != 0 && about.st_uid != geteuid()) {
    return Error(Cause::kFilePermission,
                 name + " belongs to user " + std::to_string(about.st_uid) +
                     ", who could make this user (" +
                     std::to_string(geteuid()) +
                     ") run anything: it must belong to this user or to root, "
                     "or be named by --config");
  }
  if ((about.st_mode & S_IWOTH) != 0) {
    return Error(Cause::kFilePermission,
                 name + " has mode " + Mode(about.st_mode) +
                     ": every user can change it; chmod o-w takes that away");
  }
  return std::nullopt;
}

Result<std::string> ReadChecked(
    const std::string& path, std::size_t limit,
    std::optional<Error> (*why_not)(const std::string&, const struct stat&)) {
  MUSTER_ASSIGN(const Fd fd, OpenToRead(path));
  struct stat about {};
  if (fstat(fd.get(), &about) != 0) {
    const int why = errno;
    return FromErrno("fstat", path, why);
  }
  if (auto why = why_not(path, about)) {
    return *std::move(why);
  }
  std::string bytes(limit + 1, '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got =
        read(fd.get(), bytes.data() + have, bytes.size() - have);
    const int why = errno;
    if (got < 0 && why != EINTR) {
      return FromErrno("read", path, why);
    }
    if (got == 0) {
      bytes.resize(have);
      return bytes;
    }
    have += static_cast<std::size_t>(got < 0 ? 0 : got);
  }
  return Error(Cause::kFileCorrupt, "`" + Printable(path) +
                                        "` is larger than the limit of " +
                                        BytesText(limit));
}

}  // namespace

Result<std::string> ReadPrivateFile(const std::string& path,
                                    std::size_t limit) {
  return ReadChecked(path, limit, WhyNotPrivate);
}

Result<std::string> ReadTrustedFile(const std::string& path,
                                    std::size_t limit) {
  return ReadChecked(path, limit, WhyNotTrusted);
}

}  // namespace muster::sys
