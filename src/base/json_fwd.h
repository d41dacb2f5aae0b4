// SPDX-License-Identifier: Apache-2.0
// JSON declared: for headers. A file that makes or reads a value includes
// base/json.h, which costs seconds to compile.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "muster/error.h"

namespace muster {

// Keys keep the order in which they were written, so documents read well.
using Json = nlohmann::ordered_json;

// Parses untrusted text: bounded depth (64), duplicate keys refused. The error
// has the given cause and names `what` (a variable, a file) and the position.
Result<Json> ParseJson(std::string_view text, Cause cause,
                       std::string_view what);

// For people and their tools: one line, or so many spaces of indentation. Bytes
// that are no UTF-8 (a file name, what a program wrote) become the visible
// escape \xe9, and what a terminal would obey is escaped as \uXXXX.
std::string Dump(const Json& json, int indent = -1);
// One line in ASCII, for a way that may not keep other bytes.
std::string DumpAscii(const Json& json);

// For messages: text as it is, bytes that are no UTF-8 as {"bytes":
// "636166e9"}, so that they arrive as they were.
Json BytesToJson(std::string_view bytes);
// nullopt: it is neither.
std::optional<std::string> BytesFromJson(const Json& json);

// ISO 8601 in UTC with microseconds: 2026-11-21T14:35:19.000123Z.
std::string ToString(WallTime time);
Result<WallTime> ParseWallTime(std::string_view text);

Json ToJson(const Fact& fact);
Result<Fact> FactFromJson(const Json& json);

}  // namespace muster
