// SPDX-License-Identifier: Apache-2.0
// A command line and the MUSTER_* variables beside it, from words to settings.
// Words end with a line feed; one that begins with `$` is a variable.
#include <map>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/command_line.h"
#include "settings/settings.h"
#include "sys/fake/fake_env.h"
#include "tests/fuzz/fuzz.h"

void Fuzz(const std::string& bytes) {
  std::vector<std::string> args;
  muster::sys::FakeEnv env;
  for (const std::string& word : muster::Split(bytes, '\n')) {
    const auto equals = word.find('=');
    if (word.starts_with('$') && equals != std::string::npos) {
      env.variables["MUSTER_" + word.substr(1, equals - 1)] =
          word.substr(equals + 1);
    } else {
      args.push_back(word);
    }
  }
  for (const auto& line : muster::settings::MisspeltVariables(env)) {
    CheckPrintable(muster::Printable(line));
  }
  const auto line = muster::cli::ParseCommandLine(args);
  if (!line) {
    return CheckError(line.error());
  }
  const auto settings = muster::settings::ReadSettings(line->settings, env);
  if (!settings) {
    CheckError(settings.error());
  }
}
