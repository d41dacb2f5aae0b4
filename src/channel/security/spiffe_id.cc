// SPDX-License-Identifier: Apache-2.0
#include "channel/security/spiffe_id.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/text.h"

namespace muster::channel {
namespace {

constexpr std::string_view kRoot = "spiffe://muster.local/";
constexpr std::size_t kMaxRunId = 128;

bool IsRunId(std::string_view text) {
  return !text.empty() && text.size() <= kMaxRunId &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                  (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
         });
}

}  // namespace

std::string_view ToString(Role role) {
  switch (role) {
    case Role::kMember:
      return "member";
    case Role::kCoordinator:
      return "coordinator";
    case Role::kOperator:
      return "operator";
  }
  return "?";
}

std::string ToUri(const Subject& subject) {
  std::string uri(kRoot);
  uri += subject.run.empty() ? "token/" : "run/" + subject.run + "/";
  uri += ToString(subject.role);
  if (subject.role == Role::kMember) {
    uri += "/" + std::to_string(subject.rank);
  }
  return uri;
}

std::optional<Subject> SubjectFromUri(std::string_view uri) {
  if (!uri.starts_with(kRoot)) {
    return std::nullopt;
  }
  const auto parts = Split(uri.substr(kRoot.size()), '/');
  if (parts.empty()) {
    return std::nullopt;
  }
  Subject subject;
  std::size_t at = 1;
  if (parts[0] == "run" && parts.size() > 1 && IsRunId(parts[1])) {
    subject.run = parts[1];
    at = 2;
  } else if (parts[0] != "token") {
    return std::nullopt;
  }
  const auto left = parts.size() - at;
  if (left == 1 && parts[at] == "coordinator") {
    subject.role = Role::kCoordinator;
    return subject;
  }
  if (left == 1 && parts[at] == "operator") {
    subject.role = Role::kOperator;
    return subject;
  }
  if (left != 2 || parts[at] != "member") {
    return std::nullopt;
  }
  const auto rank = ParseInt(parts[at + 1]);
  if (!rank || *rank < 0 || *rank > std::numeric_limits<int>::max()) {
    return std::nullopt;
  }
  subject.rank = static_cast<int>(*rank);
  // One spelling only: what is compared as text is compared as a value.
  return ToUri(subject) == uri ? std::optional(subject) : std::nullopt;
}

std::string Who(const Subject& subject) {
  switch (subject.role) {
    case Role::kMember:
      return "rank " + std::to_string(subject.rank);
    case Role::kCoordinator:
      return "the coordinator";
    case Role::kOperator:
      return "an operator";
  }
  return "?";
}

}  // namespace muster::channel
