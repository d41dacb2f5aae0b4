// SPDX-License-Identifier: Apache-2.0
#include "resolve/resolve.h"

#include "base/json.h"
#include "cli/answer.h"
#include "cli/verbs.h"

namespace muster::cli {

Status ResolveVerb(const CommandLine& line, const Settings& settings,
                   const sys::Host& host) {
  MUSTER_ASSIGN(const auto resolved, resolve::Resolve(line.cluster, host));
  if (settings.output.value == Output::kJson) {
    PrintDocument(resolve::ToJson(resolved));
    return Ok();
  }
  std::string text = resolve::RenderText(resolved);
  for (const Finding& finding : resolved.findings) {
    text += "\n" + RenderText(finding, TerminalOptions(host.env, 1));
  }
  PrintResult(text);
  return Ok();
}

}  // namespace muster::cli
