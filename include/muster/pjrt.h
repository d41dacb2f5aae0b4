// SPDX-License-Identifier: Apache-2.0
// Training on the devices of a PJRT plug-in (TPU, GPU, CPU), without torch: a
// step that a framework has exported once runs on every device of this process,
// replicas in sync.
//
//   MUSTER_ASSIGN(auto session, Session::Join());
//   MUSTER_ASSIGN(auto program, StepProgram::Open("cnn/step.json"));
//   MUSTER_ASSIGN(auto strategy,
//                 PjrtStrategy::Make(*session, std::move(program),
//                                    {.plugin = "libtpu.so"}));
//   MUSTER_TRY(strategy.Initialize(seed));
//   for (…) {
//     MUSTER_ASSIGN(auto metrics, strategy.Step(batch));
//   }
//   MUSTER_TRY(strategy.ProveReplicasEqual());
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "muster/checkpoint.h"
#include "muster/deadline.h"
#include "muster/error.h"
#include "muster/session.h"

namespace muster {

// How the replicas of a step are combined.
enum class StepForm {
  // gradient(parameters…, batch…) -> (metrics…, gradients…) and
  // update(state…, gradients…) -> (state…), each for one device. They are
  // joined
  // here by the mean over any number of replicas.
  kCompose,
  // step(state…, batch…) -> (state…, metrics…), partitioned at export for a
  // fixed number of devices: state and metrics on all of them, the batch split
  // along its first dimension.
  kSpmd,
};

// A training step as programs of StableHLO (text or bytecode), and what their
// arguments are. The file step.json that describes one is in
// docs/reference/step-format.md.
struct StepProgram {
  // Reads step.json and the programs in its folder. file-missing,
  // file-permission; usage-invalid names the key of step.json that is missing
  // or wrong.
  static Result<StepProgram> Open(const std::string& path);

  StepForm form = StepForm::kCompose;  // which programs there are
  int devices = 0;                     // kSpmd: those it was exported for
  std::uint64_t local_batch = 0;       // samples of one device and step
  std::vector<TensorSpec> state;       // parameters, then the optimizer's
  std::size_t parameters = 0;          // how many of the state
  std::vector<TensorSpec> batch;       // of one device: local_batch x …
  std::vector<std::string> metrics;    // float32 scalars; "loss" is reported

  std::string gradient;    // kCompose
  std::string update;      // kCompose
  std::string step;        // kSpmd
  std::string initialize;  // (seed: int32) -> (state…)
  std::string evaluate;    // (parameters…, batch…) -> (scores…), or ""
  std::vector<std::string> scores;  // float32 scalars: sums over the batch
};

// Which plug-in, and how it is opened.
struct PjrtOptions {
  std::string plugin;  // path of the shared object
  int devices = 0;     // replicas; 0: all that the plug-in has
  // Passed to the plug-in when it is opened: cpu_device_count and the like.
  std::map<std::string, std::int64_t> create;
  // Of a wait for a device. The run's watchdog ends a call that does not
  // return.
  Duration wait_limit = std::chrono::minutes(10);
};

// Synchronous data-parallel training over the devices of one process. One
// thread. The session must outlive it.
class PjrtStrategy {
 public:
  // Loads the plug-in, opens its devices, combines and compiles the step.
  // Errors: those of loading it (ver-plugin-mismatch, ver-abi, file-missing),
  // those of its compiler (op-unsupported, oom-device, …), rank-world-mismatch
  // (fewer devices than requested, or not the number that the step was exported
  // for), usage-invalid (a session of several ranks: one process uses all
  // devices).
  static Result<PjrtStrategy> Make(Session& session, StepProgram program,
                                   const PjrtOptions& options);
  PjrtStrategy(PjrtStrategy&&) noexcept;
  PjrtStrategy& operator=(PjrtStrategy&&) noexcept;
  ~PjrtStrategy();

  // Devices in use.
  int num_replicas_in_sync() const;
  std::uint64_t global_batch() const;  // samples of a step, over all replicas
  std::uint64_t step() const;          // done, over restarts
  // As it was given to Make.
  const StepProgram& program() const;
  // "PJRT 0.81".
  const std::string& platform() const;

  // The state of a new training, the same on all replicas.
  Status Initialize(std::int32_t seed);
  // That of a checkpoint. ckpt-mismatch names the first tensor that differs.
  Status Restore(const Checkpoint& checkpoint);

  // One step on the whole batch: tensors in the program's order, their first
  // dimension the global batch. The metrics, means over all samples. Errors:
  // usage-invalid (another shape or dtype), numerics-nan (the loss; with step),
  // deadline-exceeded, the errors of the plug-in. After an error, every later
  // call returns it again.
  Result<std::vector<float>> Step(std::span<const TensorView> batch,
                                  Duration input_wait = {});
  // The scores summed over the batch; nothing changes.
  Result<std::vector<double>> Evaluate(std::span<const TensorView> batch);

  // The state as one replica holds it.
  Result<Checkpoint> State(int replica = 0);
  // replica-divergence names the tensor and the replica that differs from 0.
  Status ProveReplicasEqual();
  // Writes State(0).
  Status Save(CheckpointStore& store,
              const std::map<std::string, std::string>& metadata);

 private:
  struct Inner;
  explicit PjrtStrategy(std::unique_ptr<Inner> inner);
  std::unique_ptr<Inner> inner_;
};

}  // namespace muster
