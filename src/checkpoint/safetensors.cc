// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <set>

#include "base/json.h"
#include "base/text.h"

namespace muster {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tensors are written in host byte order");

constexpr std::size_t kLengthBytes = 8;
constexpr const char* kMetadata = "__metadata__";

Error Corrupt(std::string_view what, const std::string& found) {
  return Error(Cause::kFileCorrupt,
               "`" + Printable(what) + "` is corrupt: " + found)
      .With({.name = "file.header",
             .fields = {{"path", std::string(what)}, {"found", found}},
             .subject = std::string(what)});
}

Status CheckTensors(std::span<const TensorView> tensors) {
  std::set<std::string_view> names;
  for (const TensorView& tensor : tensors) {
    const TensorSpec& spec = tensor.spec;
    if (spec.name == kMetadata || !names.insert(spec.name).second) {
      return Error(Cause::kUsageInvalid,
                   "two tensors of the checkpoint cannot both be named `" +
                       Printable(spec.name) + "`");
    }
    const auto bytes = BytesOf(spec);
    if (!bytes || *bytes != tensor.bytes.size()) {
      return Error(Cause::kUsageInvalid,
                   "tensor `" + Printable(spec.name) + "` is " +
                       ToString(spec) + " but has " +
                       std::to_string(tensor.bytes.size()) + " bytes");
    }
  }
  return Ok();
}

// One tensor's entry of the header.
struct Entry {
  TensorSpec spec;
  std::uint64_t begin = 0;  // in the buffer
  std::uint64_t end = 0;
};

// A number of the header that counts something; nullopt when it does not.
std::optional<std::uint64_t> CountOf(const Json& json) {
  if (!json.is_number_unsigned()) {
    return std::nullopt;
  }
  const auto count = json.get<std::uint64_t>();
  return count >> 63 == 0 ? std::optional(count) : std::nullopt;
}

Result<Entry> ParseEntry(const std::string& name, const Json& json,
                         std::string_view what) {
  const std::string who = "tensor `" + Printable(name) + "`";
  Entry entry{.spec = {.name = name}};
  const auto* dtype = json.is_object() && json.contains("dtype")
                          ? json["dtype"].get_ptr<const std::string*>()
                          : nullptr;
  const bool complete =
      dtype != nullptr && json.contains("shape") && json["shape"].is_array() &&
      json.contains("data_offsets") && json["data_offsets"].is_array() &&
      json["data_offsets"].size() == 2;
  if (!complete) {
    return Corrupt(what, who + " has no dtype, shape or data_offsets");
  }
  const auto known = DTypeFromText(*dtype);
  if (!known) {
    return Corrupt(what,
                   who + " has an unknown dtype `" + Printable(*dtype) + "`");
  }
  entry.spec.dtype = *known;
  for (const Json& dimension : json["shape"]) {
    const auto count = CountOf(dimension);
    if (!count) {
      return Corrupt(what, who + " has an invalid dimension");
    }
    entry.spec.shape.push_back(static_cast<std::int64_t>(*count));
  }
  const auto begin = CountOf(json["data_offsets"][0]);
  const auto end = CountOf(json["data_offsets"][1]);
  const auto bytes = BytesOf(entry.spec);
  if (!begin || !end || *begin > *end || !bytes || *end - *begin != *bytes) {
    return Corrupt(what, who + " is " + ToString(entry.spec) +
                             ", which does not match its data_offsets");
  }
  entry.begin = *begin;
  entry.end = *end;
  return entry;
}

Result<std::map<std::string, std::string>> ParseMetadata(
    const Json& json, std::string_view what) {
  if (!json.is_object()) {
    return Corrupt(what, "its __metadata__ is not an object");
  }
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) {
      return Corrupt(
          what, "its __metadata__ `" + Printable(key) + "` is not a string");
    }
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

// Every byte of the buffer belongs to one tensor.
Status CheckCover(std::vector<Entry> entries, std::uint64_t buffer_bytes,
                  std::string_view what) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t next = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != next) {
      return Corrupt(what, "tensor `" + Printable(entry.spec.name) +
                               "` begins at " + std::to_string(entry.begin) +
                               (entry.begin < next ? ", inside the previous one"
                                                   : ", after a gap"));
    }
    next = entry.end;
  }
  if (next != buffer_bytes) {
    return Corrupt(what, "its tensors need " + std::to_string(next) +
                             " bytes, but " + std::to_string(buffer_bytes) +
                             " are available");
  }
  return Ok();
}

Result<std::string_view> TakeHeader(std::string_view file,
                                    std::string_view what) {
  std::uint64_t length = 0;
  if (file.size() < kLengthBytes) {
    return Corrupt(what,
                   "it has only " + std::to_string(file.size()) + " bytes");
  }
  std::memcpy(&length, file.data(), kLengthBytes);
  if (length > kMaxHeaderBytes) {
    return Corrupt(what, "its header would be " + BytesText(length) +
                             " long; the limit is " +
                             BytesText(kMaxHeaderBytes));
  }
  if (length > file.size() - kLengthBytes) {
    return Corrupt(what, "it is truncated: its header is " +
                             std::to_string(length) + " bytes long, " +
                             std::to_string(file.size() - kLengthBytes) +
                             " are available");
  }
  return file.substr(kLengthBytes, length);
}

}  // namespace

Result<SafetensorsLayout> LayOut(
    std::span<const TensorView> tensors,
    const std::map<std::string, std::string>& metadata) {
  MUSTER_TRY(CheckTensors(tensors));
  SafetensorsLayout layout;
  layout.order.resize(tensors.size());
  std::iota(layout.order.begin(), layout.order.end(), std::size_t{0});
  const auto& spec_of = [&](std::size_t at) -> const TensorSpec& {
    return tensors[at].spec;
  };
  std::sort(layout.order.begin(), layout.order.end(),
            [&](std::size_t a, std::size_t b) {
              const auto key = [&](std::size_t at) {
                return std::pair(-static_cast<int>(SizeOf(spec_of(at).dtype)),
                                 std::string_view(spec_of(at).name));
              };
              return key(a) < key(b);
            });
  std::map<std::string, Json> entries;  // sorted by name
  for (const std::size_t at : layout.order) {
    const std::uint64_t begin = layout.buffer_bytes;
    layout.buffer_bytes += tensors[at].bytes.size();
    entries[spec_of(at).name] = {
        {"dtype", std::string(ToString(spec_of(at).dtype))},
        {"shape", spec_of(at).shape},
        {"data_offsets", {begin, layout.buffer_bytes}}};
  }
  Json header = Json::object();
  header[kMetadata] = metadata;
  for (auto& [name, entry] : entries) {
    header[name] = std::move(entry);
  }
  try {
    layout.head = header.dump();
  } catch (const Json::type_error& error) {
    return Error(Cause::kUsageInvalid,
                 "a name or value in the checkpoint is not UTF-8: " +
                     Printable(error.what()));
  }
  layout.head.resize((layout.head.size() + 7) / 8 * 8, ' ');
  if (layout.head.size() > kMaxHeaderBytes) {
    return Error(
        Cause::kUsageInvalid,
        "the names of " + Count(static_cast<int>(tensors.size()), "tensor") +
            " exceed the header limit of " + BytesText(kMaxHeaderBytes));
  }
  const std::uint64_t length = layout.head.size();
  layout.head.insert(0, reinterpret_cast<const char*>(&length), kLengthBytes);
  return layout;
}

Result<SafetensorsContent> ParseSafetensors(std::string_view file,
                                            std::uint64_t file_bytes,
                                            std::string_view what) {
  MUSTER_ASSIGN(const std::string_view header, TakeHeader(file, what));
  MUSTER_ASSIGN(const Json json,
                ParseJson(header, Cause::kFileCorrupt,
                          "the header of `" + Printable(what) + "`"));
  if (!json.is_object()) {
    return Corrupt(what, "its header is not an object");
  }
  SafetensorsContent content;
  std::vector<Entry> entries;
  for (const auto& [name, value] : json.items()) {
    if (name == kMetadata) {
      MUSTER_ASSIGN(content.metadata, ParseMetadata(value, what));
      continue;
    }
    MUSTER_ASSIGN(Entry entry, ParseEntry(name, value, what));
    entries.push_back(std::move(entry));
  }
  const std::uint64_t buffer = kLengthBytes + header.size();
  MUSTER_TRY(CheckCover(entries, file_bytes - buffer, what));
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.spec.name < b.spec.name;
  });
  for (Entry& entry : entries) {
    content.specs.push_back(std::move(entry.spec));
    content.places.push_back(
        {.begin = buffer + entry.begin, .size = entry.end - entry.begin});
  }
  return content;
}

}  // namespace muster
