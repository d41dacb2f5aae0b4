// SPDX-License-Identifier: Apache-2.0
// For tests: a log that a pattern of theirs finds something in, and archives of
// it, made byte by byte.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <string_view>

#include "diagnose/match/matcher.h"

namespace muster::diagnose {

inline constexpr PatternRow kInputRows[] = {
    {"out of disk on (?P<disk>\\w+)", "full", ""}};
inline constexpr std::string_view kLog = "one\nout of disk on sda\n";

// In the format of zlib that `bits` selects, as deflateInit2 takes it.
inline std::string Deflated(std::string_view text, int bits) {
  std::string out(text.size() + 1000, '\0');
  std::string in(text);
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY),
            Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::string Little(std::size_t number, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) {
    out += static_cast<char>(number >> (8 * i) & 0xFF);
  }
  return out;
}

inline constexpr std::string_view kZipDirectory = "PK\x01\x02 rest";

inline std::string ZipMember(const std::string& name, std::string_view text,
                             bool deflate, int flags = 0) {
  const std::string body = deflate ? Deflated(text, -15) : std::string(text);
  const bool streamed = (flags & 8) != 0;
  return "PK\x03\x04" + Little(20, 2) +
         Little(static_cast<std::size_t>(flags), 2) +
         Little(deflate ? 8 : 0, 2) + Little(0, 4) + Little(0, 4) +
         Little(streamed ? 0 : body.size(), 4) +
         Little(streamed ? 0 : text.size(), 4) + Little(name.size(), 2) +
         Little(0, 2) + name + body;
}

// What follows a member whose header did not know its size.
inline std::string ZipDescriptor(std::string_view text, bool sign, int bytes) {
  return (sign ? "PK\x07\x08" : "") + std::string("crc ") +
         Little(Deflated(text, -15).size(), bytes) + Little(text.size(), bytes);
}

inline const std::string& TarEnd() {
  static const std::string end(1024, '\0');
  return end;
}

inline std::string TarMember(const std::string& name, std::string_view text,
                             char type = '0') {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  std::string size = "00000000000";
  for (std::size_t i = 11, left = text.size(); i > 0; --i, left /= 8) {
    size[i - 1] = static_cast<char>('0' + left % 8);
  }
  header.replace(124, 11, size);
  header[156] = type;
  header.replace(257, 5, "ustar");
  std::string body(text);
  body.resize((text.size() + 511) / 512 * 512, '\0');
  return header + body;
}

}  // namespace muster::diagnose
