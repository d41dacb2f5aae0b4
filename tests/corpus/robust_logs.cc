// SPDX-License-Identifier: Apache-2.0
// Logs that are none: each ends with a verdict, in bounded time and memory.
//
//   robust_logs        exit 1 and what went wrong
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <random>
#include <string>

#include "diagnose/match/log_scanner.h"
#include "diagnose/verdict/answer.h"

namespace muster {
namespace {

constexpr std::size_t kMiB = 1U << 20;
constexpr long kMostMemoryKiB = 200L << 10;
constexpr auto kMostTime = std::chrono::seconds(60);

using Feed = std::function<void(diagnose::LogScanner&)>;

diagnose::Answer Verdict(const diagnose::Matcher& matcher, const Feed& feed) {
  diagnose::LogScanner scanner(matcher);
  scanner.Begin({.name = "log"});
  feed(scanner);
  scanner.End();
  return diagnose::Explain(scanner.TakeFacts());
}

void RandomBytes(diagnose::LogScanner& scanner) {
  std::mt19937_64 random(7);
  std::string piece(kMiB, '\0');
  for (int i = 0; i < 100; ++i) {
    for (std::size_t at = 0; at + 8 <= piece.size(); at += 8) {
      const std::uint64_t value = random();
      piece.replace(at, 8, reinterpret_cast<const char*>(&value), 8);
    }
    scanner.Feed(piece);
  }
}

void OneLine(diagnose::LogScanner& scanner) {
  const std::string piece(kMiB, 'x');
  for (int i = 0; i < 256; ++i) {
    scanner.Feed(piece);
  }
  scanner.Feed(" OSError: [Errno 28] No space left on device");
}

void Escapes(diagnose::LogScanner& scanner) {
  scanner.Feed(
      "\033[2J\033]0;title\007\033[31;1mOSError: [Errno 28] No "
      "space\033[0m left on device\n\033[");
}

// Another run's failure, told in the log of one that went well.
void Quoted(diagnose::LogScanner& scanner) {
  scanner.Feed(
      "notes of the last attempt:\n"
      "> Traceback (most recent call last):\n"
      "> RuntimeError: CUDA out of memory. Tried to allocate 2 GiB\n"
      "> OSError: [Errno 28] "
      "No space left on device\n"
      "step 1 loss 2.31\nstep 2 loss 2.28\nstep 3 loss 2.25\n"
      "training done\n");
}

struct Case {
  const char* name;
  Feed feed;
  bool failed;  // whether a cause has to be named
};

bool Holds(const diagnose::Matcher& matcher, const Case& one) {
  const auto start = std::chrono::steady_clock::now();
  const diagnose::Answer answer = Verdict(matcher, one.feed);
  const auto took = std::chrono::steady_clock::now() - start;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const bool holds =
      (answer.kind == diagnose::AnswerKind::kCause) == one.failed &&
      took < kMostTime && used.ru_maxrss < kMostMemoryKiB;
  std::printf(
      "%s: %s, %lld ms, %ld MiB at most%s\n", one.name,
      std::string(ToText(answer.kind)).c_str(),
      static_cast<long long>(
          std::chrono::duration_cast<std::chrono::milliseconds>(took).count()),
      used.ru_maxrss >> 10, holds ? "" : "  NOT AS EXPECTED");
  return holds;
}

int Run() {
  const diagnose::Matcher matcher;
  const Case cases[] = {
      {"random bytes", RandomBytes, false},
      {"one line of 256 MiB", OneLine, true},
      {"escapes of a terminal", Escapes, true},
      {"a log that quotes another", Quoted, false},
  };
  bool all = true;
  for (const Case& one : cases) {
    all = Holds(matcher, one) && all;
  }
  return all ? 0 : 1;
}

}  // namespace
}  // namespace muster

int main() {
  return muster::Run();
}
