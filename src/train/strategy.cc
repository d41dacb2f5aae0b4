// SPDX-License-Identifier: Apache-2.0
// Part of muster/train.h: strategies.
#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cluster/members.h"
#include "collective/shared_memory.h"
#include "muster/train.h"
#include "sys/env.h"
#include "train/allocator.h"
#include "train/gloo_collective.h"
#include "train/tensors.h"

namespace muster {
namespace {

// For ranks that start together to find each other; those that do not are
// named by the agent before.
constexpr auto kConnectLimit = std::chrono::minutes(2);
constexpr auto kReduceLimit = std::chrono::minutes(10);

constexpr const char* kCollectiveVariable = "MUSTER_COLLECTIVE";

Cluster ClusterOf(const Session& session) {
  Cluster cluster;
  for (const auto& [task, addresses] : session.Spec()) {
    int index = 0;
    for (const std::string& text : addresses) {
      Member member{.task = task, .index = index++};
      // Without a port: only the host is known.
      if (auto address = Address::Parse(text, 1)) {
        member.address = {*std::move(address), "agent"};
      }
      cluster.members.push_back(std::move(member));
    }
  }
  AssignRanks(cluster.members);
  const char* source = session.alone() ? "no agent: one process" : "agent";
  cluster.self = {session.rank(), source};
  cluster.size = {session.world_size(), source};
  cluster.one_host = session.local_size() == session.world_size();
  return cluster;
}

// The address of this rank's host as the cluster knows it, or nothing.
std::string HostOf(const Cluster& cluster, int rank) {
  auto at = static_cast<std::size_t>(rank);
  return at < cluster.members.size() && cluster.members[at].address
             ? cluster.members[at].address->value.host
             : "";
}

// "shared-memory", "gloo" or nothing for the choice that suits.
Result<std::string> WantedCollective() {
  auto wanted = sys::RealEnv().Get(kCollectiveVariable);
  if (!wanted || wanted->empty()) {
    return std::string();
  }
  if (*wanted != "gloo" && *wanted != "shared-memory") {
    return Error(Cause::kUsageInvalid, std::string(kCollectiveVariable) + "=`" +
                                           Printable(*wanted) +
                                           "` is neither `gloo` nor "
                                           "`shared-memory`");
  }
  return *wanted;
}

Result<std::unique_ptr<Collective>> Connect(Session& session) {
  if (session.world_size() == 1) {
    return MakeAlone();
  }
  MUSTER_ASSIGN(std::string wanted, WantedCollective());
  // Ranks of a host that agents of their own have started share no memory.
  const bool one_segment = session.segment_ranks() == session.world_size();
  if (wanted == "shared-memory" && !one_segment) {
    return Error(Cause::kUsageInvalid,
                 std::string(kCollectiveVariable) +
                     "=shared-memory requires that one agent starts all "
                     "ranks, but this one has started " +
                     std::to_string(session.segment_ranks()) + " of " +
                     std::to_string(session.world_size()));
  }
  if (one_segment && wanted != "gloo") {
    return MakeSharedMemory({.rank = session.rank(),
                             .size = session.world_size(),
                             .segment = session.segment(),
                             .progress_page = &session.progress_page()});
  }
  return MakeGloo(session, HostOf(ClusterOf(session), session.rank()),
                  Deadline::After(kConnectLimit));
}

void SetThreads() {
  auto threads = sys::RealEnv().Get("OMP_NUM_THREADS");
  if (auto count = threads ? ParseInt(*threads) : std::nullopt) {
    at::set_num_threads(
        static_cast<int>(std::clamp<std::int64_t>(*count, 1, 1024)));
  }
}

}  // namespace

struct MultiWorkerMirrored::Inner {
  std::unique_ptr<Session> session;
  std::unique_ptr<Collective> group;  // may use the session
  Cluster cluster;
};

MultiWorkerMirrored::MultiWorkerMirrored(std::unique_ptr<Inner> inner)
    : inner_(std::move(inner)) {}
MultiWorkerMirrored::MultiWorkerMirrored(MultiWorkerMirrored&&) noexcept =
    default;
MultiWorkerMirrored& MultiWorkerMirrored::operator=(
    MultiWorkerMirrored&&) noexcept = default;
MultiWorkerMirrored::~MultiWorkerMirrored() = default;

Result<MultiWorkerMirrored> MultiWorkerMirrored::Join() {
  KeepHeap();
  SetThreads();
  MUSTER_ASSIGN(auto session, Session::Join());
  auto group = Connect(*session);
  if (!group) {
    session->Failed(group.error());
    return std::move(group).error();
  }
  session->Report({.name = "collective.chosen",
                   .fields = {{"collective", std::string((*group)->name())},
                              {"threads", std::int64_t{at::get_num_threads()}}},
                   .subject = "rank " + std::to_string(session->rank()),
                   .by = "rank " + std::to_string(session->rank())});
  if (session->alone()) {
    MUSTER_LOG(kInfo, "no agent: running as a single process");
  }
  return Over(std::move(session), *std::move(group));
}

MultiWorkerMirrored MultiWorkerMirrored::Over(
    std::unique_ptr<Session> session, std::unique_ptr<Collective> group) {
  auto inner = std::make_unique<Inner>();
  inner->cluster = ClusterOf(*session);
  inner->session = std::move(session);
  inner->group = std::move(group);
  return MultiWorkerMirrored(std::move(inner));
}

int MultiWorkerMirrored::rank() const {
  return inner_->group->rank();
}
int MultiWorkerMirrored::num_replicas_in_sync() const {
  return inner_->group->size();
}
const Cluster& MultiWorkerMirrored::cluster() const {
  return inner_->cluster;
}
Session& MultiWorkerMirrored::session() const {
  return *inner_->session;
}
Collective& MultiWorkerMirrored::group() const {
  return *inner_->group;
}

Status MultiWorkerMirrored::Guard(const std::function<Status()>& call) {
  Status status = Catching(call);
  if (!status && !inner_->session->StopRequested()) {
    inner_->session->Failed(status.error());
  }
  return status;
}

// A call that all ranks make together: const would hide that.
// NOLINTNEXTLINE(readability-make-member-function-const)
Result<torch::Tensor> MultiWorkerMirrored::Reduce(ReduceOp op,
                                                  const torch::Tensor& value) {
  torch::Tensor sum;
  Status status = Catching([&]() -> Status {
    sum = value.detach().clone(at::MemoryFormat::Contiguous);
    MUSTER_ASSIGN(DType dtype, DTypeOf({"value", sum}));
    MUSTER_TRY(AllReduce(group(), BufferOf(sum, dtype),
                         Deadline::After(kReduceLimit)));
    if (op == ReduceOp::kMean) {
      sum = sum / num_replicas_in_sync();
    }
    return Ok();
  });
  if (!status) {
    return std::move(status).error().While("reducing a value");
  }
  return sum;
}

}  // namespace muster
