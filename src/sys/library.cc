// SPDX-License-Identifier: Apache-2.0
#include "sys/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

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

}  // namespace

Result<Library> Library::Open(const std::string& path) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    const int why = errno;
    return FromErrno("open", path, why);
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
