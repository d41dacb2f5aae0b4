// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/run_folders.h"

#include <algorithm>

#include "base/text.h"
#include "base/words/suggest.h"
#include "cli/line/verb.h"
#include "record/run_folder.h"
#include "settings/settings.h"

namespace muster::cli {

std::vector<std::string> RunNames(const sys::Host& host) {
  const auto file = settings::ReadSettingsFiles("auto", host);
  const auto settings = settings::ReadSettings(
      {}, host.env, file ? *file : settings::SettingsFile());
  if (!settings) {
    return {};
  }
  auto ids = record::RunIds(host.fs, settings->runs_dir.value);
  std::vector<std::string> names =
      ids ? *std::move(ids) : std::vector<std::string>();
  if (!names.empty()) {
    names.insert(names.begin(), "latest");
  }
  return names;
}

Result<std::string> FindRun(const std::string& name,
                            const std::string& runs_dir, const sys::Fs& fs) {
  if (name.find('/') != std::string::npos) {
    return fs.Exists(name)
               ? Result<std::string>(name)
               : Usage("there is no folder `" + Printable(name) + "`");
  }
  MUSTER_ASSIGN(const auto ids, record::RunIds(fs, runs_dir));
  if (ids.empty()) {
    return Usage("there are no runs in `" + Printable(runs_dir) +
                 "`: --runs-dir names the folder");
  }
  if (name == "latest") {
    // The link knows which of two runs of one second is the later.
    const std::string latest = sys::JoinPath(runs_dir, "latest");
    return fs.Exists(latest) ? latest : sys::JoinPath(runs_dir, ids.front());
  }
  std::vector<std::string> found;
  for (const std::string& id : ids) {
    if (id == name) {
      return sys::JoinPath(runs_dir, id);
    }
    if (id.starts_with(name)) {
      found.push_back(id);
    }
  }
  if (found.size() == 1) {
    return sys::JoinPath(runs_dir, found.front());
  }
  if (found.size() > 1) {
    return Usage("`" + Printable(name) + "` is the beginning of " +
                 std::to_string(found.size()) + " runs: " + JoinSome(found, 3));
  }
  return Usage("there is no run `" + Printable(name) + "` in `" +
               Printable(runs_dir) + "`" + MeantText(name, ids));
}

}  // namespace muster::cli
