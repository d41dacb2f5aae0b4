// SPDX-License-Identifier: Apache-2.0
// The output of the ranks of one attempt, as one stream of lines.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/line_splitter.h"
#include "muster/error.h"
#include "muster/fact.h"
#include "sys/file/byte_source.h"

namespace muster::cli {

// Equal lines of several ranks are one.
struct RankLine {
  std::set<int> ranks;
  std::string text;  // as the ranks wrote it
};

// "0-3,7": the ranks of a flag. usage-invalid: it is no such list.
Result<std::set<int>> ParseRanks(const std::string& text);
// "0-3,7".
std::string RanksShort(const std::set<int>& ranks);

// Joins equal lines of several ranks that stand near each other. The lines of
// one rank keep their order.
class LineFolder {
 public:
  static constexpr std::size_t kMaxHeld = 32;  // lines that one waits for

  explicit LineFolder(std::function<void(const RankLine&)> on_line)
      : on_line_(std::move(on_line)) {}
  void Add(int rank, std::string text);
  void Flush();

 private:
  std::function<void(const RankLine&)> on_line_;
  std::deque<RankLine> held_;
};

// Merges the files of an attempt: rank0.out, rank0.err, rank1.out … A line is
// placed by the time that it begins with, or else behind the line before it in
// its file. Files without times are merged line by line. Holds a line of each
// file. One thread at a time.
class RankLogs {
 public:
  // Which files, and what is done with a line.
  struct Options {
    std::string folder;    // logs/a1
    std::set<int> ranks;   // empty: all
    bool growing = false;  // a line without an end is waited for
    std::function<void(int rank, std::string_view line)> on_line;
  };
  explicit RankLogs(Options options);
  ~RankLogs();

  // Opens what is there and not open yet, and hands over all lines that are
  // there; how many they were.
  Result<std::size_t> Read();
  // The files grow no more: the next Read hands over lines without an end.
  void Finish() { options_.growing = false; }
  bool empty() const { return files_.empty(); }

 private:
  class File;
  Status OpenNew();

  Options options_;
  std::set<std::string> known_;
  std::vector<std::unique_ptr<File>> files_;
};

}  // namespace muster::cli
