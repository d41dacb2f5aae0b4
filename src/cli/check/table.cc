// SPDX-License-Identifier: Apache-2.0
#include "cli/check/table.h"

#include <vector>

#include "base/text.h"

namespace muster::cli {
namespace {

// A column that is narrower does not stand beside the others.
constexpr std::size_t kMinColumn = 30;

struct Mark {
  std::string_view word;  // readable without color
  std::string_view paint;
};

Mark MarkOf(OutcomeState state) {
  switch (state) {
    case OutcomeState::kPass:
      return {"ok", "\033[32m"};
    case OutcomeState::kWarn:
      return {"warn", "\033[1;33m"};
    case OutcomeState::kFail:
      return {"FAIL", "\033[1;31m"};
    case OutcomeState::kSkip:
      return {"skip", "\033[2m"};
    case OutcomeState::kBroken:
      return {"broken", "\033[1;35m"};
  }
  return {"?", ""};
}

// `first`, then the text in a column that begins at `indent`.
std::string Wrapped(const std::string& first, const std::string& text,
                    std::size_t indent, std::size_t width) {
  std::string out;
  for (const std::string& line : Wrap(text, width - indent)) {
    out += (out.empty() ? first : std::string(indent, ' ')) + line + "\n";
  }
  return out;
}

std::string DetailOf(const check::Answer& answer) {
  std::vector<std::string> causes;
  for (const Finding& finding : answer.outcome.findings) {
    causes.emplace_back(Label(finding.cause));
  }
  return causes.empty() ? Printable(answer.outcome.detail) : Join(causes, ", ");
}

}  // namespace

std::string Cell(std::string_view text, std::size_t width) {
  std::string cell(text);
  cell.append(cell.size() < width ? width - cell.size() : 1, ' ');
  return cell;
}

std::string RowsOf(const check::Answer& answer, const TableOptions& options) {
  const auto [word, paint] = MarkOf(answer.outcome.state);
  const std::string cell = Cell(word, kMarkWidth);
  std::string head = options.color ? std::string(paint) + std::string(word) +
                                         "\033[0m" + cell.substr(word.size())
                                   : cell;
  head += Cell(answer.check->id, kIdWidth);
  const std::string detail = DetailOf(answer);
  const std::string below(kMarkWidth, ' ');
  constexpr std::size_t kColumn = kMarkWidth + kIdWidth;
  std::string text;
  if (options.width == 0 || kColumn + Columns(detail) <= options.width) {
    text = head + detail + "\n";
  } else if (kColumn + kMinColumn <= options.width) {
    text = Wrapped(head, detail, kColumn, options.width);
  } else {
    head.resize(head.find_last_not_of(' ') + 1);
    text = head + "\n" + Wrapped(below, detail, kMarkWidth, options.width);
  }
  for (const std::string& one : answer.outcome.lines) {
    const std::string line = Printable(one);
    text += options.width == 0 || kMarkWidth + Columns(line) <= options.width
                ? below + line + "\n"
                : Wrapped(below, line, kMarkWidth + 2, options.width);
  }
  return text;
}

}  // namespace muster::cli
