// SPDX-License-Identifier: Apache-2.0
#include "resolve/formats/address_list.h"

#include "base/text.h"
#include "cluster/members.h"

namespace muster::resolve {

Result<Cluster> ParseAddressList(std::string_view text,
                                 const std::string& source) {
  Cluster cluster;
  const bool bare = text.find(':') == std::string_view::npos;
  const std::string port = ":" + std::to_string(kDefaultPort);
  for (const std::string& entry : Split(text, ',')) {
    const int rank = static_cast<int>(cluster.members.size());
    const std::string place =
        source + ", entry " + std::to_string(rank + 1) + ": ";
    if (Trim(entry).empty()) {
      return Error(Cause::kClusterSpecInvalid, place + "it is empty");
    }
    auto address =
        Address::Parse(bare ? std::string(Trim(entry)) + port : entry);
    if (!address) {
      return Error(Cause::kClusterSpecInvalid,
                   place + address.error().message());
    }
    cluster.members.push_back(
        {.rank = rank,
         .task = "worker",
         .index = rank,
         .address = Sourced<Address>{
             *std::move(address), bare ? source + ", default port" : source}});
  }
  if (cluster.members.empty()) {
    return Error(Cause::kClusterSpecInvalid, source + " contains no address");
  }
  cluster.size = {static_cast<int>(cluster.members.size()), source};
  MUSTER_TRY(CheckMembers(cluster));
  ConcludeCoordinator(cluster);
  return cluster;
}

void ConcludeCoordinator(Cluster& cluster) {
  const auto& first = cluster.members.front().address;
  if (!cluster.coordinator && first) {
    cluster.coordinator =
        Sourced<Address>{first->value, "rank 0 of " + first->source};
  }
}

}  // namespace muster::resolve
