// SPDX-License-Identifier: Apache-2.0
// Log lines on stderr: a sentence, then key=value. Results never go here.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

namespace muster {

enum class LogLevel { kTrace, kDebug, kInfo, kWarn, kError };

// One key=value of a log line.
struct LogField {
  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  LogField(std::string_view k, const char* v) : key(k), value(v) {}
  template <typename T>
  requires std::integral<T> || std::floating_point<T> LogField(
      std::string_view k, T v)
      : key(k), value(std::to_string(v)) {}

  std::string key;
  std::string value;
};

// Lines below this level are dropped. Default: kInfo. Any thread.
void SetLogLevel(LogLevel level);
bool LogEnabled(LogLevel level);

// Writes one line. What is not Printable is escaped. A line that repeats
// the one before is counted, not repeated. Any thread.
void Log(LogLevel level, std::string_view sentence,
         std::initializer_list<LogField> fields = {});

}  // namespace muster

#define MUSTER_LOG(level, ...)                               \
  do {                                                       \
    if (::muster::LogEnabled(::muster::LogLevel::level)) {   \
      ::muster::Log(::muster::LogLevel::level, __VA_ARGS__); \
    }                                                        \
  } while (false)
