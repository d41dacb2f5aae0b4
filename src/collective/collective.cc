// SPDX-License-Identifier: Apache-2.0
#include "muster/collective.h"

#include <cstring>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "collective/calls.h"
#include "collective/reduce.h"

namespace muster {
namespace {

constexpr std::align_val_t kAlignment{64};

struct AlignedDelete {
  void operator()(std::byte* data) const {
    ::operator delete(data, kAlignment);
  }
};

// The result of a call that was complete when it returned.
class Complete final : public Work {
 public:
  explicit Complete(Status status) : status_(std::move(status)) {}
  bool Poll() override { return true; }
  Status Wait(Deadline, std::stop_token) override { return status_; }

 private:
  Status status_;
};

class Alone final : public Collective {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string_view name() const override { return "alone"; }

  Result<void*> Allocate(std::size_t bytes) override {
    auto* data = static_cast<std::byte*>(
        ::operator new(bytes, kAlignment, std::nothrow));
    if (data == nullptr) {
      return Error(
          Cause::kOomHost,
          "out of memory for " + std::to_string(bytes) + " bytes of gradients");
    }
    std::memset(data, 0, bytes);
    areas_.emplace_back(data);
    return static_cast<void*>(data);
  }

  Result<std::unique_ptr<Work>> StartAllReduce(
      Buffer buffer, AllReduceOptions options) override {
    auto* data = static_cast<std::byte*>(buffer.data);
    if (options.check_finite &&
        SumToAll({&data, 1}, {.dtype = buffer.dtype,
                              .count = buffer.count,
                              .check_finite = true}) != kAllFinite) {
      return Finish(NotFiniteError({.sequence = calls_ + 1,
                                    .kind = CallKind::kAllReduce,
                                    .dtype = buffer.dtype,
                                    .check_finite = true,
                                    .count = buffer.count},
                                   0, 1));
    }
    return Finish(Ok());
  }

  Result<std::unique_ptr<Work>> StartBroadcast(Buffer, int root) override {
    if (root != 0) {
      return Error(Cause::kUsageInvalid,
                   "rank " + std::to_string(root) +
                       " cannot be the root in a group of size 1");
    }
    return Finish(Ok());
  }

  Result<std::unique_ptr<Work>> StartAllGather(Buffer input,
                                               Buffer output) override {
    if (output.dtype != input.dtype || output.count != input.count) {
      return Error(Cause::kCollectiveShapeMismatch,
                   "an all-gather of " + std::to_string(input.count) + " " +
                       std::string(ToString(input.dtype)) +
                       " over 1 rank does not fit into " +
                       std::to_string(output.count) + " " +
                       std::string(ToString(output.dtype)));
    }
    if (input.bytes() > 0) {
      std::memmove(output.data, input.data, input.bytes());
    }
    return Finish(Ok());
  }

  Result<std::unique_ptr<Work>> StartBarrier() override { return Finish(Ok()); }

 private:
  Result<std::unique_ptr<Work>> Finish(Status status) {
    if (failed_) {
      return *failed_;
    }
    ++calls_;
    if (!status) {
      failed_ = status.error();
    }
    return std::unique_ptr<Work>(std::make_unique<Complete>(std::move(status)));
  }

  std::uint64_t calls_ = 0;
  std::optional<Error> failed_;
  std::vector<std::unique_ptr<std::byte, AlignedDelete>> areas_;
};

Status WaitFor(Result<std::unique_ptr<Work>> work, Deadline deadline,
               std::stop_token stop) {
  if (!work) {
    return std::move(work).error();
  }
  return (*work)->Wait(deadline, std::move(stop));
}

}  // namespace

Status AllReduce(Collective& group, Buffer buffer, Deadline deadline,
                 std::stop_token stop) {
  return WaitFor(group.StartAllReduce(buffer, {}), deadline, std::move(stop));
}

Status Broadcast(Collective& group, Buffer buffer, int root, Deadline deadline,
                 std::stop_token stop) {
  return WaitFor(group.StartBroadcast(buffer, root), deadline, std::move(stop));
}

Status AllGather(Collective& group, Buffer input, Buffer output,
                 Deadline deadline, std::stop_token stop) {
  return WaitFor(group.StartAllGather(input, output), deadline,
                 std::move(stop));
}

Status Barrier(Collective& group, Deadline deadline, std::stop_token stop) {
  return WaitFor(group.StartBarrier(), deadline, std::move(stop));
}

std::unique_ptr<Collective> MakeAlone() {
  return std::make_unique<Alone>();
}

}  // namespace muster
