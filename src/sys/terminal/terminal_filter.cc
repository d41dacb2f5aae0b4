// SPDX-License-Identifier: Apache-2.0
#include "sys/terminal/terminal_filter.h"

#include <algorithm>

#include "base/text.h"

namespace muster::sys {
namespace {

constexpr char kEscapeByte = '\x1b';

bool IsBetween(char c, unsigned first, unsigned last) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= first && byte <= last;
}

// C0, but for what moves within a text, and DEL.
bool IsDroppedControl(char c) {
  constexpr std::string_view kKept = "\t\n\r\b\a";
  return c == '\x7f' ||
         (IsBetween(c, 0, 0x1F) && kKept.find(c) == std::string_view::npos);
}

// Bytes of a UTF-8 character that has this first one; 0: none has it.
std::size_t LengthAfter(char lead) {
  return IsBetween(lead, 0xC2, 0xDF)   ? 2
         : IsBetween(lead, 0xE0, 0xEF) ? 3
         : IsBetween(lead, 0xF0, 0xF4) ? 4
                                       : 0;
}

// A C1 control, also one that a careless decoder makes of an overlong form.
bool IsShownCharacter(std::string_view character) {
  const bool c1 = character[0] == '\xc2' && IsBetween(character[1], 0x80, 0x9F);
  const bool overlong =
      (character[0] == '\xe0' && IsBetween(character[1], 0x80, 0x9F)) ||
      (character[0] == '\xf0' && IsBetween(character[1], 0x80, 0x8F));
  return !c1 && !overlong;
}

// Bytes that are no UTF-8: those that a terminal may take as C1 are dropped.
void AddBroken(std::string_view bytes, std::string& out) {
  std::copy_if(bytes.begin(), bytes.end(), std::back_inserter(out),
               [](char c) { return !IsBetween(c, 0x80, 0x9F); });
}

}  // namespace

std::string TerminalFilter::Filter(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (const char c : bytes) {
    Take(c, out);
  }
  return out;
}

void TerminalFilter::Reset() {
  state_ = State::kText;
  character_.clear();
}

void TerminalFilter::Take(char c, std::string& out) {
  switch (state_) {
    case State::kText:
      return TakeText(c, out);
    case State::kEscape:
    case State::kCharset:
      return TakeEscape(c, out);
    case State::kSequence:
      return TakeSequence(c, out);
    case State::kString:
      return TakeString(c, out);
  }
}

void TerminalFilter::TakeText(char c, std::string& out) {
  if (!character_.empty() && !IsBetween(c, 0x80, 0xBF)) {
    AddBroken(character_, out);
    character_.clear();
  }
  if (IsBetween(c, 0x80, 0xFF)) {
    TakeByteOfCharacter(c, out);
    return;
  }
  if (c == kEscapeByte) {
    state_ = State::kEscape;
    return;
  }
  if (c == '\n') {
    above_ = std::min(above_ + 1, kMaxUp);
    below_ = std::max(below_ - 1, 0);
  }
  if (!IsDroppedControl(c)) {
    out += c;
  }
}

void TerminalFilter::TakeByteOfCharacter(char c, std::string& out) {
  character_ += c;
  const std::size_t length = LengthAfter(character_[0]);
  if (length == 0) {
    AddBroken(character_, out);
    character_.clear();
  } else if (character_.size() == length) {
    if (IsShownCharacter(character_)) {
      out += character_;
    }
    character_.clear();
  }
}

// After ESC, and after the first bytes of `ESC ( B`.
void TerminalFilter::TakeEscape(char c, std::string& out) {
  constexpr std::string_view kStrings = "]P_^X";  // OSC DCS APC PM SOS
  if (c == kEscapeByte) {
    state_ = State::kEscape;
  } else if (IsBetween(c, 0x20, 0x2F)) {
    state_ = State::kCharset;
  } else if (state_ == State::kEscape && c == '[') {
    state_ = State::kSequence;
    sequence_.clear();
  } else if (state_ == State::kEscape &&
             kStrings.find(c) != std::string_view::npos) {
    state_ = State::kString;
    string_ = 0;
  } else {
    state_ = State::kText;
    if (!IsBetween(c, 0x30, 0x7E)) {
      TakeText(c, out);
    }
  }
}

void TerminalFilter::TakeSequence(char c, std::string& out) {
  if (IsBetween(c, 0x20, 0x3F) && sequence_.size() < kMaxSequence) {
    sequence_ += c;
    return;
  }
  state_ = State::kText;
  if (IsBetween(c, 0x40, 0x7E)) {
    out += Kept(c);
  } else {
    TakeText(c, out);
  }
}

// The byte that ends it for want of an end is text again.
void TerminalFilter::TakeString(char c, std::string& out) {
  if (c == kEscapeByte) {
    state_ = State::kEscape;  // `ESC \`, or another sequence
  } else if (c == '\a') {
    state_ = State::kText;
  } else if (c == '\n' || ++string_ > kMaxString) {
    state_ = State::kText;
    TakeText(c, out);
  }
}

int TerminalFilter::MoveUp(int lines) {
  lines = std::min(lines, above_);
  above_ -= lines;
  below_ += lines;
  return lines;
}

int TerminalFilter::MoveDown(int lines) {
  lines = std::min(lines, below_);
  below_ -= lines;
  above_ += lines;
  return lines;
}

std::string TerminalFilter::Kept(char final) {
  const std::string csi = "\x1b[";
  const auto whole = [&] { return csi + sequence_ + final; };
  const bool count =
      sequence_.empty() || (sequence_.size() <= 4 && IsDigits(sequence_));
  switch (final) {
    case 'm':
      return sequence_.find_first_not_of("0123456789;:") == std::string::npos
                 ? whole()
                 : "";
    case 'h':
    case 'l':
      return sequence_ == "?25" ? whole() : "";
    case 'C':
    case 'D':
    case 'G':
    case 'K':
      return count ? whole() : "";
    case 'A':
    case 'B': {
      const auto asked = static_cast<int>(ParseInt(sequence_).value_or(0));
      const int lines = !count         ? 0
                        : final == 'A' ? MoveUp(std::max(asked, 1))
                                       : MoveDown(std::max(asked, 1));
      return lines == 0 ? "" : csi + std::to_string(lines) + final;
    }
    default:
      return "";
  }
}

}  // namespace muster::sys
