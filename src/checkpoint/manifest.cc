// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/manifest.h"

#include <charconv>
#include <optional>

#include "base/json.h"
#include "base/simd/crc32c.h"
#include "base/text.h"

namespace muster {
namespace {

constexpr std::string_view kFormat = "muster.checkpoint/";

std::optional<std::uint32_t> ParseCrc(const std::string& text) {
  std::uint32_t crc = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, crc, 16);
  return text.size() == 8 && error == std::errc() && at == end
             ? std::optional(crc)
             : std::nullopt;
}

std::string Text(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>()
                                                   : std::string();
}

std::optional<std::uint64_t> Number(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number_unsigned()
             ? std::optional(found->get<std::uint64_t>())
             : std::nullopt;
}

}  // namespace

std::string ToString(const Manifest& manifest) {
  const Json json = {
      {"schema", std::string(kFormat) + std::to_string(kCheckpointFormat)},
      {"step", manifest.step},
      {"bytes", manifest.bytes},
      {"crc32c", CrcText(manifest.crc32c)},
      {"writer", manifest.writer}};
  return Dump(json, 2) + "\n";
}

Result<Manifest> ParseManifest(std::string_view text, std::string_view what) {
  const std::string name = "`" + Printable(what) + "`";
  MUSTER_ASSIGN(const Json json, ParseJson(text, Cause::kFileCorrupt, name));
  if (!json.is_object()) {
    return Error(Cause::kFileCorrupt, name + " is not a manifest");
  }
  const std::string schema = Text(json, "schema");
  const std::string writer = Text(json, "writer");
  if (schema.starts_with(kFormat) &&
      schema.substr(kFormat.size()) != std::to_string(kCheckpointFormat)) {
    return Error(Cause::kCkptMismatch,
                 name + " was written by " + Printable(writer) + " as `" +
                     Printable(schema) + "`, but this program reads `" +
                     std::string(kFormat) + std::to_string(kCheckpointFormat) +
                     "`");
  }
  const auto step = Number(json, "step");
  const auto bytes = Number(json, "bytes");
  const auto crc = ParseCrc(Text(json, "crc32c"));
  if (schema.empty() || writer.empty() || !step || !bytes || !crc) {
    return Error(Cause::kFileCorrupt,
                 name + " lacks schema, step, bytes, crc32c or writer");
  }
  return Manifest{
      .step = *step, .bytes = *bytes, .crc32c = *crc, .writer = writer};
}

}  // namespace muster
