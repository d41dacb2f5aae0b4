// SPDX-License-Identifier: Apache-2.0
#include "diagnose/match/prefix.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>

#include "base/text.h"

namespace muster::diagnose {
namespace {

constexpr std::size_t kPrefix = 200;

bool Digit(char c) {
  return c >= '0' && c <= '9';
}

// `count` digits at `at`, or -1.
int Digits(std::string_view text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) {
    return -1;
  }
  int value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (!Digit(text[i])) {
      return -1;
    }
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

std::chrono::microseconds Fraction(std::string_view text, std::size_t at) {
  if (at >= text.size() || (text[at] != '.' && text[at] != ',')) {
    return {};
  }
  std::int64_t micros = 0;
  std::int64_t unit = 100'000;
  for (++at; at < text.size() && Digit(text[at]) && unit > 0; ++at) {
    micros += (text[at] - '0') * unit;
    unit /= 10;
  }
  return std::chrono::microseconds(micros);
}

// How far "+02:00", "-0700" right after a time is ahead of UTC; "Z" or nothing
// is UTC.
std::chrono::minutes ZoneAt(std::string_view text, std::size_t at) {
  while (at < text.size() &&
         (Digit(text[at]) || text[at] == '.' || text[at] == ',')) {
    ++at;
  }
  if (at >= text.size() || (text[at] != '+' && text[at] != '-')) {
    return {};
  }
  const std::size_t colon = at + 3 < text.size() && text[at + 3] == ':' ? 1 : 0;
  const int hours = Digits(text, at + 1, 2);
  const int minutes = Digits(text, at + 3 + colon, 2);
  if (hours < 0 || hours > 14 || minutes < 0 || minutes % 15 != 0) {
    return {};
  }
  const std::chrono::minutes ahead(hours * 60 + minutes);
  return text[at] == '-' ? -ahead : ahead;
}

// "2024-10-09 15:47:38.568412" or with T, / and a fraction, at `at`.
std::optional<WallTime> DateTimeAt(std::string_view text, std::size_t at) {
  const int year = Digits(text, at, 4);
  const int month = Digits(text, at + 5, 2);
  const int day = Digits(text, at + 8, 2);
  const int hour = Digits(text, at + 11, 2);
  const int minute = Digits(text, at + 14, 2);
  const int second = Digits(text, at + 17, 2);
  if (year < 1990 || year > 2200 || month < 1 || day < 1 || hour < 0 ||
      minute < 0 || second < 0 ||
      (text[at + 4] != '-' && text[at + 4] != '/') || text[at + 13] != ':' ||
      text[at + 16] != ':') {
    return std::nullopt;
  }
  const std::chrono::year_month_day date(
      std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
      std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) {
    return std::nullopt;
  }
  return WallTime(std::chrono::sys_days(date)) + std::chrono::hours(hour) +
         std::chrono::minutes(minute) + std::chrono::seconds(second) +
         Fraction(text, at + 19) - ZoneAt(text, at + 19);
}

std::optional<WallTime> TimeOf(std::string_view head) {
  for (std::size_t i = 0; i + 19 <= head.size(); ++i) {
    if (Digit(head[i]) && (i == 0 || !Digit(head[i - 1]))) {
      if (const auto time = DateTimeAt(head, i)) {
        return time;
      }
    }
  }
  return std::nullopt;
}

bool OfWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Whether what follows `before` is an argument of a call: "Config(r=16, ".
bool IsInCall(std::string_view before) {
  int closed = 0;
  for (std::size_t i = before.size(); i-- > 0;) {
    closed += before[i] == ')' ? 1 : 0;
    if (before[i] == '(' && closed-- == 0) {
      return i > 0 && OfWord(before[i - 1]);
    }
  }
  return false;
}

// Whether the `key` found there is another word's end ("lora_rank=16") or an
// argument ("LoraConfig(rank=16)").
bool IsOfAnother(std::string_view before, std::string_view key) {
  return !before.empty() && OfWord(key[0]) &&
         (OfWord(before.back()) || (key.ends_with('=') && IsInCall(before)));
}

// The number right after the first `key` that stands for itself, closed by one
// of `close`; -1: none.
int NumberAfter(std::string_view head, std::string_view key,
                std::string_view close) {
  std::size_t found = head.find(key);
  while (found != std::string_view::npos &&
         IsOfAnother(head.substr(0, found), key)) {
    found = head.find(key, found + 1);
  }
  if (found == std::string_view::npos) {
    return -1;
  }
  std::size_t at = found + key.size();
  const std::size_t begin = at;
  while (at < head.size() && Digit(head[at]) && at - begin < 7) {
    ++at;
  }
  if (at == begin || at >= head.size() ||
      close.find(head[at]) == std::string_view::npos) {
    return -1;
  }
  return static_cast<int>(
      ParseInt(head.substr(begin, at - begin)).value_or(-1));
}

// Takes it off the front of the text, where it stands there.
bool Skip(std::string_view& text, std::string_view front) {
  const bool there = text.starts_with(front);
  text.remove_prefix(there ? front.size() : 0);
  return there;
}

int RankOf(std::string_view head) {
  struct Form {
    std::string_view key, close;
  };
  constexpr Form kForms[] = {{"[rank", "]"},
                             {"[Rank ", "]"},
                             {"[rank ", "]"},
                             {"[default", "]"},
                             {"rank=", " ,)]:"},
                             {"Rank: ", " ,]"},
                             {"job:worker/replica:0/task:", " :/"}};
  // "[1,3]<stderr>:"; a bare "[1,224]" is a shape.
  const bool of_mpirun = head.find("]<std") != std::string_view::npos;
  if (const int rank = of_mpirun ? NumberAfter(head, "[1,", "]") : -1;
      rank >= 0) {
    return rank;
  }
  for (const Form& form : kForms) {
    if (const int rank = NumberAfter(head, form.key, form.close); rank >= 0) {
      return rank;
    }
  }
  // srun -l: "3: text".
  std::size_t at = 0;
  while (at < head.size() && head[at] == ' ') {
    ++at;
  }
  const std::size_t begin = at;
  while (at < head.size() && Digit(head[at]) && at - begin < 5) {
    ++at;
  }
  if (at > begin && at + 1 < head.size() && head[at] == ':' &&
      head[at + 1] == ' ') {
    return static_cast<int>(
        ParseInt(head.substr(begin, at - begin)).value_or(-1));
  }
  return -1;
}

// Takes ":123" off the end; false: it is not there.
bool DropNumber(std::string_view& text) {
  const std::size_t colon = text.rfind(':');
  const bool there = colon != std::string_view::npos &&
                     colon + 1 < text.size() &&
                     std::all_of(text.begin() + static_cast<long>(colon) + 1,
                                 text.end(), Digit);
  text = text.substr(0, there ? colon : text.size());
  return there;
}

// "host:pid:tid [0] NCCL" behind a time or what a launcher puts there, and
// "host: NCCL".
std::string HostOf(std::string_view head) {
  const std::size_t nccl = head.find(" NCCL ");
  if (nccl == std::string_view::npos) {
    return {};
  }
  std::string_view who = head.substr(0, head.rfind(" [", nccl));
  if (head.substr(0, nccl).ends_with(':')) {
    who = head.substr(0, nccl - 1);
  } else if (!DropNumber(who) || !DropNumber(who)) {
    return {};
  }
  const std::size_t before = who.find_last_of(" :>");
  return std::string(
      who.substr(before == std::string_view::npos ? 0 : before + 1));
}

// "I0101 10:00:00.0", "[W101 10:00:00.0", "[W socket.cpp:601]", "…: I
// tensorflow", "[NeMo I 2024-05-24 20:43:13 ddpm:301]".
char LetterLevel(std::string_view head) {
  const auto is_level = [](char c) {
    return c == 'I' || c == 'W' || c == 'E' || c == 'F';
  };
  for (std::size_t i = 0; i + 2 < head.size() && i < 60; ++i) {
    const bool begins = i == 0 || head[i - 1] == '[' || head[i - 1] == ' ';
    if (!begins || !is_level(head[i])) {
      continue;
    }
    const bool numbered = Digit(head[i + 1]) && Digit(head[i + 2]);
    // etcd: "2020-11-03 05:11:09.331042 W | etcdserver".
    const bool barred = head.substr(i + 1).starts_with(" | ");
    const bool named = head[i + 1] == ' ' && i > 0 &&
                       (head[i - 1] == '[' ||
                        (i > 1 && head[i - 1] == ' ' && head[i - 2] == ':') ||
                        head.substr(0, i).ends_with("[NeMo "));
    if (numbered || named || barred) {
      return head[i] == 'F' ? 'E' : head[i];
    }
  }
  return ' ';
}

// " - INFO - ", "[WARNING]", "INFO:", "level=info", " NCCL INFO ".
char WordLevel(std::string_view head) {
  struct Word {
    std::string_view text;
    char level;
  };
  constexpr Word kWords[] = {{"INFO", 'I'},       {"DEBUG", 'I'},
                             {"WARNING", 'W'},    {"WARN ", 'W'},
                             {"WARN]", 'W'},      {"ERROR", 'E'},
                             {"level=info", 'I'}, {"\"level\":\"info\"", 'I'}};
  std::size_t first = head.size();
  char level = ' ';
  for (const Word& word : kWords) {
    const std::size_t at = head.find(word.text);
    // NCCL prints as WARN what it fails with.
    const bool fails =
        word.level == 'W' && head.substr(0, at).ends_with("NCCL ");
    const bool whole =
        at < first && !fails &&
        (at == 0 || head[at - 1] == ' ' || head[at - 1] == '\t' ||
         head[at - 1] == '[' || head[at - 1] == '{' || head[at - 1] == ':');
    if (whole) {
      first = at;
      level = word.level;
    }
  }
  return first < 100 ? level : ' ';
}

bool HasOneOf(std::string_view line,
              std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return line.find(word) != std::string_view::npos;
  });
}

// Some note as information what has failed, or warn of a call that did.
bool SaysWhatFailed(char level, std::string_view line) {
  return level == 'I' ? HasOneOf(line, {"Error", "rror:", "Exception", "ailed",
                                        "ABORTED", "atal", "loss=nan",
                                        "loss: nan", "loss = nan", "loss=inf",
                                        "visible gpu device (device: 0,"})
                      : HasOneOf(line, {"errno", "gai error", "due to an error",
                                        "Exception", "address as fallback",
                                        "taking more than"});
}

// "a.py:744: UserWarning: ": Python goes on whatever its warnings tell.
bool IsPythonWarning(std::string_view line) {
  const std::size_t file = line.find(".py:");
  const std::size_t kind = line.find("Warning: ");
  if (file == std::string_view::npos || kind == std::string_view::npos ||
      kind < file) {
    return false;
  }
  std::string_view between = line.substr(file + 4, kind - file - 4);
  between.remove_prefix(
      std::min(between.find_first_not_of("0123456789"), between.size()));
  return Skip(between, ": ") && between.find(' ') == std::string_view::npos;
}

// Says what is done instead: the program goes around it, as after a warning.
bool GoesAround(std::string_view line) {
  return HasOneOf(
      line, {"etrying with", "rying port", "ttempting port", "etrying batch",
             "will be ignored", "will be decreased", "random available port",
             "will proceed without", "opening a new port", "using default"});
}

char LevelOf(std::string_view head) {
  const char letter = LetterLevel(head);
  char level = letter == ' ' ? WordLevel(head) : letter;
  if (level == ' ' &&
      (HasOneOf(head, {"Warning: ", ": warning: ", "warnings.warn("}) ||
       GoesAround(head))) {
    level = 'W';
  }
  return level != 'E' && SaysWhatFailed(level, head) && !IsPythonWarning(head)
             ? ' '
             : level;
}

// Behind "2024-10-09T15:47:38.568412Z ", as `--timestamps` puts it before a
// line; all of it where there is none.
std::string_view WithoutTime(std::string_view line) {
  constexpr std::size_t kDay = 10;
  constexpr std::size_t kSecond = 19;
  if (line.size() <= kSecond || line[kDay] != 'T' || !DateTimeAt(line, 0)) {
    return line;
  }
  std::size_t at = line.find_first_not_of("0123456789.", kSecond);
  const std::string_view zone =
      at == line.npos ? std::string_view() : line.substr(at);
  if (zone.starts_with('Z')) {
    at += 1;
  } else if ((zone.starts_with('+') || zone.starts_with('-')) &&
             Digits(zone, 1, 2) >= 0 && Digits(zone, 4, 2) >= 0) {
    at += std::string_view("+02:00").size();
  } else {
    return line;
  }
  return at < line.size() && line[at] == ' ' ? line.substr(at + 1) : line;
}

// Behind "[rank3]: ", "[default3]:", "[1,3]<stderr>:", "[pod/train-0/main] ".
std::string_view BehindBrackets(std::string_view line) {
  const std::size_t close =
      line.starts_with('[') ? line.find(']') : std::string_view::npos;
  if (close == line.npos) {
    return line;
  }
  std::string_view who = line.substr(1, close - 1);
  std::string_view rest = line.substr(close + 1);
  if (who.starts_with("pod/")) {
    return Skip(rest, " ") ? rest : line;
  }
  const bool spaced = Skip(who, "rank");
  const bool named = spaced || Skip(who, "default");
  const bool mpirun =
      !named && (Skip(rest, "<stdout>") || Skip(rest, "<stderr>"));
  const bool numbers =
      !who.empty() && std::all_of(who.begin(), who.end(), [&](char c) {
        return Digit(c) || c == (mpirun ? ',' : ' ');
      });
  if (!(named || mpirun) || !numbers) {
    return line;
  }
  Skip(rest, ":");
  if (spaced) {
    Skip(rest, " ");
  }
  return rest;
}

// Behind "3: ", as `srun -l` puts it before a line.
std::string_view BehindTask(std::string_view line) {
  constexpr std::size_t kMostDigits = 5;
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  std::size_t at = begin;
  while (at < line.size() && Digit(line[at])) {
    ++at;
  }
  return at > begin && at - begin <= kMostDigits &&
                 line.substr(at).starts_with(": ")
             ? line.substr(at + 2)
             : line;
}

// Behind "(Trainer pid=123, ip=10.0.0.1) ", as Ray puts it before a line.
std::string_view BehindActor(std::string_view line) {
  constexpr std::string_view kProcess = "pid=";
  if (!line.starts_with('(')) {
    return line;
  }
  const std::string_view who = line.substr(0, line.find_first_of("()", 1));
  const std::size_t process = who.find(kProcess);
  const std::size_t number = process + kProcess.size();
  const bool there = process != who.npos && number < who.size() &&
                     Digit(who[number]) &&
                     line.substr(who.size()).starts_with(") ");
  return there ? line.substr(who.size() + 2) : line;
}

// Behind "trainer-1  | ", as `docker compose` puts it before a line. A name
// without a number may be the head of a table's row.
std::string_view BehindContainer(std::string_view line) {
  const std::size_t name = std::min(
      line.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-"),
      line.size());
  const std::size_t bar = line.find_first_not_of(' ', name);
  const std::size_t number = line.substr(0, name).find_last_of("-_");
  const bool numbered =
      number != line.npos && number > 0 && number + 1 < name &&
      std::all_of(line.begin() + static_cast<long>(number) + 1,
                  line.begin() + static_cast<long>(name), Digit);
  return numbered && bar != line.npos && bar > name &&
                 line.substr(bar).starts_with("| ")
             ? line.substr(bar + 2)
             : line;
}

// "usage: train.py [-h] [--timeout SEC]".
bool IsUsage(std::string_view text) {
  return (text.starts_with("usage: ") || text.starts_with("Usage: ")) &&
         HasOneOf(text, {"[-", "[OPTION", "[option", " --"});
}

}  // namespace

Prefix ReadPrefix(std::string_view line) {
  const std::string_view head = line.substr(0, kPrefix);
  return {TimeOf(head), RankOf(head), HostOf(head), LevelOf(head)};
}

Spoken SpokenOf(std::string_view line) {
  const std::string_view untimed = WithoutTime(line);
  std::string_view text = untimed;
  for (std::size_t before = text.size() + 1; text.size() < before;) {
    before = text.size();
    text = BehindBrackets(text);
    text = BehindTask(text);
    text = BehindActor(text);
    text = BehindContainer(text);
  }
  return {untimed.substr(0, untimed.size() - text.size()), WithoutTime(text)};
}

std::string_view WithoutRank(std::string_view line) {
  return SpokenOf(line).text;
}

bool IsQuoted(std::string_view line) {
  const std::string_view text = Trim(line);
  const std::size_t indent = line.find_first_not_of(" \t");
  if (indent != std::string_view::npos && indent > 0) {
    const std::size_t option = text.find("--");
    const std::size_t gap = text.find("  ");
    // "  -t, --timeout SEC   abort after so many", and what goes on below a
    // usage: "    [--timeout SEC] [--lr LR]".
    return text.starts_with("[--") ||
           (text.starts_with('-') && option <= 4 && gap > option &&
            gap != std::string_view::npos);
  }
  return IsUsage(text) || text.starts_with("@@ -") ||
         text.starts_with("+++ b/") || text.starts_with("--- a/") ||
         text.starts_with("+    ") || text.starts_with("-    ");
}

}  // namespace muster::diagnose
