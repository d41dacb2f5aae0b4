// SPDX-License-Identifier: Apache-2.0
#include "diagnose/read/tar_writer.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <numeric>
#include <span>

namespace muster::diagnose {
namespace {

constexpr std::size_t kTarBlock = 512;

// POSIX.1-1988 ustar; numbers are octal text.
struct Header {
  std::array<char, 100> name{};
  std::array<char, 8> mode{};
  std::array<char, 8> uid{};
  std::array<char, 8> gid{};
  std::array<char, 12> size{};
  std::array<char, 12> mtime{};
  std::array<char, 8> checksum{};
  char type = '0';
  std::array<char, 100> link{};
  std::array<char, 6> magic{'u', 's', 't', 'a', 'r', '\0'};
  std::array<char, 2> version{'0', '0'};
  std::array<char, 32> user{};
  std::array<char, 32> group{};
  std::array<char, 8> major{};
  std::array<char, 8> minor{};
  std::array<char, 155> prefix{};
  std::array<char, 12> padding{};
};
static_assert(sizeof(Header) == kTarBlock);

// Right-aligned, zeros in front, one byte left for the end.
void Octal(std::span<char> field, std::uint64_t value) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), value, 8).ptr;
  const auto count = static_cast<std::size_t>(end - digits.begin());
  std::fill(field.begin(), field.end() - 1, '0');
  const std::size_t kept = std::min(count, field.size() - 1);
  std::copy(end - kept, end,
            field.end() - 1 - static_cast<std::ptrdiff_t>(kept));
}

// A name of up to 100 bytes, or a prefix of up to 155 that ends at a slash.
void Name(std::string_view name, Header& header) {
  std::size_t split = 0;
  if (name.size() > header.name.size()) {
    const std::size_t earliest = name.size() - header.name.size() - 1;
    split = name.find('/', earliest);
  }
  if (split == std::string_view::npos || split > header.prefix.size()) {
    name.remove_prefix(name.size() - header.name.size());
    split = 0;
  }
  if (split > 0) {
    std::copy_n(name.begin(), split, header.prefix.begin());
    name.remove_prefix(split + 1);
  }
  std::copy(name.begin(), name.end(), header.name.begin());
}

}  // namespace

struct TarWriter::Stream {
  z_stream zlib{};
  bool begun = false;
  std::string out;

  void Put(std::string_view bytes, int flush) {
    if (!begun) {
      return;  // Finish tells
    }
    // zlib declares its input without const.
    zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    zlib.avail_in = static_cast<uInt>(bytes.size());
    std::array<char, 1U << 16> piece{};
    do {
      zlib.next_out = reinterpret_cast<Bytef*>(piece.data());
      zlib.avail_out = static_cast<uInt>(piece.size());
      deflate(&zlib, flush);
      out.append(piece.data(), piece.size() - zlib.avail_out);
    } while (zlib.avail_out == 0);
  }
};

TarWriter::TarWriter() : stream_(std::make_unique<Stream>()) {
  constexpr int kGzip = 15 + 16;
  constexpr int kMemory = 8;
  // Refused only for want of memory, about 256 KiB; deflate never is then.
  stream_->begun =
      deflateInit2(&stream_->zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip,
                   kMemory, Z_DEFAULT_STRATEGY) == Z_OK;
}

TarWriter::~TarWriter() {
  deflateEnd(&stream_->zlib);
}

void TarWriter::Add(std::string_view name, std::string_view bytes,
                    WallTime at) {
  constexpr std::uint64_t kReadable = 0644;
  Header header;
  Name(name, header);
  Octal(header.mode, kReadable);
  Octal(header.uid, 0);
  Octal(header.gid, 0);
  Octal(header.size, bytes.size());
  Octal(header.mtime, static_cast<std::uint64_t>(std::max<std::int64_t>(
                          0, std::chrono::duration_cast<std::chrono::seconds>(
                                 at.time_since_epoch())
                                 .count())));
  // The sum is made over blanks where it will stand.
  header.checksum.fill(' ');
  const auto raw = std::as_bytes(std::span(&header, 1));
  const auto sum =
      std::accumulate(raw.begin(), raw.end(), std::uint64_t{0},
                      [](std::uint64_t all, std::byte b) {
                        return all + std::to_integer<std::uint64_t>(b);
                      });
  Octal(std::span(header.checksum).first(7), sum);
  stream_->Put({reinterpret_cast<const char*>(&header), sizeof(header)},
               Z_NO_FLUSH);
  stream_->Put(bytes, Z_NO_FLUSH);
  stream_->Put(
      std::string((kTarBlock - bytes.size() % kTarBlock) % kTarBlock, '\0'),
      Z_NO_FLUSH);
}

Result<std::string> TarWriter::Finish() {
  if (!stream_->begun) {
    return Error(Cause::kOomHost,
                 "out of memory while compressing the archive");
  }
  stream_->Put(std::string(2 * kTarBlock, '\0'), Z_FINISH);
  return std::move(stream_->out);
}

}  // namespace muster::diagnose
