// SPDX-License-Identifier: Apache-2.0
#include "sys/time/loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "sys/file/fd.h"
#include "sys/file/fs.h"

namespace muster::sys {
namespace {

using Steady = std::chrono::steady_clock::time_point;

constexpr std::uint64_t kWakeId = 0;  // of the eventfd, among watches

}  // namespace

// A timer or a watch: what a Handle and the Loop both know of it.
struct Loop::Handle::State {
  Loop::Inner* loop = nullptr;  // null: over, or the loop is gone
  std::function<void()> call;
  bool running = false;
  // Of a watch.
  std::uint64_t watch = 0;
  bool writes = false;
  // Of a timer.
  bool timer = false;
  std::pair<Steady, std::uint64_t> due;
  Duration period{};  // 0: once
};

struct Loop::Inner {
  using State = Handle::State;

  // One per descriptor, since epoll takes each only once.
  struct Watch {
    int fd = -1;
    bool pollable = true;  // epoll takes it; a regular file is always ready
    std::shared_ptr<State> reader;
    std::shared_ptr<State> writer;
  };

  Fd epoll;
  Fd wake;
  std::atomic<std::thread::id> owner{};
  std::atomic<bool> quit{false};
  Mutex mutex;
  std::vector<std::function<void()>> posted MUSTER_GUARDED_BY(mutex);
  std::map<std::uint64_t, Watch> watches;
  std::map<int, std::uint64_t> watch_of;  // by descriptor
  std::map<std::pair<Steady, std::uint64_t>, std::shared_ptr<State>> timers;
  std::uint64_t next_id = kWakeId + 1;
  std::size_t always_ready = 0;  // watches that are not pollable

  ~Inner();
  std::shared_ptr<State> AddWatch(int fd, std::function<void()> ready,
                                  bool writes);
  std::shared_ptr<State> AddTimer(Duration delay, std::function<void()> task,
                                  Duration period);
  void Subscribe(std::uint64_t id, Watch& watch, int operation);
  void Remove(State& state);
  void RemoveWatch(State& state);
  void Wake() const;
  int Timeout();
  void WaitAndDispatch();
  void RunTimers();
  void RunWatch(std::uint64_t id, bool readable, bool writable);
  void RunAlwaysReady();
  void RunPosted();
  static void Call(std::shared_ptr<State> state);
};

Loop::Inner::~Inner() {
  for (auto& [id, watch] : watches) {
    for (const auto& state : {watch.reader, watch.writer}) {
      if (state) {
        state->loop = nullptr;
      }
    }
  }
  for (auto& [due, state] : timers) {
    state->loop = nullptr;
  }
}

std::shared_ptr<Loop::Handle::State> Loop::Inner::AddWatch(
    int fd, std::function<void()> ready, bool writes) {
  auto state = std::make_shared<State>();
  state->loop = this;
  state->call = std::move(ready);
  state->writes = writes;
  const auto [known, fresh] = watch_of.try_emplace(fd, next_id);
  next_id += fresh ? 1 : 0;
  state->watch = known->second;
  Watch& watch = watches[known->second];
  watch.fd = fd;
  auto& slot = writes ? watch.writer : watch.reader;
  MUSTER_CHECK(!slot);  // one reader and one writer per descriptor
  slot = state;
  Subscribe(known->second, watch, fresh ? EPOLL_CTL_ADD : EPOLL_CTL_MOD);
  return state;
}

void Loop::Inner::Subscribe(std::uint64_t id, Watch& watch, int operation) {
  if (!watch.pollable) {
    return;
  }
  epoll_event event{};
  event.events = (watch.reader ? EPOLLIN : EPOLL_EVENTS{}) |
                 (watch.writer ? EPOLLOUT : EPOLL_EVENTS{});
  event.data.u64 = id;
  if (epoll_ctl(epoll.get(), operation, watch.fd, &event) != 0) {
    const int why = errno;
    MUSTER_CHECK(why == EPERM);  // a regular file
    watch.pollable = false;
    ++always_ready;
  }
}

std::shared_ptr<Loop::Handle::State> Loop::Inner::AddTimer(
    Duration delay, std::function<void()> task, Duration period) {
  auto state = std::make_shared<State>();
  state->loop = this;
  state->call = std::move(task);
  state->timer = true;
  state->period = period;
  state->due = {std::chrono::steady_clock::now() + delay, next_id++};
  timers.emplace(state->due, state);
  return state;
}

void Loop::Inner::Remove(State& state) {
  if (state.timer) {
    timers.erase(state.due);
  } else {
    RemoveWatch(state);
  }
}

void Loop::Inner::RemoveWatch(State& state) {
  auto found = watches.find(state.watch);
  Watch& watch = found->second;
  (state.writes ? watch.writer : watch.reader).reset();
  if (watch.reader || watch.writer) {
    Subscribe(found->first, watch, EPOLL_CTL_MOD);
    return;
  }
  if (watch.pollable) {
    // Fails only where the descriptor was closed before, which removed it.
    epoll_ctl(epoll.get(), EPOLL_CTL_DEL, watch.fd, nullptr);
  } else {
    --always_ready;
  }
  watch_of.erase(watch.fd);
  watches.erase(found);
}

void Loop::Inner::Wake() const {
  const std::uint64_t one = 1;
  // EAGAIN means that it is awake already.
  [[maybe_unused]] auto written = write(wake.get(), &one, sizeof one);
}

int Loop::Inner::Timeout() {
  {
    MutexLock lock(mutex);
    if (!posted.empty() || always_ready > 0 || quit) {
      return 0;
    }
  }
  return timers.empty()
             ? -1
             : Deadline::At(timers.begin()->first.first).PollTimeout();
}

void Loop::Inner::WaitAndDispatch() {
  std::array<epoll_event, 64> events;
  const int count =
      epoll_wait(epoll.get(), events.data(), events.size(), Timeout());
  MUSTER_CHECK(count >= 0 || errno == EINTR);
  RunTimers();
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.u64 == kWakeId) {
      std::uint64_t times = 0;
      [[maybe_unused]] auto got = read(wake.get(), &times, sizeof times);
      continue;
    }
    // An error or a hang-up is told to whoever watches, who will meet it.
    const bool over = (event.events & (EPOLLERR | EPOLLHUP)) != 0;
    RunWatch(event.data.u64, over || (event.events & EPOLLIN) != 0,
             over || (event.events & EPOLLOUT) != 0);
  }
  RunAlwaysReady();
  RunPosted();
}

// Only those that are due now: one that is armed again by its own task has to
// wait for the next round, or sockets would starve.
void Loop::Inner::RunTimers() {
  const auto now = std::chrono::steady_clock::now();
  const auto last = next_id;
  while (!timers.empty() && timers.begin()->first.first <= now &&
         timers.begin()->first.second < last) {
    auto state = timers.begin()->second;
    timers.erase(timers.begin());
    if (state->period > Duration::zero()) {
      // After a pause of the process: one call, no burst.
      state->due = {std::max(state->due.first + state->period, now), next_id++};
      timers.emplace(state->due, state);
    } else {
      state->loop = nullptr;
    }
    Call(state);
  }
}

void Loop::Inner::RunWatch(std::uint64_t id, bool readable, bool writable) {
  // Looked up anew: the reader's callback may cancel the writer.
  if (auto found = watches.find(id);
      readable && found != watches.end() && found->second.reader) {
    Call(found->second.reader);
  }
  if (auto found = watches.find(id);
      writable && found != watches.end() && found->second.writer) {
    Call(found->second.writer);
  }
}

void Loop::Inner::RunAlwaysReady() {
  if (always_ready == 0) {
    return;
  }
  std::vector<std::uint64_t> ids;
  for (const auto& [id, watch] : watches) {
    if (!watch.pollable) {
      ids.push_back(id);
    }
  }
  for (const auto id : ids) {
    RunWatch(id, true, true);
  }
}

void Loop::Inner::RunPosted() {
  std::vector<std::function<void()>> tasks;
  {
    MutexLock lock(mutex);
    tasks.swap(posted);
  }
  for (auto& task : tasks) {
    task();
    task = nullptr;  // what it holds may go before the next one runs
  }
}

// By value: the callback may cancel itself and with that its own entry.
// NOLINTNEXTLINE(performance-unnecessary-value-param): the copy keeps it.
void Loop::Inner::Call(std::shared_ptr<State> state) {
  state->running = true;
  state->call();
  state->running = false;
  if (state->loop == nullptr) {
    state->call = nullptr;
  }
}

Loop::Handle::Handle(Handle&& other) noexcept = default;

Loop::Handle& Loop::Handle::operator=(Handle&& other) noexcept {
  if (this != &other) {
    Cancel();
    state_ = std::move(other.state_);
  }
  return *this;
}

Loop::Handle::~Handle() {
  Cancel();
}

void Loop::Handle::Cancel() {
  // Moved out first: what the callback holds may own this very handle.
  auto state = std::move(state_);
  if (!state || state->loop == nullptr) {
    return;
  }
  state->loop->Remove(*state);
  state->loop = nullptr;
  if (!state->running) {
    auto call = std::move(state->call);
    state->call = nullptr;
  }
}

bool Loop::Handle::active() const {
  return state_ != nullptr && state_->loop != nullptr;
}

Loop::Loop(std::unique_ptr<Inner> inner) : inner_(std::move(inner)) {}
Loop::~Loop() = default;

Result<std::unique_ptr<Loop>> Loop::Make() {
  auto inner = std::make_unique<Inner>();
  inner->epoll = Fd(epoll_create1(EPOLL_CLOEXEC));
  if (!inner->epoll) {
    const int why = errno;
    return FromErrno("epoll_create1", "event loop", why);
  }
  inner->wake = Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kWakeId;
  if (!inner->wake || epoll_ctl(inner->epoll.get(), EPOLL_CTL_ADD,
                                inner->wake.get(), &event) != 0) {
    const int why = errno;
    return FromErrno("eventfd", "event loop", why);
  }
  return std::unique_ptr<Loop>(new Loop(std::move(inner)));
}

void Loop::Run() {
  inner_->owner = std::this_thread::get_id();
  while (!inner_->quit) {
    inner_->WaitAndDispatch();
  }
  inner_->quit = false;
  inner_->owner = std::thread::id();
}

void Loop::Quit() {
  inner_->quit = true;
  inner_->Wake();
}

void Loop::Post(std::function<void()> task) {
  bool first = false;
  {
    MutexLock lock(inner_->mutex);
    first = inner_->posted.empty();
    inner_->posted.push_back(std::move(task));
  }
  if (first) {
    inner_->Wake();
  }
}

bool Loop::InLoop() const {
  return inner_->owner == std::this_thread::get_id();
}

Loop::Handle Loop::OnReadable(int fd, std::function<void()> ready) {
  Handle handle;
  handle.state_ = inner_->AddWatch(fd, std::move(ready), false);
  return handle;
}

Loop::Handle Loop::OnWritable(int fd, std::function<void()> ready) {
  Handle handle;
  handle.state_ = inner_->AddWatch(fd, std::move(ready), true);
  return handle;
}

Loop::Handle Loop::After(Duration delay, std::function<void()> task) {
  Handle handle;
  handle.state_ = inner_->AddTimer(delay, std::move(task), Duration::zero());
  return handle;
}

Loop::Handle Loop::Every(Duration period, std::function<void()> task) {
  MUSTER_CHECK(period > Duration::zero());
  Handle handle;
  handle.state_ = inner_->AddTimer(period, std::move(task), period);
  return handle;
}

}  // namespace muster::sys
