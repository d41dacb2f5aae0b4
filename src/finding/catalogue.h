// SPDX-License-Identifier: Apache-2.0
// The catalog of causes: what `muster explain LABEL` prints and findings take
// their fixes from. Generated from causes/; constant data, any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "finding/finding.h"
#include "muster/cause.h"

namespace muster {

// A fix, least first. {peer} stands for a field of a fact.
struct CatalogueFix {
  std::string_view text;
  std::string_view command;  // empty: none
  Safety safety;
  bool changes_results;
};

// A neighbor, and what one sees when it is that one.
struct RelatedCause {
  Cause cause;
  std::string_view tells;
};

struct CatalogueEntry {
  Cause cause;
  std::string_view since;                     // version of muster
  std::span<const std::string_view> applies;  // tpu, gpu, cpu
  std::span<const std::string_view> match;    // RE2 over lines of logs
  std::span<const std::string_view> facts;    // names of facts that lead here
  std::span<const CatalogueFix> fixes;
  std::span<const RelatedCause> related;
  // Sections, Markdown.
  std::string_view happened;
  std::string_view why;
  std::string_view confirm;
  std::string_view fix;
  std::string_view references;
};

// The command of a fix: {path} becomes the field `path` of the first fact that
// has it, or PATH when none has, or when its value might do something that
// nobody meant when it is pasted.
std::string Filled(std::string_view command, std::span<const Fact> facts = {});

const CatalogueEntry& EntryOf(Cause cause);

std::string_view ToString(Retry retry);  // "needs-change"

// The whole entry for a person, and for `--output json`.
std::string RenderText(const CatalogueEntry& entry);
Json ToJson(const CatalogueEntry& entry);

}  // namespace muster
