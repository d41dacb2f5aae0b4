// SPDX-License-Identifier: Apache-2.0
#include "check/facts/mesh_identity.h"

#include "channel/security/run_key.h"
#include "check/facts/system_versions.h"
#include "cluster/members.h"
#include "muster/version.h"
#include "sys/process/process.h"

namespace muster::check {

Result<wire::Signer> MeshSigner(const MeshSetup& setup) {
  if (setup.token_file.empty()) {
    return wire::PlainSigner();
  }
  MUSTER_ASSIGN(const auto token, channel::ReadTokenFile(setup.token_file));
  return channel::TokenSigner(token);
}

std::map<std::string, std::string> MeshVersions(const Context& context) {
  auto versions = SystemVersions(context.host.fs);
  if (!context.frameworks) {
    return versions;
  }
  const Frameworks found = context.frameworks();
  bool any = false;
  for (const char* name :
       {"tensorflow", "tensorflow-cpu", "tensorflow-tpu", "jax", "jaxlib",
        "libtpu", "nvidia-nccl-cu11", "nvidia-nccl-cu12", "nvidia-nccl-cu13",
        "torch", "torch-xla", "horovod"}) {
    const auto at = found.versions.find(name);
    if (at != found.versions.end()) {
      any = true;
      versions.insert(*at);
    }
  }
  // ".../lib/python3.11/site-packages"
  constexpr std::string_view kPython = "/python3.";
  const auto at = found.place.find(kPython);
  if (any && at != std::string::npos) {
    const auto minor = at + kPython.size();
    versions["python"] =
        "3." + found.place.substr(minor, found.place.find('/', minor) - minor);
  }
  return versions;
}

netcheck::MeshIdentity MeshSelf(const Context& context) {
  const Member* self = Self(context);
  netcheck::MeshIdentity identity{.rank = self == nullptr ? -1 : self->rank,
                                  .host = context.host.env.Hostname(),
                                  .pid = sys::OwnPid(),
                                  .version = std::string(kVersion)};
  for (const Member& member : context.cluster->members) {
    identity.members.push_back(Place(member));
  }
  return identity;
}

}  // namespace muster::check
