// SPDX-License-Identifier: Apache-2.0
#include "sys/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/text.h"
#include "sys/file/fd.h"
#include "sys/file/fs.h"

namespace muster::sys {
namespace {

// What the loader says of the last call, on one line.
std::string LoaderWords() {
  const char* words = dlerror();  // NOLINT(concurrency-mt-unsafe): per thread
  return Printable(words == nullptr ? "no reason given" : words);
}

// A group of its own is what most systems make with a user, and files that the
// whole group may write are what their umask (002) makes: nobody else is in it.
bool IsGroupOfOwner(const struct stat& about) {
  return about.st_gid == 0 || about.st_gid == about.st_uid;
}

std::optional<Error> WhoElseMayWrite(const std::string& path,
                                     const struct stat& about) {
  const std::string name = "`" + Printable(path) + "`";
  constexpr const char* kFix =
      ": what is in it runs as this user; install it as this user or as root, "
      "with mode 0644 or 0755";
  if (about.st_uid != 0 && about.st_uid != geteuid()) {
    return Error(Cause::kFilePermission,
                 name + " belongs to user " + std::to_string(about.st_uid) +
                     ", not to this user (" + std::to_string(geteuid()) +
                     ") or root" + kFix);
  }
  const bool group = (about.st_mode & 020U) != 0 && !IsGroupOfOwner(about);
  if (group || (about.st_mode & 02U) != 0) {
    return Error(Cause::kFilePermission,
                 name + " may be written by " +
                     (group ? "group " + std::to_string(about.st_gid)
                            : std::string("every user")) +
                     kFix);
  }
  return std::nullopt;
}

}  // namespace

Result<Library> Library::Open(const std::string& named) {
  // A name without a slash would be looked for in the loader's search path.
  std::error_code failed;
  const std::string path = std::filesystem::absolute(named, failed).string();
  if (failed) {
    return FromErrno("getcwd", named, failed.value());
  }
  // A FIFO would wait for somebody who writes.
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about {};
  if (!file || fstat(file.get(), &about) != 0) {
    const int why = errno;
    return FromErrno("open", path, why);
  }
  if (auto why = WhoElseMayWrite(path, about)) {
    return *std::move(why);
  }
  char magic[4] = {};
  if (read(file.get(), magic, sizeof magic) != sizeof magic ||
      std::string_view(magic, sizeof magic) != "\177ELF") {
    return Error(Cause::kFileCorrupt,
                 "`" + Printable(path) + "` is not a shared object");
  }
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const std::string words = LoaderWords();
    const bool broken = words.find("too short") != std::string::npos ||
                        words.find("invalid ELF") != std::string::npos ||
                        words.find("wrong ELF") != std::string::npos;
    return Error(broken ? Cause::kFileCorrupt : Cause::kVerAbi,
                 "`" + Printable(path) + "` cannot be loaded: " + words);
  }
  return Library(path, handle);
}

Result<void*> Library::Symbol(const std::string& name) const {
  void* const symbol = dlsym(handle_, name.c_str());
  if (symbol == nullptr) {
    return Error(Cause::kVerPluginMismatch,
                 "`" + Printable(path_) + "` exports no `" + name + "`");
  }
  return symbol;
}

}  // namespace muster::sys
