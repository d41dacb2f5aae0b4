// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/rank_logs.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/text.h"
#include "diagnose/match/prefix.h"

namespace muster::cli {
namespace {

constexpr int kMaxRank = 1'000'000;
constexpr std::size_t kMaxFiles = 100'000;

struct LogName {
  int rank = -1;
  bool is_err = false;
};

// "…/rank12.err".
std::optional<LogName> NameOfLog(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const auto dot = name.rfind('.');
  const std::string digits =
      name.starts_with("rank") && dot != std::string::npos
          ? name.substr(4, dot - 4)
          : "";
  const std::string ending =
      dot == std::string::npos ? "" : name.substr(dot + 1);
  const auto rank = IsDigits(digits) ? ParseInt(digits) : std::nullopt;
  if (!rank || *rank > kMaxRank || (ending != "out" && ending != "err")) {
    return std::nullopt;
  }
  return LogName{static_cast<int>(*rank), ending == "err"};
}

}  // namespace

Result<std::set<int>> ParseRanks(const std::string& text) {
  std::set<int> ranks;
  for (const std::string& part : Split(text, ',')) {
    const auto dash = part.find('-');
    const auto first = ParseInt(part.substr(0, dash));
    const auto last =
        dash == std::string::npos ? first : ParseInt(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last > kMaxRank) {
      ranks.clear();
      break;
    }
    for (auto rank = *first; rank <= *last; ++rank) {
      ranks.insert(static_cast<int>(rank));
    }
  }
  if (ranks.empty()) {
    return Error(Cause::kUsageInvalid, "flag --rank is `" + Printable(text) +
                                           "`, expected ranks such as 0, 0-3 "
                                           "or 0,4-7");
  }
  return ranks;
}

std::string RanksShort(const std::set<int>& ranks) {
  std::string text;
  for (auto rank = ranks.begin(); rank != ranks.end();) {
    const int first = *rank;
    int last = first;
    while (++rank != ranks.end() && *rank == last + 1) {
      last = *rank;
    }
    text += (text.empty() ? "" : ",") + std::to_string(first) +
            (last == first ? "" : "-" + std::to_string(last));
  }
  return text;
}

void LineFolder::Add(int rank, std::string text) {
  // It may join a line behind the last one of its rank.
  for (auto held = held_.rbegin(); held != held_.rend(); ++held) {
    if (held->ranks.contains(rank)) {
      break;
    }
    if (held->text == text) {
      held->ranks.insert(rank);
      return;
    }
  }
  held_.push_back({{rank}, std::move(text)});
  if (held_.size() > kMaxHeld) {
    on_line_(held_.front());
    held_.pop_front();
  }
}

void LineFolder::Flush() {
  for (const RankLine& line : held_) {
    on_line_(line);
  }
  held_.clear();
}

// One of the files, of which a few lines are held.
class RankLogs::File {
 public:
  File(sys::ByteSource source, LogName name)
      : source_(std::move(source)), name_(name) {}

  // Whether there is a line; reads on until there is.
  Result<bool> Fill(bool growing) {
    constexpr std::size_t kChunk = 64U << 10;
    while (lines_.empty()) {
      std::string bytes(kChunk, '\0');
      MUSTER_ASSIGN(const std::size_t got, source_.Read(bytes));
      if (got == 0) {
        if (growing) {
          return false;
        }
        splitter_.Finish();
        return !lines_.empty();
      }
      splitter_.Feed(std::string_view(bytes).substr(0, got), {});
    }
    return true;
  }

  // What is first has the smallest.
  auto Key() const {
    return std::tuple(lines_.front().at, lines_.front().place, name_.is_err,
                      name_.rank);
  }
  int rank() const { return name_.rank; }
  std::string Take() {
    std::string text = std::move(lines_.front().text);
    lines_.pop_front();
    return text;
  }

 private:
  struct Line {
    WallTime at;
    std::uint64_t place;
    std::string text;
  };

  void Add(std::string_view text) {
    if (const auto at = diagnose::ReadPrefix(text).at; at && *at >= at_) {
      at_ = *at;
      place_ = 0;
    }
    lines_.push_back({at_, place_++, std::string(text)});
  }

  sys::ByteSource source_;
  LogName name_;
  WallTime at_{};
  std::uint64_t place_ = 0;
  std::deque<Line> lines_;
  LineSplitter splitter_{[this](std::string_view line) { Add(line); }};
};

RankLogs::RankLogs(Options options) : options_(std::move(options)) {}
RankLogs::~RankLogs() = default;

Status RankLogs::OpenNew() {
  for (const std::string& path :
       sys::FilesBelow(options_.folder, kMaxFiles).paths) {
    const auto name = NameOfLog(path);
    if (!name || !known_.insert(path).second ||
        (!options_.ranks.empty() && !options_.ranks.contains(name->rank))) {
      continue;
    }
    MUSTER_ASSIGN(auto source,
                  sys::ByteSource::OpenBelow(options_.folder, path));
    files_.push_back(std::make_unique<File>(std::move(source), *name));
  }
  return Ok();
}

Result<std::size_t> RankLogs::Read() {
  MUSTER_TRY(OpenNew());
  std::vector<File*> ready;
  const auto later = [](const File* a, const File* b) {
    return a->Key() > b->Key();
  };
  for (const auto& file : files_) {
    MUSTER_ASSIGN(const bool has_line, file->Fill(options_.growing));
    if (has_line) {
      ready.push_back(file.get());
    }
  }
  std::make_heap(ready.begin(), ready.end(), later);
  std::size_t count = 0;
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), later);
    File* first = ready.back();
    const std::string line = first->Take();
    options_.on_line(first->rank(), line);
    ++count;
    MUSTER_ASSIGN(const bool has_line, first->Fill(options_.growing));
    if (has_line) {
      std::push_heap(ready.begin(), ready.end(), later);
    } else {
      ready.pop_back();
    }
  }
  return count;
}

}  // namespace muster::cli
