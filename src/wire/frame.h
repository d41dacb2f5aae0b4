// SPDX-License-Identifier: Apache-2.0
// The one framing of byte streams (rank and agent, guardian, mesh), and the one
// codec of binary bodies:
//
//   u32 length of what follows | u8 kind | body          (all little-endian)
//
// A number is 8 bytes, a text is a u32 length and its bytes, a list is a u32
// count and its values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/error.h"

namespace muster::wire {

// Of what the length counts: the kind and the body.
struct FrameBounds {
  std::uint32_t least = 1;
  std::uint32_t most = UINT32_MAX;
};

struct FrameView {
  std::uint8_t kind = 0;
  std::string_view body;
  std::size_t size = 0;  // of the whole frame
};

// The frame at the front; nullopt: more bytes are needed. file-corrupt: no
// frame has such a length.
Result<std::optional<FrameView>> PeekFrame(std::string_view bytes,
                                           FrameBounds bounds);

// Makes one frame.
class FrameBuilder {
 public:
  // `expected`: about the size of its body.
  explicit FrameBuilder(std::uint8_t kind, std::size_t expected = 0);
  FrameBuilder& Raw(std::string_view bytes);
  FrameBuilder& Number(std::int64_t number);
  FrameBuilder& Text(std::string_view text);
  FrameBuilder& Texts(const std::vector<std::string>& texts);
  FrameBuilder& Numbers(const std::vector<std::int64_t>& numbers);
  std::string Finish();

 private:
  void Size(std::size_t size);

  std::string bytes_;
};

// Takes values off a body. After the first lack all are empty.
class BodyReader {
 public:
  explicit BodyReader(std::string_view body) : rest_(body) {}
  std::int64_t Number();
  std::string Text();
  std::vector<std::string> Texts();
  std::vector<std::int64_t> Numbers();
  // Everything was there, and nothing is left.
  bool Complete() const { return whole_ && rest_.empty(); }

 private:
  template <typename T>
  T Take();
  std::uint32_t Size() { return Take<std::uint32_t>(); }

  std::string_view rest_;
  bool whole_ = true;
};

}  // namespace muster::wire
