// SPDX-License-Identifier: Apache-2.0
// The format of a case's text: what programs printed, with descriptions of the
// reporter between.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::corpus {

// "(it hangs after the first epoch)", and "(symptom) it hangs": a line wholly
// in parentheses, but for what programs print of values, or one that begins
// with
// "(symptom)".
bool IsDescription(std::string_view line);

struct CaseText {
  std::string log;
  std::vector<std::string> notes;  // the descriptions, without parentheses
};
CaseText SplitCase(std::string_view text);

}  // namespace muster::corpus
