// SPDX-License-Identifier: Apache-2.0
#include "resolve/formats/address_list.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "cluster/members.h"

namespace muster::resolve {

namespace {

// Takes ":8" off "a:8" and "a:8476:8"; nullopt: it ends with none.
std::optional<int> TakeSlots(std::string& entry) {
  const auto colon = entry.rfind(':');
  const auto bracket = entry.find(']');
  const auto host = entry.find(':', bracket == entry.npos ? 0 : bracket);
  if (colon == entry.npos || colon < host) {
    return std::nullopt;
  }
  // Nothing, or a port, between them; else it is an IPv6 address.
  const bool port =
      colon == host ||
      ParseInt(entry.substr(host + 1, colon - host - 1)).has_value();
  const auto number =
      port ? ParseInt(Trim(std::string_view(entry).substr(colon + 1)))
           : std::nullopt;
  if (!number || *number < 1 || *number >= kFirstPort) {
    return std::nullopt;
  }
  entry.resize(colon);
  return static_cast<int>(*number);
}

}  // namespace

Result<AddressList> ParseAddressList(std::string_view text,
                                     const std::string& source) {
  AddressList list;
  Cluster& cluster = list.cluster;
  std::vector<std::string> entries = Split(text, ',');
  bool bare = true;
  for (std::string& entry : entries) {
    const auto slots = TakeSlots(entry);
    list.slots.push_back(slots.value_or(1));
    bare =
        bare && (entry.find(':') == entry.npos || Trim(entry).ends_with(']'));
  }
  if (std::ranges::all_of(list.slots, [](int slots) { return slots == 1; })) {
    list.slots.clear();
  }
  const std::string port = ":" + std::to_string(kDefaultPort);
  for (const std::string& entry : entries) {
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
  return list;
}

void ConcludeCoordinator(Cluster& cluster) {
  const auto& first = cluster.members.front().address;
  if (!cluster.coordinator && first) {
    cluster.coordinator =
        Sourced<Address>{first->value, "rank 0 of " + first->source};
  }
}

}  // namespace muster::resolve
