// SPDX-License-Identifier: Apache-2.0
// Settings: every value with where it came from. The table is settings.def.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "muster/cluster.h"
#include "muster/deadline.h"
#include "muster/error.h"
#include "settings/settings_file.h"
#include "sys/env.h"

namespace muster::settings {

// The types of settings.
enum class Output { kText, kJson, kJsonl };
enum class FailOn { kError, kWarning, kNever };
enum class Checks { kAuto, kOff };
enum class StartBy { kHere, kSsh };
using Whole = int;           // at least 0
using Size = std::uint64_t;  // bytes, at least 1
using Time = Duration;       // at least 0
using Limit = Duration;      // or kAuto or kNone
using Path = std::string;    // as it was written, not empty
using File = std::string;    // a Path, or empty: none

struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;

  bool operator==(const PortRange&) const = default;
};

// What "auto" and "none" of a Limit are.
inline constexpr Duration kAuto = Duration(-1);
inline constexpr Duration kNone = Duration(-2);

// Each member is a Sourced value: "flag --grace", "env MUSTER_GRACE",
// "muster.toml:3", "default". Made by ReadSettings; a value, any thread.
struct Settings {
#define MUSTER_SETTING(type, name, fallback, variable, flag, doc, verbs) \
  Sourced<type> name;
#include "settings/settings.def"
#undef MUSTER_SETTING
};

// One row of the table, for flags and help. `label` is what the help calls the
// value; `words`, where it is not empty, are all that it may be.
struct SettingRow {
  std::string_view name, type, fallback, variable, flag, doc, verbs, label;
  std::vector<std::string> (*words)();
  // "run", "tpu create".
  bool IsFor(std::string_view verb) const;
};
std::span<const SettingRow> SettingRows();

// Its key in muster.toml: the flag without its dashes.
std::string KeyOf(const SettingRow& row);

// What a setting is given as, and by what: a flag (setting name -> text), else
// the environment, else muster.toml, else the default.
Sourced<std::string> TextOf(const SettingRow& row,
                            const std::map<std::string, std::string>& flags,
                            const sys::Env& env, const SettingsFile& file);

// usage-invalid names the flag, the variable or the line of the file, the value
// and what would be right.
Result<Settings> ReadSettings(const std::map<std::string, std::string>& flags,
                              const sys::Env& env,
                              const SettingsFile& file = {});

// Variables that look like a misspelled setting: "MUSTER_GRASE is no setting,
// did you mean MUSTER_GRACE?".
std::vector<std::string> MisspeltVariables(const sys::Env& env);

}  // namespace muster::settings
