// SPDX-License-Identifier: Apache-2.0
#include "check/mesh.h"

#include "cluster/members.h"
#include "connect/run_key.h"
#include "muster/version.h"
#include "sys/process.h"

namespace muster::check {

Result<connect::Signer> MeshSigner(const MeshSetup& setup) {
  if (setup.token_file.empty()) {
    return connect::PlainSigner();
  }
  MUSTER_ASSIGN(const auto token, connect::ReadTokenFile(setup.token_file));
  const auto key = token.Derive("muster mesh frame v1");
  return connect::Signer([key](std::string_view message) {
    const auto mac = key.Sign(message);
    return std::string(mac.begin(), mac.end());
  });
}

connect::MeshIdentity MeshSelf(const Context& context) {
  const Member* self = Self(context);
  connect::MeshIdentity identity{.rank = self == nullptr ? -1 : self->rank,
                                 .host = context.host.env.Hostname(),
                                 .pid = sys::OwnPid(),
                                 .version = std::string(kVersion)};
  for (const Member& member : context.cluster->members) {
    identity.members.push_back(Place(member));
  }
  return identity;
}

}  // namespace muster::check
