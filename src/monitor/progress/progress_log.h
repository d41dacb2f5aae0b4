// SPDX-License-Identifier: Apache-2.0
// The training of a run as it goes: for the live line, the event file and the
// facts.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "monitor/metric/event_file.h"
#include "monitor/progress/training.h"
#include "record/journal.h"
#include "sys/host.h"
#include "wire/agent_messages.h"

namespace muster::monitor {

// One per run; the loop's thread.
class ProgressLog {
 public:
  // The references outlive it. `world_size`: ranks that train.
  ProgressLog(const sys::Host& host, record::Journal& journal, int world_size)
      : host_(host), journal_(journal), world_size_(world_size) {}

  void Begin(int attempt);
  void Observe(const wire::Progress& progress);
  void Exited(const wire::RankExited& exited);
  // The attempt is over: writes what was not written yet.
  void End();

  TrainingView View() const { return training_.View(); }
  // The first failure to write the event file, told once.
  std::optional<Error> TakeFailure();

 private:
  void NoteFirstStep(int rank, WallTime at);
  void WriteScalars(bool at_once);

  const sys::Host& host_;
  record::Journal& journal_;
  int world_size_;
  int attempt_ = 0;
  Training training_;
  std::uint32_t classes_ = 0;
  std::map<int, WallTime> first_steps_;  // by rank
  std::unique_ptr<EventFile> events_;
  std::uint64_t written_step_ = 0;
  sys::Clock::Steady written_at_{};
  bool failed_ = false;
  std::optional<Error> failure_;
};

}  // namespace muster::monitor
