// SPDX-License-Identifier: Apache-2.0
#include "collective/calls.h"

#include <cstddef>

#include "base/text.h"

namespace muster {
namespace {

std::string_view NameOf(CallKind kind) {
  switch (kind) {
    case CallKind::kNone:
      return "nothing";
    case CallKind::kAllReduce:
      return "all-reduce";
    case CallKind::kBroadcast:
      return "broadcast";
    case CallKind::kAllGather:
      return "all-gather";
    case CallKind::kBarrier:
      return "barrier";
  }
  return "an unknown operation";
}

// Another rank's record is only bytes: its type may be no type of ours.
std::string_view SafeText(DType dtype) {
  return dtype <= DType::kBool ? ToString(dtype)
                               : "elements of an unknown type";
}

std::string Numbered(const CallRecord& call) {
  return Describe(call) + " (operation " + std::to_string(call.sequence) + ")";
}

bool SameArea(const CallRecord& a, const CallRecord& b) {
  // Staged data lie wherever there was room; so may those of other operations.
  return a.kind != CallKind::kAllReduce || a.staged || b.staged ||
         a.offset == b.offset;
}

Error Mismatch(Cause cause, std::span<const CallRecord> calls,
               std::size_t rank) {
  std::string what = "rank 0 calls " + Numbered(calls[0]) + ", rank " +
                     std::to_string(rank) + " calls " + Numbered(calls[rank]);
  if (!SameArea(calls[0], calls[rank])) {
    what += ", with different buffers (at " + std::to_string(calls[0].offset) +
            " and at " + std::to_string(calls[rank].offset) + ")";
  }
  return Error(cause, std::move(what));
}

}  // namespace

std::string Describe(const CallRecord& call) {
  std::string text(NameOf(call.kind));
  if (call.kind == CallKind::kBarrier || call.kind == CallKind::kNone) {
    return text;
  }
  text += " of " + std::to_string(call.count) + " " +
          std::string(SafeText(call.dtype));
  if (call.kind == CallKind::kBroadcast) {
    text += " from rank " + std::to_string(call.root);
  }
  if (call.check_finite) {
    text += ", checked";
  }
  return text;
}

std::optional<Error> FindMismatch(std::span<const CallRecord> calls) {
  const CallRecord& mine = calls[0];
  for (std::size_t rank = 1; rank < calls.size(); ++rank) {
    const CallRecord& other = calls[rank];
    if (other.sequence != mine.sequence || other.kind != mine.kind) {
      return Mismatch(Cause::kCollectiveDesync, calls, rank);
    }
    if (other.dtype != mine.dtype || other.count != mine.count ||
        other.root != mine.root || other.check_finite != mine.check_finite) {
      return Mismatch(Cause::kCollectiveShapeMismatch, calls, rank);
    }
    if (!SameArea(mine, other)) {
      return Mismatch(Cause::kCollectiveDesync, calls, rank);
    }
  }
  return std::nullopt;
}

Error DeadlineError(const CallRecord& call, const Lateness& lateness) {
  const bool one = lateness.late.size() == 1;
  const std::string who = RanksText(lateness.late);
  const std::string what = who + (one ? " has" : " have") +
                           (lateness.stuck ? " entered but not completed the "
                                           : " not entered the ") +
                           Numbered(call) + " within " +
                           ToString(lateness.waited);
  return Error(Cause::kDeadlineExceeded, what)
      .With({.name = lateness.stuck ? "collective.stuck" : "collective.missing",
             .fields = {{"operation", Describe(call)},
                        {"sequence", static_cast<std::int64_t>(call.sequence)},
                        {"ranks", who}},
             .subject = who});
}

Error NotFiniteError(const CallRecord& call, int rank, int size) {
  if (rank >= size) {
    return Error(Cause::kNumericsNan, "the sum over " + Count(size, "rank") +
                                          " overflowed in " + Numbered(call));
  }
  const std::string who = "rank " + std::to_string(rank);
  return Error(Cause::kNumericsNan,
               who + " is the first with a NaN or infinite input in " +
                   Numbered(call))
      .With({.name = "collective.not_finite",
             .fields = {{"rank", std::int64_t{rank}},
                        {"sequence", static_cast<std::int64_t>(call.sequence)}},
             .subject = who});
}

}  // namespace muster
