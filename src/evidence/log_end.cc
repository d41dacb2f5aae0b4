// SPDX-License-Identifier: Apache-2.0
#include "evidence/log_end.h"

#include <re2/re2.h>

#include <algorithm>
#include <memory>

#include "evidence/matcher.h"
#include "evidence/prefix.h"

namespace muster::evidence {
namespace {

// All patterns of the catalogue whose fact is wanted, as one.
template <typename Wanted>
std::unique_ptr<RE2> OneOf(Wanted wanted) {
  std::string all;
  for (const PatternRow& row : CataloguePatterns()) {
    if (wanted(row.fact)) {
      all += (all.empty() ? "(?:" : "|(?:") + std::string(row.text) + ")";
    }
  }
  // Groups of the same name in two patterns: names are not needed here.
  RE2::GlobalReplace(&all, R"(\(\?P<\w+>)", "(?:");
  RE2::Options options(RE2::Quiet);
  options.set_encoding(RE2::Options::EncodingLatin1);
  return std::make_unique<RE2>(all, options);
}

struct Kinds {
  std::unique_ptr<RE2> progress =
      OneOf([](std::string_view fact) { return fact == kWentOn; });
  std::unique_ptr<RE2> trouble = OneOf([](std::string_view fact) {
    return fact == "log.trouble" || fact == "python.exception" ||
           fact.starts_with("exit.") || fact.starts_with("cascade.");
  });
  std::unique_ptr<RE2> harmless =
      OneOf([](std::string_view fact) { return fact == "log.harmless"; });
};

bool Is(const RE2& kind, std::string_view line) {
  return RE2::PartialMatch({line.data(), line.size()}, kind);
}

}  // namespace

std::optional<LogEnd> LastProgress(std::string_view tail) {
  static const Kinds kinds;
  LogEnd end;
  while (!tail.empty()) {
    const std::size_t ended = tail.find_last_not_of("\r\n");
    if (ended == std::string_view::npos) {
      break;
    }
    end.lines_after +=
        std::count(tail.begin() + static_cast<long>(ended), tail.end(), '\n');
    tail = tail.substr(0, ended + 1);
    const std::size_t before = tail.find_last_of("\r\n");
    const std::string_view line =
        before == std::string_view::npos ? tail : tail.substr(before + 1);
    tail = tail.substr(0, tail.size() - line.size());
    if (Is(*kinds.harmless, line)) {
      continue;
    }
    if (Is(*kinds.trouble, line)) {
      return std::nullopt;
    }
    // "(stops in epoch 3)": told, and no step of a program.
    if (!IsRemark(line) && Is(*kinds.progress, line)) {
      end.text = line;
      return end;
    }
  }
  return std::nullopt;
}

}  // namespace muster::evidence
