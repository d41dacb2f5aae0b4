// SPDX-License-Identifier: Apache-2.0
// From the bytes of a stream to the lines that people see. Pure.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

// Hands out whole lines, without their ends. A line longer than kLongestLine
// comes in pieces. A progress bar, which goes back with a carriage return and
// is written over, comes as a line at most once per kRedraw, and in its last
// state.
class LineSplitter {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using OnLine = std::function<void(std::string_view line)>;

  static constexpr std::size_t kLongestLine = 64U << 10;
  static constexpr std::chrono::seconds kRedraw{1};

  explicit LineSplitter(OnLine on_line) : on_line_(std::move(on_line)) {}

  void Feed(std::string_view bytes, Time now);
  // What has no end yet.
  std::string_view rest() const { return line_; }
  // The stream is over: what has no end yet is a line too.
  void Finish();

 private:
  void Append(std::string_view bytes);
  void Emit();
  void Overwrite(Time now);

  OnLine on_line_;
  std::string line_;
  bool returned_ = false;  // a carriage return came last
  std::optional<Time> redrawn_;
};

// A line of a program as plain text of at most `limit` bytes: without the
// sequences that color it, control characters visible, UTF-8.
std::string PlainText(std::string_view line, std::size_t limit);

}  // namespace muster
