// SPDX-License-Identifier: Apache-2.0
// The rendezvous URL of torch.distributed. Errors are cluster-spec-invalid.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "muster/error.h"

namespace muster::conformance {

// env://, tcp://HOST:PORT or file://PATH, with ?rank=R&world_size=N.
struct TorchUrl {
  std::string scheme;
  std::string host;         // tcp
  std::optional<int> port;  // tcp
  std::string path;         // file
  std::optional<int> rank, world_size;
};
// With `rank` or `world_size` from elsewhere, which the URL must not repeat.
// tcp and file need both; a missing path, host, port, rank or world_size is
// named.
Result<TorchUrl> ParseTorchUrl(std::string_view text, std::optional<int> rank,
                               std::optional<int> world_size);

}  // namespace muster::conformance
