// SPDX-License-Identifier: Apache-2.0
// Logs of any kind, from the first byte to the verdict: unpacking, scanning,
// reports of runs, facts and rules. The first byte picks the name of the file,
// whether somebody named it, how its ranks are told and the size of the pieces.
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "diagnose/match/log_scanner.h"
#include "diagnose/match/rank_pattern.h"
#include "diagnose/read/byte_sink.h"
#include "diagnose/verdict/answer.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace muster;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kMaxFacts = 100'000;

constexpr std::size_t kMaxNotes = 1000;
constexpr std::size_t kMaxNote = 4096;

// As a user sees them, each in a line.
void CheckNotes(const std::vector<std::string>& notes) {
  MUSTER_CHECK(notes.size() <= kMaxNotes);
  for (const std::string& note : notes) {
    MUSTER_CHECK(!note.empty() && note.size() <= kMaxNote);
    const std::string shown = Printable(note);
    MUSTER_CHECK(shown.find('\n') == std::string::npos);
    CheckPrintable(shown);
  }
}

std::vector<Fact> FactsOf(std::string_view bytes, unsigned first) {
  static const muster::diagnose::Matcher kMatcher;
  static const auto kRankFrom =
      muster::diagnose::RankPattern::Make("(?:rank|worker)[-= ]?(\\d+)");
  muster::diagnose::LogScanner scanner(kMatcher);
  std::vector<std::string> notes;
  std::vector<std::string> skipped;
  std::vector<Finding> reported;
  std::vector<Fact> ends;
  muster::diagnose::Budget budget{.left = std::uint64_t{1} << 20,
                                  .members = 50};
  std::uint64_t read = 0;
  const auto unpacker = muster::diagnose::MakeUnpacker(
      (first & 1U) != 0 ? "rank3.ipynb" : "worker-1.log",
      {.scanner = &scanner,
       .rank_from = (first & 4U) != 0 ? &*kRankFrom : nullptr,
       .only_text = (first & 2U) != 0,
       .notes = &notes,
       .skipped = &skipped,
       .budget = &budget,
       .reported = &reported,
       .ends = &ends,
       .read = &read});
  const std::size_t piece = 1 + (first >> 3U);
  for (std::size_t i = 0; i < bytes.size(); i += piece) {
    unpacker->Feed(bytes.substr(i, piece));
  }
  unpacker->End();
  CheckNotes(notes);
  CheckNotes(skipped);
  for (const Finding& finding : reported) {
    CheckPrintable(RenderText(finding, {}));
  }
  auto facts = scanner.TakeFacts();
  facts.insert(facts.end(), ends.begin(), ends.end());
  return facts;
}

}  // namespace

void Fuzz(const std::string& bytes) {
  if (bytes.empty()) {
    return;
  }
  const auto first = static_cast<unsigned char>(bytes[0]);
  auto facts = FactsOf(std::string_view(bytes).substr(1), first);
  MUSTER_CHECK(facts.size() < kMaxFacts);
  const muster::diagnose::Answer answer =
      muster::diagnose::Explain(std::move(facts));
  MUSTER_CHECK((answer.kind == muster::diagnose::AnswerKind::kCause) ==
               !answer.findings.empty());
  CheckPrintable(RenderText(answer, {}));
  static_cast<void>(Dump(ToJson(answer)));
}
