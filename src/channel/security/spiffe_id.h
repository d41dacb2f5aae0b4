// SPDX-License-Identifier: Apache-2.0
// Whom a certificate of the secured channel speaks for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster::channel {

enum class Role {
  kMember,       // an agent: answers for the ranks of its slot
  kCoordinator,  // the agent that calls the roll and starts ranks
  kOperator,     // a person's tool; neither attends nor coordinates
};
std::string_view ToText(Role role);

// As the one URI among a certificate's names:
//   spiffe://muster.local/token/member/3     holds the token, is in no run yet
//   spiffe://muster.local/run/ID/member/3    was admitted to run ID
//   spiffe://muster.local/token/coordinator
struct Subject {
  std::string run;  // empty: proves the token only
  Role role = Role::kMember;
  int rank = 0;  // the first one of its slot; of members only

  bool operator==(const Subject&) const = default;
};
std::string ToUri(const Subject& subject);
std::optional<Subject> SubjectFromUri(std::string_view uri);
// "rank 3", "the coordinator", "an operator".
std::string Who(const Subject& subject);

}  // namespace muster::channel
