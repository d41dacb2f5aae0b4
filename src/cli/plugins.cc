// SPDX-License-Identifier: Apache-2.0
#include "cli/plugins.h"

#include <array>

#include "base/text.h"
#include "check/program.h"
#include "resolve/versions.h"

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
std::optional<Sourced<std::string>> NamedForCuda(const sys::Env& env) {
  constexpr char kVariable[] = "PJRT_NAMES_AND_LIBRARY_PATHS";
  constexpr std::string_view kName = "cuda:";
  for (const std::string& one : Split(env.Get(kVariable).value_or(""), ',')) {
    if (one.starts_with(kName)) {
      return Sourced<std::string>{one.substr(kName.size()),
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
  if (const auto path = check::FindTpuPlugin(host, "", LibtpuOfPython(host))) {
    const bool packaged = path->source.starts_with("package ");
    found.push_back(
        {.platform = "tpu",
         .path = *path,
         .version = packaged ? PackageText(packages, "libtpu") : ""});
  }
  if (const auto named = NamedForCuda(host.env)) {
    found.push_back({.platform = "cuda", .path = *named, .version = ""});
  }
  for (const CudaPackage& one : kCudaPackages) {
    if (const auto path = FileOf(host, packages, one.name, one.file)) {
      found.push_back({.platform = "cuda",
                       .path = *path,
                       .version = PackageText(packages, one.name)});
    }
  }
  return found;
}

}  // namespace muster::cli
