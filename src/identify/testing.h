// SPDX-License-Identifier: Apache-2.0
// A server on loopback that does with every connection what a test says.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "sys/net/net.h"
#include "sys/net/tcp.h"

namespace muster::identify::testing {

class ForeignHost {
 public:
  // `serve` is called for each connection, one at a time, and may keep the
  // descriptor open in `kept`; it ends when `ending` is set.
  using Serve = std::function<void(sys::Fd fd, ForeignHost& host)>;
  explicit ForeignHost(Serve serve)
      : listening_(std::move(*sys::Listen({"127.0.0.1", 0}))),
        serve_(std::move(serve)),
        thread_([this] { Run(); }) {}
  ForeignHost(const ForeignHost&) = delete;
  ForeignHost& operator=(const ForeignHost&) = delete;
  ~ForeignHost() {
    ending = true;
    thread_.join();
  }

  const Address& address() const { return listening_.address; }

  std::atomic<bool> ending{false};
  std::atomic<int> connections{0};
  std::vector<sys::Fd> kept;

 private:
  void Run() {
    while (!ending) {
      if (auto accepted = sys::AcceptNow(listening_.fd.get())) {
        ++connections;
        serve_(std::move(accepted->fd), *this);
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    }
  }

  sys::Listening listening_;
  Serve serve_;
  std::thread thread_;
};

// Answers each connection with the same bytes and keeps it open.
inline ForeignHost::Serve Answer(std::string bytes, bool after_a_word = false) {
  return
      [bytes = std::move(bytes), after_a_word](sys::Fd fd, ForeignHost& host) {
        std::string word;
        const auto deadline = Deadline::After(std::chrono::seconds(2));
        if (after_a_word &&
            !sys::ReceiveSome(fd.get(), word, nullptr, deadline).has_value()) {
          return;
        }
        (void)sys::SendAll(fd.get(), bytes, {}, deadline).has_value();
        host.kept.push_back(std::move(fd));
      };
}

}  // namespace muster::identify::testing
