// SPDX-License-Identifier: Apache-2.0
// Fields of protobuf messages by number, for the few messages of others that
// are spoken here: no message classes, no copies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::wire {

// Walks over the fields of one message, whatever its bytes are.
//
//   for (FieldReader at(bytes); at.Next();) {
//     if (at.number() == 1) { name = at.bytes(); }
//   }
class FieldReader {
 public:
  explicit FieldReader(std::string_view message) : rest_(message) {}

  // False at the end, and at bytes that are no field.
  bool Next();
  bool broken() const { return broken_; }

  std::uint32_t number() const { return number_; }
  // Of a varint or a fixed number; 0 for others.
  std::uint64_t value() const { return value_; }
  std::int64_t signed_value() const {
    return static_cast<std::int64_t>(value_);
  }
  // A fixed 64-bit field as a floating-point number.
  double real() const;
  // Of a string, bytes or message; empty for others. Lives as long as the
  // message.
  std::string_view bytes() const { return bytes_; }
  bool has_bytes() const { return has_bytes_; }

 private:
  bool TakeFixed(std::size_t size);
  bool TakeBytes();

  std::string_view rest_;
  std::uint32_t number_ = 0;
  std::uint64_t value_ = 0;
  std::string_view bytes_;
  bool has_bytes_ = false;
  bool broken_ = false;
};

// The numbers of a packed field; those before bytes that are no number.
std::vector<std::int64_t> PackedNumbers(std::string_view bytes);

// The field as it stands in a message.
std::string BytesField(std::uint32_t number, std::string_view bytes);
std::string NumberField(std::uint32_t number, std::uint64_t value);
std::string FixedField(std::uint32_t number, std::uint64_t value);

}  // namespace muster::wire
