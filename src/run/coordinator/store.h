// SPDX-License-Identifier: Apache-2.0
// The store of one attempt: put, get, add and barrier, shared by all ranks. The
// coordinator holds it; agents pass on the frames of their ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "muster/error.h"
#include "sys/time/loop.h"
#include "wire/rank_frame.h"

namespace muster::run {

// All keys and values together; beyond it a put is refused (os-limit).
inline constexpr std::size_t kMaxStoreBytes = 256U << 20;

// True for the ops that a Store answers: kPut, kGet, kAdd, kBarrier.
bool IsStoreOp(wire::RankOp op);

// One per attempt, on the loop's thread. A request is answered exactly once,
// by a message with its id: kDone, kValue or kRefused (key: the cause's label,
// value: the message). A reply may come inside Handle.
class Store {
 public:
  using Reply = std::function<void(const wire::RankMessage&)>;

  // By rank, whether it trains.
  Store(sys::Loop& loop, std::vector<bool> trains);
  // Waiting requests are dropped unanswered; call Close to refuse them.
  ~Store();

  // kGet and kBarrier wait up to `number` ms (0: not at all; negative: until
  // Close). A barrier opens when all ranks that train have come; others may
  // come too. Its name may be used again after it has opened. A rank that waits
  // at one barrier twice, an `op` that is none of a store and a value of kAdd
  // that is not a number are refused as usage-invalid.
  void Handle(int rank, const wire::RankMessage& request, Reply reply);

  // Answers whatever waits, and everything from now on, with kRefused.
  void Close(const Error& why);

 private:
  struct Inner;
  std::unique_ptr<Inner> inner_;
};

}  // namespace muster::run
