// SPDX-License-Identifier: Apache-2.0
#include "diagnose/match/line_pattern.h"

#include <re2/re2.h>

#include <utility>

namespace muster::diagnose {

Result<LinePattern> LinePattern::Make(const std::string& pattern,
                                      std::string_view flag) {
  RE2::Options options(RE2::Quiet);
  options.set_encoding(RE2::Options::EncodingLatin1);
  auto regex = std::make_shared<const RE2>(pattern, options);
  if (!regex->ok()) {
    return Error(Cause::kUsageInvalid,
                 "the pattern of " + std::string(flag) +
                     " does not compile: " + regex->error());
  }
  return LinePattern(std::move(regex));
}

LinePattern::LinePattern(std::shared_ptr<const re2::RE2> regex)
    : regex_(std::move(regex)) {}

bool LinePattern::IsIn(std::string_view line) const {
  return RE2::PartialMatch({line.data(), line.size()}, *regex_);
}

}  // namespace muster::diagnose
