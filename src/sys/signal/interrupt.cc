// SPDX-License-Identifier: Apache-2.0
#include "sys/signal/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <optional>
#include <utility>

#include "sys/file/fd.h"
#include "sys/net/stream.h"
#include "sys/signal/caught_signals.h"

namespace muster::sys {
namespace {

constexpr std::array kEnding{SIGINT, SIGTERM, SIGHUP};

// What the handler writes, and where it tells. It can know nothing else.
std::atomic<int> g_told{-1};
std::atomic<const char*> g_said{nullptr};
std::atomic<std::size_t> g_length{0};

void OnInterrupt(int) {
  const int kept = errno;
  [[maybe_unused]] auto said = write(2, g_said, g_length);
  [[maybe_unused]] auto told = write(g_told, "", 1);
  errno = kept;
}

}  // namespace

struct Interrupt::Inner {
  PipeEnds pipe;
  std::optional<CaughtSignals> signals;
};

Interrupt::Interrupt(std::unique_ptr<Inner> inner) : inner_(std::move(inner)) {}

Result<std::unique_ptr<Interrupt>> Interrupt::Make(std::string_view said) {
  MUSTER_CHECK(g_told == -1);
  auto inner = std::make_unique<Inner>();
  MUSTER_ASSIGN(inner->pipe, MakePipe());
  fcntl(inner->pipe.write.get(), F_SETFL, O_NONBLOCK);
  g_said = said.data();
  g_length = said.size();
  g_told = inner->pipe.write.get();
  inner->signals.emplace(kEnding, OnInterrupt,
                         static_cast<int>(SA_RESTART | SA_RESETHAND));
  return std::unique_ptr<Interrupt>(new Interrupt(std::move(inner)));
}

Interrupt::~Interrupt() {
  inner_->signals.reset();
  g_told = -1;
}

bool Interrupt::Came() const {
  return !Pause(Duration::zero());
}

bool Interrupt::Pause(Duration duration) const {
  const auto deadline = Deadline::After(duration);
  while (true) {
    pollfd told{inner_->pipe.read.get(), POLLIN, 0};
    if (poll(&told, 1, deadline.PollTimeout()) > 0) {
      return false;
    }
    if (deadline.Expired()) {
      return true;
    }
  }
}

}  // namespace muster::sys
