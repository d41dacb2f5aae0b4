// SPDX-License-Identifier: Apache-2.0
// Versions of frameworks as the Python environment's dist-info folders tell
// them, and which of them fit each other. No Python is run.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "finding/finding.h"
#include "sys/host.h"

namespace muster::resolve {

struct PythonPackages {
  std::string place;  // the first site-packages that was read
  // By name in lower case with `-`: the version, and the folder it is from.
  std::map<std::string, std::string> versions, places;
  // Requirements of the packages that matter here: "jax" -> {"jaxlib<=0.4.35"}.
  std::map<std::string, std::vector<std::string>> requires_;
};
// The active environment (VIRTUAL_ENV, CONDA_PREFIX), else that of the first
// python3 on PATH with the folders of the user and of the system that it reads,
// in its order. nullopt: there is none.
std::optional<PythonPackages> FindPythonPackages(const sys::Host& host);

// Versions as PEP 440 orders them, without epochs: negative, 0, positive.
int CompareVersions(std::string_view a, std::string_view b);
// ">=2.11,<2.12", "==2.11.*", "~=2.11"; an empty text fits all. Malformed ones
// are cluster-spec-invalid.
Result<bool> VersionFits(std::string_view version, std::string_view specifier);

// What the environment is to fit besides itself.
struct TpuHere {
  std::string runtime;      // "tpu-vm-tf-2.11.0"; empty: not known
  int chips = 0;            // of this host
  bool has_libtpu = false;  // outside of the environment, as images have it
};

// Pairs of the environment that do not fit (ver-plugin-mismatch), the client
// against the runtime of the TPU (ver-client-runtime), and a TensorFlow without
// anything that drives the chips of this host (accel-plugin-missing).
std::vector<Finding> CheckVersions(const PythonPackages& packages,
                                   const TpuHere& tpu);

// "tensorflow==2.11.*" holds here; ver-plugin-mismatch names what is installed
// and where, usage-invalid a text that is no requirement.
Status CheckRequirement(std::string_view requirement, const sys::Host& host);

}  // namespace muster::resolve
