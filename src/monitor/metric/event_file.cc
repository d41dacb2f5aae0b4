// SPDX-License-Identifier: Apache-2.0
#include "monitor/metric/event_file.h"

#include <bit>
#include <cstring>

#include "base/simd/crc32c.h"

namespace muster::monitor {
namespace {

static_assert(std::endian::native == std::endian::little);

template <typename T>
std::string LittleEndian(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// CRC-32C, rotated and shifted as TFRecord wants it, so that a CRC over data
// that holds a CRC stays strong.
std::uint32_t MaskedCrc(std::string_view bytes) {
  const std::uint32_t sum = Crc32c(0, std::as_bytes(std::span(bytes)));
  return std::rotr(sum, 15) + 0xA282EAD8U;
}

// The few protobuf encodings that an Event needs.
enum class Wire : std::uint64_t { kVarint = 0, k64 = 1, kBytes = 2, k32 = 5 };

void PutVarint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80U);
    value >>= 7U;
  }
  out += static_cast<char>(value);
}

void PutKey(std::string& out, std::uint64_t field, Wire wire) {
  PutVarint(out, field << 3U | static_cast<std::uint64_t>(wire));
}

void PutBytes(std::string& out, std::uint64_t field, std::string_view bytes) {
  PutKey(out, field, Wire::kBytes);
  PutVarint(out, bytes.size());
  out += bytes;
}

// message Event { double wall_time = 1; int64 step = 2;
//                 string file_version = 3; Summary summary = 5; }
std::string Event(WallTime at, std::int64_t step) {
  std::string event;
  PutKey(event, 1, Wire::k64);
  event += LittleEndian(
      std::chrono::duration<double>(at.time_since_epoch()).count());
  if (step != 0) {
    PutKey(event, 2, Wire::kVarint);
    PutVarint(event, static_cast<std::uint64_t>(step));
  }
  return event;
}

// message Summary { repeated Value value = 1; }
// message Value { string tag = 1; float simple_value = 2; }
std::string Summary(std::span<const Scalar> scalars) {
  std::string summary;
  for (const Scalar& scalar : scalars) {
    std::string value;
    PutBytes(value, 1, scalar.tag);
    PutKey(value, 2, Wire::k32);
    value += LittleEndian(static_cast<float>(scalar.value));
    PutBytes(summary, 1, value);
  }
  return summary;
}

}  // namespace

std::string EventRecord(std::string_view data) {
  const std::string length = LittleEndian(std::uint64_t{data.size()});
  std::string record = length + LittleEndian(MaskedCrc(length));
  record += data;
  record += LittleEndian(MaskedCrc(data));
  return record;
}

Result<std::unique_ptr<EventFile>> EventFile::Open(sys::Fs& fs,
                                                   const std::string& directory,
                                                   const std::string& host,
                                                   WallTime at) {
  MUSTER_TRY(fs.MakeDirectories(directory));
  const auto seconds =
      std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
  const auto path = sys::JoinPath(
      directory, "events.out.tfevents." + std::to_string(seconds) + "." + host);
  MUSTER_ASSIGN(auto file, fs.OpenAppender(path));
  std::string first = Event(at, 0);
  PutBytes(first, 3, "brain.Event:2");
  MUSTER_TRY(file->Append(EventRecord(first)));
  return std::unique_ptr<EventFile>(new EventFile(path, std::move(file)));
}

Status EventFile::Write(WallTime at, std::int64_t step,
                        std::span<const Scalar> scalars) {
  std::string event = Event(at, step);
  PutBytes(event, 5, Summary(scalars));
  return file_->Append(EventRecord(event));
}

}  // namespace muster::monitor
