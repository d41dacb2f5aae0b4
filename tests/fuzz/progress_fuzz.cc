// SPDX-License-Identifier: Apache-2.0
// The progress page as ranks may have written it: two samples of two slots of
// a page with any bytes, through the messages, the watchdog, the live line,
// the facts and the report.
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "base/json.h"
#include "monitor/progress/live_line.h"
#include "monitor/progress/training.h"
#include "monitor/progress/training_findings.h"
#include "monitor/stall/watchdog.h"
#include "record/events.h"
#include "record/report.h"
#include "tests/fuzz/fuzz.h"
#include "wire/agent_messages.h"
#include "wire/progress_page.h"

namespace {

using namespace muster;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kSlots = 4;

wire::Progress SampleOf(const wire::ProgressSlot* slots, std::int64_t now_ns) {
  wire::Progress progress{.now_ns = now_ns};
  for (int rank = 0; rank < 2; ++rank) {
    progress.ranks.push_back(
        {.rank = rank, .progress = ReadSlot(slots[rank]), .state = 'S'});
  }
  // What is sent arrives as it was.
  const auto sent = wire::Encode(progress);
  const auto came = wire::ParseToCoordinator(sent);
  MUSTER_CHECK(came &&
               wire::Encode(std::get<wire::Progress>(*came)).body == sent.body);
  return progress;
}

void Watch(const wire::Progress& before, const wire::Progress& now) {
  monitor::Watchdog watchdog({});
  watchdog.Observe(before);
  watchdog.Observe(now);
  // Whatever the page says, a limit is one that passes.
  for (const auto phase : {wire::Phase::kStart, wire::Phase::kStep}) {
    const auto limit = watchdog.Limit(phase);
    MUSTER_CHECK(limit && *limit >= std::chrono::seconds(10) &&
                 *limit <= std::chrono::hours(24 * 365));
  }
  if (const auto found = watchdog.Check()) {
    MUSTER_CHECK(found->culprits > 0 && found->culprits <= found->ranks.size());
    CheckPrintable(found->why);
  }
}

void Train(const wire::Progress& before, const wire::Progress& now) {
  monitor::Training training;
  for (const auto& [sample, at] : {std::pair(&before, 1), std::pair(&now, 2)}) {
    for (const wire::RankSample& rank : sample->ranks) {
      training.Observe(rank.rank, rank.progress,
                       sys::Clock::Steady(std::chrono::seconds(at)));
    }
  }
  const std::string line = monitor::LiveText(training.View(), {.running = 2});
  CheckPrintable(line);
  MUSTER_CHECK(line.size() < 512);
}

void Report(const wire::Progress& progress) {
  std::vector<Fact> facts;
  for (const wire::RankSample& sample : progress.ranks) {
    facts.push_back(record::ExitedFact(
        {.rank = sample.rank, .pid = 7, .progress = sample.progress}));
    const auto again = FactFromJson(
        *ParseJson(Dump(ToJson(facts.back())), Cause::kFileCorrupt, "again"));
    MUSTER_CHECK(again && ToJson(*again) == ToJson(facts.back()));
  }
  CheckPrintable(record::RenderReport(record::BuildReport(facts)));
  for (const Finding& finding : monitor::JudgeTraining(facts)) {
    CheckPrintable(RenderText(finding, {}));
  }
}

}  // namespace

void Fuzz(const std::string& bytes) {
  alignas(wire::ProgressSlot)
      std::array<std::byte, kSlots * sizeof(wire::ProgressSlot)>
          page{};
  std::memcpy(page.data(), bytes.data(), std::min(bytes.size(), page.size()));
  const auto* slots = reinterpret_cast<const wire::ProgressSlot*>(page.data());
  const wire::Progress before = SampleOf(slots, 0);
  const wire::Progress now = SampleOf(slots + 2, 1'000'000'000);
  Watch(before, now);
  Train(before, now);
  Report(now);
  wire::ProgressPage whole;
  std::uint32_t stop = 0;
  std::memcpy(&stop, page.data(), sizeof stop);
  whole.stop = stop;
  if (const auto reason = StopReason(whole)) {
    CheckError(*reason);
  }
}
