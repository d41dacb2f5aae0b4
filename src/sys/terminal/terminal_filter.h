// SPDX-License-Identifier: Apache-2.0
// What of a program's output may reach a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster::sys {

// Keeps what progress bars and colored logs are made of, and drops what acts on
// the terminal beyond the lines that a program writes:
//
//   kept     text; tab, line feed, carriage return, backspace, bell
//            SGR (colors): CSI … m
//            CHA, CUF, CUB: CSI n G, C, D       within the line
//            EL: CSI n K                        erases in the line
//            CUU, CUD: CSI n A, B               see below
//            CSI ? 25 h, l                      shows, hides the cursor
//   dropped  OSC (titles, clipboard, links), DCS, APC, PM, SOS; device queries
//            (DA, DSR, DECRQSS, ENQ); erasing or scrolling the screen, the
//            alternate screen and all other modes; charsets; every other
//            escape sequence; other C0, DEL, C1 as bytes and as U+0080…U+009F
//
// tqdm moves between nested bars by a line feed and CSI A for each of them;
// rich goes back over the n lines of its live display by n - 1 times CSI 1 A
// CSI 2 K; Keras uses backspaces and carriage returns. All of them go up over
// lines of their own alone: no more lines up than line feeds came before, and
// at most kMaxUp of these count.
//
// The state goes from piece to piece, so that a sequence may be cut anywhere;
// the same bytes give the same output however they are cut. A string (OSC, DCS,
// …) without an end ends at the end of the line, or after kMaxString bytes. One
// thread at a time.
class TerminalFilter {
 public:
  static constexpr int kMaxUp = 32;  // more than the nested bars of a screen
  static constexpr std::size_t kMaxSequence = 64;
  static constexpr std::size_t kMaxString = 1U << 16;

  // What of the next bytes may be shown. An incomplete sequence or character at
  // their end waits for the bytes after it.
  std::string Filter(std::string_view bytes);
  // Forgets what is incomplete: what comes next is another's text.
  void Reset();

 private:
  enum class State { kText, kEscape, kCharset, kSequence, kString };

  void Take(char c, std::string& out);
  void TakeText(char c, std::string& out);
  void TakeEscape(char c, std::string& out);
  void TakeSequence(char c, std::string& out);
  void TakeString(char c, std::string& out);
  void TakeByteOfCharacter(char c, std::string& out);
  // The sequence as it may be shown; empty: it may not.
  std::string Kept(char final);
  int MoveUp(int lines);
  int MoveDown(int lines);

  State state_ = State::kText;
  std::string sequence_;    // the parameters of a CSI so far
  std::string character_;   // the bytes of a UTF-8 character so far
  std::size_t string_ = 0;  // how many bytes of a string there were
  int above_ = 0;           // lines that may be gone up
  int below_ = 0;           // lines that were gone up, and may be gone down
};

}  // namespace muster::sys
