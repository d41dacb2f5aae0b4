// SPDX-License-Identifier: Apache-2.0
#include "diagnose/match/rank_pattern.h"

#include <re2/re2.h>

#include <utility>

namespace muster::diagnose {

Result<RankPattern> RankPattern::Make(const std::string& pattern) {
  RE2::Options options(RE2::Quiet);
  options.set_encoding(RE2::Options::EncodingLatin1);
  auto regex = std::make_shared<const RE2>(pattern, options);
  if (!regex->ok()) {
    return Error(
        Cause::kUsageInvalid,
        "the pattern of --rank-from does not compile: " + regex->error());
  }
  if (regex->NumberOfCapturingGroups() == 0) {
    return Error(Cause::kUsageInvalid,
                 "the pattern of --rank-from has no group for the rank, such "
                 "as worker-(\\d+)");
  }
  return RankPattern(std::move(regex));
}

RankPattern::RankPattern(std::shared_ptr<const re2::RE2> regex)
    : regex_(std::move(regex)) {}

int RankPattern::RankOf(std::string_view text) const {
  int rank = -1;
  return RE2::PartialMatch({text.data(), text.size()}, *regex_, &rank) ? rank
                                                                       : -1;
}

}  // namespace muster::diagnose
