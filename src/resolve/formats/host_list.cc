// SPDX-License-Identifier: Apache-2.0
#include "resolve/formats/host_list.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace muster::resolve {
namespace {

// More than any machine has, and little enough not to use up memory.
constexpr std::size_t kMaxHosts = 65536;
constexpr std::size_t kMaxHostList = 1U << 20;
// Of a host: names of the DNS have 253 characters, numbers far less.
constexpr std::size_t kLongestName = 255;
constexpr std::size_t kMaxDigits = 18;

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

bool IsBetweenItems(char c) {
  return c == ',' || std::isspace(static_cast<unsigned char>(c)) != 0;
}

// Reads one text from its begin to its end.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<std::vector<std::string>> HostList() {
    std::vector<std::string> hosts;
    while (SkipBetweenItems(), at_ < text_.size()) {
      MUSTER_ASSIGN(auto item, Item());
      if (hosts.size() + item.size() > kMaxHosts) {
        return TooMany();
      }
      hosts.insert(hosts.end(), item.begin(), item.end());
    }
    return hosts;
  }

  Result<std::vector<int>> Counts() {
    std::vector<int> counts;
    while (at_ < text_.size() || counts.empty()) {
      MUSTER_ASSIGN(const std::size_t count, Count("a number of tasks"));
      std::size_t repeat = 1;
      if (text_.substr(at_).starts_with("(x")) {
        at_ += 2;
        MUSTER_ASSIGN(repeat, Count("a number of repetitions"));
        if (at_ >= text_.size() || text_[at_] != ')') {
          return Wrong("`(x` is not closed");
        }
        ++at_;
      }
      if (repeat > kMaxHosts || counts.size() + repeat > kMaxHosts) {
        return TooMany();
      }
      counts.insert(counts.end(), repeat, static_cast<int>(count));
      if (at_ < text_.size() && (text_[at_++] != ',' || at_ == text_.size())) {
        --at_;
        return Wrong("expected a comma and another number");
      }
    }
    return counts;
  }

 private:
  Error Wrong(const std::string& what) const {
    return Error(Cause::kClusterSpecInvalid,
                 "`" + Printable(text_.substr(0, 200)) + "` is not a list: " +
                     what + " at position " + std::to_string(at_ + 1));
  }
  Error TooMany() const {
    return Wrong("more than " + std::to_string(kMaxHosts) + " entries");
  }

  void SkipBetweenItems() {
    while (at_ < text_.size() && IsBetweenItems(text_[at_])) {
      ++at_;
    }
  }

  Result<std::size_t> Count(const char* what) {
    const std::size_t from = at_;
    while (at_ < text_.size() && IsDigit(text_[at_])) {
      ++at_;
    }
    const auto number = ParseInt(text_.substr(from, at_ - from));
    if (!number || *number > static_cast<std::int64_t>(kMaxHosts)) {
      at_ = from;
      return Wrong(std::string(what) + " is missing or too large");
    }
    return static_cast<std::size_t>(*number);
  }

  // Text and brackets up to the next separator: their product.
  Result<std::vector<std::string>> Item() {
    std::vector<std::string> names{""};
    while (at_ < text_.size() && !IsBetweenItems(text_[at_])) {
      if (names.front().size() >= kLongestName) {
        return Wrong("a name longer than " + std::to_string(kLongestName) +
                     " characters");
      }
      if (text_[at_] != '[') {
        for (std::string& name : names) {
          name += text_[at_];
        }
        ++at_;
        continue;
      }
      MUSTER_ASSIGN(const auto numbers, Bracket());
      if (names.size() * numbers.size() > kMaxHosts) {
        return TooMany();
      }
      std::vector<std::string> product;
      product.reserve(names.size() * numbers.size());
      for (const std::string& name : names) {
        for (const std::string& number : numbers) {
          product.push_back(name + number);
        }
      }
      names = std::move(product);
    }
    return names;
  }

  // "[1-3,07]"; Slurm itself takes "1-" for 1.
  Result<std::vector<std::string>> Bracket() {
    const std::size_t open = at_++;
    if (at_ < text_.size() && text_[at_] == ']') {
      return Wrong("empty brackets");
    }
    std::vector<std::string> numbers;
    while (true) {
      MUSTER_TRY(Range(numbers));
      if (at_ == text_.size()) {
        at_ = open;
        return Wrong("`[` is not closed");
      }
      if (text_[at_++] == ']') {
        return numbers;
      }
    }
  }

  // White space before a number counts to its width, as for Slurm.
  std::size_t SkipSpace() {
    const std::size_t from = at_;
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) {
      ++at_;
    }
    return at_ - from;
  }

  Result<std::string_view> Digits() {
    const std::size_t from = at_;
    while (at_ < text_.size() && IsDigit(text_[at_])) {
      ++at_;
    }
    if (at_ == from) {
      return Wrong("not a number inside the brackets");
    }
    if (at_ - from > kMaxDigits) {
      at_ = from;
      return Wrong("a number of more than " + std::to_string(kMaxDigits) +
                   " digits");
    }
    return text_.substr(from, at_ - from);
  }

  Status Range(std::vector<std::string>& numbers) {
    const std::size_t from = at_;
    const std::size_t space = SkipSpace();
    if (space > kMaxDigits) {
      return Wrong("white space inside the brackets");
    }
    MUSTER_ASSIGN(const std::string_view low_text, Digits());
    const std::size_t width = low_text.size() + space;
    std::string_view high_text = low_text;
    if (at_ < text_.size() && text_[at_] == '-') {
      ++at_;
      if (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ']') {
        SkipSpace();
        MUSTER_ASSIGN(high_text, Digits());
      }
    }
    if (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ']') {
      return Wrong("an invalid character in a range");
    }
    const auto low = ParseInt(low_text);
    const auto high = ParseInt(high_text);
    if (!low || !high || *high < *low) {
      at_ = from;
      return Wrong("the range is not ascending");
    }
    if (*high - *low >= static_cast<std::int64_t>(kMaxHosts) ||
        numbers.size() > kMaxHosts) {
      return TooMany();
    }
    for (std::int64_t number = *low; number <= *high; ++number) {
      std::string digits = std::to_string(number);
      if (digits.size() < width) {
        digits.insert(0, width - digits.size(), '0');
      }
      numbers.push_back(std::move(digits));
    }
    return Ok();
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Status CheckLength(std::string_view text) {
  if (text.size() > kMaxHostList) {
    return Error(Cause::kClusterSpecInvalid,
                 "a list of " + BytesText(text.size()) + ", the limit is " +
                     BytesText(kMaxHostList));
  }
  return Ok();
}

}  // namespace

Result<std::vector<std::string>> ExpandHostList(std::string_view text) {
  MUSTER_TRY(CheckLength(text));
  return Reader(text).HostList();
}

Result<std::vector<int>> ExpandTasksPerNode(std::string_view text) {
  MUSTER_TRY(CheckLength(text));
  return Reader(Trim(text)).Counts();
}

}  // namespace muster::resolve
