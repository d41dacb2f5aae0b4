// SPDX-License-Identifier: Apache-2.0
#include "wire/proto_fields.h"

#include <bit>

namespace muster::wire {
namespace {

enum WireType : std::uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kLength = 2,
  kFixed32 = 5
};

std::string Varint(std::uint64_t value) {
  std::string bytes;
  while (value >= 0x80) {
    bytes += static_cast<char>(0x80 | (value & 0x7F));
    value >>= 7;
  }
  return bytes + static_cast<char>(value);
}

bool TakeVarint(std::string_view& rest, std::uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(rest.front());
    rest.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool FieldReader::TakeFixed(std::size_t size) {
  if (rest_.size() < size) {
    return false;
  }
  value_ = 0;
  for (std::size_t i = 0; i < size; ++i) {
    value_ |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(rest_[i]))
              << (8 * i);
  }
  rest_.remove_prefix(size);
  return true;
}

bool FieldReader::TakeBytes() {
  std::uint64_t size = 0;
  if (!TakeVarint(rest_, size) || size > rest_.size()) {
    return false;
  }
  bytes_ = rest_.substr(0, size);
  has_bytes_ = true;
  rest_.remove_prefix(size);
  return true;
}

bool FieldReader::Next() {
  value_ = 0;
  bytes_ = {};
  has_bytes_ = false;
  if (broken_ || rest_.empty()) {
    return false;
  }
  std::uint64_t tag = 0;
  bool taken = TakeVarint(rest_, tag) && tag >> 3 != 0 && tag >> 3 < (1U << 29);
  if (taken) {
    number_ = static_cast<std::uint32_t>(tag >> 3);
    switch (tag & 7) {
      case kVarint:
        taken = TakeVarint(rest_, value_);
        break;
      case kFixed64:
        taken = TakeFixed(8);
        break;
      case kLength:
        taken = TakeBytes();
        break;
      case kFixed32:
        taken = TakeFixed(4);
        break;
      default:
        taken = false;
    }
  }
  broken_ = !taken;
  return taken;
}

double FieldReader::real() const {
  return std::bit_cast<double>(value_);
}

std::vector<std::int64_t> PackedNumbers(std::string_view bytes) {
  std::vector<std::int64_t> numbers;
  std::uint64_t value = 0;
  while (TakeVarint(bytes, value)) {
    numbers.push_back(static_cast<std::int64_t>(value));
  }
  return numbers;
}

std::string BytesField(std::uint32_t number, std::string_view bytes) {
  return Varint(std::uint64_t{number} << 3 | kLength) + Varint(bytes.size()) +
         std::string(bytes);
}

std::string NumberField(std::uint32_t number, std::uint64_t value) {
  return Varint(std::uint64_t{number} << 3 | kVarint) + Varint(value);
}

std::string FixedField(std::uint32_t number, std::uint64_t value) {
  std::string bytes = Varint(std::uint64_t{number} << 3 | kFixed64);
  for (int shift = 0; shift < 64; shift += 8) {
    bytes += static_cast<char>(value >> shift & 0xFF);
  }
  return bytes;
}

}  // namespace muster::wire
