// SPDX-License-Identifier: Apache-2.0
#include "sys/signal/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <optional>
#include <string>

#include "sys/file/fd.h"
#include "sys/net/stream.h"
#include "sys/signal/caught_signals.h"

namespace muster::sys {
namespace {

// Where the handler writes. A handler can know nothing else.
std::atomic<int> g_pipe{-1};

void OnSignal(int signal) {
  const int kept = errno;
  const auto byte = static_cast<unsigned char>(signal);
  // A full pipe holds enough signals that nobody has looked at.
  [[maybe_unused]] auto written = write(g_pipe, &byte, 1);
  errno = kept;
}

}  // namespace

struct SignalWatch::Inner {
  PipeEnds pipe;
  Loop::Handle readable;
  std::function<void(int)> caught;
  std::optional<CaughtSignals> signals;
};

SignalWatch::SignalWatch(std::unique_ptr<Inner> inner)
    : inner_(std::move(inner)) {}

Result<std::unique_ptr<SignalWatch>> SignalWatch::Make(
    Loop& loop, const std::vector<int>& signals,
    std::function<void(int signal)> caught) {
  MUSTER_CHECK(g_pipe == -1);
  auto inner = std::make_unique<Inner>();
  MUSTER_ASSIGN(inner->pipe, MakePipe());
  fcntl(inner->pipe.write.get(), F_SETFL, O_NONBLOCK);
  g_pipe = inner->pipe.write.get();
  inner->caught = std::move(caught);
  inner->readable =
      loop.OnReadable(inner->pipe.read.get(), [watch = inner.get()] {
        std::string bytes;
        // Only a read that gave something changes `bytes`.
        [[maybe_unused]] auto arrived = ReadNow(watch->pipe.read.get(), bytes);
        for (const char byte : bytes) {
          watch->caught(static_cast<unsigned char>(byte));
        }
      });
  inner->signals.emplace(signals, OnSignal, SA_RESTART);
  return std::unique_ptr<SignalWatch>(new SignalWatch(std::move(inner)));
}

SignalWatch::~SignalWatch() {
  inner_->signals.reset();
  g_pipe = -1;
}

}  // namespace muster::sys
