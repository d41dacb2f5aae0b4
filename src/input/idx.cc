// SPDX-License-Identifier: Apache-2.0
#include "input/idx.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>

#include <isa-l/igzip_lib.h>

#include "base/text.h"

namespace muster {
namespace {

// No deflate stream expands further (RFC 1951: 258 bytes from two bits).
constexpr std::uint64_t kMaxExpansion = 1032;

Error Corrupt(std::string_view what, const std::string& found) {
  return Error(Cause::kFileCorrupt,
               "`" + Printable(what) + "` is corrupt: " + found)
      .With({.name = "file.header",
             .fields = {{"path", std::string(what)}, {"found", found}},
             .subject = std::string(what)});
}

std::uint32_t BigEndian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  }
  return value;
}

std::string Hex(std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

// The shape that a header tells, and how many bytes must follow it.
struct Header {
  std::vector<std::uint32_t> shape;
  std::uint64_t elements = 0;
};

Result<Header> ParseHeader(std::string_view bytes, int dimensions,
                           std::string_view what) {
  const auto wanted = 0x800 + static_cast<std::uint32_t>(dimensions);
  if (const auto magic = BigEndian(bytes, 0); magic != wanted) {
    return Corrupt(what, "an IDX file of " + std::to_string(dimensions) +
                             "-dimensional bytes begins with " + Hex(wanted) +
                             ", but this one with " + Hex(magic));
  }
  Header header{.elements = 1};
  for (std::size_t at = 4; at < bytes.size(); at += 4) {
    header.shape.push_back(BigEndian(bytes, at));
    const std::uint64_t dimension = header.shape.back();
    // 2^62 bytes cannot be: the product stays far from an overflow.
    if (dimension != 0 && header.elements > (1ULL << 62) / dimension) {
      return Corrupt(what, "its header declares too many elements");
    }
    header.elements *= dimension;
  }
  return header;
}

Status CheckSize(std::uint64_t found, const Header& header,
                 std::string_view what) {
  if (found == header.elements) {
    return Ok();
  }
  std::string shape;
  for (const auto dimension : header.shape) {
    shape += (shape.empty() ? "" : " x ") + std::to_string(dimension);
  }
  return Corrupt(what, "its header declares " + shape + " = " +
                           std::to_string(header.elements) + " bytes, " +
                           (found < header.elements
                                ? "only " + std::to_string(found) + " follow"
                                : "but more follow"));
}

// Unpacks a gzip file held in memory, piece by piece.
class Unpacker {
 public:
  explicit Unpacker(std::string_view packed)
      : state_(std::make_unique<inflate_state>()) {
    isal_inflate_init(state_.get());
    state_->crc_flag = ISAL_GZIP;
    // isal_inflate only reads from there.
    state_->next_in =
        reinterpret_cast<std::uint8_t*>(const_cast<char*>(packed.data()));
    rest_ = packed.size();
  }

  // Fills `out` as far as there is data; `why` tells what is wrong with it.
  std::size_t Take(char* out, std::size_t room, std::string& why) {
    std::size_t taken = 0;
    while (taken < room && !finished() && why.empty()) {
      constexpr std::size_t kMaxCount = 1U
                                        << 30;  // the library counts in 32 bits
      const auto in = static_cast<std::uint32_t>(std::min(rest_, kMaxCount));
      const auto piece =
          static_cast<std::uint32_t>(std::min(room - taken, kMaxCount));
      state_->avail_in = in;
      state_->next_out = reinterpret_cast<std::uint8_t*>(out + taken);
      state_->avail_out = piece;
      const int result = isal_inflate(state_.get());
      rest_ -= in - state_->avail_in;
      const std::size_t got = piece - state_->avail_out;
      taken += got;
      if (result < 0) {
        why = result == ISAL_INCORRECT_CHECKSUM
                  ? "its gzip checksum does not match its content"
                  : "its gzip data is invalid (error " +
                        std::to_string(result) + ")";
      } else if (got == 0 && state_->avail_in == in && !finished()) {
        break;  // cut off
      }
    }
    return taken;
  }

  bool finished() const { return state_->block_state == ISAL_BLOCK_FINISH; }
  std::size_t rest() const { return rest_; }

 private:
  std::unique_ptr<inflate_state> state_;
  std::size_t rest_ = 0;
};

Result<IdxArray> ParseGzip(std::string_view file, std::size_t header_size,
                           std::string_view what) {
  Unpacker unpacker(file);
  std::string why;
  std::string head(header_size, '\0');
  if (unpacker.Take(head.data(), header_size, why) < header_size) {
    return Corrupt(what, why.empty() ? "it ends within its header" : why);
  }
  const auto dimensions = static_cast<int>(header_size / 4 - 1);
  MUSTER_ASSIGN(const Header header, ParseHeader(head, dimensions, what));
  if (header.elements > kMaxExpansion * file.size()) {
    return Corrupt(what,
                   "its header declares " + std::to_string(header.elements) +
                       " bytes, more than " + std::to_string(file.size()) +
                       " compressed bytes can contain");
  }
  // One byte more than wanted, to see whether the data end there.
  IdxArray array{.shape = header.shape,
                 .bytes = std::string(header.elements + 1, '\0')};
  const std::size_t got =
      unpacker.Take(array.bytes.data(), array.bytes.size(), why);
  if (!why.empty()) {
    return Corrupt(what, why);
  }
  MUSTER_TRY(CheckSize(got, header, what));
  if (!unpacker.finished()) {
    return Corrupt(what, "it is truncated in its gzip checksum");
  }
  if (unpacker.rest() > 0) {
    return Corrupt(what, std::to_string(unpacker.rest()) +
                             " bytes follow the end of its gzip data");
  }
  array.bytes.pop_back();
  return array;
}

}  // namespace

Result<IdxArray> ParseIdx(std::string file, int dimensions,
                          std::string_view what) {
  const std::size_t header_size = 4 + 4 * static_cast<std::size_t>(dimensions);
  if (file.starts_with("\x1f\x8b")) {
    return ParseGzip(file, header_size, what);
  }
  if (file.size() < header_size) {
    return Corrupt(what, "it has " + std::to_string(file.size()) +
                             " bytes, but its header needs " +
                             std::to_string(header_size));
  }
  MUSTER_ASSIGN(const Header header,
                ParseHeader(std::string_view(file).substr(0, header_size),
                            dimensions, what));
  MUSTER_TRY(CheckSize(file.size() - header_size, header, what));
  file.erase(0, header_size);
  return IdxArray{.shape = header.shape, .bytes = std::move(file)};
}

}  // namespace muster
