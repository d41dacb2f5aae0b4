// SPDX-License-Identifier: Apache-2.0
// How every sub-command answers: results on stdout, errors as findings.
#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "finding/finding.h"
#include "muster/error.h"
#include "sys/env.h"

namespace muster::sys {

// Writes a result: the text, or the JSON document and nothing else. Whether all
// could be written tells ResultsWritten. Of a page only its lines and colors
// reach the terminal as they are (TextForm::kPage), whoever composed it.
void PrintResult(std::string_view page);
void PrintDocument(const Json& document);
// disk-full and so on: some result was lost. A reader that closed the pipe has
// what it wants.
Status ResultsWritten();

// Writes to stderr what stands beside a result that a shell or a program reads.
void PrintAside(std::string_view page);

// Width and color of what is written to `fd`: COLUMNS, or else the terminal's
// own width, NO_COLOR and CLICOLOR_FORCE.
RenderOptions TerminalOptions(const Env& env, int fd);

// The catalog knows the program's help: makes it that of the sub-command.
void NameHelpOf(std::string_view verb, Finding& finding);

// Writes the error as a finding: text to stderr (of usage-invalid in two
// lines), or its document to stdout. Returns the exit code of the sub-command,
// whose path is `verb`; finding/exit_code.h.
int PrintError(const Error& error, bool json, const Env& env,
               std::string_view verb = "");

}  // namespace muster::sys
