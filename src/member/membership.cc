// SPDX-License-Identifier: Apache-2.0
#include "member/membership.h"

#include <cstdint>
#include <limits>

#include "base/json.h"
#include "base/json_fields.h"
#include "wire/progress_page.h"

namespace muster {
namespace {

// Reads members of an object; the first that is wrong is kept.
class Fields {
 public:
  explicit Fields(const Json& json) : json_(json) {}

  int Number(const char* key, std::int64_t least, std::int64_t most) {
    const auto found = json_.find(key);
    const auto number = found == json_.end() ? std::nullopt : IntegerOf(*found);
    if (!number || *number < least || *number > most) {
      Wrong(key);
      return static_cast<int>(least);
    }
    return static_cast<int>(*number);
  }

  std::string Text(const char* key) {
    const auto found = json_.find(key);
    if (found == json_.end() || !found->is_string()) {
      Wrong(key);
      return {};
    }
    return found->get<std::string>();
  }

  std::map<std::string, std::vector<std::string>> Tasks(const char* key) {
    std::map<std::string, std::vector<std::string>> tasks;
    const auto found = json_.find(key);
    if (found == json_.end() || !found->is_object()) {
      Wrong(key);
      return tasks;
    }
    for (const auto& [task, addresses] : found->items()) {
      for (const Json& address : addresses) {
        if (!addresses.is_array() || !address.is_string()) {
          Wrong(key);
          return tasks;
        }
        tasks[task].push_back(address.get<std::string>());
      }
    }
    return tasks;
  }

  const std::string& wrong() const { return wrong_; }

 private:
  void Wrong(const char* key) {
    if (wrong_.empty()) {
      wrong_ = key;
    }
  }

  const Json& json_;
  std::string wrong_;
};

}  // namespace

Result<Membership> ParseMembership(std::string_view text) {
  constexpr int kMaxCount = std::numeric_limits<int>::max();
  MUSTER_ASSIGN(const Json json,
                ParseJson(text, Cause::kInternalError,
                          "the agent's description of this rank"));
  if (!json.is_object()) {
    return Error(Cause::kInternalError,
                 "the agent's description of this rank is not an object");
  }
  Fields fields(json);
  Membership membership;
  membership.world_size = fields.Number("world_size", 1, kMaxCount);
  membership.rank = fields.Number("rank", 0, kMaxCount);
  membership.local_size = fields.Number("local_size", 1, kMaxCount);
  membership.local_rank =
      fields.Number("local_rank", 0, membership.local_size - 1);
  membership.slot = static_cast<std::size_t>(
      fields.Number("slot", 0, wire::kProgressSlots - 1));
  membership.segment_ranks =
      fields.Number("segment_ranks", 1, wire::kProgressSlots);
  membership.attempt = fields.Number("attempt", 1, kMaxCount);
  membership.run_id = fields.Text("run");
  membership.tasks = fields.Tasks("tasks");
  if (!fields.wrong().empty()) {
    return Error(Cause::kInternalError,
                 "the agent's description of this rank lacks a valid `" +
                     fields.wrong() + "`");
  }
  return membership;
}

}  // namespace muster
