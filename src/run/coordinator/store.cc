// SPDX-License-Identifier: Apache-2.0
#include "run/coordinator/store.h"

#include <map>

#include "run/coordinator/store_core.h"

namespace muster::run {

bool IsStoreOp(wire::RankOp op) {
  return op == wire::RankOp::kPut || op == wire::RankOp::kGet ||
         op == wire::RankOp::kAdd || op == wire::RankOp::kBarrier;
}

struct Store::Inner {
  Inner(sys::Loop& l, std::vector<bool> trains)
      : loop(l), core(std::move(trains)) {}

  void Deliver(const StoreCore::Answers& answers);
  void SetTimer();

  sys::Loop& loop;
  StoreCore core;
  std::map<std::uint64_t, Reply> replies;
  std::uint64_t next_token = 1;
  sys::Loop::Handle timer;
};

void Store::Inner::Deliver(const StoreCore::Answers& answers) {
  SetTimer();
  for (const auto& answer : answers) {
    if (auto reply = replies.extract(answer.token)) {
      reply.mapped()(answer.message);
    }
  }
}

void Store::Inner::SetTimer() {
  timer.Cancel();
  if (const auto next = core.NextDeadline()) {
    timer = loop.After(Deadline::At(*next).Remaining(), [this] {
      Deliver(core.Expire(std::chrono::steady_clock::now()));
    });
  }
}

Store::Store(sys::Loop& loop, std::vector<bool> trains)
    : inner_(std::make_unique<Inner>(loop, std::move(trains))) {}

Store::~Store() = default;

void Store::Handle(int rank, const wire::RankMessage& request, Reply reply) {
  const std::uint64_t token = inner_->next_token++;
  inner_->replies.emplace(token, std::move(reply));
  inner_->Deliver(
      inner_->core.Handle({.token = token, .rank = rank, .message = request},
                          std::chrono::steady_clock::now()));
}

void Store::Close(const Error& why) {
  inner_->Deliver(inner_->core.Close(why));
}

}  // namespace muster::run
