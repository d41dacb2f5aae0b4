// SPDX-License-Identifier: Apache-2.0
// Part of finding.h and catalogue.h: findings and entries as text for a person.
#include <algorithm>

#include "base/text.h"
#include "finding/catalogue.h"
#include "finding/finding.h"

namespace muster {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kLabelWidth = 10;
constexpr std::size_t kMinimumText = 30;
constexpr std::size_t kMaximumLines = 5;

// Lines of "  label     text            note": the label once, the text
// wrapped, the note at the right edge.
class Page {
 public:
  explicit Page(const RenderOptions& options) : color_(options.color) {
    const auto width = static_cast<std::size_t>(std::max(options.width, 0));
    width_ = std::max(width, kIndent + kLabelWidth + kMinimumText);
  }

  // Not wrapped: the first line of a finding has to be found by grep.
  void Head(const Finding& finding) {
    const std::string tag = std::string(ToString(finding.severity)) + "[" +
                            std::string(Label(finding.cause)) + "]";
    const char* paint = finding.severity == Severity::kError     ? "\033[1;31m"
                        : finding.severity == Severity::kWarning ? "\033[1;33m"
                                                                 : "\033[1;36m";
    text_ += color_ ? paint + tag + "\033[0m" : tag;
    text_ += " " + Printable(finding.what) + "\n";
  }

  // A note that does not fit beside the end of the text has a line of its own.
  void Row(std::string_view label, std::string_view text,
           std::string_view note = {}) {
    const std::vector<std::string> lines = Wrap(Printable(text), TextWidth());
    const std::string edge = Printable(note);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool last = i + 1 == lines.size();
      Line(i == 0 ? label : "", lines[i], last ? edge : "");
    }
  }

  // A safety on a line of its own would read like another fix.
  void FixRow(std::string_view label, std::string_view text,
              const std::string& safety) {
    std::vector<std::string> lines = Wrap(Printable(text), TextWidth());
    const std::size_t at = PlaceBeside(lines, Columns(safety) + 2);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      Line(i == 0 ? label : "", lines[i], i == at ? safety : "", true);
    }
  }

  std::string Take() { return std::move(text_); }

 private:
  std::size_t TextWidth() const { return width_ - kIndent - kLabelWidth; }

  // The line that has room for so many columns more: the last, from which a
  // word is taken to a further one where it is too long, or one before it. The
  // last where none has.
  std::size_t PlaceBeside(std::vector<std::string>& lines,
                          std::size_t columns) const {
    const auto fits = [&](const std::string& line) {
      return Columns(line) + columns <= TextWidth();
    };
    if (const auto space = lines.back().rfind(' ');
        !fits(lines.back()) && space != std::string::npos) {
      lines.push_back(lines.back().substr(space + 1));
      lines[lines.size() - 2].resize(space);
    }
    const auto found = std::find_if(lines.rbegin(), lines.rend(), fits);
    return found == lines.rend()
               ? lines.size() - 1
               : static_cast<std::size_t>(lines.rend() - found) - 1;
  }

  void Line(std::string_view label, const std::string& text,
            const std::string& note, bool beside = false) {
    std::string line(kIndent, ' ');
    line += label;
    line.append(kLabelWidth - label.size(), ' ');
    line += text;
    if (!note.empty()) {
      const std::size_t used = Columns(line) + Columns(note);
      if (used + 2 > width_ && beside) {
        line += "  " + note;
      } else if (used + 2 > width_) {
        text_ += line + "\n";
        line.assign(kIndent + kLabelWidth, ' ');
        line += note;
      } else {
        line.append(width_ - used, ' ');
        line += note;
      }
    }
    text_ += line + "\n";
  }

  bool color_;
  std::size_t width_ = 0;
  std::string text_;
};

std::string More(std::size_t all) {
  return "and " + std::to_string(all - kMaximumLines) +
         " more (see --output json)";
}

void RowsOf(Page& page, std::string_view label,
            const std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < std::min(lines.size(), kMaximumLines); ++i) {
    page.Row(i == 0 ? label : "", lines[i]);
  }
  if (lines.size() > kMaximumLines) {
    page.Row("", More(lines.size()));
  }
}

void Evidences(Page& page, const std::vector<Evidence>& evidence) {
  for (std::size_t i = 0; i < std::min(evidence.size(), kMaximumLines); ++i) {
    page.Row(i == 0 ? "evidence" : "", evidence[i].what, evidence[i].source);
  }
  if (evidence.size() > kMaximumLines) {
    page.Row("", More(evidence.size()));
  }
}

void Fixes(Page& page, const std::vector<Fix>& fixes) {
  std::string_view label = "fix";
  for (const Fix& fix : fixes) {
    std::string note(ToString(fix.safety));
    note += fix.changes_results ? ", changes results" : "";
    const bool command = !fix.command.empty();
    page.FixRow(label, fix.text + (command ? ": " + fix.command : ""), note);
    label = "";
  }
  if (fixes.empty()) {
    page.Row("fix", "none known");
  }
}

// What a repeat of a run that failed for this cause can do.
std::string_view RetryText(Retry retry) {
  switch (retry) {
    case Retry::kTransient:
      return "yes, it may succeed";
    case Retry::kNeedsChange:
      return "no, change needed";
    case Retry::kNeedsHuman:
      return "no, repair needed";
    case Retry::kBug:
      return "no, it is a bug";
  }
  return "?";
}

std::string_view MeaningOf(Safety safety) {
  switch (safety) {
    case Safety::kSafe:
      return "safe: changes nothing";
    case Safety::kAsks:
      return "asks: changes something of yours";
    case Safety::kCosts:
      return "costs: bills";
  }
  return "?";
}

void Section(std::string& out, std::string_view title, std::string_view text) {
  out += "\n";
  out += title;
  out += "\n";
  for (const std::string& line : Split(text, '\n')) {
    out += line.empty() ? "\n" : "  " + line + "\n";
  }
}

}  // namespace

std::string RenderText(const Finding& finding, const RenderOptions& options) {
  Page page(options);
  page.Head(finding);
  Evidences(page, finding.evidence);
  page.Row("cause", Title(finding.cause), ToString(finding.confidence));
  RowsOf(page, "ruled out", finding.ruled_out);
  RowsOf(page, "victims", finding.victims);
  if (!finding.related.empty()) {
    page.Row("see also", Join(finding.related, ", "));
  }
  Fixes(page, finding.fixes);
  page.Row("more", "muster explain " + std::string(Label(finding.cause)));
  return page.Take();
}

std::string SafetyText(std::span<const Finding> findings,
                       const RenderOptions& options) {
  std::vector<std::string> meanings;
  for (const Safety safety : {Safety::kSafe, Safety::kAsks, Safety::kCosts}) {
    const bool shown = std::any_of(
        findings.begin(), findings.end(), [&](const Finding& finding) {
          return std::any_of(
              finding.fixes.begin(), finding.fixes.end(),
              [&](const Fix& fix) { return fix.safety == safety; });
        });
    if (shown) {
      meanings.emplace_back(MeaningOf(safety));
    }
  }
  Page page(options);
  if (!meanings.empty()) {
    page.Row("safety", Join(meanings, "; "));
  }
  return page.Take();
}

std::string RenderText(std::span<const Finding> findings,
                       const RenderOptions& options) {
  std::string text;
  for (const Finding& finding : findings) {
    text += (text.empty() ? "" : "\n") + RenderText(finding, options);
  }
  return text + SafetyText(findings, options);
}

std::string RenderText(const CatalogueEntry& entry) {
  std::string out(Label(entry.cause));
  out += ": ";
  out += Title(entry.cause);
  out += "\n";
  out += "severity ";
  out += ToString(SeverityOf(entry.cause));
  out += " · retry: ";
  out += RetryText(RetryOf(entry.cause));
  out += " · since ";
  out += entry.since;
  out += "\n";
  Section(out, "What happened", entry.happened);
  Section(out, "Why", entry.why);
  Section(out, "Confirm it yourself", entry.confirm);
  Section(out, "Fix", entry.fix);
  out += "\n";
  for (const CatalogueFix& fix : entry.fixes) {
    out += "  - ";
    out += fix.text;
    if (!fix.command.empty()) {
      out += ": ";
      out += Filled(fix.command);
    }
    out += " (";
    out += ToString(fix.safety);
    out += fix.changes_results ? ", changes results)\n" : ")\n";
  }
  Section(out, "References", entry.references);
  if (!entry.related.empty()) {
    out += "\nIt is another cause if\n";
    for (const RelatedCause& related : entry.related) {
      out += "  - " + std::string(Label(related.cause)) + ": " +
             std::string(related.tells) + "\n";
    }
  }
  return out;
}

}  // namespace muster
