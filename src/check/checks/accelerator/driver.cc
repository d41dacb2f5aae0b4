// SPDX-License-Identifier: Apache-2.0
// NVIDIA's kernel module and its user-space library have the same version.
// After an upgrade without a reboot they do not, and nothing opens the GPU.
#include <algorithm>
#include <array>

#include "accelerator/device_files.h"
#include "base/text.h"
#include "check/check.h"

namespace muster::check::accelerator_driver {
namespace {

constexpr char kModule[] = "/proc/driver/nvidia/version";
constexpr std::array kPlaces{"/usr/lib/x86_64-linux-gnu",
                             "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
                             "/usr/lib", "/usr/local/nvidia/lib64"};
constexpr std::string_view kLibrary = "libcuda.so.";

// "535.104.05": digits with dots between, at least two parts.
bool IsVersion(std::string_view text) {
  return text.find('.') != std::string_view::npos &&
         text.find_first_not_of("0123456789.") == std::string_view::npos;
}

std::vector<std::string> LibraryVersions(const sys::Fs& fs) {
  std::vector<std::string> versions;
  for (const char* place : kPlaces) {
    for (const std::string& name :
         fs.List(place).value_or(std::vector<std::string>())) {
      if (name.starts_with(kLibrary) &&
          IsVersion(std::string_view(name).substr(kLibrary.size()))) {
        versions.push_back(name.substr(kLibrary.size()));
      }
    }
  }
  return versions;
}

Outcome Run(const Context& context) {
  const sys::Fs& fs = context.host.fs;
  // A container without the GPU sees the module's file all the same.
  if (!fs.Exists(kModule) || GpuDevices(fs).empty()) {
    return Skip("no NVIDIA GPU is visible here");
  }
  const std::string module = accelerator::NvidiaModuleVersion(fs);
  const auto libraries = LibraryVersions(fs);
  if (module.empty()) {
    return Broken(std::string(kModule) + " does not contain the version");
  }
  if (libraries.empty()) {
    return Pass("module " + module + ", no user library found");
  }
  if (std::find(libraries.begin(), libraries.end(), module) !=
      libraries.end()) {
    return Pass("kernel module and user library " + module);
  }
  const std::string found = Join(libraries, ", ");
  return Judge({MakeProblem(context, Cause::kDeviceDriverState,
                            "the NVIDIA kernel module is version " + module +
                                ", the user library is " + found,
                            {{"module " + module, kModule},
                             {"libcuda.so " + found, "library folders"}})},
               "");
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "accelerator.driver",
                   .title = "NVIDIA kernel module and user library match",
                   .run = Run};

}  // namespace muster::check::accelerator_driver
