// SPDX-License-Identifier: Apache-2.0
// What an agent that is started over ssh gets on its standard input: in one
// line what it is to do, afterward words of who has started it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/deadline.h"
#include "muster/error.h"
#include "sys/env.h"
#include "sys/time/loop.h"

namespace muster::remote {

// A word is said every kBeat; the agent ends after kSilence without one.
inline constexpr auto kBeat = std::chrono::seconds(2);
inline constexpr auto kSilence = std::chrono::seconds(30);

struct AgentBootstrap {
  std::vector<std::string> args;  // of muster, without the program's name
  std::string token;
};
std::string ToLine(const AgentBootstrap& handed);
// usage-invalid: the line is of somebody else.
Result<AgentBootstrap> ReadBootstrapLine(std::string_view line);
// Reads it from `fd`, after empty lines that say that the starter is there:
// deadline-exceeded after `silence` without a line; peer-died, usage-invalid.
Result<AgentBootstrap> ReadAgentBootstrap(int fd, Duration silence = kSilence);

// How lines begin with which the coordinator's agent prints its report for who
// started it: then pieces of the document follow, and last a line of this
// alone. Only those who know the token can write it.
std::string ReportMark(const std::string& token);
std::string ReportLines(const std::string& mark, const std::string& document);

// At the agent: watches standard input after that line. `act` is called for
// each "stop BY", and with `now` true for "kill BY"; `gone` once, at the end of
// the input or after kSilence without a word. Loop's thread.
class StarterWatch {
 public:
  using Act = std::function<void(const std::string& by, bool now)>;
  using OnGone = std::function<void(const std::string& why)>;
  StarterWatch(sys::Loop& loop, int fd, Act act, OnGone gone,
               Duration silence = kSilence);

 private:
  void Await();
  void Read();
  void Gone(const std::string& why);

  sys::Loop& loop_;
  const int fd_;
  const Act act_;
  const OnGone gone_;
  const Duration silence_;
  std::string buffer_;
  sys::Loop::Handle readable_;
  sys::Loop::Handle late_;
};

}  // namespace muster::remote
