// SPDX-License-Identifier: Apache-2.0
// Whether the ranks of a host use its accelerators: nobody says so when they do
// not, and the program runs on the CPU.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "finding/finding.h"
#include "muster/deadline.h"
#include "sys/host.h"
#include "sys/time/loop.h"
#include "wire/agent_messages.h"

namespace muster::monitor {

// The accelerators of a host, looked at before ranks start.
struct HostAccelerators {
  std::string text;      // "4 x TPU v4"; empty: there are none
  std::string platform;  // "tpu" or "cuda"
  std::string missing;   // what is not installed for them; empty: nothing known
  Duration wait{};       // how long ranks may take to open one
  // Whether a process of the ranks has one open now. Empty: nobody looks.
  std::function<bool()> opened;
};

// Subject: the host. Fields: attempt, accelerators, waited, missing; variable
// where one hides them.
inline constexpr std::string_view kAcceleratorsUnused = "accelerators.unused";

// A variable of a rank that hides the accelerators from it, as "NAME=VALUE";
// empty: none does.
std::string HiddenBy(std::string_view platform,
                     const std::map<std::string, std::string>& environment);

// Looks until a rank has opened one or the wait is over, and then tells the
// fact kAcceleratorsUnused at most once. The loop's thread only.
class AcceleratorUse {
 public:
  // The references outlive it.
  AcceleratorUse(sys::Loop& loop, const sys::Clock& clock,
                 const HostAccelerators& accelerators,
                 std::function<void(Fact)> tell)
      : loop_(loop),
        clock_(clock),
        accelerators_(accelerators),
        tell_(std::move(tell)) {}

  // `environment`: of the first rank.
  void Begin(const std::map<std::string, std::string>& environment,
             const std::string& host, int attempt);
  void End() { looking_.Cancel(); }

 private:
  void Look();

  sys::Loop& loop_;
  const sys::Clock& clock_;
  const HostAccelerators& accelerators_;
  std::function<void(Fact)> tell_;
  Fact fact_;
  sys::Clock::Steady until_{};
  sys::Loop::Handle looking_;
};

// The warning that the fact is.
Finding UnusedFinding(const Fact& fact);

}  // namespace muster::monitor
