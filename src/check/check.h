// SPDX-License-Identifier: Apache-2.0
// What a check is. Adding one: a file NAME.cc in checks/ that defines
// muster::check::NAME::kCheck; the build finds it by its name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "check/context.h"
#include "finding/finding.h"
#include "finding/outcome.h"
#include "muster/deadline.h"

namespace muster::check {

using muster::ToString;  // those declared here do not hide it

// What one answer holds for.
enum class Scope { kCluster, kHost };

// Whether `muster run` makes it before ranks start.
enum class BeforeRun { kAlways, kSeveralHosts, kNever };

// The way out that belongs to a check, printed before those of the catalogue.
struct Remedy {
  std::string_view text;  // empty: the catalogue's are enough
  std::string_view command;
  Safety safety = Safety::kAsks;
};

struct Check {
  std::string_view id;     // "network.ports": group, dot, name
  std::string_view title;  // in the positive: "ports of this run are free"
  std::string_view needs;  // ids of checks, comma separated: else skipped
  Scope scope = Scope::kHost;
  // It may wait for something outside of this process: a network disk, a name
  // server. Then it runs in a child that is ended at the deadline.
  bool may_wait = false;
  // Made only where it, its group or a flag of its own asks for it: it loads
  // what others use, or needs what is rarely there.
  bool on_request = false;
  // What it sees tells of a failure that has happened: `muster explain
  // --inspect-host` makes it.
  bool after_failure = false;
  Duration deadline = std::chrono::seconds(5);
  Severity severity = Severity::kError;  // the worst that it can find
  Remedy fix;
  BeforeRun before_run = BeforeRun::kAlways;
  Outcome (*run)(const Context& context);

  std::string_view group() const { return id.substr(0, id.find('.')); }
};

// All of checks/, by id.
std::span<const Check* const> AllChecks();

std::string_view ToString(Scope scope);

// One thing that a check saw, with its source: "/proc/self/limits". Fields are
// what the catalogue's commands may name ({path}, {pid}).
struct Seen {
  std::string what;
  std::string source;
  std::map<std::string, FactValue> fields;
};
Finding MakeProblem(const Context& context, Cause cause, std::string what,
                    const std::vector<Seen>& seen,
                    Confidence confidence = Confidence::kCertain);

}  // namespace muster::check
