// SPDX-License-Identifier: Apache-2.0
// Graphs of TensorFlow, binary and text: whatever is read can be judged, every
// refusal has a cause, and what is told is safe for a terminal.
#include <string>

#include "base/text.h"
#include "program/graph/judge.h"
#include "program/graph/text_graph.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace muster;

void CheckJudgement(const muster::program::graph::Judgement& judgement) {
  MUSTER_CHECK(!judgement.judged.empty());
  for (const Finding& finding : judgement.findings) {
    MUSTER_CHECK(!finding.evidence.empty());
    MUSTER_CHECK(Printable(finding.what) == finding.what);
    for (const Evidence& evidence : finding.evidence) {
      MUSTER_CHECK(Printable(evidence.what) == evidence.what);
    }
  }
  for (const std::string& note : judgement.notes) {
    MUSTER_CHECK(Printable(note) == note);
  }
}

void ReadAndJudge(const std::string& bytes) {
  const auto file = muster::program::graph::ReadGraphFile(bytes);
  if (!file) {
    MUSTER_CHECK(file.error().cause() == Cause::kFileCorrupt);
    return;
  }
  for (const char* name : {"", "serving_default", "f"}) {
    const auto judgement = muster::program::graph::JudgeGraph(*file, name);
    if (judgement) {
      CheckJudgement(*judgement);
    } else {
      MUSTER_CHECK(judgement.error().cause() == Cause::kUsageInvalid);
    }
  }
}

}  // namespace

void Fuzz(const std::string& bytes) {
  ReadAndJudge(bytes);
  for (const auto form : {muster::program::graph::Form::kGraphDef,
                          muster::program::graph::Form::kSavedModel}) {
    if (const auto binary = muster::program::graph::BytesOfText(bytes, form);
        binary && !binary->empty()) {
      ReadAndJudge(*binary);
    }
  }
}
