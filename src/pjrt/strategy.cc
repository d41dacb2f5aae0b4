// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "member/step_meter.h"
#include "muster/pjrt.h"
#include "pjrt/plugin/client.h"
#include "pjrt/program/compose.h"
#include "pjrt/program/module.h"

namespace muster {
namespace {

using pjrt::Buffer;
using pjrt::Buffers;
using pjrt::Client;
using pjrt::CompileOptions;
using pjrt::Loaded;
using pjrt::Plugin;

std::size_t SizeOf(const TensorSpec& spec) {
  return BytesOf(spec).value_or(0);
}

// The device's part of a batch: a contiguous stretch of the first dimension.
TensorView ShardOf(const TensorView& tensor, std::size_t device,
                   std::size_t devices) {
  TensorView shard = tensor;
  shard.spec.shape[0] /= static_cast<std::int64_t>(devices);
  const std::size_t bytes = tensor.bytes.size() / devices;
  shard.bytes = tensor.bytes.subspan(device * bytes, bytes);
  return shard;
}

Result<Loaded> CompileFile(const Client& client, std::string_view name,
                           const std::string& file, CompileOptions options,
                           std::size_t results) {
  auto module = pjrt::ReadModule(file);
  if (!module) {
    return std::move(module).error().While("reading the program `" +
                                           std::string(name) + "`");
  }
  options.shardy = module->shardy;
  auto loaded = client.Compile(module->code, options);
  if (!loaded) {
    return std::move(loaded).error().While("compiling the program `" +
                                           std::string(name) + "`");
  }
  if (loaded->outputs() != results) {
    return Error(
        Cause::kUsageInvalid,
        "the program `" + std::string(name) + "` returns " +
            Count(static_cast<std::int64_t>(loaded->outputs()), "result") +
            ", but step.json describes " + std::to_string(results));
  }
  return loaded;
}

}  // namespace

struct PjrtStrategy::Inner {
  Inner(Session& of, StepProgram what, const PjrtOptions& how,
        const Plugin& plug_in)
      : session(of),
        program(std::move(what)),
        options(how),
        plugin(plug_in),
        meter(of.slot()) {}

  Session& session;
  StepProgram program;
  PjrtOptions options;
  // Everything below ends before it.
  const Plugin plugin;
  StepMeter meter;
  std::optional<Client> client;
  std::optional<Loaded> stepper, initializer, evaluator;
  std::vector<Buffers> state;  // by device of `stepper`
  std::string platform;
  std::uint64_t step = 0;
  std::optional<Error> failed;

  std::size_t devices() const { return stepper->devices().size(); }
  std::uint64_t GlobalBatch() const { return program.local_batch * devices(); }
  Deadline Limit() const { return Deadline::After(options.wait_limit); }

  Status Open();
  Result<int> Replicas() const;
  Status Compile(int replicas);
  Status Place(std::span<const TensorView> tensors);
  Status CheckBatch(std::span<const TensorView> batch) const;
  // Each device gets the first `tensors` of its state and its part of a batch.
  Result<std::vector<Buffers>> Run(const Loaded& loaded, std::size_t tensors,
                                   std::span<const TensorView> batch);
  Result<std::vector<float>> Scalars(const Buffers& of, std::size_t first);
  Result<std::vector<float>> Train(std::span<const TensorView> batch);
  Status Ready() const;
  Error Fail(Error error);
};

// ---- Making ----

Result<PjrtStrategy> PjrtStrategy::Make(Session& session, StepProgram program,
                                        const PjrtOptions& options) {
  const auto work = [&]() -> Result<std::unique_ptr<Inner>> {
    if (session.world_size() > 1) {
      return Error(
          Cause::kUsageInvalid,
          "one process uses all devices of its plug-in, but this run has " +
              std::to_string(session.world_size()) +
              " ranks: start one with muster run -n 1");
    }
    auto plugin = Plugin::Load(options.plugin);
    if (!plugin) {
      return std::move(plugin).error().While("loading the plug-in");
    }
    auto inner =
        std::make_unique<Inner>(session, std::move(program), options, *plugin);
    MUSTER_TRY(inner->Open());
    return inner;
  };
  auto inner = work();
  if (!inner) {
    session.Failed(inner.error());
    return std::move(inner).error();
  }
  return PjrtStrategy(*std::move(inner));
}

Status PjrtStrategy::Inner::Open() {
  pjrt::Values create;
  for (const auto& [name, value] : options.create) {
    create.emplace(name, value);
  }
  auto opened = Client::Make(plugin, create);
  if (!opened) {
    return std::move(opened).error().While("opening the devices");
  }
  client.emplace(*std::move(opened));
  platform = "PJRT " + std::to_string(plugin.version().major) + "." +
             std::to_string(plugin.version().minor);
  MUSTER_ASSIGN(const int replicas, Replicas());
  return Compile(replicas);
}

Result<int> PjrtStrategy::Inner::Replicas() const {
  const int there = static_cast<int>(client->devices());
  int wanted = options.devices;
  if (program.form == StepForm::kSpmd) {
    if (wanted != 0 && wanted != program.devices) {
      return Error(Cause::kRankWorldMismatch,
                   "the step was exported for " +
                       Count(program.devices, "device") + ", " +
                       std::to_string(wanted) + " are requested");
    }
    wanted = program.devices;
  }
  wanted = wanted == 0 ? there : wanted;
  if (wanted > there) {
    return Error(Cause::kRankWorldMismatch,
                 "the plug-in has " + Count(there, "device") + ", " +
                     std::to_string(wanted) + " are requested");
  }
  return wanted;
}

Status PjrtStrategy::Inner::Compile(int replicas) {
  const std::size_t states = program.state.size();
  CompileOptions whole{.replicas = replicas};
  std::string code = program.step;
  if (program.form == StepForm::kSpmd) {
    whole = {.partitions = replicas};
  } else {
    MUSTER_ASSIGN(code, pjrt::Compose(program, replicas));
  }
  MUSTER_ASSIGN(stepper, CompileFile(*client, "step", code, whole,
                                     states + program.metrics.size()));
  MUSTER_ASSIGN(initializer, CompileFile(*client, "initialize",
                                         program.initialize, {}, states));
  if (!program.evaluate.empty()) {
    MUSTER_ASSIGN(evaluator,
                  CompileFile(*client, "evaluate", program.evaluate,
                              {.replicas = replicas}, program.scores.size()));
  }
  return Ok();
}

// ---- State ----

Status PjrtStrategy::Initialize(std::int32_t seed) {
  Inner& self = *inner_;
  const auto work = [&]() -> Status {
    const Loaded& loaded = *self.initializer;
    const TensorSpec spec{.name = "seed", .dtype = DType::kInt32, .shape = {}};
    MUSTER_ASSIGN(const Buffer argument,
                  self.client->Put(loaded.devices().front(),
                                   {spec, std::as_bytes(std::span(&seed, 1))}));
    const std::vector<std::vector<pjrt::abi::Buffer*>> arguments{
        {argument.get()}};
    MUSTER_ASSIGN(const auto made, loaded.Execute(arguments));
    std::vector<std::string> bytes;
    std::vector<TensorView> tensors;
    for (std::size_t i = 0; i < self.program.state.size(); ++i) {
      MUSTER_ASSIGN(bytes.emplace_back(),
                    self.client->Get(made.front()[i], self.program.state[i],
                                     self.Limit()));
    }
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      tensors.push_back(
          {self.program.state[i], std::as_bytes(std::span(bytes[i]))});
    }
    MUSTER_TRY(self.Place(tensors));
    self.step = 0;
    self.meter.Resume(0);
    self.meter.BeginStep();
    return Ok();
  };
  Status done = work();
  return done ? done : self.Fail(std::move(done).error());
}

Status PjrtStrategy::Restore(const Checkpoint& checkpoint) {
  Inner& self = *inner_;
  MUSTER_TRY(CheckMatches(checkpoint, self.program.state));
  std::vector<TensorView> tensors;
  for (const TensorSpec& spec : self.program.state) {
    tensors.push_back({spec, *checkpoint.Find(spec.name)});
  }
  if (Status placed = self.Place(tensors); !placed) {
    return self.Fail(std::move(placed).error());
  }
  self.step = checkpoint.step;
  self.meter.Resume(self.step);
  self.meter.BeginStep();
  return Ok();
}

Status PjrtStrategy::Inner::Place(std::span<const TensorView> tensors) {
  std::vector<Buffers> placed;
  for (pjrt::abi::Device* device : stepper->devices()) {
    Buffers& there = placed.emplace_back();
    for (const TensorView& tensor : tensors) {
      MUSTER_ASSIGN(Buffer buffer, client->Put(device, tensor));
      there.push_back(std::move(buffer));
    }
  }
  state = std::move(placed);
  return Ok();
}

Result<Checkpoint> PjrtStrategy::State(int replica) {
  Inner& self = *inner_;
  MUSTER_TRY(self.Ready());
  if (replica < 0 || static_cast<std::size_t>(replica) >= self.devices()) {
    return Error(Cause::kUsageInvalid, "no replica " + std::to_string(replica));
  }
  const Buffers& buffers = self.state[static_cast<std::size_t>(replica)];
  std::map<std::string, std::size_t> by_name;
  for (std::size_t i = 0; i < self.program.state.size(); ++i) {
    by_name[self.program.state[i].name] = i;
  }
  Checkpoint checkpoint;
  checkpoint.step = self.step;
  for (const auto& [name, i] : by_name) {
    MUSTER_ASSIGN(
        const std::string bytes,
        self.client->Get(buffers[i], self.program.state[i], self.Limit()));
    checkpoint.specs.push_back(self.program.state[i]);
    checkpoint.storage += bytes;
  }
  std::size_t at = 0;
  for (const TensorSpec& spec : checkpoint.specs) {
    checkpoint.bytes.push_back(
        std::as_bytes(std::span(checkpoint.storage).subspan(at, SizeOf(spec))));
    at += SizeOf(spec);
  }
  return checkpoint;
}

Status PjrtStrategy::ProveReplicasEqual() {
  Inner& self = *inner_;
  MUSTER_TRY(self.Ready());
  for (std::size_t i = 0; i < self.program.state.size(); ++i) {
    const TensorSpec& spec = self.program.state[i];
    std::string first;
    for (std::size_t device = 0; device < self.devices(); ++device) {
      MUSTER_ASSIGN(std::string bytes, self.client->Get(self.state[device][i],
                                                        spec, self.Limit()));
      if (device == 0) {
        first = std::move(bytes);
      } else if (bytes != first) {
        return self.Fail(Error(Cause::kReplicaDivergence,
                               "after step " + std::to_string(self.step) +
                                   " `" + Printable(spec.name) +
                                   "` of replica " + std::to_string(device) +
                                   " differs from that of replica 0"));
      }
    }
  }
  return Ok();
}

Status PjrtStrategy::Save(CheckpointStore& store,
                          const std::map<std::string, std::string>& metadata) {
  Inner& self = *inner_;
  self.meter.Enter(wire::Phase::kCheckpoint);
  const auto work = [&]() -> Status {
    MUSTER_ASSIGN(const Checkpoint held, State());
    std::vector<TensorView> tensors;
    for (std::size_t i = 0; i < held.specs.size(); ++i) {
      tensors.push_back({held.specs[i], held.bytes[i]});
    }
    return store.Save(self.step, tensors, metadata);
  };
  Status saved = work();
  self.meter.Leave();
  if (saved) {
    self.meter.Checkpointed(self.step);
  }
  return saved;
}

// ---- Steps ----

Status PjrtStrategy::Inner::Ready() const {
  if (failed) {
    return *failed;
  }
  if (state.empty()) {
    return Error(Cause::kUsageInvalid,
                 "no state yet: call Initialize or Restore first");
  }
  if (session.StopRequested()) {
    return session.StopError();
  }
  return Ok();
}

Status PjrtStrategy::Inner::CheckBatch(
    std::span<const TensorView> batch) const {
  if (batch.size() != program.batch.size()) {
    return Error(
        Cause::kUsageInvalid,
        "a batch has " +
            Count(static_cast<std::int64_t>(program.batch.size()), "tensor") +
            ", " + std::to_string(batch.size()) + " are given");
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    TensorSpec wanted = program.batch[i];
    wanted.shape[0] = static_cast<std::int64_t>(GlobalBatch());
    const TensorSpec& given = batch[i].spec;
    if (given.dtype != wanted.dtype || given.shape != wanted.shape ||
        batch[i].bytes.size() != SizeOf(wanted)) {
      return Error(Cause::kUsageInvalid,
                   "`" + wanted.name + "` of a batch is " + ToString(wanted) +
                       ", but the given one is " + ToString(given) + " of " +
                       std::to_string(batch[i].bytes.size()) + " bytes");
    }
  }
  return Ok();
}

Result<std::vector<Buffers>> PjrtStrategy::Inner::Run(
    const Loaded& loaded, std::size_t tensors,
    std::span<const TensorView> batch) {
  const auto devices = loaded.devices();
  const auto of_state = stepper->devices();
  std::vector<std::vector<pjrt::abi::Buffer*>> arguments(devices.size());
  std::vector<Buffer> shards;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    // Another program may number the devices otherwise.
    const auto at = std::find(of_state.begin(), of_state.end(), devices[i]);
    if (at == of_state.end()) {
      return Error(Cause::kFrameworkBug,
                   "the plug-in placed two programs on different devices");
    }
    const auto device = static_cast<std::size_t>(at - of_state.begin());
    for (std::size_t j = 0; j < tensors; ++j) {
      arguments[i].push_back(state[device][j].get());
    }
    for (const TensorView& tensor : batch) {
      MUSTER_ASSIGN(
          Buffer shard,
          client->Put(devices[i], ShardOf(tensor, device, devices.size())));
      arguments[i].push_back(shard.get());
      shards.push_back(std::move(shard));
    }
  }
  return loaded.Execute(arguments);
}

Result<std::vector<float>> PjrtStrategy::Inner::Scalars(const Buffers& of,
                                                        std::size_t first) {
  std::vector<float> values;
  for (std::size_t i = first; i < of.size(); ++i) {
    MUSTER_ASSIGN(values.emplace_back(), client->GetNumber(of[i], Limit()));
  }
  return values;
}

Result<std::vector<float>> PjrtStrategy::Inner::Train(
    std::span<const TensorView> batch) {
  const std::size_t states = program.state.size();
  MUSTER_ASSIGN(auto results, Run(*stepper, states, batch));
  MUSTER_ASSIGN(const auto metrics, Scalars(results.front(), states));
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].erase(results[i].begin() + static_cast<std::ptrdiff_t>(states),
                     results[i].end());
  }
  state = std::move(results);
  ++step;
  return metrics;
}

Result<std::vector<float>> PjrtStrategy::Step(std::span<const TensorView> batch,
                                              Duration input_wait) {
  Inner& self = *inner_;
  MUSTER_TRY(self.Ready());
  MUSTER_TRY(self.CheckBatch(batch));
  auto metrics = self.Train(batch);
  if (!metrics) {
    return self.Fail(std::move(metrics).error().While(
        "step " + std::to_string(self.step + 1)));
  }
  const auto& names = self.program.metrics;
  const auto at = std::find(names.begin(), names.end(), "loss");
  double loss = 0;
  if (at != names.end()) {
    loss = static_cast<double>(
        (*metrics)[static_cast<std::size_t>(at - names.begin())]);
    if (!std::isfinite(loss)) {
      return self.Fail(Error(Cause::kNumericsNan,
                             "the loss of step " + std::to_string(self.step) +
                                 " is not a number"));
    }
  }
  self.meter.EndStep({.step = self.step,
                      .samples = self.GlobalBatch(),
                      .input_wait = input_wait,
                      .loss = loss});
  return metrics;
}

Result<std::vector<double>> PjrtStrategy::Evaluate(
    std::span<const TensorView> batch) {
  Inner& self = *inner_;
  MUSTER_TRY(self.Ready());
  MUSTER_TRY(self.CheckBatch(batch));
  if (!self.evaluator) {
    return Error(Cause::kUsageInvalid, "step.json has no program `evaluate`");
  }
  const auto work = [&]() -> Result<std::vector<double>> {
    MUSTER_ASSIGN(const auto results,
                  self.Run(*self.evaluator, self.program.parameters, batch));
    std::vector<double> sums(self.program.scores.size(), 0);
    for (const Buffers& of : results) {
      MUSTER_ASSIGN(const auto scores, self.Scalars(of, 0));
      for (std::size_t i = 0; i < sums.size(); ++i) {
        sums[i] += static_cast<double>(scores[i]);
      }
    }
    return sums;
  };
  auto sums = work();
  self.meter.Beat();
  return sums ? std::move(sums) : self.Fail(std::move(sums).error());
}

Error PjrtStrategy::Inner::Fail(Error error) {
  failed = error;
  session.Failed(error);
  return error;
}

// ---- The handle ----

PjrtStrategy::PjrtStrategy(std::unique_ptr<Inner> inner)
    : inner_(std::move(inner)) {}
PjrtStrategy::PjrtStrategy(PjrtStrategy&&) noexcept = default;
PjrtStrategy& PjrtStrategy::operator=(PjrtStrategy&&) noexcept = default;
PjrtStrategy::~PjrtStrategy() = default;

int PjrtStrategy::num_replicas_in_sync() const {
  return static_cast<int>(inner_->devices());
}

std::uint64_t PjrtStrategy::global_batch() const {
  return inner_->GlobalBatch();
}

std::uint64_t PjrtStrategy::step() const {
  return inner_->step;
}

const StepProgram& PjrtStrategy::program() const {
  return inner_->program;
}

const std::string& PjrtStrategy::platform() const {
  return inner_->platform;
}

}  // namespace muster
