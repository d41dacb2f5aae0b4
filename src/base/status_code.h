// SPDX-License-Identifier: Apache-2.0
// The status codes that gRPC, Google's services and PJRT share
// (google.rpc.Code).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace muster {

// "UNIMPLEMENTED" of 12; nullopt: there is no such code.
std::optional<std::string_view> NameOfStatusCode(std::int64_t code);

}  // namespace muster
