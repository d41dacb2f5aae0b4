// SPDX-License-Identifier: Apache-2.0
// What this host is to the other members, for the checks that talk to them.
#pragma once

#include <map>
#include <string>

#include "check/context.h"
#include "netcheck/mesh/dialer.h"

namespace muster::check {

// By the token file, or one that proves nothing; its errors are those of
// connect::ReadTokenFile.
Result<wire::Signer> MeshSigner(const MeshSetup& setup);
// SystemVersions, and those of packages that talk across hosts in the Python
// environment of this one, with that of Python. May wait for a disk.
std::map<std::string, std::string> MeshVersions(const Context& context);
// There is a cluster. Rank -1 where this host is no member of it.
netcheck::MeshIdentity MeshSelf(const Context& context);

}  // namespace muster::check
