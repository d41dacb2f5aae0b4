// SPDX-License-Identifier: Apache-2.0
// muster.toml: settings of a project and of a user.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "muster/cluster.h"
#include "muster/error.h"
#include "sys/host.h"

namespace muster::settings {

struct SettingsFile {
  // Name of a setting -> its text and "muster.toml:3".
  std::map<std::string, Sourced<std::string>> texts;
  // [env]: variables of the ranks, as --env sets them.
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> paths;  // of the files that were read
};

// The text of one file, which errors call `path`. usage-invalid names its line:
// no TOML, an unknown key and what was probably meant, a value of a type that
// no setting has.
Result<SettingsFile> ParseSettingsFile(std::string_view text,
                                       const std::string& path);

// The files that apply. `config` is the value of that setting: `auto` is
// muster.toml of the working directory, and before it that of the user
// ($XDG_CONFIG_HOME/muster, else ~/.config/muster); empty: none; or one file,
// whoever owns it. file-permission: a file of `auto` belongs to another user
// than this one and root, or others may change it.
Result<SettingsFile> ReadSettingsFiles(const std::string& config,
                                       const sys::Host& host);

}  // namespace muster::settings
