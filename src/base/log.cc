// SPDX-License-Identifier: Apache-2.0
// The only file that includes spdlog.
#include "base/log.h"

#include <atomic>

#define SPDLOG_FMT_EXTERNAL
#define FMT_HEADER_ONLY
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wuseless-cast"
#endif
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wnull-dereference"
#include <spdlog/logger.h>
#include <spdlog/sinks/dup_filter_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#pragma GCC diagnostic pop

#include "base/text.h"

namespace muster {
namespace {

std::atomic<LogLevel> g_level{LogLevel::kInfo};

// Made at the first line, and never destroyed: threads may log until the end.
spdlog::logger& Logger() {
  static auto* logger = [] {
    auto filter = std::make_shared<spdlog::sinks::dup_filter_sink_mt>(
        std::chrono::seconds(10));
    filter->add_sink(std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    auto* made = new spdlog::logger("muster", std::move(filter));
    made->set_pattern("muster: %^%l%$ %v");
    made->set_level(spdlog::level::trace);
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *logger;
}

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace:
      return spdlog::level::trace;
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

void SetLogLevel(LogLevel level) {
  g_level = level;
}

bool LogEnabled(LogLevel level) {
  return level >= g_level.load();
}

void Log(LogLevel level, std::string_view sentence,
         std::initializer_list<LogField> fields) {
  // Whatever a caller puts into it, a line is one line and no command.
  std::string line = Printable(sentence);
  for (const LogField& field : fields) {
    line += " " + field.key + "=" + Printable(field.value);
  }
  Logger().log(ToSpdlog(level),
               spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace muster
