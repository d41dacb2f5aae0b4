// SPDX-License-Identifier: Apache-2.0
#include "base/signal_name.h"

#include <algorithm>
#include <csignal>
#include <iterator>

#include "base/text.h"

namespace muster {
namespace {

struct Named {
  int number;
  std::string_view name;
};

constexpr Named kSignals[] = {
    {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},
    {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},
    {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"},
    {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
    {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},
    {SIGSTOP, "SIGSTOP"}, {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"},
    {SIGSYS, "SIGSYS"},
};

}  // namespace

std::string SignalName(int signal) {
  const auto* const found = std::find_if(
      std::begin(kSignals), std::end(kSignals),
      [signal](const Named& named) { return named.number == signal; });
  return found == std::end(kSignals) ? "signal " + std::to_string(signal)
                                     : std::string(found->name);
}

std::optional<int> SignalNumber(std::string_view name) {
  const std::string upper = Upper(name);
  const std::string full = upper.starts_with("SIG") ? upper : "SIG" + upper;
  const auto* const found =
      std::find_if(std::begin(kSignals), std::end(kSignals),
                   [&](const Named& named) { return named.name == full; });
  return found == std::end(kSignals) ? std::nullopt
                                     : std::optional(found->number);
}

}  // namespace muster
