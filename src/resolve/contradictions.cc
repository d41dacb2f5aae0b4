// SPDX-License-Identifier: Apache-2.0
#include "resolve/contradictions.h"

#include <algorithm>

#include "resolve/self.h"

namespace muster::resolve {
namespace {

enum class Likeness { kEqual, kUnknown, kDifferent };

Likeness CompareHosts(const Address& a, const Address& b) {
  if (a.host == b.host || (a.IsLoopback() && b.IsLoopback())) {
    return Likeness::kEqual;
  }
  if (a.IsNumeric() != b.IsNumeric()) {
    return Likeness::kUnknown;
  }
  const bool short_and_full =
      a.host.starts_with(b.host + ".") || b.host.starts_with(a.host + ".");
  return short_and_full && !a.IsNumeric() ? Likeness::kUnknown
                                          : Likeness::kDifferent;
}

Likeness CompareAddresses(const Address& a, const Address& b) {
  return a.port == b.port ? CompareHosts(a, b) : Likeness::kDifferent;
}

Sourced<std::string> NumberText(const Sourced<int>& number) {
  return {std::to_string(number.value), number.source};
}

Sourced<std::string> AddressText(const Sourced<Address>& address) {
  return {muster::ToString(address.value), address.source};
}

// One counts processes, the other the nodes that they run on: a launcher with
// one task for each node, or -n on the only host that is listed.
bool CountsNodesOf(const Claim& nodes, const Claim& processes) {
  const int count = nodes.cluster.size.value;
  const int size = processes.cluster.size.value;
  const bool by_nodes = processes.num_nodes && processes.node_rank &&
                        processes.num_nodes->value == count;
  const bool by_share = processes.local_num_processes &&
                        processes.local_num_processes->value * count == size;
  const bool by_host =
      processes.cluster.one_host && nodes.hosts.size() == 1 && count == 1;
  return size > count && (by_nodes || by_share || by_host);
}

bool SizesAgree(const Claim& first, const Claim& second) {
  const int a = first.cluster.size.value;
  const int b = second.cluster.size.value;
  return a == b || (first.only_trainers && a == second.cluster.WorldSize()) ||
         (second.only_trainers && b == first.cluster.WorldSize());
}

Sourced<std::string> SelfText(const Claim& claim) {
  const Cluster& cluster = claim.cluster;
  if (cluster.self) {
    return NumberText(*cluster.self);
  }
  return {"every rank of this host", cluster.size.source};
}

void CompareSelf(const Claim& first, const Claim& second,
                 std::vector<Contradiction>& found) {
  const auto& a = first.cluster.self;
  const auto& b = second.cluster.self;
  const bool agree =
      a && b ? a->value == b->value : !a == !b || first.cluster.size.value == 1;
  if (!agree) {
    found.push_back(
        {"rank of this process", SelfText(first), SelfText(second)});
  }
}

// Whose own meeting place a source tells; empty: that of any framework.
std::string_view FrameworkOf(const Claim& claim) {
  if (claim.source == "torch" || claim.source == "torchrun-launcher") {
    return "torch";
  }
  return claim.source == "jax-env" ? "jax" : "";
}

bool AreOfTwoFrameworks(const Claim& first, const Claim& second) {
  const auto a = FrameworkOf(first);
  const auto b = FrameworkOf(second);
  return !a.empty() && !b.empty() && a != b;
}

// Coordinators of two frameworks listen on ports of their own. A told
// coordinator and one concluded from rank 0 listen on different ports.
void CompareCoordinators(const Claim& first, const Claim& second,
                         std::vector<Contradiction>& found) {
  const auto& a = first.cluster.coordinator;
  const auto& b = second.cluster.coordinator;
  if (!a || !b || (!first.coordinator_told && !second.coordinator_told)) {
    return;
  }
  const bool both = first.coordinator_told && second.coordinator_told &&
                    !AreOfTwoFrameworks(first, second);
  const Likeness likeness = both ? CompareAddresses(a->value, b->value)
                                 : CompareHosts(a->value, b->value);
  if (likeness != Likeness::kEqual) {
    found.push_back({"coordinator", AddressText(*a), AddressText(*b),
                     likeness == Likeness::kDifferent});
  }
}

void CompareMembers(const Claim& first, const Claim& second,
                    std::vector<Contradiction>& found) {
  const auto& a = first.cluster.members;
  const auto& b = second.cluster.members;
  for (std::size_t rank = 0; rank < std::min(a.size(), b.size()); ++rank) {
    if (a[rank].address && b[rank].address &&
        CompareAddresses(a[rank].address->value, b[rank].address->value) !=
            Likeness::kEqual) {
      found.push_back({"address of rank " + std::to_string(rank),
                       AddressText(*a[rank].address),
                       AddressText(*b[rank].address), false});
    }
  }
}

}  // namespace

std::vector<Contradiction> Compare(const Claim& first, const Claim& second) {
  std::vector<Contradiction> found;
  if (second.only_this_host || CountsNodesOf(first, second) ||
      CountsNodesOf(second, first)) {
    return found;
  }
  if (!SizesAgree(first, second)) {
    found.push_back({"size", NumberText(first.cluster.size),
                     NumberText(second.cluster.size)});
  }
  CompareSelf(first, second, found);
  CompareCoordinators(first, second, found);
  if (SizesAgree(first, second)) {
    CompareMembers(first, second, found);
  }
  return found;
}

std::string ToString(const Contradiction& contradiction) {
  return "the " + contradiction.what + " is " + contradiction.first.value +
         " (" + contradiction.first.source + ") and " +
         contradiction.second.value + " (" + contradiction.second.source + ")";
}

}  // namespace muster::resolve
