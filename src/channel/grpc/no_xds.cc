// SPDX-License-Identifier: Apache-2.0
// gRPC registers here what speaks xDS, the protocol of service meshes. Agents
// dial addresses, so the program registers none of it and is 1.7 MB smaller.
// Part of the program only, never of a library.
namespace grpc_core {

struct CoreConfiguration {
  class Builder;
};

// NOLINTNEXTLINE(misc-use-internal-linkage): in place of the archive's.
void RegisterExtraFilters(CoreConfiguration::Builder* builder);
void RegisterExtraFilters(CoreConfiguration::Builder* /*builder*/) {}

}  // namespace grpc_core
