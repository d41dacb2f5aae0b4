// SPDX-License-Identifier: Apache-2.0
// In place of what needs gRPC in a build without it.
#include "channel/caller.h"
#include "channel/grpc/transport.h"

namespace muster::channel {

// NOLINTBEGIN(performance-unnecessary-value-param): as it is declared.
Result<std::unique_ptr<Transport>> MakeGrpcTransport(sys::Loop&, sys::Clock&,
                                                     std::shared_ptr<Keyring>) {
  return Error(Cause::kUsageInvalid,
               "this muster was built without gRPC (MUSTER_WITH_GRPC=OFF) and "
               "cannot reach other hosts: start all ranks here with `-n N`");
}
// NOLINTEND(performance-unnecessary-value-param)

MakeCaller GrpcCallers() {
  return {};
}

}  // namespace muster::channel
