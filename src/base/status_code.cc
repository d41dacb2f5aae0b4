// SPDX-License-Identifier: Apache-2.0
#include "base/status_code.h"

#include <array>

namespace muster {

std::optional<std::string_view> NameOfStatusCode(std::int64_t code) {
  constexpr std::array<std::string_view, 17> kNames{"OK",
                                                    "CANCELLED",
                                                    "UNKNOWN",
                                                    "INVALID_ARGUMENT",
                                                    "DEADLINE_EXCEEDED",
                                                    "NOT_FOUND",
                                                    "ALREADY_EXISTS",
                                                    "PERMISSION_DENIED",
                                                    "RESOURCE_EXHAUSTED",
                                                    "FAILED_PRECONDITION",
                                                    "ABORTED",
                                                    "OUT_OF_RANGE",
                                                    "UNIMPLEMENTED",
                                                    "INTERNAL",
                                                    "UNAVAILABLE",
                                                    "DATA_LOSS",
                                                    "UNAUTHENTICATED"};
  return code >= 0 && code < std::int64_t{kNames.size()}
             ? std::optional(kNames[static_cast<std::size_t>(code)])
             : std::nullopt;
}

}  // namespace muster
