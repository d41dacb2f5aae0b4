// SPDX-License-Identifier: Apache-2.0
#include "base/line_splitter.h"

#include <algorithm>

#include "base/text.h"

namespace muster {

void LineSplitter::Feed(std::string_view bytes, Time now) {
  while (!bytes.empty()) {
    if (returned_ && bytes.front() != '\n' && bytes.front() != '\r') {
      Overwrite(now);
    }
    const auto end = bytes.find_first_of("\r\n");
    Append(bytes.substr(0, end));
    if (end == bytes.npos) {
      return;
    }
    returned_ = bytes[end] == '\r';
    if (!returned_) {
      Emit();
    }
    bytes.remove_prefix(end + 1);
  }
}

void LineSplitter::Append(std::string_view bytes) {
  while (line_.size() + bytes.size() > kLongestLine) {
    const auto part = bytes.substr(0, kLongestLine - line_.size());
    line_ += part;
    bytes.remove_prefix(part.size());
    Emit();
  }
  line_ += bytes;
}

void LineSplitter::Emit() {
  on_line_(line_);
  line_.clear();
  returned_ = false;
}

// The line is about to be written over.
void LineSplitter::Overwrite(Time now) {
  if (!line_.empty() && (!redrawn_ || now - *redrawn_ >= kRedraw)) {
    redrawn_ = now;
    Emit();
  }
  line_.clear();
  returned_ = false;
}

void LineSplitter::Finish() {
  if (!line_.empty()) {
    Emit();
  }
}

std::string PlainText(std::string_view line, std::size_t limit) {
  std::string text;
  while (!line.empty() && text.size() < limit) {
    // ESC [ parameters letter: colors and cursor movements.
    if (line.starts_with("\x1b[")) {
      const auto end = std::find_if(line.begin() + 2, line.end(), [](char c) {
        return c >= '@' && c <= '~';
      });
      line.remove_prefix(static_cast<std::size_t>(end - line.begin()));
      line.remove_prefix(line.empty() ? 0 : 1);
      continue;
    }
    const auto next = line.find('\x1b', 1);
    text += line.substr(0, next);
    line.remove_prefix(std::min(next, line.size()));
  }
  text.resize(std::min(text.size(), limit));
  return Printable(text);
}

}  // namespace muster
