// SPDX-License-Identifier: Apache-2.0
#include "run/coordinator/store_core.h"

#include <algorithm>

#include "base/text.h"
#include "run/coordinator/store.h"

namespace muster::run {
namespace {

// Longer waits are as good as none, and their sum with a time would overflow.
constexpr std::int64_t kLongestWaitMs = 365LL * 24 * 3600 * 1000;

wire::RankMessage Done(const wire::RankMessage& request,
                       std::int64_t number = 0) {
  return {.op = wire::RankOp::kDone, .id = request.id, .number = number};
}

Error Refused(Cause cause, const StoreCore::Request& request,
              std::string_view what) {
  return Error(cause, "the store rejects `" + Printable(request.message.key) +
                          "` of rank " + std::to_string(request.rank) + ": " +
                          std::string(what));
}

}  // namespace

wire::RankMessage Refusal(const wire::RankMessage& request,
                          const Error& error) {
  return {.op = wire::RankOp::kRefused,
          .id = request.id,
          .number = 0,
          .key = std::string(Label(error.cause())),
          .value = error.message()};
}

StoreCore::Answers StoreCore::Handle(const Request& request, Time now) {
  const auto refuse = [&](const Error& error) {
    return Answers{{request.token, Refusal(request.message, error)}};
  };
  if (closed_) {
    return refuse(*closed_);
  }
  if (request.rank < 0 || request.rank >= std::ssize(trains_)) {
    return refuse(Refused(Cause::kUsageInvalid, request,
                          "there are " + Count(std::ssize(trains_), "rank")));
  }
  switch (request.message.op) {
    case wire::RankOp::kPut:
      return Put(request);
    case wire::RankOp::kAdd:
      return Add(request);
    case wire::RankOp::kGet:
      return Get(request, now);
    case wire::RankOp::kBarrier:
      return Barrier(request, now);
    default:
      return refuse(
          Refused(Cause::kUsageInvalid, request,
                  "op " + std::to_string(static_cast<int>(request.message.op)) +
                      " is not a store operation"));
  }
}

// Keeps the value and answers `reply` to the request, and the value to all that
// wait for the key.
StoreCore::Answers StoreCore::Set(const Request& request, std::string value,
                                  wire::RankMessage reply) {
  const std::string& key = request.message.key;
  const auto known = values_.find(key);
  const std::size_t before =
      known == values_.end() ? 0 : key.size() + known->second.size();
  const std::size_t after = bytes_ - before + key.size() + value.size();
  const bool one_too_large = key.size() + value.size() > wire::kMaxStoreValue;
  if (one_too_large || after > kMaxStoreBytes) {
    const std::size_t limit =
        one_too_large ? wire::kMaxStoreValue : kMaxStoreBytes;
    const std::size_t size = one_too_large ? key.size() + value.size() : after;
    return {{request.token,
             Refusal(request.message,
                     Refused(Cause::kOsLimit, request,
                             BytesText(size) + " exceed the limit of " +
                                 BytesText(limit)))}};
  }
  bytes_ = after;
  Answers answers{{request.token, std::move(reply)}};
  std::erase_if(waiting_, [&](const auto& entry) {
    const Request& other = entry.second.request;
    const bool served =
        other.message.op == wire::RankOp::kGet && other.message.key == key;
    if (served) {
      answers.push_back({other.token,
                         {.op = wire::RankOp::kValue,
                          .id = other.message.id,
                          .number = 0,
                          .key = "",
                          .value = value}});
    }
    return served;
  });
  values_[key] = std::move(value);
  return answers;
}

StoreCore::Answers StoreCore::Put(const Request& request) {
  return Set(request, request.message.value, Done(request.message));
}

StoreCore::Answers StoreCore::Add(const Request& request) {
  const auto known = values_.find(request.message.key);
  const auto old = known == values_.end() ? 0 : ParseInt(known->second);
  std::int64_t sum = 0;
  if (!old || __builtin_add_overflow(*old, request.message.number, &sum)) {
    return {{request.token,
             Refusal(request.message, Refused(Cause::kUsageInvalid, request,
                                              "its value is not a number"))}};
  }
  return Set(request, std::to_string(sum), Done(request.message, sum));
}

StoreCore::Answers StoreCore::Get(const Request& request, Time now) {
  const auto known = values_.find(request.message.key);
  if (known != values_.end()) {
    return {{request.token,
             {.op = wire::RankOp::kValue,
              .id = request.message.id,
              .number = 0,
              .key = "",
              .value = known->second}}};
  }
  Wait(request, now);
  return Expire(now);  // a wait of 0 ms is over at once
}

StoreCore::Answers StoreCore::Barrier(const Request& request, Time now) {
  auto& come = barriers_[request.message.key];
  if (!come.emplace(request.rank, request.token).second) {
    return {{request.token,
             Refusal(request.message,
                     Refused(Cause::kUsageInvalid, request,
                             "the rank already waits at this barrier"))}};
  }
  Wait(request, now);
  const bool too_few =
      std::ssize(come) < std::count(trains_.begin(), trains_.end(), true);
  if (too_few || !Missing(request.message.key).empty()) {
    return Expire(now);
  }
  Answers answers;
  for (const auto& [rank, token] : come) {
    answers.push_back({token, Done(waiting_.at(token).request.message)});
    waiting_.erase(token);
  }
  barriers_.erase(request.message.key);
  return answers;
}

void StoreCore::Wait(const Request& request, Time now) {
  Waiting waiting{.request = request, .until = std::nullopt};
  if (request.message.number >= 0) {
    waiting.limit = std::chrono::milliseconds(
        std::min(request.message.number, kLongestWaitMs));
    waiting.until = now + waiting.limit;
  }
  waiting_.emplace(request.token, std::move(waiting));
}

StoreCore::Answers StoreCore::Expire(Time now) {
  Answers answers;
  for (auto entry = waiting_.begin(); entry != waiting_.end();) {
    const Waiting& waiting = entry->second;
    if (!waiting.until || *waiting.until > now) {
      ++entry;
      continue;
    }
    answers.push_back({waiting.request.token, TooLate(waiting)});
    if (waiting.request.message.op == wire::RankOp::kBarrier) {
      auto barrier = barriers_.find(waiting.request.message.key);
      barrier->second.erase(waiting.request.rank);
      if (barrier->second.empty()) {
        barriers_.erase(barrier);
      }
    }
    entry = waiting_.erase(entry);
  }
  return answers;
}

wire::RankMessage StoreCore::TooLate(const Waiting& waiting) const {
  const wire::RankMessage& message = waiting.request.message;
  const std::string name = "`" + Printable(message.key) + "`";
  const std::string within = " within " + ToString(waiting.limit);
  return Refusal(
      message, Error(Cause::kDeadlineExceeded,
                     message.op == wire::RankOp::kBarrier
                         ? "the barrier " + name + " was not reached" + within +
                               " by " + RanksText(Missing(message.key))
                         : "no rank has put " + name + within));
}

std::vector<int> StoreCore::Missing(const std::string& barrier) const {
  const auto& come = barriers_.at(barrier);
  std::vector<int> missing;
  for (int rank = 0; rank < std::ssize(trains_); ++rank) {
    if (trains_[static_cast<std::size_t>(rank)] && !come.contains(rank)) {
      missing.push_back(rank);
    }
  }
  return missing;
}

std::optional<StoreCore::Time> StoreCore::NextDeadline() const {
  std::optional<Time> next;
  for (const auto& [token, waiting] : waiting_) {
    if (waiting.until) {
      next = std::min(next.value_or(*waiting.until), *waiting.until);
    }
  }
  return next;
}

StoreCore::Answers StoreCore::Close(const Error& why) {
  Answers answers;
  for (const auto& [token, waiting] : waiting_) {
    answers.push_back({token, Refusal(waiting.request.message, why)});
  }
  waiting_.clear();
  barriers_.clear();
  closed_ = why;
  return answers;
}

}  // namespace muster::run
