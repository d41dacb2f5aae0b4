// SPDX-License-Identifier: Apache-2.0
// Which causes of the catalog speak in the words of a text: for texts that no
// rule knows. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "muster/cause.h"

namespace muster::diagnose {

struct Nearness {
  Cause cause{};
  double score = 0;
  std::vector<std::string> words;  // shared ones that weigh most, at most six
};

// The causes that share words with `text`, the nearest first. A cause is one
// document of its title, its page, and the texts known of it; the score is BM25
// (Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and
// Beyond, 2009; k1 = 1.2, b = 0.75) with each word of `text` counted once.
// Causes that only muster itself reports are left out.
std::vector<Nearness> SimilarCauses(std::string_view text);

}  // namespace muster::diagnose
