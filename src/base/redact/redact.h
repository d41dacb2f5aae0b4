// SPDX-License-Identifier: Apache-2.0
// Takes secrets out of text before it is shown, recorded or packed: tokens,
// keys, passwords and signed parts of addresses become "[removed: kind]". A
// secret is known by its form or by its name, in whatever carries it: a log,
// JSON (in JSON), YAML, XML, HTML, a shell's command, a terminal's colors; its
// name may stand on the line before. All else stays byte for byte.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

class Redactor {
 public:
  // Takes out addresses of mail, too, if asked to.
  explicit Redactor(bool emails = false) : emails_(emails) {}

  // Of any number of lines, of any length; in linear time.
  std::string Text(std::string_view text);
  // Each part of a path for itself; the ending of a file's name stays.
  std::string Path(std::string_view path);
  // Kind -> how often, of all texts.
  const std::map<std::string, int>& removed() const { return removed_; }

 private:
  bool emails_;
  std::map<std::string, int> removed_;
};

std::string Redacted(std::string_view text);
// The words of a command, as many as before.
std::vector<std::string> RedactedCommand(std::span<const std::string> argv);

}  // namespace muster
