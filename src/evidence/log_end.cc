// SPDX-License-Identifier: Apache-2.0
#include "evidence/log_end.h"

#include <re2/re2.h>

#include <algorithm>
#include <memory>
#include <vector>

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
  std::unique_ptr<RE2> ignored =
      OneOf([](std::string_view fact) { return fact == "python.ignored"; });
  std::unique_ptr<RE2> raised =
      OneOf([](std::string_view fact) { return fact == "python.exception"; });
  std::unique_ptr<RE2> harmless =
      OneOf([](std::string_view fact) { return fact == "log.harmless"; });
};

bool Is(const RE2& kind, std::string_view line) {
  return RE2::PartialMatch({line.data(), line.size()}, kind);
}

struct Line {
  std::string_view text;
  std::int64_t number = 0;  // from zero; a bar overwrites its line
  bool ignored = false;     // of an exception that Python goes on after
};

std::vector<Line> LinesOf(std::string_view tail) {
  std::vector<Line> lines;
  std::int64_t number = 0;
  while (!tail.empty()) {
    const std::size_t end = std::min(tail.find_first_of("\r\n"), tail.size());
    if (end > 0) {
      lines.push_back({tail.substr(0, end), number});
    }
    number += end < tail.size() && tail[end] == '\n' ? 1 : 0;
    tail.remove_prefix(std::min(end + 1, tail.size()));
  }
  return lines;
}

// From "Exception ignored in" to the exception that ends its traceback.
void MarkIgnored(const Kinds& kinds, std::vector<Line>& lines) {
  bool ignoring = false;
  for (Line& line : lines) {
    const std::string_view said = WithoutRank(line.text);
    if (Is(*kinds.ignored, said)) {
      ignoring = true;
      line.ignored = true;
      continue;
    }
    const bool raised = Is(*kinds.raised, said);
    line.ignored = ignoring && (raised || said.starts_with("Traceback (") ||
                                said.starts_with(' '));
    ignoring = line.ignored && !raised;
  }
}

}  // namespace

std::optional<LogEnd> LastProgress(std::string_view tail) {
  static const Kinds kinds;
  const std::int64_t ends = std::count(tail.begin(), tail.end(), '\n');
  std::vector<Line> lines = LinesOf(tail);
  MarkIgnored(kinds, lines);
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (line->ignored || Is(*kinds.harmless, line->text)) {
      continue;
    }
    if (Is(*kinds.trouble, line->text)) {
      return std::nullopt;
    }
    // What somebody adds to a log is no output of a program at work.
    if (!IsRemark(line->text) && Is(*kinds.progress, line->text)) {
      return LogEnd{
          .lines_after = std::max<std::int64_t>(0, ends - line->number - 1),
          .text = std::string(line->text)};
    }
  }
  return std::nullopt;
}

}  // namespace muster::evidence
