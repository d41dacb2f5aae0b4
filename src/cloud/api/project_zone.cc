// SPDX-License-Identifier: Apache-2.0
#include "cloud/api/project_zone.h"

#include <algorithm>

#include "base/text.h"

namespace muster::cloud {
namespace {

using Text = std::optional<Sourced<std::string>>;

Text FromVariables(const sys::Env& env, const std::vector<std::string>& names) {
  const auto set = sys::FirstSet(env, names);
  return set ? Text(Sourced<std::string>{set->value, "env " + set->name})
             : Text();
}

std::string ValueIn(const std::string& text, const std::string& section,
                    const std::string& name) {
  std::string here;
  for (const std::string& line : Split(text, '\n')) {
    const std::string_view plain = Trim(line);
    const auto equals = plain.find('=');
    if (plain.starts_with('[') && plain.ends_with(']')) {
      here = plain.substr(1, plain.size() - 2);
    } else if (here == section && equals != std::string_view::npos &&
               Trim(plain.substr(0, equals)) == name) {
      return std::string(Trim(plain.substr(equals + 1)));
    }
  }
  return "";
}

}  // namespace

Text GcloudProperty(const std::string& section, const std::string& name,
                    const sys::Host& host) {
  const auto config = sys::FirstSet(host.env, {"CLOUDSDK_CONFIG"});
  const auto home = sys::FirstSet(host.env, {"HOME"});
  if (!config && !home) {
    return std::nullopt;
  }
  const std::string folder =
      config ? config->value : home->value + "/.config/gcloud";
  const auto chosen = sys::FirstSet(host.env, {"CLOUDSDK_ACTIVE_CONFIG_NAME"});
  const auto active = host.fs.Read(folder + "/active_config", 4096);
  const std::string which = chosen   ? chosen->value
                            : active ? std::string(Trim(*active))
                                     : "default";
  const auto text =
      host.fs.Read(folder + "/configurations/config_" + which, 1U << 20);
  const std::string value = text ? ValueIn(*text, section, name) : "";
  return value.empty()
             ? Text()
             : Text(Sourced<std::string>{
                   value, "gcloud's configuration `" + Printable(which) + "`"});
}

Text FindProject(const std::optional<std::string>& given,
                 const std::string& of_file, const sys::Host& host) {
  if (given && !given->empty()) {
    return Sourced<std::string>{*given, "flag --project"};
  }
  if (auto set =
          FromVariables(host.env, {"GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT",
                                   "CLOUDSDK_CORE_PROJECT"})) {
    return set;
  }
  return of_file.empty()
             ? GcloudProperty("core", "project", host)
             : Text(Sourced<std::string>{of_file, "the credentials file"});
}

Text FindZone(const std::optional<std::string>& given, const sys::Host& host) {
  if (given && !given->empty()) {
    return Sourced<std::string>{*given, "flag --zone"};
  }
  if (auto set = FromVariables(host.env, {"CLOUDSDK_COMPUTE_ZONE"})) {
    return set;
  }
  return GcloudProperty("compute", "zone", host);
}

bool IsRegion(const std::string& text) {
  const auto dash = text.rfind('-');
  return dash != std::string::npos && dash > 0 && dash + 1 < text.size() &&
         text.back() >= '0' && text.back() <= '9' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

bool IsZone(const std::string& text) {
  const auto dash = text.rfind('-');
  return dash != std::string::npos && dash + 2 == text.size() &&
         text.back() >= 'a' && text.back() <= 'z' &&
         IsRegion(text.substr(0, dash));
}

}  // namespace muster::cloud
