// SPDX-License-Identifier: Apache-2.0
#include "train/gloo_collective.h"

#include <torch/torch.h>
#include <torch/version.h>

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <cstring>
#include <functional>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/text.h"
#include "collective/reduce.h"
#include "sys/process/sched_slice.h"
#include "train/tensors.h"

#if defined(MUSTER_TORCH_FOREIGN) && !defined(MUSTER_GLOO_NAMES)
#error "the system's gloo headers were taken for a libtorch that is not theirs"
#endif

namespace muster {
namespace {

using std::chrono::milliseconds;

// Between two looks at the progress page while a wait lasts.
constexpr milliseconds kLook{20};
// Gloo's own limit only ends waits that we have given up long ago.
constexpr auto kGlooLimit = std::chrono::hours(24);

milliseconds Milliseconds(Deadline deadline) {
  return std::chrono::ceil<milliseconds>(deadline.Remaining());
}

// ---- The store ----

// c10d's view of the session's store. c10d expects exceptions.
class SessionStore final : public c10d::Store {
 public:
  SessionStore(Session& session, milliseconds timeout)
      : Store(timeout), session_(session) {}

  using Store::set;
  void set(const std::string& key,
           const std::vector<std::uint8_t>& value) override {
    Must(session_.Put(Named(key), std::string(value.begin(), value.end()),
                      Limit()));
  }
  std::vector<std::uint8_t> get(const std::string& key) override {
    auto value = session_.Get(Named(key), Limit());
    Must(value);
    return {value->begin(), value->end()};
  }
  std::int64_t add(const std::string& key, std::int64_t value) override {
    auto sum = session_.Add(Named(key), value, Limit());
    Must(sum);
    return *sum;
  }
  bool check(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) {
      if (!session_.Get(Named(key), Deadline::After(milliseconds(0)))) {
        return false;
      }
    }
    return true;
  }
  void wait(const std::vector<std::string>& keys) override {
    wait(keys, timeout_);
  }
  void wait(const std::vector<std::string>& keys,
            const milliseconds& timeout) override {
    auto deadline = Deadline::After(timeout);
    for (const std::string& key : keys) {
      Must(session_.Get(Named(key), deadline));
    }
  }
  bool deleteKey(const std::string&) override { return false; }
  std::int64_t getNumKeys() override {
    throw std::runtime_error(
        "the session's store does not support counting its keys");
  }
#if TORCH_VERSION_MAJOR >= 2
  c10::intrusive_ptr<c10d::Store> clone() override {
    return c10::make_intrusive<SessionStore>(session_, timeout_);
  }
#endif

 private:
  static std::string Named(const std::string& key) {
    return "gloo/" + key;
  }
  Deadline Limit() const {
    return Deadline::After(timeout_);
  }
  template <typename T>
  static void Must(const Result<T>& result) {
    if (!result) {
      throw std::runtime_error(result.error().ToString());
    }
  }

  Session& session_;
};

// ---- Errors ----

bool Contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// What an exception of Gloo or c10d says.
Error FromGloo(const std::exception& thrown, const std::string& doing) {
  std::string text = FromException(thrown).message();
  Cause cause = Cause::kInternalError;
  if (Contains(text, "closed by peer") || Contains(text, "reset by peer") ||
      Contains(text, "Broken pipe")) {
    cause = Cause::kPeerDied;
  } else if (Contains(text, "refused")) {
    cause = Cause::kNetWrongEndpoint;
  } else if (Contains(text, "imed out") || Contains(text, "imeout") ||
             Contains(text, Label(Cause::kDeadlineExceeded))) {
    cause = Cause::kDeadlineExceeded;
  }
  return Error(cause, "gloo failed " + doing + ": " + Printable(text));
}

// ---- Works ----

// Tells a waiting thread that c10d's future is complete.
struct Arrival {
  Mutex mutex;
  CondVar changed;
  bool complete MUSTER_GUARDED_BY(mutex) = false;

  void Set() {
    MutexLock lock(mutex);
    complete = true;
    changed.NotifyAll();
  }
};

class Gloo;

// One operation. `after` runs once when it is complete, on the caller's thread.
class GlooWork final : public Work {
 public:
  using After = std::function<Status()>;

  GlooWork(Gloo& group, c10::intrusive_ptr<c10d::Work> work, std::string what,
           After after)
      : group_(group),
        work_(std::move(work)),
        future_(work_->getFuture()),
        what_(std::move(what)),
        after_(std::move(after)) {
    future_->addCallback(
        [arrival = arrival_](c10::ivalue::Future&) { arrival->Set(); });
  }

  GlooWork(const GlooWork&) = delete;
  GlooWork& operator=(const GlooWork&) = delete;
  ~GlooWork() override;

  bool Poll() override { return result_ || future_->completed(); }
  Status Wait(Deadline deadline, std::stop_token stop) override;

 private:
  Status Await(Deadline deadline, const std::stop_token& stop);
  Status Outcome();

  Gloo& group_;
  c10::intrusive_ptr<c10d::Work> work_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
  // Shared with the callback, which may come after the work has gone.
  std::shared_ptr<Arrival> arrival_ = std::make_shared<Arrival>();
  std::string what_;
  After after_;
  std::optional<Status> result_;
};

class Nothing final : public Work {
 public:
  bool Poll() override { return true; }
  Status Wait(Deadline, std::stop_token) override { return Ok(); }
};

// ---- The group ----

bool AllFinite(Buffer buffer) {
  auto* const bytes = static_cast<std::byte*>(buffer.data);
  return SumToAll(std::span(&bytes, 1), {.dtype = buffer.dtype,
                                         .count = buffer.count,
                                         .check_finite = true}) == kAllFinite;
}

torch::Tensor Over(Buffer buffer) {
  return torch::from_blob(buffer.data,
                          {static_cast<std::int64_t>(buffer.count)},
                          ScalarTypeOf(buffer.dtype));
}

torch::Tensor BytesOver(Buffer buffer) {
  return torch::from_blob(
      buffer.data, {static_cast<std::int64_t>(buffer.bytes())}, torch::kUInt8);
}

// Connecting and working have one limit in c10d; here each has its own.
class Group final : public c10d::ProcessGroupGloo {
 public:
  using ProcessGroupGloo::ProcessGroupGloo;

  void LimitEachCall(milliseconds limit) {
#if TORCH_VERSION_MAJOR >= 2
    setTimeout(limit);
#else
    for (const auto& context : contexts_) {
      context->setTimeout(limit);
    }
#endif
  }
};

class Gloo final : public Collective {
 public:
  Gloo(c10::intrusive_ptr<c10d::Store> store, const GlooOptions& options)
      : store_(std::move(store)), options_(options) {}
  Gloo(const Gloo&) = delete;
  Gloo& operator=(const Gloo&) = delete;
  ~Gloo() override;

  Status Connect(Deadline deadline);

  int rank() const override { return options_.rank; }
  int size() const override { return options_.size; }
  std::string_view name() const override { return "gloo"; }
  Result<void*> Allocate(std::size_t bytes) override;
  Result<std::unique_ptr<Work>> StartAllReduce(
      Buffer buffer, AllReduceOptions options) override;
  Result<std::unique_ptr<Work>> StartBroadcast(Buffer buffer,
                                               int root) override;
  Result<std::unique_ptr<Work>> StartAllGather(Buffer input,
                                               Buffer output) override;
  Result<std::unique_ptr<Work>> StartBarrier() override;

  // Keeps the first error; the group is not used again.
  Error Abandon(Error error);
  const std::optional<Error>& failed() const { return failed_; }
  std::optional<Error> Stopped() const {
    return options_.progress_page == nullptr
               ? std::nullopt
               : wire::StopReason(*options_.progress_page);
  }
  std::string Others() const;

 private:
  using Call = std::function<c10::intrusive_ptr<c10d::Work>()>;
  Result<std::unique_ptr<Work>> Start(const std::string& what, const Call& call,
                                      GlooWork::After after = nullptr);
  Status NameNotFinite(std::uint64_t sequence, bool own_finite);

  c10::intrusive_ptr<c10d::Store> store_;
  GlooOptions options_;
  c10::intrusive_ptr<Group> group_;
  std::vector<torch::Tensor> areas_;
  std::uint64_t calls_ = 0;
  std::optional<Error> failed_;
};

GlooWork::~GlooWork() {
  if (!result_ && !future_->completed()) {
    (void)group_.Abandon(Error(Cause::kInternalError,
                               "the " + what_ + " was canceled by this rank"));
  }
}

Status GlooWork::Wait(Deadline deadline, std::stop_token stop) {
  if (!result_) {
    if (group_.failed()) {
      return *group_.failed();
    }
    result_ = Await(deadline, stop);
    if (*result_) {
      result_ = Outcome();
    }
    if (!*result_) {
      result_ = group_.Abandon(result_->error());
    }
  }
  return *result_;
}

Status GlooWork::Await(Deadline deadline, const std::stop_token& stop) {
  MutexLock lock(arrival_->mutex);
  while (!arrival_->complete) {
    if (auto reason = group_.Stopped()) {
      return *reason;
    }
    if (stop.stop_requested()) {
      return Error(Cause::kCancelled, "a stop was requested during " + what_);
    }
    if (deadline.Expired()) {
      return Error(Cause::kDeadlineExceeded,
                   "the " + what_ + " with " + group_.Others() +
                       " did not complete before its deadline; gloo does not "
                       "report which rank is missing");
    }
    arrival_->changed.WaitUntil(arrival_->mutex,
                                deadline.Sooner(Deadline::After(kLook)).when());
  }
  return Ok();
}

Status GlooWork::Outcome() {
  if (future_->hasError()) {
    // A death is seen on the wire first; the agent's word on it says more.
    try {
      std::rethrow_exception(future_->exception_ptr());
    } catch (const std::exception& thrown) {
      auto reason = group_.Stopped();
      Error error = FromGloo(thrown, "in the " + what_);
      return reason ? std::move(*reason).Then(error) : std::move(error);
    }
  }
  return after_ ? Catching(after_) : Ok();
}

Gloo::~Gloo() {
  if (failed_) {
    // Its threads may be stuck in a wait for a rank that will not come, and
    // the destructor would join them.
    group_.release();
  }
}

Status Gloo::Connect(Deadline deadline) {
  // Gloo's and c10d's threads share the cores with the backward pass.
  const sys::ShortSlices slices;
  try {
    auto settings =
        c10d::ProcessGroupGloo::Options::create(Milliseconds(deadline));
    settings->devices.push_back(
        options_.host.empty()
            ? c10d::ProcessGroupGloo::createDefaultDevice()
            : c10d::ProcessGroupGloo::createDeviceForHostname(options_.host));
    store_->setTimeout(Milliseconds(deadline));
    group_ = c10::make_intrusive<Group>(store_, options_.rank, options_.size,
                                        settings);
    group_->LimitEachCall(kGlooLimit);
    return Ok();
  } catch (const std::exception& thrown) {
    return FromGloo(thrown, "to connect rank " + std::to_string(rank()) +
                                " with " + Others());
  }
}

Error Gloo::Abandon(Error error) {
  if (!failed_) {
    failed_ = std::move(error);
  }
  return *failed_;
}

std::string Gloo::Others() const {
  std::vector<std::string> names;
  for (int other = 0; other < size(); ++other) {
    if (other != rank()) {
      names.push_back("rank " + std::to_string(other));
    }
  }
  return Join(names, ", ");
}

Result<void*> Gloo::Allocate(std::size_t bytes) {
  // libtorch's allocator aligns to 64 bytes.
  torch::Tensor area =
      torch::zeros({static_cast<std::int64_t>(bytes)}, torch::kUInt8);
  areas_.push_back(area);
  return area.data_ptr();
}

Result<std::unique_ptr<Work>> Gloo::Start(const std::string& what,
                                          const Call& call,
                                          GlooWork::After after) {
  if (failed_) {
    return *failed_;
  }
  ++calls_;
  try {
    return std::unique_ptr<Work>(
        std::make_unique<GlooWork>(*this, call(), what, std::move(after)));
  } catch (const std::exception& thrown) {
    return Abandon(FromGloo(thrown, "to start the " + what));
  }
}

Result<std::unique_ptr<Work>> Gloo::StartAllReduce(Buffer buffer,
                                                   AllReduceOptions options) {
  if (buffer.count == 0 && !failed_) {
    return std::unique_ptr<Work>(std::make_unique<Nothing>());
  }
  torch::Tensor own = Over(buffer);
  torch::Tensor sent = own;
  auto operation = c10d::ReduceOp::SUM;
  if (buffer.dtype == DType::kBFloat16 || buffer.dtype == DType::kFloat16) {
    sent = own.to(torch::kFloat32);
  } else if (buffer.dtype == DType::kBool) {
    sent = BytesOver(buffer);
    operation = c10d::ReduceOp::MAX;
  }
  bool own_finite = !options.check_finite || AllFinite(buffer);
  return Start(
      "all-reduce of " + std::to_string(buffer.count) + " " +
          std::string(ToString(buffer.dtype)),
      [&] {
        std::vector<torch::Tensor> tensors{sent};
        c10d::AllreduceOptions settings;
        settings.reduceOp = operation;
        return group_->allreduce(tensors, settings);
      },
      [this, buffer, own, sent, options, own_finite,
       sequence = calls_ + 1]() -> Status {
        if (sent.data_ptr() != own.data_ptr()) {
          own.copy_(sent);
        }
        if (options.check_finite && !AllFinite(buffer)) {
          return NameNotFinite(sequence, own_finite);
        }
        return Ok();
      });
}

// All ranks hold the same sum, so all of them come here or none does.
Status Gloo::NameNotFinite(std::uint64_t sequence, bool own_finite) {
  auto key = [&](int of) {
    return "finite/" + std::to_string(sequence) + "/" + std::to_string(of);
  };
  store_->set(key(rank()), std::vector<std::uint8_t>{own_finite});
  const std::string where = " in all-reduce " + std::to_string(sequence);
  for (int other = 0; other < size(); ++other) {
    if (store_->get(key(other)) == std::vector<std::uint8_t>{0}) {
      std::string who = "rank " + std::to_string(other);
      std::string what = who + " is the first with a NaN or infinite input";
      return Error(Cause::kNumericsNan, what + where)
          .With({.name = "collective.not_finite",
                 .fields = {{"rank", std::int64_t{other}}},
                 .subject = who});
    }
  }
  return Error(Cause::kNumericsNan,
               "the sum over " + Count(size(), "rank") + " overflowed" + where);
}

Result<std::unique_ptr<Work>> Gloo::StartBroadcast(Buffer buffer, int root) {
  if (root < 0 || root >= size()) {
    return Error(Cause::kUsageInvalid,
                 "rank " + std::to_string(root) +
                     " cannot be the root in a group of " +
                     std::to_string(size()));
  }
  if (buffer.count == 0 && !failed_) {
    return std::unique_ptr<Work>(std::make_unique<Nothing>());
  }
  return Start("broadcast of " + std::to_string(buffer.count) + " " +
                   std::string(ToString(buffer.dtype)) + " from rank " +
                   std::to_string(root),
               [&] {
                 std::vector<torch::Tensor> tensors{BytesOver(buffer)};
                 c10d::BroadcastOptions settings;
                 settings.rootRank = root;
                 return group_->broadcast(tensors, settings);
               });
}

Result<std::unique_ptr<Work>> Gloo::StartAllGather(Buffer input,
                                                   Buffer output) {
  if (output.dtype != input.dtype ||
      output.count != input.count * static_cast<std::size_t>(size())) {
    return Error(Cause::kCollectiveShapeMismatch,
                 "an all-gather of " + std::to_string(input.count) + " " +
                     std::string(ToString(input.dtype)) + " over " +
                     Count(size(), "rank") + " does not fit into " +
                     std::to_string(output.count) + " " +
                     std::string(ToString(output.dtype)));
  }
  if (input.count == 0 && !failed_) {
    return std::unique_ptr<Work>(std::make_unique<Nothing>());
  }
  return Start("all-gather of " + std::to_string(input.count) + " " +
                   std::string(ToString(input.dtype)),
               [&] {
                 std::vector<torch::Tensor> inputs{BytesOver(input)};
                 std::vector<std::vector<torch::Tensor>> outputs{
                     BytesOver(output).chunk(size())};
                 return group_->allgather(outputs, inputs);
               });
}

Result<std::unique_ptr<Work>> Gloo::StartBarrier() {
  // c10d's own barrier also waits for works of this rank in flight.
  auto token = torch::zeros({1}, torch::kUInt8);
  return Start("barrier", [&] {
    std::vector<torch::Tensor> tensors{token};
    return group_->allreduce(tensors);
  });
}

}  // namespace

Result<std::unique_ptr<Collective>> MakeGlooOver(
    c10::intrusive_ptr<c10d::Store> store, const GlooOptions& options,
    Deadline deadline) {
  if (options.size == 1) {
    return MakeAlone();
  }
  auto group = std::make_unique<Gloo>(std::move(store), options);
  MUSTER_TRY(group->Connect(deadline));
  return std::unique_ptr<Collective>(std::move(group));
}

Result<std::unique_ptr<Collective>> MakeGloo(Session& session,
                                             const std::string& host,
                                             Deadline deadline) {
  GlooOptions options{.rank = session.rank(),
                      .size = session.world_size(),
                      .host = host,
                      .progress_page = &session.progress_page()};
  return MakeGlooOver(
      c10::make_intrusive<SessionStore>(session, Milliseconds(deadline)),
      options, deadline);
}

}  // namespace muster
