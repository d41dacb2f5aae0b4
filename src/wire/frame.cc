// SPDX-License-Identifier: Apache-2.0
#include "wire/frame.h"

#include <bit>
#include <cstring>
#include <limits>

namespace muster::wire {
namespace {

static_assert(std::endian::native == std::endian::little,
              "frames are written little-endian");

constexpr std::size_t kLengthSize = 4;

template <typename T>
void Append(std::string& bytes, T value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof raw);
}

}  // namespace

Result<std::optional<FrameView>> PeekFrame(std::string_view bytes,
                                           FrameBounds bounds) {
  std::uint32_t length = 0;
  if (bytes.size() < kLengthSize) {
    return std::optional<FrameView>();
  }
  std::memcpy(&length, bytes.data(), kLengthSize);
  if (length < bounds.least || length > bounds.most) {
    return Error(Cause::kFileCorrupt,
                 "a frame declares " + std::to_string(length) + " bytes");
  }
  if (bytes.size() - kLengthSize < length) {
    return std::optional<FrameView>();
  }
  return std::optional(
      FrameView{.kind = static_cast<std::uint8_t>(bytes[kLengthSize]),
                .body = bytes.substr(kLengthSize + 1, length - 1),
                .size = kLengthSize + length});
}

FrameBuilder::FrameBuilder(std::uint8_t kind, std::size_t expected) {
  bytes_.reserve(kLengthSize + 1 + expected);
  bytes_.resize(kLengthSize);
  bytes_ += static_cast<char>(kind);
}

FrameBuilder& FrameBuilder::Raw(std::string_view bytes) {
  bytes_ += bytes;
  return *this;
}

FrameBuilder& FrameBuilder::Number(std::int64_t number) {
  Append(bytes_, number);
  return *this;
}

void FrameBuilder::Size(std::size_t size) {
  MUSTER_CHECK(size <= std::numeric_limits<std::uint32_t>::max());
  Append(bytes_, static_cast<std::uint32_t>(size));
}

FrameBuilder& FrameBuilder::Text(std::string_view text) {
  Size(text.size());
  return Raw(text);
}

FrameBuilder& FrameBuilder::Texts(const std::vector<std::string>& texts) {
  Size(texts.size());
  for (const std::string& text : texts) {
    Text(text);
  }
  return *this;
}

FrameBuilder& FrameBuilder::Numbers(const std::vector<std::int64_t>& numbers) {
  Size(numbers.size());
  for (const std::int64_t number : numbers) {
    Number(number);
  }
  return *this;
}

std::string FrameBuilder::Finish() {
  const std::size_t length = bytes_.size() - kLengthSize;
  MUSTER_CHECK(length <= std::numeric_limits<std::uint32_t>::max());
  std::memcpy(bytes_.data(), &length, kLengthSize);
  return std::move(bytes_);
}

template <typename T>
T BodyReader::Take() {
  T value{};
  if (rest_.size() < sizeof value) {
    whole_ = false;
    rest_ = {};
    return value;
  }
  std::memcpy(&value, rest_.data(), sizeof value);
  rest_.remove_prefix(sizeof value);
  return value;
}

std::int64_t BodyReader::Number() {
  return Take<std::int64_t>();
}

std::string BodyReader::Text() {
  const std::uint32_t size = Size();
  if (rest_.size() < size) {
    whole_ = false;
    rest_ = {};
    return {};
  }
  std::string text(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return text;
}

std::vector<std::string> BodyReader::Texts() {
  std::vector<std::string> texts;
  for (std::uint32_t left = Size(); whole_ && left > 0; --left) {
    texts.push_back(Text());
  }
  return texts;
}

std::vector<std::int64_t> BodyReader::Numbers() {
  std::vector<std::int64_t> numbers;
  for (std::uint32_t left = Size(); whole_ && left > 0; --left) {
    numbers.push_back(Number());
  }
  return numbers;
}

}  // namespace muster::wire
