// SPDX-License-Identifier: Apache-2.0
// The help of the command line: what is said of a sub-command beside its flags,
// which describe themselves where they are declared. Main thread.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <span>

#include "cli/command_line.h"

namespace muster::cli {

struct VerbText {
  Verb verb;
  const char* name;
  const char* summary;  // one line
  const char* details;  // what it does, examples, exit codes: up to 80 columns
};
std::span<const VerbText> VerbTexts();  // in the order of the overview
const char* OverviewText();

// Renders an App at 80 columns. Of a sub-command, its description is the
// summary and its footer the details.
std::shared_ptr<CLI::FormatterBase> MakeHelpFormatter();

}  // namespace muster::cli
