// SPDX-License-Identifier: Apache-2.0
#include "check/facts/system_versions.h"

#include <array>

#include "accelerator/device_files.h"
#include "base/text.h"

namespace muster::check {
namespace {

constexpr std::array kLibraries{"/lib/x86_64-linux-gnu",
                                "/lib/aarch64-linux-gnu",
                                "/usr/lib/x86_64-linux-gnu",
                                "/usr/lib/aarch64-linux-gnu",
                                "/lib64",
                                "/usr/lib64",
                                "/usr/local/lib",
                                "/usr/local/cuda/lib64"};
constexpr std::size_t kLargestLibc = 16U << 20;

// "535.104.05": digits with dots between, at least two parts.
bool IsVersion(std::string_view text) {
  return text.find('.') != std::string_view::npos &&
         text.find_first_not_of("0123456789.") == std::string_view::npos;
}

// The library says it of itself: "GNU C Library (Debian GLIBC 2.36-9) stable
// release version 2.36.".
std::string GlibcIn(const std::string& library) {
  constexpr std::string_view kName = "GNU C Library";
  constexpr std::string_view kWords = "release version ";
  const auto name = library.find(kName);
  const auto words = library.find(kWords, name);
  if (name == std::string::npos || words == std::string::npos) {
    return "";
  }
  const auto begin = words + kWords.size();
  const auto end = library.find_first_not_of("0123456789.", begin);
  std::string version = library.substr(begin, end - begin);
  while (version.ends_with('.')) {
    version.pop_back();
  }
  return version;
}

std::string Glibc(const sys::Fs& fs) {
  for (const char* place : kLibraries) {
    const auto library =
        fs.Read(sys::JoinPath(place, "libc.so.6"), kLargestLibc);
    if (library) {
      return GlibcIn(*library);
    }
  }
  return "";
}

// By the name of its file: libnccl.so.2.20.5.
std::string Nccl(const sys::Fs& fs) {
  constexpr std::string_view kName = "libnccl.so.";
  for (const char* place : kLibraries) {
    for (const std::string& name :
         fs.List(place).value_or(std::vector<std::string>())) {
      if (name.starts_with(kName) &&
          IsVersion(std::string_view(name).substr(kName.size()))) {
        return name.substr(kName.size());
      }
    }
  }
  return "";
}

}  // namespace

std::map<std::string, std::string> SystemVersions(const sys::Fs& fs) {
  std::map<std::string, std::string> versions{
      {"kernel",
       std::string(Trim(fs.Read("/proc/sys/kernel/osrelease").value_or("")))},
      {"glibc", Glibc(fs)},
      {"nvidia-driver", accelerator::NvidiaModuleVersion(fs)},
      {"nccl", Nccl(fs)}};
  std::erase_if(versions, [](const auto& one) { return one.second.empty(); });
  return versions;
}

}  // namespace muster::check
