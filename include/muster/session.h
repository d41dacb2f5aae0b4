// SPDX-License-Identifier: Apache-2.0
// The rank's side: joining the agent that started this process.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "muster/deadline.h"
#include "muster/error.h"
#include "muster/fact.h"

namespace muster {

namespace wire {
struct ProgressPage;
struct ProgressSlot;
}  // namespace wire
namespace sys {
class Env;
}

// One per process. Join once, early. All methods: any thread.
class Session {
 public:
  // Registers with the agent named by the environment (MUSTER_AGENT_FD).
  // Without one: a session of one, unless the environment describes more
  // members (WORLD_SIZE above 1, a TF_CONFIG with several tasks, a Slurm or MPI
  // step): then launch-env-missing, with the command to start it. peer-died
  // (the agent exited), deadline-exceeded (it does not respond),
  // ver-peer-mismatch.
  static Result<std::unique_ptr<Session>> Join();
  // The same with the given environment.
  static Result<std::unique_ptr<Session>> JoinFrom(
      const sys::Env& environment,
      Deadline deadline = Deadline::After(std::chrono::seconds(30)));
  ~Session();

  bool alone() const;                 // no agent
  int rank() const;                   // of this process
  int world_size() const;             // ranks that train in step
  int local_rank() const;             // among the ranks on this host
  int local_size() const;             // ranks on this host
  int segment_ranks() const;          // that share memory with this one
  int attempt() const;                // 1 at the first start
  const std::string& run_id() const;  // the name of the folder in runs/
  // task -> addresses by index, as TensorFlow's cluster_spec.
  const std::map<std::string, std::vector<std::string>>& Spec() const;

  // Writes to the store of this attempt, which all ranks share. A key with its
  // value may have 2 MiB, all together 256 MiB: os-limit. A wait ends with the
  // cause for which the agent stops the attempt, and with peer-died if the
  // agent exits.
  Status Put(std::string_view key, std::string_view value, Deadline deadline);
  // Waits for the key; deadline-exceeded names it.
  Result<std::string> Get(std::string_view key, Deadline deadline);
  // Adds to a number (0 if the key does not exist); the sum.
  Result<std::int64_t> Add(std::string_view key, std::int64_t amount,
                           Deadline deadline);
  // Waits for all training ranks (world_size); deadline-exceeded names the
  // missing ones.
  Status Barrier(std::string_view name, Deadline deadline);

  // An observation for the run's events and report.
  void Report(Fact fact);
  // Reports to the agent the error with which this rank is about to end, so
  // that the run's verdict is this cause and not "exit status 1".
  void Failed(const Error& error);

  // Whether the agent requested this rank to stop.
  bool StopRequested() const;
  // Why, when StopRequested: the cause written on the progress page.
  Error StopError() const;

  // Shared with the agent; a session of one has a private one.
  wire::ProgressPage& progress_page() const;
  // This rank's part of it.
  wire::ProgressSlot& slot() const;
  // Descriptor of the memory that ranks of one host share; a private memory
  // file without an agent.
  int segment() const;

 private:
  struct Inner;
  explicit Session(std::unique_ptr<Inner> inner);
  std::unique_ptr<Inner> inner_;
};

}  // namespace muster
