// SPDX-License-Identifier: Apache-2.0
#include "sys/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <map>
#include <string>

#include "sys/fd.h"
#include "sys/stream.h"

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
  std::map<int, struct sigaction> before;
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
  for (const int signal : signals) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) {
      continue;
    }
    struct sigaction action {};
    action.sa_handler = OnSignal;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
    inner->before.emplace(signal, before);
  }
  return std::unique_ptr<SignalWatch>(new SignalWatch(std::move(inner)));
}

SignalWatch::~SignalWatch() {
  for (const auto& [signal, before] : inner_->before) {
    sigaction(signal, &before, nullptr);
  }
  g_pipe = -1;
}

}  // namespace muster::sys
