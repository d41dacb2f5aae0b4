// SPDX-License-Identifier: Apache-2.0
// How every sub-command answers: results on stdout, errors as findings, and the
// exit code.
#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "finding/finding.h"
#include "muster/error.h"
#include "settings/settings.h"
#include "sys/env.h"

namespace muster::cli {

// Writes a result: the text, or the JSON document and nothing else. Whether all
// could be written tells ResultsWritten.
void PrintResult(std::string_view text);
void PrintDocument(const Json& document);
// disk-full and so on: some result was lost. A reader that closed the pipe has
// what it wants.
Status ResultsWritten();

// Writes to stderr what stands beside a result that a shell or a program reads.
void PrintAside(std::string_view text);

// Width and colour as the terminal, COLUMNS, NO_COLOR and CLICOLOR_FORCE say.
RenderOptions TerminalOptions(const sys::Env& env, int fd);

// The catalogue knows the program's help: makes it that of the sub-command.
void NameHelpOf(std::string_view verb, Finding& finding);

// Writes the error as a finding: text to stderr, or its document to stdout.
// Returns the exit code of the sub-command; of none when `verb` is empty.
int PrintError(const Error& error, Output output, const sys::Env& env,
               std::string_view verb = "");

// 0: good; 1: refused; 2: usage; 3: no answer could be had; 75: no capacity or
// quota now.
int TpuExitCode(Cause cause);

// 2 for a wrong command line, setting or description of the cluster; 126 or 127
// for a program that cannot be started; 130 for cancelled; 125 for a bug of
// ours. What else it is says the sub-command: of run 125, it could not be set
// up; of check and explain 3, it could not find out; of the others what
// TpuExitCode says.
int ExitCodeOf(const Error& error, std::string_view verb);

}  // namespace muster::cli
