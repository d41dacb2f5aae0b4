// SPDX-License-Identifier: Apache-2.0
// safetensors files and manifests: tensors lie within the file, cover its
// buffer, and what was read can be written and read again.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/manifest.h"
#include "checkpoint/safetensors.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace muster;

void CheckContent(std::string_view file, const SafetensorsContent& content) {
  std::vector<TensorView> tensors;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < content.specs.size(); ++i) {
    const auto& place = content.places[i];
    MUSTER_CHECK(place.begin <= file.size() &&
                 place.size <= file.size() - place.begin);
    MUSTER_CHECK(BytesOf(content.specs[i]) == place.size);
    total += place.size;
    tensors.push_back(
        {content.specs[i], std::as_bytes(std::span<const char>(
                               file.data() + place.begin, place.size))});
  }
  const auto layout = LayOut(tensors, content.metadata);
  MUSTER_CHECK(layout.has_value() && layout->buffer_bytes == total);
  std::string again = layout->head;
  for (const std::size_t at : layout->order) {
    again.append(reinterpret_cast<const char*>(tensors[at].bytes.data()),
                 tensors[at].bytes.size());
  }
  const auto read = ParseSafetensors(again, again.size(), "again");
  MUSTER_CHECK(read.has_value() && read->specs == content.specs &&
               read->metadata == content.metadata);
}

}  // namespace

void Fuzz(const std::string& bytes) {
  const std::string_view file = bytes;
  if (const auto content = ParseSafetensors(file, file.size(), "fuzz")) {
    CheckContent(file, *content);
  }
  if (const auto manifest = ParseManifest(file, "fuzz")) {
    MUSTER_CHECK(ParseManifest(ToString(*manifest), "again").has_value());
  }
}
