// SPDX-License-Identifier: Apache-2.0
// Collectives: the interface that shared memory and Gloo implement.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "muster/deadline.h"
#include "muster/dtype.h"
#include "muster/error.h"

namespace muster {

// A memory buffer with its element type.
struct Buffer {
  void* data = nullptr;           // its first byte
  std::size_t count = 0;          // elements
  DType dtype = DType::kFloat32;  // of its elements

  // Its length.
  std::size_t bytes() const { return count * SizeOf(dtype); }
};

// A collective that was started. Call Wait once before destroying it;
// destroying it without Wait is allowed only after the group failed.
class Work {
 public:
  virtual ~Work() = default;
  // Advances a started operation without blocking; true when it is complete.
  // Called between the layers of a backward pass.
  virtual bool Poll() = 0;
  // Errors: the cause for which the agent stopped the attempt (peer-died, …),
  // deadline-exceeded (names the missing ranks), cancelled (stop),
  // collective-desync and collective-shape-mismatch (names both calls),
  // numerics-nan for AllReduce with check_finite (names the first rank whose
  // input was not finite). After an error the group is unusable: every later
  // call returns the same error.
  virtual Status Wait(Deadline deadline, std::stop_token stop) = 0;
};

// Options of AllReduce.
struct AllReduceOptions {
  // Reports a sum that is not finite as numerics-nan.
  bool check_finite = false;
};

// All ranks call the same operations in the same order. One thread per rank.
// Sums run in rank order, so all ranks get equal bytes regardless of timing.
class Collective {
 public:
  virtual ~Collective() = default;
  // This rank within the group.
  virtual int rank() const = 0;
  // Ranks of the group.
  virtual int size() const = 0;
  // "shared memory", "gloo", "alone".
  virtual std::string_view name() const = 0;

  // Memory, 64-byte aligned and zeroed, in which AllReduce needs no copy. All
  // ranks allocate the same sizes in the same order. Valid while the
  // Collective lives. shm-too-small, os-limit.
  virtual Result<void*> Allocate(std::size_t bytes) = 0;

  // In place: afterward every rank holds the sum over ranks. The buffer is
  // the caller's again after Wait. kFloat32 and kFloat64 are summed as they
  // are, kBFloat16 and kFloat16 in float32; integers wrap.
  virtual Result<std::unique_ptr<Work>> StartAllReduce(
      Buffer buffer, AllReduceOptions options) = 0;
  // In place: afterward every rank holds the root's bytes.
  virtual Result<std::unique_ptr<Work>> StartBroadcast(Buffer buffer,
                                                       int root) = 0;
  // output: size() x input.count elements, by rank.
  virtual Result<std::unique_ptr<Work>> StartAllGather(Buffer input,
                                                       Buffer output) = 0;
  // Complete when all ranks have started it.
  virtual Result<std::unique_ptr<Work>> StartBarrier() = 0;
};

// StartAllReduce and Wait.
Status AllReduce(Collective& group, Buffer buffer, Deadline deadline,
                 std::stop_token stop = {});
// StartBroadcast and Wait.
Status Broadcast(Collective& group, Buffer buffer, int root, Deadline deadline,
                 std::stop_token stop = {});
// StartAllGather and Wait.
Status AllGather(Collective& group, Buffer input, Buffer output,
                 Deadline deadline, std::stop_token stop = {});
// StartBarrier and Wait.
Status Barrier(Collective& group, Deadline deadline, std::stop_token stop = {});

// A group of one: every operation is complete at once.
std::unique_ptr<Collective> MakeAlone();

}  // namespace muster
