// SPDX-License-Identifier: Apache-2.0
// How fast logs are read on one core: a log of a healthy run with some trouble
// in it is given to the scanner in pieces, as a file would be.
//
//   explain_bench [MIB]           MiB/s and what was found
//   explain_bench --log MIB >FILE  the log, for other programs
//   explain_bench --patterns >FILE all patterns, one a line: rg -f FILE LOG
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "diagnose/match/log_scanner.h"
#include "diagnose/verdict/answer.h"

namespace muster {
namespace {

constexpr std::size_t kMiB = 1U << 20;

// What training programs print between their first and their last line.
constexpr std::string_view kLines[] = {
    "[rank0]: step %/100000 loss 2.3412 lr 3.0e-04 grad_norm 0.412 eta %\n",
    "2024-05-01 12:33:14,% - trainer - INFO - epoch 3 iter % loss=1.8821\n",
    "{'loss': 1.2%, 'learning_rate': 2e-05, 'epoch': 0.41, 'step': %}\n",
    "I0501 12:33:14.% 4122 checkpointer.cc:81] Saving checkpoint to run-%\n",
    " 45%|####    | 450/1000 [03:1%<03:55,  2.33it/s, loss=0.771, v=%]\r",
    "node1:4122:4190 [0] NCCL INFO Channel 0%/24 : 0[1b000] -> 1[3d000]\n",
    "WARNING:tensorflow:Callback method is slow (batch time: 0.0%s)\n",
};

// One piece of the log; `seed` makes the numbers differ.
std::string Piece(std::size_t bytes, unsigned seed) {
  std::string text;
  text.reserve(bytes + 200);
  while (text.size() < bytes) {
    seed = seed * 1664525U + 1013904223U;
    for (const char c : kLines[(seed >> 16) % std::size(kLines)]) {
      text += c == '%' ? std::to_string(seed >> 20) : std::string(1, c);
    }
  }
  return text;
}

int WriteLog(std::size_t pieces) {
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::string piece = Piece(kMiB, static_cast<unsigned>(i));
    std::fwrite(piece.data(), 1, piece.size(), stdout);
  }
  return 0;
}

int WritePatterns() {
  for (const auto& row : diagnose::CataloguePatterns()) {
    // Names of groups may not repeat in one alternation.
    std::string text(row.text);
    for (std::size_t at = 0; (at = text.find("(?P<", at)) != text.npos;) {
      text.replace(at, text.find('>', at) + 1 - at, "(?:");
    }
    // Bytes, as they are read here: rg --no-unicode takes no others.
    for (const char c : text) {
      std::printf(static_cast<unsigned char>(c) < 0x80 ? "%c" : "\\x%02X",
                  static_cast<unsigned char>(c));
    }
    std::printf("\n");
  }
  return 0;
}

int Measure(std::size_t pieces) {
  // A few pieces over and over: making text is not what is measured.
  std::vector<std::string> some;
  for (unsigned i = 0; i < 16; ++i) {
    some.push_back(Piece(kMiB, i));
  }
  const diagnose::Matcher matcher;
  diagnose::LogScanner scanner(matcher);
  scanner.Begin({.name = "bench"});
  std::size_t bytes = 0;
  // Of the processor: what else the machine does is not measured.
  const std::clock_t start = std::clock();
  for (std::size_t i = 0; i < pieces; ++i) {
    scanner.Feed(some[i % some.size()]);
    bytes += some[i % some.size()].size();
  }
  scanner.End();
  const double took =
      static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const auto facts = scanner.TakeFacts();
  const diagnose::Answer answer = diagnose::Explain(facts);
  std::printf("%.0f MiB per second of one core  %zu patterns  %zu facts  %s\n",
              static_cast<double>(bytes) / kMiB / took, matcher.patterns(),
              facts.size(), std::string(ToText(answer.kind)).c_str());
  return 0;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  const auto mib = [&](std::size_t at) {
    return static_cast<std::size_t>(
        at < args.size() ? muster::ParseInt(args[at]).value_or(256) : 256);
  };
  if (!args.empty() && args[0] == "--patterns") {
    return muster::WritePatterns();
  }
  return !args.empty() && args[0] == "--log" ? muster::WriteLog(mib(1))
                                             : muster::Measure(mib(0));
}
