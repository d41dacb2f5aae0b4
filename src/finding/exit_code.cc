// SPDX-License-Identifier: Apache-2.0
#include "finding/exit_code.h"

namespace muster {

int TpuExitCode(Cause cause) {
  switch (cause) {
    case Cause::kUsageInvalid:
    case Cause::kLaunchEnvMissing:
    case Cause::kClusterSpecInvalid:
      return 2;
    case Cause::kCloudNoCapacity:
    case Cause::kCloudQuotaExceeded:
      return 75;
    case Cause::kNetNameResolution:
    case Cause::kNetTimeoutFiltered:
    case Cause::kNetWrongEndpoint:
    case Cause::kNetProxy:
    case Cause::kFileCorrupt:
    case Cause::kDeadlineExceeded:
      return 3;
    case Cause::kCancelled:
      return 130;
    case Cause::kInternalError:
    case Cause::kOsLimit:
      return 125;
    default:
      return 1;
  }
}

int ExitCodeOf(const Error& error, std::string_view verb) {
  // A file that should describe the cluster and cannot be read.
  for (const Fact& fact : error.evidence()) {
    if (fact.name.starts_with("spec.")) {
      return 2;
    }
  }
  switch (error.cause()) {
    case Cause::kUsageInvalid:
    case Cause::kClusterSpecInvalid:
    case Cause::kLaunchEnvMissing:
    case Cause::kRankWorldMismatch:
    case Cause::kDuplicateIdentity:
    case Cause::kNetWrongEndpoint:
    case Cause::kNetLoopbackName:
      return 2;
    case Cause::kProgramNotFound:
      for (const Fact& fact : error.evidence()) {
        if (fact.name == "spawn.failed" && fact.Number("code") == 126) {
          return 126;
        }
      }
      return 127;
    case Cause::kCancelled:
      return 130;
    case Cause::kInternalError:
      return 125;
    default:
      break;
  }
  if (verb == "run") {
    return 125;
  }
  return verb == "check" || verb == "explain" ? 3 : TpuExitCode(error.cause());
}

}  // namespace muster
