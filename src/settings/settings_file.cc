// SPDX-License-Identifier: Apache-2.0
#include "settings/settings_file.h"

// Its errors are values here. An assertion of toml++ 3.3 aborts on `[1, }]`,
// which the code behind it refuses with an error.
#define TOML_EXCEPTIONS 0
#define TOML_ASSERT(expression) static_cast<void>(0)
#include <toml++/toml.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "base/text.h"
#include "base/words/suggest.h"
#include "settings/settings.h"
#include "sys/file/private_file.h"

namespace muster::settings {
namespace {

constexpr std::size_t kMaxFile = std::size_t{1} << 20;
constexpr const char* kName = "muster.toml";
constexpr std::string_view kEnvironment = "env";

// Bytes beyond ASCII as words of ASCII, and back: toml++ 3.3 asks its tables of
// letters about them outside of quotes, which for most is undefined.
class AsciiForm {
 public:
  explicit AsciiForm(std::string_view text) {
    for (int number = 0; text.find(mark_) != text.npos; ++number) {
      mark_ = "x" + std::to_string(number) + "x";
    }
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark)) {
      text.remove_prefix(kByteOrderMark.size());
    }
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x80) {
        ascii_ += c;
      } else {
        char word[3];
        std::snprintf(word, sizeof word, "%02x", unsigned{byte});
        ascii_ += mark_ + word;
      }
    }
  }

  const std::string& ascii() const { return ascii_; }

  std::string Back(std::string_view text) const {
    std::string bytes;
    while (!text.empty()) {
      if (text.starts_with(mark_) && text.size() >= mark_.size() + 2) {
        const std::string word(text.substr(mark_.size(), 2));
        bytes += static_cast<char>(std::strtol(word.c_str(), nullptr, 16));
        text.remove_prefix(mark_.size() + 2);
      } else {
        bytes += text.front();
        text.remove_prefix(1);
      }
    }
    return bytes;
  }

 private:
  std::string mark_ = "xx";
  std::string ascii_;
};

class FileReader {
 public:
  explicit FileReader(const std::string& path) : path_(path) {}

  Result<SettingsFile> Read(std::string_view text) {
    form_.emplace(text);
    const toml::parse_result parsed = toml::parse(form_->ascii(), path_);
    if (!parsed) {
      return Wrong(parsed.error().source(),
                   std::string(parsed.error().description()));
    }
    for (const auto& [key, node] : parsed.table()) {
      MUSTER_TRY(key.str() == kEnvironment ? TakeEnvironment(node)
                                           : TakeSetting(key, node));
    }
    file_.paths = {path_};
    return std::move(file_);
  }

 private:
  Error Wrong(const toml::source_region& at, const std::string& what) const {
    return Error(Cause::kUsageInvalid,
                 PlaceOf(at) + ": " + Printable(form_->Back(what)));
  }

  // "muster.toml:3".
  std::string PlaceOf(const toml::source_region& at) const {
    return Printable(path_) + ":" + std::to_string(at.begin.line);
  }

  // What a flag would be given as; nullopt: no flag is given so.
  std::optional<std::string> TextOf(const toml::node& node) const {
    if (const auto* text = node.as_string()) {
      return form_->Back(text->get());
    }
    if (const auto* whole = node.as_integer()) {
      return std::to_string(whole->get());
    }
    if (const auto* number = node.as_floating_point()) {
      char text[32];
      std::snprintf(text, sizeof text, "%.15g", number->get());
      return text;
    }
    return std::nullopt;
  }

  Status TakeSetting(const toml::key& key, const toml::node& node) {
    std::vector<std::string> known{std::string(kEnvironment)};
    for (const SettingRow& row : SettingRows()) {
      // A file does not say which file is read.
      if (row.name == "config") {
        continue;
      }
      if (key.str() == KeyOf(row)) {
        const auto text = TextOf(node);
        if (!text) {
          return Wrong(node.source(), "the value of `" + KeyOf(row) +
                                          "` is no text and no number");
        }
        file_.texts[std::string(row.name)] = {*text, PlaceOf(node.source())};
        return Ok();
      }
      known.push_back(KeyOf(row));
    }
    std::string word(key.str());
    std::replace(word.begin(), word.end(), '_', '-');
    const std::string meant = MeantText(word, known);
    return Wrong(key.source(),
                 "unknown key `" + std::string(key.str()) + "`" +
                     (meant.empty() ? ": `muster config` lists all" : meant));
  }

  Status TakeEnvironment(const toml::node& node) {
    const auto* table = node.as_table();
    if (table == nullptr) {
      return Wrong(node.source(), "`env` is no table: begin it with [env]");
    }
    for (const auto& [key, value] : *table) {
      const std::string name = form_->Back(key.str());
      const auto text = TextOf(value);
      if (name.empty() || name.find('=') != std::string::npos ||
          name.find('\0') != std::string::npos) {
        return Wrong(key.source(), "`" + name + "` is no name of a variable");
      }
      if (!text || text->find('\0') != std::string::npos) {
        return Wrong(value.source(),
                     "the value of `" + name + "` is no text and no number");
      }
      file_.environment.emplace_back(name, *text);
    }
    return Ok();
  }

  const std::string& path_;
  std::optional<AsciiForm> form_;  // of what is read
  SettingsFile file_;
};

// Where the user's own is; empty: nobody knows.
std::string UserFile(const sys::Env& env) {
  if (const auto config = env.Get("XDG_CONFIG_HOME");
      config && config->starts_with('/')) {
    return sys::JoinPath(*config, "muster/muster.toml");
  }
  const auto home = env.Get("HOME");
  return home && !home->empty()
             ? sys::JoinPath(*home, ".config/muster/muster.toml")
             : "";
}

// What is nearer comes later, and wins.
void Merge(SettingsFile file, SettingsFile& all) {
  for (auto& [name, text] : file.texts) {
    all.texts[name] = std::move(text);
  }
  all.environment.insert(all.environment.end(), file.environment.begin(),
                         file.environment.end());
  all.paths.insert(all.paths.end(), file.paths.begin(), file.paths.end());
}

}  // namespace

Result<SettingsFile> ParseSettingsFile(std::string_view text,
                                       const std::string& path) {
  return FileReader(path).Read(text);
}

Result<SettingsFile> ReadSettingsFiles(const std::string& config,
                                       const sys::Host& host) {
  SettingsFile all;
  if (config.empty()) {
    return all;
  }
  if (config != "auto") {
    MUSTER_ASSIGN(const auto text, host.fs.ReadNamed(config, kMaxFile));
    return ParseSettingsFile(text, config);
  }
  const std::string user = UserFile(host.env);
  const std::pair<std::string, std::string> places[] = {
      {user, user}, {sys::JoinPath(host.env.WorkingDirectory(), kName), kName}};
  for (const auto& [path, shown] : places) {
    // What this user may not even see, as under the HOME of another, is none
    // of theirs.
    if (path.empty() || !sys::IsThere(path)) {
      continue;
    }
    MUSTER_ASSIGN(const auto text, sys::ReadTrustedFile(path, kMaxFile));
    MUSTER_ASSIGN(auto file, ParseSettingsFile(text, shown));
    Merge(std::move(file), all);
  }
  return all;
}

}  // namespace muster::settings
