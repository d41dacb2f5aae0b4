// SPDX-License-Identifier: Apache-2.0
#include "settings/settings.h"

#include <algorithm>
#include <optional>

#include "base/suggest.h"
#include "base/text.h"

namespace muster::settings {
namespace {

constexpr SettingRow kRows[] = {
#define MUSTER_SETTING(type, name, fallback, variable, flag, doc, verbs) \
  {#name, #type, fallback, variable, flag, doc, verbs},
#include "settings/settings.def"
#undef MUSTER_SETTING
};

// Variables of ours that are no settings: those that describe the cluster, and
// those that an agent gives its ranks.
constexpr std::string_view kOtherVariables[] = {
    "MUSTER_HOSTS", "MUSTER_RANK", "MUSTER_SIZE", "MUSTER_COORDINATOR",
    "MUSTER_AGENT_FD"};

// How a type is read, and what would have been right.
template <typename T>
struct Reader {
  std::optional<T> (*read)(std::string_view text);
  std::string_view expected;
};

constexpr Reader<Output> kReadOutput{
    [](std::string_view text) -> std::optional<Output> {
      if (text == "text") {
        return Output::kText;
      }
      if (text == "jsonl") {
        return Output::kJsonl;
      }
      return text == "json" ? std::optional(Output::kJson) : std::nullopt;
    },
    "text or json (check: also jsonl)"};

constexpr Reader<FailOn> kReadFailOn{
    [](std::string_view text) -> std::optional<FailOn> {
      if (text == "error") {
        return FailOn::kError;
      }
      if (text == "warning") {
        return FailOn::kWarning;
      }
      return text == "never" ? std::optional(FailOn::kNever) : std::nullopt;
    },
    "error, warning or never"};

constexpr Reader<Checks> kReadChecks{
    [](std::string_view text) -> std::optional<Checks> {
      if (text == "auto") {
        return Checks::kAuto;
      }
      return text == "off" ? std::optional(Checks::kOff) : std::nullopt;
    },
    "auto or off"};

constexpr Reader<StartBy> kReadStartBy{
    [](std::string_view text) -> std::optional<StartBy> {
      if (text == "here") {
        return StartBy::kHere;
      }
      return text == "ssh" ? std::optional(StartBy::kSsh) : std::nullopt;
    },
    "here or ssh"};

constexpr Reader<LogLevel> kReadLogLevel{
    [](std::string_view text) -> std::optional<LogLevel> {
      constexpr std::pair<std::string_view, LogLevel> kLevels[] = {
          {"trace", LogLevel::kTrace}, {"debug", LogLevel::kDebug},
          {"info", LogLevel::kInfo},   {"warn", LogLevel::kWarn},
          {"error", LogLevel::kError},
      };
      for (const auto& [name, level] : kLevels) {
        if (name == text) {
          return level;
        }
      }
      return std::nullopt;
    },
    "trace, debug, info, warn or error"};

constexpr Reader<Whole> kReadWhole{
    [](std::string_view text) -> std::optional<Whole> {
      const auto number = ParseInt(text);
      const bool right = number && *number >= 0 && *number <= 1'000'000;
      return right ? std::optional(static_cast<Whole>(*number)) : std::nullopt;
    },
    "a whole number, 0 to 1000000"};

constexpr Reader<Size> kReadSize{
    [](std::string_view text) { return ParseBytes(text); },
    "a size such as 100MB or 1.5GiB"};

constexpr Reader<Time> kReadTime{
    [](std::string_view text) -> std::optional<Time> {
      const auto time = ParseDuration(text);
      return time && *time >= Time::zero() ? time : std::nullopt;
    },
    "a duration such as 500ms, 10s, 5min or 2h"};

constexpr Reader<Limit> kReadLimit{
    [](std::string_view text) -> std::optional<Limit> {
      if (text == "auto" || text == "none") {
        return text == "auto" ? kAuto : kNone;
      }
      const auto time = ParseDuration(text);
      return time && *time > Time::zero() ? time : std::nullopt;
    },
    "auto, none, or a duration such as 10s, 5min or 2h"};

constexpr Reader<PortRange> kReadPortRange{
    [](std::string_view text) -> std::optional<PortRange> {
      const auto dash = text.find('-');
      const auto first = ParseInt(text.substr(0, dash));
      const auto last = dash == std::string_view::npos
                            ? std::nullopt
                            : ParseInt(text.substr(dash + 1));
      if (!first || !last || *first < 1 || *first > *last || *last > 65535) {
        return std::nullopt;
      }
      return PortRange{static_cast<std::uint16_t>(*first),
                       static_cast<std::uint16_t>(*last)};
    },
    "FIRST-LAST from 1 to 65535, such as 20000-29999"};

constexpr Reader<Path> kReadPath{
    [](std::string_view text) -> std::optional<Path> {
      return text.empty() ? std::nullopt : std::optional(Path(text));
    },
    "a path"};

constexpr Reader<File> kReadFile{
    [](std::string_view text) -> std::optional<File> {
      return text.empty() ? std::nullopt
                          : std::optional(File(text == "none" ? "" : text));
    },
    "a file, or none"};

// Flag, then environment, then default.
Sourced<std::string> TextOf(const SettingRow& row,
                            const std::map<std::string, std::string>& flags,
                            const sys::Env& env) {
  const auto flag = flags.find(std::string(row.name));
  if (flag != flags.end()) {
    return {flag->second, "flag " + std::string(row.flag)};
  }
  const auto variable = env.Get(std::string(row.variable));
  if (variable && !variable->empty()) {
    return {*variable, "env " + std::string(row.variable)};
  }
  return {std::string(row.fallback), "default"};
}

template <typename T>
Result<Sourced<T>> ReadOne(const Sourced<std::string>& text,
                           const Reader<T>& reader) {
  auto value = reader.read(Trim(text.value));
  if (!value) {
    return Error(Cause::kUsageInvalid,
                 text.source + " is `" + Printable(text.value) +
                     "`, expected " + std::string(reader.expected));
  }
  return Sourced<T>{*std::move(value), text.source};
}

}  // namespace

bool SettingRow::IsFor(std::string_view verb) const {
  const std::vector<std::string> words = Split(verbs, ' ');
  return verbs == "all" ||
         std::find(words.begin(), words.end(), verb) != words.end();
}

std::span<const SettingRow> SettingRows() {
  return kRows;
}

// NOLINTNEXTLINE(readability-function-size): one line a setting
Result<Settings> ReadSettings(const std::map<std::string, std::string>& flags,
                              const sys::Env& env) {
  Settings settings;
  const SettingRow* row = kRows;
#define MUSTER_SETTING(type, name, fallback, variable, flag, doc, verbs) \
  MUSTER_ASSIGN(settings.name,                                           \
                ReadOne(TextOf(*row++, flags, env), kRead##type));
#include "settings/settings.def"
#undef MUSTER_SETTING
  return settings;
}

std::vector<std::string> MisspeltVariables(const sys::Env& env) {
  std::vector<std::string> known(std::begin(kOtherVariables),
                                 std::end(kOtherVariables));
  for (const SettingRow& row : kRows) {
    known.emplace_back(row.variable);
  }
  // The common prefix would make everything look alike.
  std::vector<std::string> endings(known.size());
  std::transform(known.begin(), known.end(), endings.begin(),
                 [](const std::string& name) { return name.substr(7); });
  std::vector<std::string> found;
  for (const auto& [name, value] : env.All()) {
    if (!name.starts_with("MUSTER_") ||
        std::find(known.begin(), known.end(), name) != known.end()) {
      continue;
    }
    if (const auto meant = DidYouMean(name.substr(7), endings)) {
      found.push_back(Printable(name) +
                      " is not a setting, did you mean MUSTER_" + *meant + "?");
    }
  }
  return found;
}

}  // namespace muster::settings
