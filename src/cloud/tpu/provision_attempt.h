// SPDX-License-Identifier: Apache-2.0
// One place of a TpuSearch: how far it is there. For tpu_search.cc and
// tpu_hunt.cc.
#pragma once

#include <optional>
#include <string>

#include "cloud/tpu/provisioner.h"

namespace muster::cloud {

enum class Phase { kBegin, kCreating, kQueued, kNode, kRemoving, kOver, kWon };

struct TpuSearch::Hunt {
  Place place;
  MadeTpu made;
  Phase phase = Phase::kBegin;
  Deadline::Clock::time_point due{};
  Duration backoff{};
  int tries = 0, looks = 0, silent = 0;
  bool found_again = false;
  bool doubtful = false;             // an earlier try may have made it
  std::optional<Error> error;        // why it failed last
  std::optional<Error> unreachable;  // it is there, but not reached
  std::optional<TpuRemoval> removal;
  std::string node_name;  // where it is not that of the place
  TpuNode node;
  std::string state;  // that was shown last, since when and when
  Deadline::Clock::time_point since{}, shown{};

  bool HasSomething() const {
    return phase == Phase::kCreating || phase == Phase::kQueued ||
           phase == Phase::kNode || phase == Phase::kRemoving;
  }
};

// "TPU `t` of zone us-west4-a".
std::string PlaceText(const Place& place);

}  // namespace muster::cloud
