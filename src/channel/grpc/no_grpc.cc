// SPDX-License-Identifier: Apache-2.0
// In place of what needs gRPC in a build without it.
#include "channel/caller.h"
#include "channel/grpc/transport.h"

namespace muster::channel {

// NOLINTBEGIN(performance-unnecessary-value-param): as it is declared.
Result<std::unique_ptr<Transport>> MakeGrpcTransport(
    sys::Loop&, sys::Clock&, std::shared_ptr<CertificateStore>) {
  return Error(
      Cause::kUsageInvalid,
      "muster was built without gRPC (MUSTER_WITH_GRPC=OFF) and cannot connect "
      "to other hosts: start all ranks on this host with `-n N`");
}
// NOLINTEND(performance-unnecessary-value-param)

MakeCaller GrpcCallers() {
  return {};
}

}  // namespace muster::channel
