// SPDX-License-Identifier: Apache-2.0
#include "resolve/formats/node_range.h"

#include "base/text.h"

namespace muster::resolve {
namespace {

Error WrongRange(std::string_view text, std::size_t at,
                 const std::string& what) {
  return Error(Cause::kClusterSpecInvalid,
               "the number of nodes is `" + Printable(text.substr(0, 200)) +
                   "`, " + what + " at position " + std::to_string(at + 1));
}

}  // namespace

Result<NodeRange> ParseNodeRange(std::string_view text) {
  const auto colon = text.find(':');
  NodeRange range;
  std::size_t at = 0;
  for (int* bound : {&range.least, &range.most}) {
    const auto end = bound == &range.least ? colon : std::string_view::npos;
    const auto number = ParseInt(Trim(
        text.substr(at, end == std::string_view::npos ? std::string_view::npos
                                                      : end - at)));
    if (!number || *number < 0 || *number > 1'000'000) {
      return WrongRange(text, at, "expected N or MIN:MAX");
    }
    *bound = static_cast<int>(*number);
    if (colon == std::string_view::npos) {
      range.most = range.least;
      break;
    }
    at = colon + 1;
  }
  if (range.most < range.least || range.most < 1) {
    return WrongRange(text, at, "its MAX is below MIN or 0");
  }
  return range;
}

}  // namespace muster::resolve
