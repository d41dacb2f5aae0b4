// SPDX-License-Identifier: Apache-2.0
#include "diagnose/derive/derive_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>

#include "base/text.h"
#include "diagnose/derive/derive_parts.h"

namespace muster::diagnose {
namespace {

// How many classes or words a task usually has: a few, then CIFAR-100,
// ImageNet, and the vocabularies of BERT, Llama and GPT-2.
constexpr double kFewClasses = 20;
constexpr double kManyClasses[] = {100,   101,   1000,  1001,
                                   30522, 32000, 50257, 50304};
constexpr double kNear = .001;  // of the value: what rounding and noise change

// Reports of one value until it is taken for constant: of an epoch each, or of
// a few steps each.
constexpr std::size_t kEpochs = 3;
constexpr std::size_t kReports = 8;

// Without a number of cores no host is known to have as many.
constexpr std::int64_t kMaxCores = 512;

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// The number that stands first in the text, past quotes and signs.
std::optional<double> NumberAtBegin(std::string_view text) {
  const std::size_t begin = text.find_first_not_of("\"' :=([#");
  if (begin == std::string_view::npos || begin == 0 || !IsDigit(text[begin])) {
    return std::nullopt;
  }
  double value = 0;
  std::from_chars(text.data() + begin, text.data() + text.size(), value,
                  std::chars_format::fixed);
  return value;
}

// The number right after a name: `"loss": 2.3026`, "loss=0.69", "epoch [3]".
std::optional<double> ValueAfter(std::string_view line, std::string_view name) {
  const std::size_t found = line.find(name);
  return found == std::string_view::npos
             ? std::nullopt
             : NumberAtBegin(line.substr(found + name.size()));
}

// "[14/5005]", "49/    1000": true where less than a tenth of the whole is
// done.
bool IsEarly(std::string_view line) {
  const std::size_t slash = line.find('/');
  if (slash == std::string_view::npos) {
    return false;
  }
  const std::size_t begin =
      line.find_last_not_of("0123456789", slash - 1) + 1;  // npos + 1 is 0
  std::string_view behind = line.substr(slash + 1);
  behind.remove_prefix(std::min(behind.find_first_not_of(' '), behind.size()));
  const auto done = ParseInt(line.substr(begin, slash - begin));
  const auto whole =
      ParseInt(behind.substr(0, behind.find_first_not_of("0123456789")));
  return slash > 0 && done && whole && *done < *whole / 10;
}

struct Reports {
  std::vector<double> values;
  std::vector<double> epochs;
  std::string last;              // line
  std::int64_t lines_after = 0;  // of it

  // True when there are enough to call them constant, if all are alike: a loss
  // begins as that of a guess.
  bool Enough() const {
    const bool other_epoch = !epochs.empty() &&
                             epochs.size() == values.size() &&
                             epochs.front() != epochs.back();
    return other_epoch ? values.size() >= kEpochs
                       : values.size() >= kReports && !IsEarly(last);
  }
};

Reports ReportsOf(const std::vector<std::string>& lines,
                  std::string_view name) {
  Reports reports;
  for (const std::string& line : lines) {
    ++reports.lines_after;
    const std::string lower = Lower(line);
    if (const auto value = ValueAfter(lower, name)) {
      reports.values.push_back(*value);
      reports.last = line;
      reports.lines_after = 0;
      if (const auto epoch = ValueAfter(lower, "epoch")) {
        reports.epochs.push_back(*epoch);
      }
    }
  }
  return reports;
}

bool AllNear(std::span<const double> values, double classes) {
  const double chance = std::log(classes);
  return std::all_of(values.begin(), values.end(), [&](double value) {
    return std::abs(value - chance) <= kNear * chance;
  });
}

// Cross-entropy of a guess among so many classes is the logarithm of their
// number. observe::IsChance allows more: it is told how many there are.
bool IsOfChance(std::span<const double> values) {
  if (values.size() > kEpochs) {
    values = values.subspan(1);  // a run may begin worse than a guess
  }
  for (double classes = 2; classes <= kFewClasses; ++classes) {
    if (AllNear(values, classes)) {
      return true;
    }
  }
  return std::any_of(std::begin(kManyClasses), std::end(kManyClasses),
                     [&](double classes) { return AllNear(values, classes); });
}

void AddReported(std::vector<Fact>& facts, const Fact& end,
                 const Reports& reports, std::string name) {
  Fact fact = end;
  fact.name = std::move(name);
  const std::int64_t line = end.Number("line", 0) - reports.lines_after;
  fact.by = end.Text("source") + ":" + std::to_string(line);
  fact.fields["line"] = line;
  fact.fields["text"] = std::string(Trim(reports.last));
  fact.fields["times"] = static_cast<std::int64_t>(reports.values.size());
  facts.push_back(std::move(fact));
}

// The last lines of a log: a loss that is that of a guess, epoch after epoch,
// and gradients that are all zero.
void CompareReports(std::vector<Fact>& facts) {
  const std::vector<Fact> seen = facts;
  for (const Fact& end : seen) {
    if (end.name != "log.end") {
      continue;
    }
    const auto lines = Split(end.Text("text"), '\n');
    if (const Reports loss = ReportsOf(lines, "loss");
        loss.Enough() && IsOfChance(loss.values)) {
      AddReported(facts, end, loss, "numbers.loss_of_chance");
    }
    for (const std::string_view name : {"grad_norm", "grad norm"}) {
      const Reports norm = ReportsOf(lines, name);
      if (norm.Enough() &&
          std::all_of(norm.values.begin(), norm.values.end(),
                      [](double value) { return value == 0; })) {
        AddReported(facts, end, norm, "numbers.gradient_zero");
      }
    }
  }
}

// "load average: 402.11" against the cores that the host is said to have.
void CompareLoad(std::vector<Fact>& facts) {
  const auto load = NumberOf(facts, "host.load", "value");
  const auto cores = NumberOf(facts, "host.cores", "value");
  if (load && *load >= (cores ? *cores * 2 : kMaxCores)) {
    AddOn(facts, Fact(*FirstOf(facts, "host.load")),
          "numbers.load_above_cores");
  }
}

}  // namespace

void CompareValues(std::vector<Fact>& facts) {
  CompareReports(facts);
  CompareLoad(facts);
}

}  // namespace muster::diagnose
