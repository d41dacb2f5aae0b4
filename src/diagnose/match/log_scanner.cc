// SPDX-License-Identifier: Apache-2.0
#include "diagnose/match/log_scanner.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/redact/redact.h"
#include "base/signal_name.h"
#include "base/text.h"
#include "diagnose/match/log_end.h"
#include "diagnose/match/prefix.h"

namespace muster::diagnose {
namespace {

// A longer line is cut; the pieces overlap by nothing, which loses a text that
// stands right across a cut and nothing else.
constexpr std::size_t kLongestLine = 64U << 10;
constexpr std::size_t kLongestText = 600;
// How many facts of one name are kept; later ones are counted.
constexpr std::size_t kKeptOfAName = 64;
// Of one pattern in one source: different facts that are kept beside the first
// of each rank, and matching lines that are looked at.
constexpr int kKeptOfASource = 6;
constexpr int kSeenOfASource = 2000;
constexpr std::int64_t kFrameReach = 8;  // lines from a frame to its exception
constexpr std::int64_t kIgnoredReach = 24;  // lines of a traceback without end
constexpr std::size_t kMaxTracebacks = 1024;  // at a time
constexpr std::size_t kTail = 4096;           // bytes that tell how a log ends
constexpr std::int64_t kAfterLogs = std::int64_t{1} << 40;  // in the order

bool IsLineEnd(char c) {
  return c == '\n' || c == '\r';
}

// The index after the last line end, or 0.
std::size_t AfterLastLine(std::string_view bytes) {
  std::size_t end = bytes.size();
  while (end > 0 && !IsLineEnd(bytes[end - 1])) {
    --end;
  }
  return end;
}

// Without the sequences that color a terminal; NUL becomes a space.
void StripEscapes(std::string_view block, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (block[i] == '\0') {
      out += ' ';
    } else if (block[i] != '\033') {
      out += block[i];
    } else if (i + 1 < block.size() && block[i + 1] == '[') {
      i += 2;
      while (i < block.size() && (block[i] < '@' || block[i] > '~') &&
             !IsLineEnd(block[i])) {
        ++i;
      }
      if (i < block.size() && IsLineEnd(block[i])) {
        out += block[i];
      }
    }
  }
}

// As evidence: a secret that the cut would split is removed before.
std::string Shown(std::string_view line) {
  return std::string(Trim(Redacted(line)).substr(0, kLongestText));
}

// "137" is 128 + 9, "-9" is a signal, "SIGKILL (-9)" names it.
std::string SignalOfStatus(std::string_view code) {
  const auto number = ParseInt(code);
  if (!number) {
    return code.starts_with("SIG") ? std::string(code) : "";
  }
  const bool negative = *number < 0 && *number >= -64;
  const bool of_shell = *number > 128 && *number <= 128 + 64;
  if (!negative && !of_shell) {
    return "";
  }
  const std::string name =
      SignalName(static_cast<int>(negative ? -*number : *number - 128));
  return name.starts_with("SIG") ? name : "";
}

bool Has(const std::vector<Match>& matches, std::string_view fact) {
  return std::any_of(matches.begin(), matches.end(), [&](const Match& match) {
    return match.row->fact == fact;
  });
}

// What makes the line harmless; of an exception, only what speaks of one.
std::vector<Match>::const_iterator HarmlessOf(
    const std::vector<Match>& matches) {
  const bool raised = Has(matches, "python.exception");
  return std::find_if(matches.begin(), matches.end(), [&](const Match& match) {
    const bool speaks =
        match.row->text.find("Error") != std::string_view::npos ||
        match.row->text.find("Exception") != std::string_view::npos;
    return match.row->fact == "log.harmless" && (speaks || !raised);
  });
}

// Facts that are compared among ranks and hosts: each one of them counts.
bool IsCompared(std::string_view fact) {
  constexpr std::string_view kThings[] = {"batches.", "collective.", "env.",
                                          "member.",  "process.",    "store.",
                                          "version."};
  return std::any_of(
      std::begin(kThings), std::end(kThings),
      [&](std::string_view thing) { return fact.starts_with(thing); });
}

}  // namespace

void LogScanner::Begin(Source source) {
  Open(std::move(source), Matcher::Lines::kLog);
}

void LogScanner::AddNotes(std::span<const std::string> notes) {
  Open({.name = "note"}, Matcher::Lines::kNotes);
  for (const std::string& note : notes) {
    Feed(note);
    Feed("\n");
  }
  End();
}

void LogScanner::Open(Source source, Matcher::Lines lines) {
  source_ = std::move(source);
  of_notes_ = lines == Matcher::Lines::kNotes;
  carry_.clear();
  tail_.clear();
  line_ = 0;
  tracebacks_.clear();
  given_.assign(matcher_.patterns(), {});
  matcher_.Begin(memory_, lines);
}

void LogScanner::Feed(std::string_view bytes) {
  if (!carry_.empty()) {
    const auto* const end = std::find_if(bytes.begin(), bytes.end(), IsLineEnd);
    const auto head = static_cast<std::size_t>(end - bytes.begin());
    const std::size_t room = kLongestLine - carry_.size();
    const std::size_t taken = std::min(head, room);
    carry_.append(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    if (taken == head && bytes.empty()) {
      return;  // the line goes on
    }
    if (taken == head) {
      carry_ += bytes.front();
      bytes.remove_prefix(1);
    } else {
      carry_ += '\n';
    }
    Block(std::exchange(carry_, {}));
    if (taken < head) {
      --line_;  // the rest of it is the same line
    }
  }
  while (!bytes.empty()) {
    std::size_t whole = AfterLastLine(bytes);
    if (whole == 0 && bytes.size() < kLongestLine) {
      break;
    }
    if (whole == 0) {
      whole = kLongestLine;
      std::string piece(bytes.substr(0, whole));
      piece += '\n';
      Block(piece);
      --line_;
    } else {
      Block(bytes.substr(0, whole));
    }
    bytes.remove_prefix(whole);
  }
  carry_ = bytes;
}

void LogScanner::End() {
  if (!carry_.empty()) {
    carry_ += '\n';
    Block(std::exchange(carry_, {}));
  }
  AddEnd();
  if (!of_notes_) {
    AddProgress();
  }
}

// The last whole lines as they are.
void LogScanner::AddEnd() {
  const std::size_t begin = tail_.size() < kTail ? 0 : tail_.find('\n') + 1;
  const std::string_view tail = std::string_view(tail_).substr(begin);
  const std::string_view text = Trim(tail);
  if (text.empty() || ends_ == kKeptOfAName) {
    return;
  }
  const auto number = line_ + 1 - std::count(text.end(), tail.end(), '\n');
  ++ends_;
  Fact fact;
  fact.name = kEnd;
  fact.by = source_.name + ":" + std::to_string(number);
  fact.fields["text"] = Redacted(text);
  fact.fields["source"] = source_.name;
  fact.fields["line"] = number;
  if (source_.rank >= 0) {
    fact.fields["rank"] = std::int64_t{source_.rank};
  }
  if (of_notes_) {
    fact.fields["note"] = std::int64_t{1};
  }
  facts_.push_back(std::move(fact));
}

// What the program did last, as far as that was progress.
void LogScanner::AddProgress() {
  const auto rank_of = [this](std::string_view line) {
    return PrefixOf(line).rank;
  };
  for (const LogEnd& last : LastProgress(tail_, rank_of)) {
    Fact fact;
    fact.name = last.fact;
    const std::int64_t number = line_ + 1 - last.newlines;
    fact.by = source_.name + ":" + std::to_string(number);
    fact.fields["text"] = Shown(last.text);
    fact.fields["source"] = source_.name;
    fact.fields["line"] = number;
    if (last.rank >= 0) {
      fact.fields["rank"] = std::int64_t{last.rank};
    }
    facts_.push_back(std::move(fact));
  }
}

void LogScanner::CountLines(std::string_view block, std::size_t until) {
  const std::string_view rest = block.substr(0, until);
  for (std::size_t at = rest.find('\n', counted_); at != rest.npos;
       at = rest.find('\n', at + 1)) {
    ++line_;
  }
  counted_ = until;
}

void LogScanner::Block(std::string_view whole_lines) {
  if (std::memchr(whole_lines.data(), '\033', whole_lines.size()) != nullptr ||
      std::memchr(whole_lines.data(), '\0', whole_lines.size()) != nullptr) {
    StripEscapes(whole_lines, plain_);
    whole_lines = plain_;
  }
  counted_ = 0;
  matcher_.Scan(whole_lines, memory_, [&](const Matcher::Suspect& suspect) {
    CountLines(whole_lines, suspect.begin);
    for (std::size_t at = suspect.begin; at < suspect.end; at += kLongestLine) {
      Line(whole_lines.substr(at, std::min(suspect.end - at, kLongestLine)),
           suspect);
    }
  });
  CountLines(whole_lines, whole_lines.size());
  if (whole_lines.size() >= kTail) {
    tail_.clear();
  }
  tail_.append(whole_lines.substr(whole_lines.size() -
                                  std::min(whole_lines.size(), kTail)));
  tail_.erase(0, tail_.size() - std::min(tail_.size(), kTail));
}

// What the line says by itself: without the guesses that a framework prints
// with every such failure.
std::vector<Match> LogScanner::Said(std::string_view line,
                                    const Matcher::Suspect& suspect) {
  std::vector<Match> matches = matcher_.Matches(line, suspect, memory_);
  std::vector<Match> guesses;
  std::copy_if(
      matches.begin(), matches.end(), std::back_inserter(guesses),
      [](const Match& match) { return match.row->fact == "log.guesses"; });
  if (guesses.empty()) {
    return matches;
  }
  matches = matcher_.Matches(matcher_.Without(line, guesses), suspect, memory_);
  matches.erase(std::remove_if(matches.begin(), matches.end(),
                               [](const Match& match) {
                                 return match.row->fact == "log.guesses";
                               }),
                matches.end());
  return matches;
}

// True for "Exception ignored in" and the traceback below it: Python goes on
// after what a destructor or a function at its exit raises.
bool LogScanner::IsOfIgnored(std::string_view line,
                             const std::vector<Match>& matches,
                             Traceback& traceback) const {
  if (Has(matches, "python.ignored")) {
    traceback.ignored_until = line_ + kIgnoredReach;
    return true;
  }
  const bool raised = Has(matches, "python.exception");
  const bool ignored =
      line_ < traceback.ignored_until &&
      (raised || line.starts_with("Traceback (") || line.starts_with(' '));
  if (raised || !ignored) {
    traceback.ignored_until =
        0;  // the exception is the last line of its traceback
  }
  return ignored;
}

// Each rank of a log that several write has its own.
LogScanner::Traceback& LogScanner::TracebackOf(std::string_view prefix) {
  const auto found = tracebacks_.find(prefix);
  if (found != tracebacks_.end()) {
    return found->second;
  }
  const bool full = tracebacks_.size() >= kMaxTracebacks;
  return tracebacks_[full ? std::string() : std::string(prefix)];
}

void LogScanner::Line(std::string_view line, const Matcher::Suspect& suspect) {
  const auto [who, said] = of_notes_ ? Spoken{"", line} : SpokenOf(line);
  const std::vector<Match> matches = Said(said, suspect);
  Traceback& traceback = TracebackOf(who);
  if (matches.empty() && traceback.ignored_until == 0) {
    return;
  }
  ++order_;
  if (IsQuoted(said) || IsOfIgnored(said, matches, traceback)) {
    return;
  }
  traceback.fatal =
      Has(matches, "exit.killed") || Has(matches, "exit.segfault") ||
      (Has(matches, "python.exception") && !traceback.frame.empty() &&
       line_ - traceback.frame_line <= kFrameReach);
  const auto harmless = HarmlessOf(matches);
  if (harmless != matches.end()) {
    Add(*harmless, line, traceback);
    for (const Match& match : matches) {
      if (match.row->fact.starts_with("warned.")) {
        Add(match, line, traceback);
      }
    }
    return;
  }
  for (const Match& match : matches) {
    if (match.row->fact == "python.frame") {
      const bool goes_on = line_ - traceback.frame_line <= kFrameReach;
      traceback.from_module =
          (traceback.from_module && goes_on) ||
          line.find(", in <module>") != std::string_view::npos;
      const auto file = match.fields.find("file");
      traceback.frame = file == match.fields.end() ? "" : file->second;
      traceback.frame_line = line_;
      continue;
    }
    if (match.row->fact != "log.harmless") {
      Add(match, line, traceback);
    }
  }
}

void LogScanner::Add(const Match& match, std::string_view line,
                     const Traceback& traceback) {
  const auto pattern = static_cast<std::size_t>(match.pattern);
  Given& given = given_[pattern];
  if (given.seen >= kSeenOfASource) {
    // A harmless line must stay discounted to the end.
    memory_.done[pattern] = match.row->fact != "log.harmless";
    return;
  }
  ++given.seen;
  auto& seen = by_name_[std::string(match.row->fact)];
  const Prefix prefix = PrefixOf(line);
  if (Fact* const twin = TwinOf(match, prefix.rank, seen)) {
    twin->fields["times"] = twin->Number("times", 1) + 1;
    twin->fields["last_line"] = line_ + 1;
    AddDeath(traceback, *twin);
    if (prefix.level != 'I' && prefix.level != 'W') {
      twin->fields.erase("level");  // not only noted or warned of
    }
    return;
  }
  const bool is_further =
      !IsCompared(match.row->fact) && !IsFirstOf(prefix.rank, seen);
  if (is_further && given.kept == kKeptOfASource) {
    // What was said last may be what it ended with.
    facts_[given.last] = FactOf(match, line, prefix, traceback);
    return;
  }
  if (seen.size() < kKeptOfAName) {
    if (is_further) {
      ++given.kept;
      given.last = facts_.size();
    }
    seen.push_back(facts_.size());
    facts_.push_back(FactOf(match, line, prefix, traceback));
    return;
  }
  // Of many ranks the first in time has to be among those that are kept.
  Fact& last = facts_[*std::max_element(seen.begin(), seen.end(),
                                        [&](std::size_t a, std::size_t b) {
                                          return facts_[a].at < facts_[b].at;
                                        })];
  if (prefix.at && *prefix.at < last.at) {
    last = FactOf(match, line, prefix, traceback);
  }
}

// True when no fact of the rank is among them, in this source.
bool LogScanner::IsFirstOf(int rank,
                           const std::vector<std::size_t>& seen) const {
  return rank >= 0 &&
         std::none_of(seen.begin(), seen.end(), [&](std::size_t index) {
           return facts_[index].Number("rank", -1) == rank &&
                  facts_[index].Text("source") == source_.name;
         });
}

void LogScanner::AddDeath(const Traceback& traceback, Fact& fact) {
  if (traceback.fatal) {
    fact.fields["fatal"] = std::int64_t{1};
  }
  if (traceback.fatal && traceback.from_module) {
    fact.fields["uncaught"] = std::int64_t{1};
  }
}

// A fact of the same rank and file that tells the same, or null.
Fact* LogScanner::TwinOf(const Match& match, int rank,
                         const std::vector<std::size_t>& seen) {
  for (const std::size_t index : seen) {
    Fact& other = facts_[index];
    const bool same = std::all_of(
        match.fields.begin(), match.fields.end(), [&](const auto& field) {
          return other.Text(field.first) == field.second;
        });
    if (same && other.Number("rank", -1) == rank &&
        other.Text("source") == source_.name) {
      return &other;
    }
  }
  return nullptr;
}

Fact LogScanner::FactOf(const Match& match, std::string_view line,
                        const Prefix& prefix,
                        const Traceback& traceback) const {
  Fact fact;
  fact.name = match.row->fact;
  for (const auto& [name, value] : match.fields) {
    fact.fields[name] = Redacted(value).substr(0, kLongestText);
  }
  if (fact.name == "exit.status" && fact.Text("signal").empty()) {
    const std::string signal = SignalOfStatus(fact.Text("code"));
    if (!signal.empty()) {
      fact.fields["signal"] = signal;
    }
  }
  if (!match.row->says.empty()) {
    fact.fields["says"] = std::string(match.row->says);
  }
  if (fact.name == "python.exception" &&
      line_ - traceback.frame_line <= kFrameReach) {
    fact.fields["frame"] = traceback.frame;
  }
  fact.fields["text"] = Shown(line);
  fact.fields["source"] = source_.name;
  fact.fields["line"] = line_ + 1;
  fact.fields["order"] = order_ + (of_notes_ ? kAfterLogs : 0);
  AddDeath(traceback, fact);
  if (of_notes_ && fact.name != "log.harmless") {
    fact.fields["note"] = std::int64_t{1};
  }
  fact.by = source_.name + ":" + std::to_string(line_ + 1);
  AddPrefix(prefix, fact);
  return fact;
}

// What the line tells, or its file.
Prefix LogScanner::PrefixOf(std::string_view line) const {
  if (of_notes_) {
    return {};
  }
  Prefix prefix = ReadPrefix(line);
  if (source_.rank_from != nullptr) {
    prefix.rank =
        source_.rank >= 0 ? source_.rank : source_.rank_from->RankOf(line);
  } else if (source_.rank >= 0 && !line.starts_with("[rank")) {
    prefix.rank = source_.rank;  // its lines tell of other ranks, too
  }
  if (prefix.host.empty()) {
    prefix.host = source_.host;
  }
  return prefix;
}

void LogScanner::AddPrefix(const Prefix& prefix, Fact& fact) {
  if (prefix.rank >= 0) {
    fact.fields["rank"] = std::int64_t{prefix.rank};
    fact.subject = "rank " + std::to_string(prefix.rank);
  }
  if (!prefix.host.empty()) {
    fact.fields["host"] = prefix.host;
  }
  if (prefix.level != ' ') {
    fact.fields["level"] = std::string(1, prefix.level);
  }
  if (prefix.at) {
    fact.at = *prefix.at;
  }
}

std::vector<Fact> LogScanner::TakeFacts() {
  by_name_.clear();
  ends_ = 0;
  return std::exchange(facts_, {});
}

Fact ExitFact(std::string_view status, std::string_view by) {
  Fact fact;
  fact.name = "exit.status";
  fact.by = by;
  fact.fields["ended"] = std::int64_t{1};
  fact.fields["code"] = std::string(status);
  fact.fields["signal"] = SignalOfStatus(status);
  fact.fields["text"] = "exit status " + std::string(status);
  fact.fields["order"] = kAfterLogs;
  return fact;
}

void PutAfterLogs(Fact& fact) {
  fact.fields["order"] = fact.Number("order", 0) + 2 * kAfterLogs;
}

}  // namespace muster::diagnose
