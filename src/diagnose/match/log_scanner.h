// SPDX-License-Identifier: Apache-2.0
// Bytes of logs go in, facts come out: which lines say what, with their place,
// time and rank.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/match/matcher.h"
#include "diagnose/match/prefix.h"
#include "diagnose/match/rank_pattern.h"
#include "muster/fact.h"

namespace muster::diagnose {

// Where bytes come from.
struct Source {
  std::string name;  // "rank1.err", "-"
  int rank = -1;     // of all its lines; -1: each line may tell its own
  std::string host;  // of lines that tell none; it may run several ranks
  const RankPattern* rank_from = nullptr;  // how; null: as launchers print it
};

// The fact of a source's last whole lines, up to 4 KiB: its `text`; `line` is
// the number of the last that is not empty.
inline constexpr std::string_view kEnd = "log.end";

// Reads sources one after another in pieces of any size; the memory that it
// needs does not depend on how much it reads. One thread.
//
// Fields of its facts: text (the line), source, line, order (rises with each
// line read), rank where known, said by the catalog's groups; `times` counts
// further lines that became the same fact and `last_line` is the last of them,
// up to a bound: a pattern that a source has shown often enough is looked for
// no more in it. The end of a source that is not empty is a fact kEnd. What a
// note says has the field `note`; what a process dies of, by all that its line
// shows (the exception of a traceback, "Killed"), the field `fatal`, and
// `uncaught` where that traceback begins at the top of a program.
class LogScanner {
 public:
  explicit LogScanner(const Matcher& matcher) : matcher_(matcher) {}

  void Begin(Source source);
  void Feed(std::string_view bytes);
  void End();

  // What the user says of the run ("it hangs after the first epoch"), as lines
  // of the source "note" behind all logs: they tell no time, rank or level.
  void AddNotes(std::span<const std::string> notes);

  // What was seen; the scanner begins anew. At most a few facts of one name:
  // the first ones in time, else in order.
  std::vector<Fact> TakeFacts();

 private:
  // Of Python, as far as it was read.
  struct Traceback {
    std::string frame;  // file of its last frame
    std::int64_t frame_line = 0;
    bool from_module = false;        // a frame of it is the top of a program
    std::int64_t ignored_until = 0;  // line by which an ignored one ends
    bool fatal = false;  // the line at hand is its end, or that of a process
  };

  // By one pattern in this source; enough of it is enough.
  struct Given {
    int seen = 0;          // lines
    int kept = 0;          // facts, without the first of each rank
    std::size_t last = 0;  // the newest of them
  };

  void Open(Source source, Matcher::Lines lines);
  void Block(std::string_view whole_lines);
  std::vector<Match> Said(std::string_view line,
                          const Matcher::Suspect& suspect);
  bool IsOfIgnored(std::string_view line, const std::vector<Match>& matches,
                   Traceback& traceback) const;
  Traceback& TracebackOf(std::string_view prefix);
  void Line(std::string_view line, const Matcher::Suspect& suspect);
  void Add(const Match& match, std::string_view line,
           const Traceback& traceback);
  bool IsFirstOf(int rank, const std::vector<std::size_t>& seen) const;
  static void AddDeath(const Traceback& traceback, Fact& fact);
  Fact* TwinOf(const Match& match, int rank,
               const std::vector<std::size_t>& seen);
  Fact FactOf(const Match& match, std::string_view line, const Prefix& prefix,
              const Traceback& traceback) const;
  Prefix PrefixOf(std::string_view line) const;
  static void AddPrefix(const Prefix& prefix, Fact& fact);
  void AddEnd();
  void AddProgress();
  void CountLines(std::string_view block, std::size_t until);

  const Matcher& matcher_;
  Matcher::Memory memory_;
  Source source_;
  bool of_notes_ = false;  // the source is what the user says
  std::string carry_;      // a line whose end has not come yet
  std::string plain_;      // a block without escape sequences
  std::string tail_;       // the last bytes of the source
  std::int64_t line_ = 0;  // of the source, from one
  std::int64_t order_ = 0;
  std::size_t ends_ = 0;     // of sources, that are kept
  std::size_t counted_ = 0;  // bytes of the block whose line ends are counted
  // By what a launcher puts before the lines of a rank; "" where it puts
  // nothing.
  std::map<std::string, Traceback, std::less<>> tracebacks_;
  std::vector<Fact> facts_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_name_;
  std::vector<Given> given_;  // by pattern
};

// The fact of how a program ended: "137", "-9", "SIGBUS"; by whom it is told.
// `ended` sets it apart from statuses that lines tell.
Fact ExitFact(std::string_view status, std::string_view by = "--exit");

// Puts what was found on this host behind all that logs say, in their order:
// what is seen now may have come after.
void PutAfterLogs(Fact& fact);

}  // namespace muster::diagnose
