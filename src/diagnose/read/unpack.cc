// SPDX-License-Identifier: Apache-2.0
// Part of byte_sink.h: which stage reads a stream, and the stage that ends in
// the scanner.
#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "diagnose/match/log_scanner.h"
#include "diagnose/read/byte_sink.h"
#include "diagnose/read/json_text.h"
#include "diagnose/read/run_report.h"
#include "diagnose/read/unpack_archive.h"
#include "diagnose/read/unpack_stream.h"

namespace muster::diagnose {
namespace {

constexpr std::size_t kMagicBytes = 1024;
constexpr int kDeepest = 4;
constexpr std::size_t kMaxNotes = 1000;

// Zeros that stand in short runs, as in wide letters and tables of numbers.
// Long ones stand where a log was truncated under its writer, and where a host
// went down before it was written.
std::ptrdiff_t ZerosInShortRuns(std::string_view bytes) {
  constexpr std::size_t kLong = 16;
  std::size_t zeros = 0;
  for (std::size_t at = bytes.find('\0'); at < bytes.size();
       at = bytes.find('\0', at)) {
    const std::size_t end =
        std::min(bytes.find_first_not_of('\0', at), bytes.size());
    zeros += end - at < kLong ? end - at : 0;
    at = end;
  }
  return static_cast<std::ptrdiff_t>(zeros);
}

// Backspaces are of progress bars, some zeros of the frames of container logs.
bool IsBinary(std::string_view head) {
  const auto odd = std::count_if(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte > 0 && byte < 0x08) || (byte > 0x0D && byte < 0x1B) ||
           byte == 0x7F;
  });
  const auto zeros = std::count(head.begin(), head.end(), '\0');
  return odd * 20 > std::ssize(head) - zeros ||
         ZerosInShortRuns(head) * 2 > std::ssize(head);
}

// What begins so is packed or encoded in a way that nobody reads here.
std::string_view UnreadKind(std::string_view head) {
  using std::string_view_literals::operator""sv;
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"\xFD"
       "7zXZ\0"sv,
       "xz: unpack it first (xz -d)"},
      {"BZh"sv, "bzip2: unpack it first (bzip2 -d)"},
      {"7z\xBC\xAF\x27\x1C"sv, "7z: unpack it first (7z x)"},
      {"\x04\x22\x4D\x18"sv, "lz4: unpack it first (lz4 -d)"},
      {"\x1F\x9D"sv, "compress: unpack it first (uncompress)"},
      {"LZIP\x01"sv, "lzip: unpack it first (lzip -d)"},
      {"Rar!\x1A\x07"sv, "rar: unpack it first (unrar x)"},
      {"\xFF\xFE\0\0"sv, "UTF-32: convert it first (iconv -f UTF-32)"},
      {"\0\0\xFE\xFF"sv, "UTF-32: convert it first (iconv -f UTF-32)"},
  };
  constexpr std::string_view kBlock = "1AY&SY";  // of bzip2
  for (const auto& [magic, kind] : kKinds) {
    if (head.starts_with(magic) &&
        (magic != "BZh" || head.substr(0, 10).ends_with(kBlock))) {
      return kind;
    }
  }
  return IsBinary(head.substr(0, 512)) ? "not text"sv : ""sv;
}

enum class Utf16Order { kNone, kLittle, kBig };

// By the mark, or by the zeros of Latin letters: every second byte is one.
Utf16Order Utf16OrderOf(std::string_view head) {
  using std::string_view_literals::operator""sv;
  if (head.starts_with("\xFF\xFE"sv) && !head.starts_with("\xFF\xFE\0\0"sv)) {
    return Utf16Order::kLittle;
  }
  if (head.starts_with("\xFE\xFF"sv)) {
    return Utf16Order::kBig;
  }
  const std::size_t pairs = head.size() / 2;
  std::size_t zeros[] = {0, 0};
  for (std::size_t i = 0; i < 2 * pairs; ++i) {
    zeros[i % 2] += head[i] == '\0' ? 1U : 0U;
  }
  const auto are = [&](std::size_t many, std::size_t few) {
    return pairs >= 2 && zeros[many] * 4 >= pairs * 3 &&
           zeros[few] * 20 <= pairs;
  };
  return are(1, 0)   ? Utf16Order::kLittle
         : are(0, 1) ? Utf16Order::kBig
                     : Utf16Order::kNone;
}

std::string_view SkipSpace(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first);
}

// A Kaggle log begins with an array of objects that have stream_name and data;
// a notebook is an object with cells.
bool IsJsonText(std::string_view head, std::string_view name) {
  head = SkipSpace(head);
  if (head.starts_with('[')) {
    return head.find("\"stream_name\"") != std::string_view::npos;
  }
  return head.starts_with('{') &&
         (name.ends_with(".ipynb") || head.find("\"cells\"") < 200);
}

// Files of a run's folder, by what each of them begins with.
bool IsRunReport(std::string_view head) {
  const auto schema = head.find("\"muster.report/1\"");
  return head.starts_with('{') && schema < 40;
}
bool RepeatsLogs(std::string_view head) {
  return head.starts_with(R"({"name":"run.started")") ||
         (head.starts_with("# Run ") &&
          head.find("\n- started ") != std::string_view::npos);
}

// One of the words with the number behind it ("node-3"), which is no part of an
// address or a date ("host-10.0.0.3.log", "node-2024-10-09.log"); empty: none.
std::string Numbered(const std::string& words, std::string_view file) {
  const re2::StringPiece text(file.data(), file.size());
  const std::string behind = "(?i)((?:" + words + ")[-_. ]?";
  std::string found;
  if (!RE2::PartialMatch(text,
                         behind + R"((?:\d+(?:\.\d+){3}|\d{4}-\d\d-\d\d)))")) {
    (void)RE2::PartialMatch(text, behind + R"(\d{1,6})(?:\D|$))", &found);
  }
  return found;
}

int NumberBehind(const std::string& words, std::string_view file) {
  int number = -1;
  (void)RE2::PartialMatch(Numbered(words, file), R"((\d+)$)", &number);
  return number;
}

class TextSink : public ByteSink {
 public:
  TextSink(std::string name, const Unpacking& unpacking)
      : unpacking_(unpacking), scanner_(*unpacking.scanner) {
    RanksOfName ranks = ReadRanks(name, unpacking.rank_from);
    scanner_.Begin({.name = std::move(name),
                    .rank = ranks.of_process,
                    .host = std::move(ranks.host),
                    .rank_from = unpacking.rank_from});
  }
  void Feed(std::string_view bytes) override {
    CountRead(unpacking_, bytes.size());
    scanner_.Feed(bytes);
  }
  void End() override { scanner_.End(); }

 private:
  Unpacking unpacking_;
  LogScanner& scanner_;
};

void Keep(std::vector<std::string>* notes, std::string note) {
  if (notes != nullptr && notes->size() < kMaxNotes) {
    notes->push_back(std::move(note));
  }
}

// The CPU time for archives, used up or not.
bool CpuIsUsedUp(const Budget& budget) {
  if (budget.clock == nullptr) {
    return false;
  }
  const Duration now = budget.cpu_since
                           ? budget.clock->CpuNow() - *budget.cpu_since
                           : Duration::zero();
  return budget.cpu_used + now >= budget.cpu;
}

std::string CpuText(const Budget& budget) {
  return "the CPU time for archives (" + ToString(budget.cpu) +
         ", --max-cpu) is used up";
}

// For as long as it lives, CPU time is that of archives.
class CpuMeter {
 public:
  explicit CpuMeter(Budget* budget)
      : budget_(budget != nullptr && budget->clock != nullptr ? budget
                                                              : nullptr) {
    if (budget_ != nullptr) {
      budget_->cpu_since = budget_->clock->CpuNow();
    }
  }
  ~CpuMeter() {
    if (budget_ != nullptr) {
      budget_->cpu_used += budget_->clock->CpuNow() - *budget_->cpu_since;
      budget_->cpu_since.reset();
    }
  }
  CpuMeter(const CpuMeter&) = delete;
  CpuMeter& operator=(const CpuMeter&) = delete;

 private:
  Budget* budget_;
};

class Nothing : public ByteSink {
 public:
  void Feed(std::string_view /*bytes*/) override {}
  void End() override {}
};

using MakeStage = std::unique_ptr<ByteSink> (*)(std::string name,
                                                const Unpacking& unpacking);

// What unpacks a stream that begins so; null: nothing has to.
MakeStage MakerOf(std::string_view head) {
  using std::string_view_literals::operator""sv;
  return head.starts_with("\x1F\x8B"sv)                        ? MakeGunzip
         : head.starts_with("\x28\xB5\x2F\xFD"sv)              ? MakeUnzstd
         : head.starts_with("PK\x03\x04"sv)                    ? MakeUnzip
         : head.size() > 262 && head.substr(257, 5) == "ustar" ? MakeUntar
                                                               : nullptr;
}

// Waits for the first bytes before it decides.
class Unpacker : public ByteSink {
 public:
  Unpacker(std::string name, Unpacking unpacking)
      : name_(std::move(name)), unpacking_(unpacking) {}

  void Feed(std::string_view bytes) override {
    if (next_ != nullptr) {
      Pass(bytes);
      return;
    }
    head_.append(bytes);
    if (head_.size() >= kMagicBytes) {
      Decide();
    }
  }
  void End() override {
    if (next_ == nullptr) {
      Decide();
    }
    const CpuMeter meter(Metered());
    next_->End();
  }

 private:
  void Decide() {
    next_ = Choose();
    Pass(head_);
    head_.clear();
    head_.shrink_to_fit();
  }

  void Pass(std::string_view bytes) {
    const CpuMeter meter(Metered());
    next_->Feed(bytes);
  }

  // Set for what is packed, but not for what is packed in it: that is part of
  // it.
  Budget* Metered() const {
    return packed_ && unpacking_.depth == 0 ? unpacking_.budget : nullptr;
  }

  std::unique_ptr<ByteSink> Choose() {
    const std::string_view head = head_;
    Unpacking inner = unpacking_;
    ++inner.depth;
    const MakeStage make = MakerOf(head);
    packed_ = make != nullptr && inner.depth <= kDeepest;
    if (packed_ && inner.budget != nullptr && CpuIsUsedUp(*inner.budget)) {
      Note(inner, name_ + ": not unpacked, " + CpuText(*inner.budget));
      return std::make_unique<Nothing>();
    }
    if (packed_) {
      return make(name_, inner);
    }
    if (const auto order = Utf16OrderOf(head); order != Utf16Order::kNone) {
      return MakeUtf16(name_, order == Utf16Order::kLittle, unpacking_);
    }
    if (unpacking_.reported != nullptr && IsRunReport(head)) {
      return MakeRunReport(name_, unpacking_);
    }
    if (unpacking_.only_text && RepeatsLogs(head)) {
      return std::make_unique<Nothing>();
    }
    if (IsJsonText(head, name_)) {
      return MakeJsonText(name_, unpacking_);
    }
    if (const auto kind = UnreadKind(head); !kind.empty()) {
      Unread(kind);
      return std::make_unique<Nothing>();
    }
    return MakeText(name_, unpacking_);
  }

  // Of files that nobody named only what might be a log in other clothes is
  // worth a note.
  void Unread(std::string_view kind) {
    if (unpacking_.only_text && kind == "not text") {
      Skip(unpacking_, name_ + ": not text, skipped");
    } else {
      Note(unpacking_, name_ + ": " + std::string(kind));
    }
  }

  std::string name_;
  Unpacking unpacking_;
  std::string head_;
  std::unique_ptr<ByteSink> next_;
  bool packed_ = false;
};

}  // namespace

void Note(const Unpacking& unpacking, std::string note) {
  Keep(unpacking.notes, std::move(note));
}

void Skip(const Unpacking& unpacking, std::string note) {
  Keep(unpacking.skipped, std::move(note));
}

void CountRead(const Unpacking& unpacking, std::size_t bytes) {
  if (unpacking.read != nullptr) {
    *unpacking.read += bytes;
  }
}

bool Spend(const Unpacking& unpacking, const std::string& name,
           std::size_t bytes) {
  if (unpacking.budget == nullptr) {
    return true;
  }
  if (CpuIsUsedUp(*unpacking.budget)) {
    Note(unpacking, name + ": " + CpuText(*unpacking.budget) +
                        ", read only the beginning");
    return false;
  }
  if (bytes <= unpacking.budget->left) {
    unpacking.budget->left -= bytes;
    return true;
  }
  unpacking.budget->left = 0;
  Note(unpacking, name + ": too large to unpack, read only the beginning");
  return false;
}

bool SpendMember(const Unpacking& unpacking, const std::string& name) {
  if (unpacking.budget == nullptr) {
    return true;
  }
  if (CpuIsUsedUp(*unpacking.budget)) {
    Note(unpacking, name + ": " + CpuText(*unpacking.budget) +
                        ", read only the first members");
    return false;
  }
  if (unpacking.budget->members > 0) {
    --unpacking.budget->members;
    return true;
  }
  Note(unpacking, name + ": too many members, read only the first ones");
  return false;
}

std::unique_ptr<ByteSink> MakeUnpacker(std::string name,
                                       const Unpacking& unpacking) {
  return std::make_unique<Unpacker>(std::move(name), unpacking);
}

std::unique_ptr<ByteSink> MakeText(std::string name,
                                   const Unpacking& unpacking) {
  return std::make_unique<TextSink>(std::move(name), unpacking);
}

RanksOfName ReadRanks(std::string_view name, const RankPattern* rank_from) {
  if (rank_from != nullptr) {
    return {.of_process = rank_from->RankOf(name)};
  }
  const auto slash = name.rfind('/');
  const auto file =
      slash == std::string_view::npos ? name : name.substr(slash + 1);
  return {.of_process = NumberBehind("rank|worker|task|proc", file),
          .host = Numbered("node|host", file)};
}

}  // namespace muster::diagnose
