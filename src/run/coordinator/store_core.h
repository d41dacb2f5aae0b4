// SPDX-License-Identifier: Apache-2.0
// What a store answers, without a clock of its own, a loop or a socket.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "muster/deadline.h"
#include "muster/error.h"
#include "wire/rank_frame.h"

namespace muster::run {

// The rules of Store (run/store.h). The caller names each request by a token
// and gets answers by it, for this request or for others that waited.
class StoreCore {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Request {
    std::uint64_t token = 0;
    int rank = 0;
    wire::RankMessage message;
  };
  struct Answer {
    std::uint64_t token = 0;
    wire::RankMessage message;
  };
  using Answers = std::vector<Answer>;

  explicit StoreCore(std::vector<bool> trains) : trains_(std::move(trains)) {}

  Answers Handle(const Request& request, Time now);
  // Refuses what has waited long enough.
  Answers Expire(Time now);
  // When Expire has something to do; nullopt: nothing waits with a limit.
  std::optional<Time> NextDeadline() const;
  // Refuses what waits, and all that follows.
  Answers Close(const Error& why);

 private:
  struct Waiting {
    Request request;
    std::optional<Time> until;
    Duration limit{};
  };

  Answers Set(const Request& request, std::string value,
              wire::RankMessage reply);
  Answers Put(const Request& request);
  Answers Add(const Request& request);
  Answers Get(const Request& request, Time now);
  Answers Barrier(const Request& request, Time now);
  void Wait(const Request& request, Time now);
  wire::RankMessage TooLate(const Waiting& waiting) const;
  // The ranks that train and have not come.
  std::vector<int> Missing(const std::string& barrier) const;

  std::vector<bool> trains_;  // by rank
  std::optional<Error> closed_;
  std::map<std::string, std::string> values_;
  std::size_t bytes_ = 0;
  std::map<std::uint64_t, Waiting> waiting_;  // by token
  std::map<std::string, std::map<int, std::uint64_t>> barriers_;
};

// kRefused for the request, with the error's cause and text.
wire::RankMessage Refusal(const wire::RankMessage& request, const Error& error);

}  // namespace muster::run
