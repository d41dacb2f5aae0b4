// SPDX-License-Identifier: Apache-2.0
#include "muster/session.h"

#include <atomic>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/mutex.h"
#include "base/text.h"
#include "member/agent_link.h"
#include "member/membership.h"
#include "member/unmanaged.h"
#include "muster/version.h"
#include "sys/env.h"
#include "sys/file/fd.h"
#include "sys/memory.h"
#include "sys/net/stream.h"
#include "sys/process/process.h"
#include "sys/time/clock.h"
#include "wire/progress_page.h"
#include "wire/rank_frame.h"

namespace muster {
namespace {

// The agent ends a wait itself and says for whom it waited: it gets a little
// longer than the caller's deadline to do so.
constexpr auto kAnswerTime = std::chrono::milliseconds(300);
// For what is told without an answer: the socket takes it at once, or the agent
// is stuck and the rank does not wait for it.
constexpr auto kTellLimit = std::chrono::seconds(1);

// The store of a session of one.
class OwnStore {
 public:
  void Put(std::string_view key, std::string_view value) {
    MutexLock lock(mutex_);
    values_[std::string(key)] = value;
    changed_.NotifyAll();
  }

  Result<std::string> Get(std::string_view key, Deadline deadline) {
    MutexLock lock(mutex_);
    for (;;) {
      const auto found = values_.find(std::string(key));
      if (found != values_.end()) {
        return found->second;
      }
      if (deadline.Expired()) {
        return Error(Cause::kDeadlineExceeded,
                     "no rank has put `" + std::string(key) + "`");
      }
      changed_.WaitUntil(mutex_, deadline.when());
    }
  }

  Result<std::int64_t> Add(std::string_view key, std::int64_t amount) {
    MutexLock lock(mutex_);
    std::string& value = values_[std::string(key)];
    const auto before = value.empty() ? 0 : ParseInt(value);
    if (!before) {
      return Error(Cause::kUsageInvalid,
                   "the value of `" + std::string(key) +
                       "` is not a number, so nothing can be added");
    }
    value = std::to_string(*before + amount);
    changed_.NotifyAll();
    return *before + amount;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::map<std::string, std::string> values_ MUSTER_GUARDED_BY(mutex_);
};

std::int64_t Milliseconds(Deadline deadline) {
  return std::chrono::ceil<std::chrono::milliseconds>(deadline.Remaining())
      .count();
}

}  // namespace

struct Session::Inner {
  Membership membership;
  std::unique_ptr<AgentLink> link;  // null: alone
  OwnStore own_store;
  std::optional<sys::Mapping> mapping;
  std::unique_ptr<wire::ProgressPage> own_progress_page;
  wire::ProgressPage* progress_page = nullptr;
  sys::Fd segment;

  // Requests end with the agent's word where it has one.
  Result<wire::RankMessage> Ask(wire::RankMessage message,
                                Deadline deadline) const {
    return link->Ask(std::move(message),
                     Deadline::At(deadline.when() + kAnswerTime));
  }
  Status MapProgressPage(sys::Fd page);
};

namespace {

// A copy of the socket that children of this process do not inherit.
Result<sys::Fd> TakeSocket(const std::string& text) {
  const auto number = ParseInt(text);
  const auto unusable = [&](const std::string& why) {
    return Error(Cause::kLaunchEnvMissing,
                 std::string(wire::kRankSocketVariable) + "=`" +
                     Printable(text) + "` is not an agent socket (" + why +
                     "); `muster run` sets it for the processes it starts, and "
                     "it is not valid in other processes");
  };
  if (!number || *number < 3 || *number > (1 << 30)) {
    return unusable("not a descriptor");
  }
  auto socket = sys::OpenWithoutWaiting(static_cast<int>(*number));
  if (!socket) {
    return unusable(socket.error().message());
  }
  if (!sys::IsUnixSocket(socket->get())) {
    return unusable("descriptor " + std::to_string(*number) +
                    " now refers to something else");
  }
  return socket;
}

Result<wire::RankMessage> Register(AgentLink& link, Deadline deadline) {
  const Json about = {{"pid", sys::OwnPid()},
                      {"version", std::string(kVersion)}};
  MUSTER_ASSIGN(wire::RankMessage reply,
                link.Ask({.op = wire::RankOp::kRegister,
                          .number = wire::kRankProtocol,
                          .value = Dump(about)},
                         deadline));
  if (reply.op != wire::RankOp::kRegistered) {
    return Error(Cause::kInternalError,
                 "the agent replied to the registration with op " +
                     std::to_string(static_cast<int>(reply.op)));
  }
  return reply;
}

}  // namespace

Status Session::Inner::MapProgressPage(sys::Fd page) {
  MUSTER_ASSIGN(mapping,
                sys::Mapping::Map(page.get(), sizeof(wire::ProgressPage)));
  progress_page = static_cast<wire::ProgressPage*>(mapping->data());
  if (progress_page->magic != wire::kProgressPageMagic ||
      progress_page->version != wire::kProgressPageVersion) {
    return Error(Cause::kVerPeerMismatch,
                 "the agent's progress page has version " +
                     std::to_string(progress_page->version.load()) +
                     ", but this library supports " +
                     std::to_string(wire::kProgressPageVersion));
  }
  return Ok();
}

Result<std::unique_ptr<Session>> Session::Join() {
  return JoinFrom(sys::RealEnv());
}

Result<std::unique_ptr<Session>> Session::JoinFrom(const sys::Env& environment,
                                                   Deadline deadline) {
  auto inner = std::make_unique<Inner>();
  const auto socket = environment.Get(wire::kRankSocketVariable);
  if (!socket || socket->empty()) {
    MUSTER_TRY(RequireAlone(environment));
    inner->own_progress_page = std::make_unique<wire::ProgressPage>();
    inner->progress_page = inner->own_progress_page.get();
    inner->membership.tasks = {{"worker", {"localhost"}}};
    MUSTER_ASSIGN(const int memory, sys::MakeSharedMemory("muster-segment", 0));
    inner->segment = sys::Fd(memory);
    return std::unique_ptr<Session>(new Session(std::move(inner)));
  }
  MUSTER_ASSIGN(sys::Fd copy, TakeSocket(*socket));
  inner->link = std::make_unique<AgentLink>(std::move(copy));
  auto reply = Register(*inner->link, deadline);
  if (!reply) {
    return std::move(reply).error().While("registering with the agent");
  }
  // Now it is known to be the agent's: no child shall inherit it.
  sys::Fd(static_cast<int>(*ParseInt(*socket))).Close();
  MUSTER_ASSIGN(inner->membership, ParseMembership(reply->value));
  auto descriptors = inner->link->TakeDescriptors();
  if (descriptors.size() != 2) {
    return Error(Cause::kInternalError,
                 "the agent sent " + std::to_string(descriptors.size()) +
                     " descriptors instead of progress page and segment");
  }
  MUSTER_TRY(inner->MapProgressPage(std::move(descriptors[0])));
  inner->segment = std::move(descriptors[1]);
  return std::unique_ptr<Session>(new Session(std::move(inner)));
}

Session::Session(std::unique_ptr<Inner> inner) : inner_(std::move(inner)) {}
Session::~Session() = default;

bool Session::alone() const {
  return inner_->link == nullptr;
}
int Session::rank() const {
  return inner_->membership.rank;
}
int Session::world_size() const {
  return inner_->membership.world_size;
}
int Session::local_rank() const {
  return inner_->membership.local_rank;
}
int Session::local_size() const {
  return inner_->membership.local_size;
}
int Session::segment_ranks() const {
  return inner_->membership.segment_ranks;
}
int Session::attempt() const {
  return inner_->membership.attempt;
}
const std::string& Session::run_id() const {
  return inner_->membership.run_id;
}
const std::map<std::string, std::vector<std::string>>& Session::Spec() const {
  return inner_->membership.tasks;
}

Status Session::Put(std::string_view key, std::string_view value,
                    Deadline deadline) {
  if (alone()) {
    inner_->own_store.Put(key, value);
    return Ok();
  }
  // Not sent: the agent would have to take it in first.
  if (const std::size_t size = key.size() + value.size();
      size > wire::kMaxStoreValue) {
    return Error(Cause::kOsLimit,
                 "the value of `" + Printable(key) + "` has " +
                     BytesText(size) +
                     " including its key; the limit of the store is " +
                     BytesText(wire::kMaxStoreValue));
  }
  MUSTER_TRY(inner_->Ask({.op = wire::RankOp::kPut,
                          .key = std::string(key),
                          .value = std::string(value)},
                         deadline));
  return Ok();
}

Result<std::string> Session::Get(std::string_view key, Deadline deadline) {
  if (alone()) {
    return inner_->own_store.Get(key, deadline);
  }
  MUSTER_ASSIGN(wire::RankMessage reply,
                inner_->Ask({.op = wire::RankOp::kGet,
                             .number = Milliseconds(deadline),
                             .key = std::string(key)},
                            deadline));
  return std::move(reply.value);
}

Result<std::int64_t> Session::Add(std::string_view key, std::int64_t amount,
                                  Deadline deadline) {
  if (alone()) {
    return inner_->own_store.Add(key, amount);
  }
  MUSTER_ASSIGN(
      const wire::RankMessage reply,
      inner_->Ask(
          {.op = wire::RankOp::kAdd, .number = amount, .key = std::string(key)},
          deadline));
  return reply.number;
}

Status Session::Barrier(std::string_view name, Deadline deadline) {
  if (!alone()) {
    MUSTER_TRY(inner_->Ask({.op = wire::RankOp::kBarrier,
                            .number = Milliseconds(deadline),
                            .key = std::string(name)},
                           deadline));
  }
  return Ok();
}

void Session::Report(Fact fact) {
  if (alone()) {
    return;
  }
  if (fact.by.empty()) {
    fact.by = "rank " + std::to_string(rank());
  }
  if (fact.at == WallTime{}) {
    fact.at = sys::RealClock().EventNow();
  }
  // An agent that takes nothing any more is named by the next request.
  (void)inner_->link
      ->Tell({.op = wire::RankOp::kFact, .value = Dump(ToJson(fact))},
             Deadline::After(kTellLimit))
      .has_value();
}

void Session::Failed(const Error& error) {
  if (alone()) {
    return;
  }
  std::string message = error.message();
  for (const std::string& doing : error.context()) {
    message += " (" + doing + ")";
  }
  Json about = {{"message", message}, {"evidence", Json::array()}};
  for (const Fact& fact : error.evidence()) {
    about["evidence"].push_back(ToJson(fact));
  }
  // This rank is about to end: its exit status tells what this cannot.
  (void)inner_->link
      ->Tell({.op = wire::RankOp::kFailed,
              .key = std::string(Label(error.cause())),
              .value = Dump(about)},
             Deadline::After(kTellLimit))
      .has_value();
}

bool Session::StopRequested() const {
  return inner_->progress_page->stop.load() != 0 ||
         (inner_->link != nullptr && inner_->link->StopReason());
}

Error Session::StopError() const {
  auto reason = wire::StopReason(*inner_->progress_page);
  if (!reason && inner_->link != nullptr) {
    reason = inner_->link->StopReason();
  }
  return reason ? *std::move(reason)
                : Error(Cause::kInternalError, "no stop was requested");
}

wire::ProgressPage& Session::progress_page() const {
  return *inner_->progress_page;
}
wire::ProgressSlot& Session::slot() const {
  return inner_->progress_page->slots[inner_->membership.slot];
}
int Session::segment() const {
  return inner_->segment.get();
}

}  // namespace muster
