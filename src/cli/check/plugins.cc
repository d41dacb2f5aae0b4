// SPDX-License-Identifier: Apache-2.0
#include "cli/check/plugins.h"

#include <array>

#include "base/text.h"
#include "program/compiler/program.h"
#include "resolve/environment/versions.h"

namespace muster::cli {
namespace {

struct CudaPackage {
  const char* name;
  const char* file;
};
// The newest first.
constexpr std::array<CudaPackage, 2> kCudaPackages{
    {{"jax-cuda13-pjrt", "jax_plugins/xla_cuda13/xla_cuda_plugin.so"},
     {"jax-cuda12-pjrt", "jax_plugins/xla_cuda12/xla_cuda_plugin.so"}}};

// For tests and for training on a host without accelerators.
constexpr char kCpuPackage[] = "xla-cpu-pjrt";
constexpr char kCpuFile[] = "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so";

std::string PackageText(const resolve::PythonPackages& packages,
                        const std::string& name) {
  return name + " " + packages.versions.at(name);
}

std::optional<Sourced<std::string>> FileOf(
    const sys::Host& host, const resolve::PythonPackages& packages,
    const std::string& name, const std::string& file) {
  const auto place = packages.places.find(name);
  if (place == packages.places.end()) {
    return std::nullopt;
  }
  const std::string path = sys::JoinPath(place->second, file);
  if (!host.fs.Exists(path)) {
    return std::nullopt;
  }
  return Sourced<std::string>{path, "package " + PackageText(packages, name)};
}

// "cuda:PATH" of the variable that JAX reads.
std::optional<Sourced<std::string>> NamedFor(const std::string& platform,
                                             const sys::Env& env) {
  constexpr char kVariable[] = "PJRT_NAMES_AND_LIBRARY_PATHS";
  const std::string name = platform + ":";
  for (const std::string& one : Split(env.Get(kVariable).value_or(""), ',')) {
    if (one.starts_with(name)) {
      return Sourced<std::string>{one.substr(name.size()),
                                  std::string("env ") + kVariable};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Sourced<std::string>> LibtpuOfPython(const sys::Host& host) {
  const auto packages = resolve::FindPythonPackages(host);
  if (!packages || !packages->places.contains("libtpu")) {
    return std::nullopt;
  }
  return Sourced<std::string>{
      sys::JoinPath(packages->places.at("libtpu"), "libtpu/libtpu.so"),
      "package " + PackageText(*packages, "libtpu")};
}

std::vector<check::FoundPlugin> FindPlugins(const sys::Host& host) {
  const auto packages =
      resolve::FindPythonPackages(host).value_or(resolve::PythonPackages());
  std::vector<check::FoundPlugin> found;
  if (const auto path =
          program::FindTpuPlugin(host, "", LibtpuOfPython(host))) {
    const bool packaged = path->source.starts_with("package ");
    found.push_back(
        {.platform = "tpu",
         .path = *path,
         .version = packaged ? PackageText(packages, "libtpu") : ""});
  }
  for (const char* platform : {"cuda", "cpu"}) {
    if (const auto named = NamedFor(platform, host.env)) {
      found.push_back({.platform = platform, .path = *named, .version = ""});
    }
  }
  for (const CudaPackage& one : kCudaPackages) {
    if (const auto path = FileOf(host, packages, one.name, one.file)) {
      found.push_back({.platform = "cuda",
                       .path = *path,
                       .version = PackageText(packages, one.name)});
    }
  }
  if (const auto path = FileOf(host, packages, kCpuPackage, kCpuFile)) {
    found.push_back({.platform = "cpu",
                     .path = *path,
                     .version = PackageText(packages, kCpuPackage)});
  }
  return found;
}

}  // namespace muster::cli
