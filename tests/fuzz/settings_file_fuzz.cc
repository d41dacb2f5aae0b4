// SPDX-License-Identifier: Apache-2.0
// A muster.toml, from bytes to settings.
#include <string>

#include "base/text.h"
#include "settings/settings.h"
#include "settings/settings_file.h"
#include "sys/fake/fake_env.h"
#include "tests/fuzz/fuzz.h"

void Fuzz(const std::string& bytes) {
  const auto file = muster::settings::ParseSettingsFile(bytes, "muster.toml");
  if (!file) {
    return CheckError(file.error());
  }
  const auto settings =
      muster::settings::ReadSettings({}, muster::sys::FakeEnv(), *file);
  if (!settings) {
    CheckError(settings.error());
  }
}
