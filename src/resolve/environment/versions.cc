// SPDX-License-Identifier: Apache-2.0
#include "resolve/environment/versions.h"

#include <algorithm>

#include "base/text.h"
#include "resolve/variables.h"

namespace muster::resolve {
namespace {

// Packages whose versions must fit each other: the frameworks, and what brings
// operations of its own to them.
bool IsWatched(const std::string& name) {
  static const std::vector<std::string> beginnings{
      "tensorflow", "tf-",   "jax",  "libtpu",
      "torch",      "keras", "flax", "horovod"};
  return std::any_of(
      beginnings.begin(), beginnings.end(),
      [&](const std::string& begin) { return name.starts_with(begin); });
}

std::string Normal(std::string_view name) {
  std::string text = Lower(Trim(name));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '_' || c == '.'; },
      '-');
  return text;
}

struct Requirement {
  std::string name, specifier, marker;
};

// "jaxlib (<=0.4.35,>=0.4.34) ; extra == 'tpu'", "torch==2.1".
std::optional<Requirement> ParseRequirement(std::string_view text) {
  Requirement found;
  const auto semicolon = text.find(';');
  if (semicolon != std::string_view::npos) {
    found.marker = Trim(text.substr(semicolon + 1));
  }
  std::string head(Trim(text.substr(0, semicolon)));
  std::erase_if(head, [](char c) { return c == '(' || c == ')'; });
  const auto end = head.find_first_of(" [<>=!~");
  found.name = Normal(head.substr(0, end));
  if (found.name.empty() || head.find('@') != std::string::npos) {
    return std::nullopt;
  }
  std::string rest =
      end == std::string::npos ? "" : std::string(Trim(head.substr(end)));
  if (rest.starts_with('[')) {
    const auto close = rest.find(']');
    if (close == std::string::npos) {
      return std::nullopt;
    }
    rest = Trim(rest.substr(close + 1));
  }
  found.specifier = rest;
  return found;
}

// Numbers of the release; pre and dev releases come before it, post after.
struct Version {
  std::vector<std::int64_t> release;
  int phase = 0;
};

Version Parse(std::string_view text) {
  Version version;
  text = Trim(text);
  text = text.substr(0, text.find('+'));
  if (text.starts_with('v')) {
    text.remove_prefix(1);
  }
  std::size_t at = 0;
  while (at < text.size() && version.release.size() < 16) {
    std::size_t end = at;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') {
      ++end;
    }
    const auto number = ParseInt(text.substr(at, end - at));
    if (!number) {
      break;
    }
    version.release.push_back(*number);
    at = end;
    if (at >= text.size() || text[at] != '.') {
      break;
    }
    ++at;
  }
  const auto rest = text.substr(std::min(at, text.size()));
  if (rest.find("post") != std::string_view::npos) {
    version.phase = 1;
  } else if (!rest.empty()) {
    version.phase = -1;
  }
  return version;
}

bool HasPrefix(std::string_view version, std::string_view prefix) {
  const Version whole = Parse(version);
  Version part = Parse(prefix);
  if (part.release.size() > whole.release.size()) {
    return false;
  }
  return std::equal(part.release.begin(), part.release.end(),
                    whole.release.begin());
}

Result<bool> ClauseHolds(std::string_view version, std::string_view clause) {
  clause = Trim(clause);
  const auto digits = clause.find_first_of("0123456789v");
  const auto op = Trim(clause.substr(0, digits));
  const auto wanted = digits == std::string_view::npos
                          ? std::string_view()
                          : Trim(clause.substr(digits));
  if (wanted.empty()) {
    return Error(Cause::kClusterSpecInvalid,
                 "`" + Printable(clause) + "` is not a version specifier");
  }
  if (op == "==" || op == "!=" || op == "===") {
    const bool equal =
        wanted.ends_with(".*")
            ? HasPrefix(version, wanted.substr(0, wanted.size() - 2))
            : CompareVersions(version, wanted) == 0;
    return equal == (op != "!=");
  }
  const int order = CompareVersions(version, wanted);
  if (op == ">=") {
    return order >= 0;
  }
  if (op == "<=") {
    return order <= 0;
  }
  if (op == ">") {
    return order > 0;
  }
  if (op == "<") {
    return order < 0;
  }
  if (op == "~=") {
    const auto dot = wanted.rfind('.');
    return order >= 0 && (dot == std::string_view::npos ||
                          HasPrefix(version, wanted.substr(0, dot)));
  }
  return Error(Cause::kClusterSpecInvalid,
               "`" + Printable(clause) + "` is not a version specifier");
}

// Where a Python looks for packages.
struct Python {
  std::string prefix;
  bool isolated = false;  // an environment: nothing of the user or the system
};

// The active environment, then what is on PATH.
std::vector<Python> Pythons(const sys::Host& host) {
  std::vector<Python> pythons;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const Text text = TextVariable(host.env, name)) {
      pythons.push_back({text->value, true});
    }
  }
  for (const std::string& folder :
       Split(host.env.Get("PATH").value_or(""), ':')) {
    if (folder.ends_with("/bin") &&
        host.fs.Exists(sys::JoinPath(folder, "python3"))) {
      const std::string prefix = folder.substr(0, folder.size() - 4);
      pythons.push_back({prefix, host.fs.Exists(prefix + "/pyvenv.cfg")});
    }
  }
  return pythons;
}

// "python3.11" of the folders below lib/: the one whose program is there, else
// the newest.
std::string VersionFolder(const std::string& prefix, const sys::Fs& fs) {
  std::string best;
  bool best_runs = false;
  const std::string programs = prefix + "/bin";
  for (const std::string& name :
       fs.List(prefix + "/lib").value_or(std::vector<std::string>())) {
    const auto minor = name.starts_with("python3.")
                           ? ParseInt(std::string_view(name).substr(8))
                           : std::nullopt;
    if (!minor) {
      continue;
    }
    const bool runs = fs.Exists(sys::JoinPath(programs, name));
    const bool newer =
        best.empty() || *minor > ParseInt(std::string_view(best).substr(8));
    if (runs > best_runs || (runs == best_runs && newer)) {
      best = name;
      best_runs = runs;
    }
  }
  return best;
}

// In the order in which that Python looks.
std::vector<std::string> SitePackages(const Python& python,
                                      const sys::Host& host) {
  const std::string version = VersionFolder(python.prefix, host.fs);
  if (version.empty()) {
    return {};
  }
  std::vector<std::string> places;
  const Text home = TextVariable(host.env, "HOME");
  if (!python.isolated && home && !IsSet(host.env, "PYTHONNOUSERSITE")) {
    places.push_back(home->value + "/.local/lib/" + version + "/site-packages");
  }
  if (python.prefix == "/usr") {  // Debian: what pip installs comes first
    places.push_back("/usr/local/lib/" + version + "/dist-packages");
    places.emplace_back("/usr/lib/python3/dist-packages");
  }
  const std::string lib = python.prefix + "/lib/" + version;
  places.push_back(lib + "/site-packages");
  places.push_back(lib + "/dist-packages");
  return places;
}

void ReadRequirements(const std::string& folder, const std::string& name,
                      const sys::Fs& fs, PythonPackages& packages) {
  const auto text = fs.Read(folder + "/METADATA", 1U << 20);
  if (!text) {
    return;
  }
  for (const std::string& line : Split(*text, '\n')) {
    constexpr std::string_view kKey = "Requires-Dist:";
    if (line.starts_with(kKey)) {
      packages.requires_[name].emplace_back(
          Trim(std::string_view(line).substr(kKey.size())));
    }
    if (Trim(line).empty()) {
      break;
    }
  }
}

// Adds the packages of one folder that no folder before it has.
void ReadPlace(const std::string& place, const sys::Fs& fs,
               PythonPackages& packages) {
  for (const std::string& entry :
       fs.List(place).value_or(std::vector<std::string>())) {
    constexpr std::string_view kEnd = ".dist-info";
    const auto dash = entry.find('-');
    if (!entry.ends_with(kEnd) || dash == std::string::npos ||
        dash + 1 > entry.size() - kEnd.size()) {
      continue;
    }
    const std::string name = Normal(entry.substr(0, dash));
    const std::string version =
        entry.substr(dash + 1, entry.size() - kEnd.size() - dash - 1);
    if (packages.versions.emplace(name, version).second) {
      packages.places[name] = place;
      if (IsWatched(name)) {
        ReadRequirements(sys::JoinPath(place, entry), name, fs, packages);
      }
    }
  }
  if (packages.place.empty() && !packages.versions.empty()) {
    packages.place = place;
  }
}

// The version in "tpu-vm-tf-2.11.0-pod", "2.11"; empty when none is there.
std::string TensorflowOf(const std::string& runtime) {
  constexpr std::string_view kName = "tpu-vm-tf-";
  std::string text =
      runtime.starts_with(kName) ? runtime.substr(kName.size()) : runtime;
  text = text.substr(0, text.find('-'));
  return !text.empty() && text[0] >= '0' && text[0] <= '9' ? text : "";
}

void CheckRuntime(const PythonPackages& packages, const std::string& runtime,
                  std::vector<Finding>& findings) {
  const std::string wanted = TensorflowOf(runtime);
  for (const char* name : {"tensorflow-tpu", "tensorflow"}) {
    const auto found = packages.versions.find(name);
    if (wanted.empty() || found == packages.versions.end()) {
      continue;
    }
    if (!HasPrefix(found->second, wanted)) {
      findings.push_back(MakeFinding(
          Cause::kVerClientRuntime,
          std::string(name) + " is " + found->second + " (" +
              packages.places.at(name) + "), but the TPU's runtime is `" +
              Printable(runtime) + "`: they must be equal",
          Confidence::kCertain));
    }
    return;
  }
}

// Of an extra that nobody here asked for. An extra named as what it requires
// (tensorflow-io[tensorflow]) tells what the package was built for.
bool IsOtherExtra(const Requirement& wanted) {
  return wanted.marker.find("extra") != std::string::npos &&
         wanted.marker.find("tpu") == std::string::npos &&
         wanted.marker.find("'" + wanted.name + "'") == std::string::npos &&
         wanted.marker.find('"' + wanted.name + '"') == std::string::npos;
}

// The TensorFlow of PyPI has no TPU in it: tensorflow-tpu with its libtpu has,
// and the wheel of a TPU image with the libtpu beside it.
void CheckDriver(const PythonPackages& packages, const TpuHere& tpu,
                 std::vector<Finding>& findings) {
  const auto& versions = packages.versions;
  const auto tensorflow = versions.find("tensorflow");
  if (tpu.chips == 0 || tpu.has_libtpu || tensorflow == versions.end() ||
      versions.contains("tensorflow-tpu") || versions.contains("libtpu")) {
    return;
  }
  findings.push_back(MakeFinding(
      Cause::kAccelPluginMissing,
      "this host has " + Count(tpu.chips, "TPU chip") + ", but tensorflow " +
          tensorflow->second + " (" + packages.places.at("tensorflow") +
          ") is the build without TPU support and libtpu is not installed: "
          "install tensorflow-tpu of that version",
      Confidence::kLikely));
}

}  // namespace

int CompareVersions(std::string_view a, std::string_view b) {
  Version first = Parse(a);
  Version second = Parse(b);
  const auto places = std::max(first.release.size(), second.release.size());
  first.release.resize(places, 0);
  second.release.resize(places, 0);
  if (first.release != second.release) {
    return first.release < second.release ? -1 : 1;
  }
  return first.phase - second.phase;
}

Result<bool> VersionFits(std::string_view version, std::string_view specifier) {
  for (const std::string& clause : Split(specifier, ',')) {
    if (Trim(clause).empty()) {
      continue;
    }
    MUSTER_ASSIGN(const bool holds, ClauseHolds(version, clause));
    if (!holds) {
      return false;
    }
  }
  return true;
}

std::optional<PythonPackages> FindPythonPackages(const sys::Host& host) {
  for (const Python& python : Pythons(host)) {
    PythonPackages packages;
    for (const std::string& place : SitePackages(python, host)) {
      ReadPlace(place, host.fs, packages);
    }
    if (!packages.versions.empty()) {
      return packages;
    }
  }
  return std::nullopt;
}

std::vector<Finding> CheckVersions(const PythonPackages& packages,
                                   const TpuHere& tpu) {
  std::vector<Finding> findings;
  for (const auto& [name, requirements] : packages.requires_) {
    for (const std::string& text : requirements) {
      const auto wanted = ParseRequirement(text);
      const bool other_extra = wanted && IsOtherExtra(*wanted);
      const auto found = wanted ? packages.versions.find(wanted->name)
                                : packages.versions.end();
      if (found == packages.versions.end() || other_extra ||
          !IsWatched(wanted->name)) {
        continue;
      }
      const auto fits = VersionFits(found->second, wanted->specifier);
      if (fits && !*fits) {
        findings.push_back(MakeFinding(
            Cause::kVerPluginMismatch,
            name + " " + packages.versions.at(name) + " needs " + wanted->name +
                wanted->specifier + ", but installed is " + found->second +
                " (" + packages.places.at(wanted->name) + ")",
            Confidence::kCertain));
      }
    }
  }
  CheckRuntime(packages, tpu.runtime, findings);
  CheckDriver(packages, tpu, findings);
  return findings;
}

Status CheckRequirement(std::string_view requirement, const sys::Host& host) {
  const auto wanted = ParseRequirement(requirement);
  if (!wanted || !VersionFits("1", wanted->specifier)) {
    return Error(Cause::kUsageInvalid,
                 "flag --require is `" + Printable(requirement) +
                     "`, expected a pip requirement such as NAME==VERSION");
  }
  const auto packages = FindPythonPackages(host);
  const auto found = packages
                         ? packages->versions.find(wanted->name)
                         : std::map<std::string, std::string>::const_iterator();
  if (!packages || found == packages->versions.end()) {
    return Error(Cause::kVerPluginMismatch,
                 "`" + Printable(requirement) + "` is required, but " +
                     wanted->name + " is not installed" +
                     (packages ? " in " + packages->place
                               : ": found no Python environment"));
  }
  MUSTER_ASSIGN(const bool fits, VersionFits(found->second, wanted->specifier));
  if (!fits) {
    return Error(Cause::kVerPluginMismatch,
                 "`" + Printable(requirement) +
                     "` is required, but installed is " + found->second + " (" +
                     packages->places.at(wanted->name) + ")");
  }
  return Ok();
}

}  // namespace muster::resolve
