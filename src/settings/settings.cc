// SPDX-License-Identifier: Apache-2.0
#include "settings/settings.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "base/words/suggest.h"

namespace muster::settings {
namespace {

// Variables of ours that are no settings: those that describe the cluster, and
// those that an agent gives its ranks.
constexpr std::string_view kOtherVariables[] = {
    "MUSTER_HOSTS", "MUSTER_RANK", "MUSTER_SIZE", "MUSTER_COORDINATOR",
    "MUSTER_AGENT_FD"};

// How a type is read, what would have been right, and what the help calls its
// value. Of a type with words, what would have been right are the words.
template <typename T>
struct Reader {
  std::optional<T> (*read)(std::string_view text);
  std::string_view expected;
  std::string_view label;
  std::vector<std::string> (*words)() = [] {
    return std::vector<std::string>();
  };
};

template <typename T>
struct Word {
  std::string_view text;
  T value;
};

template <typename T, const auto& kWords>
std::optional<T> ReadWord(std::string_view text) {
  const std::string lower = Lower(text);
  for (const Word<T>& word : kWords) {
    if (word.text == lower) {
      return word.value;
    }
  }
  return std::nullopt;
}

template <const auto& kWords>
std::vector<std::string> WordsOf() {
  std::vector<std::string> words;
  for (const auto& word : kWords) {
    words.emplace_back(word.text);
  }
  return words;
}

template <typename T, const auto& kWords>
constexpr Reader<T> WordReader(std::string_view label) {
  return {ReadWord<T, kWords>, "", label, WordsOf<kWords>};
}

constexpr Word<Output> kOutputs[] = {{"text", Output::kText},
                                     {"json", Output::kJson},
                                     {"jsonl", Output::kJsonl}};
constexpr auto kReadOutput = WordReader<Output, kOutputs>("FORMAT");

constexpr Word<FailOn> kFailOns[] = {{"error", FailOn::kError},
                                     {"warning", FailOn::kWarning},
                                     {"never", FailOn::kNever}};
constexpr auto kReadFailOn = WordReader<FailOn, kFailOns>("SEVERITY");

constexpr Word<Checks> kChecks[] = {{"auto", Checks::kAuto},
                                    {"off", Checks::kOff}};
constexpr auto kReadChecks = WordReader<Checks, kChecks>("WHEN");

constexpr Word<StartBy> kStartBys[] = {{"here", StartBy::kHere},
                                       {"ssh", StartBy::kSsh}};
constexpr auto kReadStartBy = WordReader<StartBy, kStartBys>("WHERE");

constexpr Word<LogLevel> kLogLevels[] = {{"trace", LogLevel::kTrace},
                                         {"debug", LogLevel::kDebug},
                                         {"info", LogLevel::kInfo},
                                         {"warn", LogLevel::kWarn},
                                         {"error", LogLevel::kError}};
constexpr auto kReadLogLevel = WordReader<LogLevel, kLogLevels>("LEVEL");

constexpr Reader<Whole> kReadWhole{
    [](std::string_view text) -> std::optional<Whole> {
      const auto number = ParseInt(text);
      const bool right = number && *number >= 0 && *number <= 1'000'000;
      return right ? std::optional(static_cast<Whole>(*number)) : std::nullopt;
    },
    "a whole number, 0 to 1000000", "N"};

constexpr Reader<Size> kReadSize{
    [](std::string_view text) { return ParseBytes(text); },
    "a size such as 100MB or 1.5GiB", "SIZE"};

constexpr Reader<Time> kReadTime{
    [](std::string_view text) -> std::optional<Time> {
      const auto time = ParseDuration(text);
      return time && *time >= Time::zero() ? time : std::nullopt;
    },
    "a duration such as 500ms, 10s, 5min or 2h", "TIME"};

constexpr Reader<Limit> kReadLimit{
    [](std::string_view text) -> std::optional<Limit> {
      if (text == "auto" || text == "none") {
        return text == "auto" ? kAuto : kNone;
      }
      const auto time = ParseDuration(text);
      return time && *time > Time::zero() ? time : std::nullopt;
    },
    "auto, none, or a duration such as 10s, 5min or 2h", "TIME"};

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
    "FIRST-LAST from 1 to 65535, such as 20000-29999", "FIRST-LAST"};

constexpr Reader<Path> kReadPath{
    [](std::string_view text) -> std::optional<Path> {
      return text.empty() ? std::nullopt : std::optional(Path(text));
    },
    "a path", "FOLDER"};

constexpr Reader<File> kReadFile{
    [](std::string_view text) -> std::optional<File> {
      return text.empty() ? std::nullopt
                          : std::optional(File(text == "none" ? "" : text));
    },
    "a file, or none", "FILE"};

constexpr SettingRow kRows[] = {
#define MUSTER_SETTING(type, name, fallback, variable, flag, doc, verbs) \
  {#name, #type, fallback,          variable,         flag,              \
   doc,   verbs, kRead##type.label, kRead##type.words},
#include "settings/settings.def"
#undef MUSTER_SETTING
};

// "text, json or jsonl".
std::string OneOf(std::vector<std::string> words) {
  const std::string last = words.back();
  words.pop_back();
  return Join(words, ", ") + " or " + last;
}

template <typename T>
Result<Sourced<T>> ReadOne(const Sourced<std::string>& text,
                           const Reader<T>& reader) {
  auto value = reader.read(Trim(text.value));
  if (!value) {
    return Error(Cause::kUsageInvalid,
                 text.source + " is `" + Printable(text.value) +
                     "`, expected " +
                     (reader.expected.empty() ? OneOf(reader.words())
                                              : std::string(reader.expected)));
  }
  return Sourced<T>{*std::move(value), text.source};
}

}  // namespace

bool SettingRow::IsFor(std::string_view verb) const {
  std::string path(verb);
  std::replace(path.begin(), path.end(), ' ', '.');
  const std::vector<std::string> known = Split(verbs, ' ');
  return verbs == "all" ||
         std::any_of(known.begin(), known.end(), [&](const std::string& one) {
           return one == path ||
                  (one.ends_with(".*") &&
                   path.starts_with(one.substr(0, one.size() - 1)));
         });
}

std::span<const SettingRow> SettingRows() {
  return kRows;
}

std::string KeyOf(const SettingRow& row) {
  return std::string(row.flag.substr(2));
}

Sourced<std::string> TextOf(const SettingRow& row,
                            const std::map<std::string, std::string>& flags,
                            const sys::Env& env, const SettingsFile& file) {
  const auto flag = flags.find(std::string(row.name));
  if (flag != flags.end()) {
    return {flag->second, "flag " + std::string(row.flag)};
  }
  const auto variable = env.Get(std::string(row.variable));
  if (variable && !variable->empty()) {
    return {*variable, "env " + std::string(row.variable)};
  }
  const auto text = file.texts.find(std::string(row.name));
  return text == file.texts.end()
             ? Sourced<std::string>{std::string(row.fallback), "default"}
             : text->second;
}

// NOLINTNEXTLINE(readability-function-size): one line a setting
Result<Settings> ReadSettings(const std::map<std::string, std::string>& flags,
                              const sys::Env& env, const SettingsFile& file) {
  Settings settings;
  const SettingRow* row = kRows;
#define MUSTER_SETTING(type, name, fallback, variable, flag, doc, verbs) \
  MUSTER_ASSIGN(settings.name,                                           \
                ReadOne(TextOf(*row++, flags, env, file), kRead##type));
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
