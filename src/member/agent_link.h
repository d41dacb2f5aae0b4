// SPDX-License-Identifier: Apache-2.0
// Requests and replies over the socket to the agent, from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "muster/deadline.h"
#include "muster/error.h"
#include "sys/file/fd.h"
#include "wire/rank_frame.h"

namespace muster {

// Has no thread of its own: of the threads that wait for a reply one reads the
// socket and hands the others theirs. Any thread.
class AgentLink {
 public:
  explicit AgentLink(sys::Fd fd) : fd_(std::move(fd)) {}

  // Sends what has no reply.
  Status Tell(wire::RankMessage message, Deadline deadline);
  // Sends with an id of its own and waits for the reply. A kRefused becomes an
  // Error with its cause. peer-died (the agent is gone), deadline-exceeded,
  // file-corrupt (its bytes make no sense), the cause of a kStop: all but the
  // second are for good.
  Result<wire::RankMessage> Ask(wire::RankMessage message, Deadline deadline);

  // Descriptors that have come so far.
  std::vector<sys::Fd> TakeDescriptors();
  // Why the agent has asked this rank to end; known once a reply was read. The
  // progress page tells it sooner.
  std::optional<Error> StopReason();

 private:
  Status Send(const wire::RankMessage& message, Deadline deadline);
  Status AwaitTurn(Deadline deadline);
  // The reply, an end, or nothing yet; `read` tells the caller to read.
  std::optional<Result<wire::RankMessage>> Look(std::uint64_t id,
                                                Deadline deadline, bool& read);
  void ReadOnce(Deadline deadline);
  void Sort() MUSTER_REQUIRES(mutex_);

  sys::Fd fd_;
  std::atomic<std::uint64_t> last_id_{0};

  Mutex send_mutex_;
  CondVar sent_;
  bool sending_ MUSTER_GUARDED_BY(send_mutex_) = false;
  std::optional<Error> send_failed_ MUSTER_GUARDED_BY(send_mutex_);

  Mutex mutex_;
  CondVar changed_;
  bool reading_ MUSTER_GUARDED_BY(mutex_) = false;
  std::string buffer_ MUSTER_GUARDED_BY(mutex_);
  std::vector<sys::Fd> descriptors_ MUSTER_GUARDED_BY(mutex_);
  std::set<std::uint64_t> waiting_ MUSTER_GUARDED_BY(mutex_);
  std::map<std::uint64_t, wire::RankMessage> replies_ MUSTER_GUARDED_BY(mutex_);
  std::optional<Error> stop_ MUSTER_GUARDED_BY(mutex_);
  std::optional<Error> broken_ MUSTER_GUARDED_BY(mutex_);
};

}  // namespace muster
