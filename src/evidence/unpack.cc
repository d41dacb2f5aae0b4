// SPDX-License-Identifier: Apache-2.0
// Which stage reads a stream, and the stage that ends in the scanner.
#include <re2/re2.h>

#include <algorithm>

#include "evidence/byte_sink.h"
#include "evidence/log_scanner.h"

namespace muster::evidence {
namespace {

constexpr std::size_t kHead = 1024;
constexpr int kDeepest = 4;
constexpr std::size_t kMostNotes = 1000;

bool IsBinary(std::string_view head) {
  const auto odd = std::count_if(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x09 || (byte > 0x0D && byte < 0x1B) || byte == 0x7F;
  });
  return odd * 20 > std::ssize(head);
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

// The number behind one of the words, which is no part of an address or a date
// ("host-10.0.0.3.log", "node-2024-10-09.log"); -1: none.
int NumberBehind(const std::string& words, std::string_view file) {
  const re2::StringPiece text(file.data(), file.size());
  const std::string behind = "(?i)(?:" + words + ")[-_. ]?";
  if (RE2::PartialMatch(text,
                        behind + R"((?:\d+(?:\.\d+){3}|\d{4}-\d\d-\d\d))")) {
    return -1;
  }
  int number = -1;
  (void)RE2::PartialMatch(text, behind + R"((\d{1,6})(?:\D|$))", &number);
  return number;
}

class Text : public ByteSink {
 public:
  Text(std::string name, const Unpacking& unpacking)
      : scanner_(*unpacking.scanner) {
    const RanksOfName ranks = ReadRanks(name, unpacking.rank_from);
    scanner_.Begin({.name = std::move(name),
                    .rank = ranks.of_process,
                    .rank_of_host = ranks.of_host,
                    .rank_from = unpacking.rank_from});
  }
  void Feed(std::string_view bytes) override { scanner_.Feed(bytes); }
  void End() override { scanner_.End(); }

 private:
  LogScanner& scanner_;
};

class Nothing : public ByteSink {
 public:
  void Feed(std::string_view /*bytes*/) override {}
  void End() override {}
};

// Waits for the first bytes before it decides.
class Unpacker : public ByteSink {
 public:
  Unpacker(std::string name, Unpacking unpacking)
      : name_(std::move(name)), unpacking_(unpacking) {}

  void Feed(std::string_view bytes) override {
    if (next_ != nullptr) {
      next_->Feed(bytes);
      return;
    }
    head_.append(bytes);
    if (head_.size() >= kHead) {
      Decide();
    }
  }
  void End() override {
    if (next_ == nullptr) {
      Decide();
    }
    next_->End();
  }

 private:
  void Decide() {
    next_ = Choose();
    next_->Feed(head_);
    head_.clear();
    head_.shrink_to_fit();
  }

  std::unique_ptr<ByteSink> Choose() {
    using std::string_view_literals::operator""sv;
    const std::string_view head = head_;
    Unpacking inner = unpacking_;
    ++inner.depth;
    if (inner.depth <= kDeepest) {
      if (head.starts_with("\x1F\x8B"sv)) {
        return MakeGunzip(name_, inner);
      }
      if (head.starts_with("\x28\xB5\x2F\xFD"sv)) {
        return MakeUnzstd(name_, inner);
      }
      if (head.starts_with("PK\x03\x04"sv)) {
        return MakeUnzip(name_, inner);
      }
      if (head.size() > 262 && head.substr(257, 5) == "ustar") {
        return MakeUntar(name_, inner);
      }
    }
    if (head.starts_with("\xFF\xFE"sv) || head.starts_with("\xFE\xFF"sv)) {
      return MakeUtf16(name_, head[0] == '\xFF', unpacking_);
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
    if (unpacking_.only_text && IsBinary(head.substr(0, 512))) {
      Note(unpacking_, name_ + ": no text, skipped");
      return std::make_unique<Nothing>();
    }
    return MakeText(name_, unpacking_);
  }

  std::string name_;
  Unpacking unpacking_;
  std::string head_;
  std::unique_ptr<ByteSink> next_;
};

}  // namespace

void Note(const Unpacking& unpacking, std::string note) {
  if (unpacking.notes != nullptr && unpacking.notes->size() < kMostNotes) {
    unpacking.notes->push_back(std::move(note));
  }
}

bool Spend(const Unpacking& unpacking, const std::string& name,
           std::size_t bytes) {
  if (unpacking.budget == nullptr) {
    return true;
  }
  if (bytes <= unpacking.budget->left) {
    unpacking.budget->left -= bytes;
    return true;
  }
  unpacking.budget->left = 0;
  Note(unpacking, name + ": more than can be unpacked, read up to there");
  return false;
}

bool SpendMember(const Unpacking& unpacking, const std::string& name) {
  if (unpacking.budget == nullptr) {
    return true;
  }
  if (unpacking.budget->members > 0) {
    --unpacking.budget->members;
    return true;
  }
  Note(unpacking, name + ": more members than are read, read up to there");
  return false;
}

std::unique_ptr<ByteSink> MakeUnpacker(std::string name,
                                       const Unpacking& unpacking) {
  return std::make_unique<Unpacker>(std::move(name), unpacking);
}

std::unique_ptr<ByteSink> MakeText(std::string name,
                                   const Unpacking& unpacking) {
  return std::make_unique<Text>(std::move(name), unpacking);
}

RanksOfName ReadRanks(std::string_view name, const RankPattern* rank_from) {
  if (rank_from != nullptr) {
    return {.of_process = rank_from->RankOf(name)};
  }
  const auto slash = name.rfind('/');
  const auto file =
      slash == std::string_view::npos ? name : name.substr(slash + 1);
  return {.of_process = NumberBehind("rank|worker|task|proc", file),
          .of_host = NumberBehind("node|host", file)};
}

}  // namespace muster::evidence
