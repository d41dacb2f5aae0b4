// SPDX-License-Identifier: Apache-2.0
// Where bytes go that were unpacked: one stage of a chain.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "finding/finding.h"
#include "muster/fact.h"
#include "sys/time/clock.h"

namespace muster::diagnose {

class LogScanner;
class RankPattern;

// One stage; the bytes of one stream, in pieces of any size, then End. One
// thread.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void Feed(std::string_view bytes) = 0;
  virtual void End() = 0;
};

// How much may come out of what is packed, all streams together: a small
// archive can hold more than anybody wants to wait for.
struct Budget {
  std::uint64_t left = std::uint64_t{16} << 30;
  std::uint64_t members = 20'000;  // of archives; of folders as many are read
  // And how much of a processor it may take, with the reading of what comes
  // out: 16 GiB take minutes. Without a clock there is no such bound.
  const sys::Clock* clock = nullptr;
  Duration cpu = std::chrono::minutes(1);
  Duration cpu_used{};                  // before cpu_since
  std::optional<Duration> cpu_since{};  // of what is being unpacked now
};

// What a chain ends in and what it may not exceed.
struct Unpacking {
  LogScanner* scanner = nullptr;
  const RankPattern* rank_from = nullptr;  // for names and lines; null: none
  int depth = 0;                           // archives around this stream
  // Set for files that nobody named one by one: what is no text is skipped.
  bool only_text = false;
  std::vector<std::string>* notes = nullptr;    // what was not read, and why
  std::vector<std::string>* skipped = nullptr;  // what is no log, and why
  Budget* budget = nullptr;                     // null: no bound
  std::vector<Finding>* reported = nullptr;     // of reports of runs
  std::vector<Fact>* ends = nullptr;            // how these runs ended
  std::uint64_t* read = nullptr;  // grows with text and reports that were read
};

// Keeps the note, up to a number of them.
void Note(const Unpacking& unpacking, std::string note);
// The same of what nobody would want to read.
void Skip(const Unpacking& unpacking, std::string note);
// Says that so many bytes of a text or report were read.
void CountRead(const Unpacking& unpacking, std::size_t bytes);

// False, with a note, when the budget does not allow so many bytes more, or its
// CPU time is used up.
bool Spend(const Unpacking& unpacking, const std::string& name,
           std::size_t bytes);

// The same of one member more of an archive.
bool SpendMember(const Unpacking& unpacking, const std::string& name);

// Looks at the first bytes and passes the stream to what can read it: gzip,
// zstd, tar, zip, a Kaggle log, a notebook, the report of a run, UTF-16 (also
// without a mark), or text. What else a run has written of itself repeats its
// logs and is left out; what is no text is not read, and a note says what it
// is.
std::unique_ptr<ByteSink> MakeUnpacker(std::string name,
                                       const Unpacking& unpacking);

// The last stage: lines of text for the scanner.
std::unique_ptr<ByteSink> MakeText(std::string name,
                                   const Unpacking& unpacking);

struct RanksOfName {
  int of_process = -1;  // "rank3.err", "worker-3.log": all lines are its own
  std::string host;     // "node3" of "node3.log": several ranks may write there
};
RanksOfName ReadRanks(std::string_view name, const RankPattern* rank_from);

}  // namespace muster::diagnose
