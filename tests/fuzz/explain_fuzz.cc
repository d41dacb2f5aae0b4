// SPDX-License-Identifier: Apache-2.0
// Logs of any kind, from the first byte to the verdict: unpacking, scanning,
// facts and rules. The first byte picks the name of the file and the size of
// the pieces.
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "diagnose/match/log_scanner.h"
#include "diagnose/read/byte_sink.h"
#include "diagnose/verdict/answer.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace muster;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kMaxFacts = 100'000;

void CheckPrintable(std::string_view text) {
  for (const char c : text) {
    MUSTER_CHECK(c == '\n' || c == '\t' ||
                 static_cast<unsigned char>(c) >= 0x20);
  }
}

std::vector<Fact> FactsOf(std::string_view bytes, const std::string& name,
                          std::size_t piece) {
  static const muster::diagnose::Matcher kMatcher;
  muster::diagnose::LogScanner scanner(kMatcher);
  std::vector<std::string> notes;
  const auto unpacker = muster::diagnose::MakeUnpacker(
      name, {.scanner = &scanner, .notes = &notes});
  for (std::size_t i = 0; i < bytes.size(); i += piece) {
    unpacker->Feed(bytes.substr(i, piece));
  }
  unpacker->End();
  return scanner.TakeFacts();
}

}  // namespace

void Fuzz(const std::string& bytes) {
  if (bytes.empty()) {
    return;
  }
  const auto first = static_cast<unsigned char>(bytes[0]);
  const std::string name = (first & 1U) != 0 ? "rank3.ipynb" : "worker-1.log";
  const std::size_t piece = 1 + (first >> 1U);
  auto facts = FactsOf(std::string_view(bytes).substr(1), name, piece);
  MUSTER_CHECK(facts.size() < kMaxFacts);
  const muster::diagnose::Answer answer =
      muster::diagnose::Explain(std::move(facts));
  MUSTER_CHECK((answer.kind == muster::diagnose::AnswerKind::kCause) ==
               !answer.findings.empty());
  CheckPrintable(RenderText(answer, {}));
  static_cast<void>(Dump(ToJson(answer)));
}
