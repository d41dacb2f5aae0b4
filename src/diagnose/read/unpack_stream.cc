// SPDX-License-Identifier: Apache-2.0
#include "diagnose/read/unpack_stream.h"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <array>
#include <optional>

namespace muster::diagnose {
namespace {

constexpr std::size_t kUnpackPiece = 64U << 10;

// "log.txt.gz" -> "log.txt".
std::string Without(std::string name, std::string_view ending) {
  if (name.size() > ending.size() && name.ends_with(ending)) {
    name.resize(name.size() - ending.size());
  }
  return name;
}

class Gunzip : public ByteSink {
 public:
  Gunzip(std::string name, const Unpacking& unpacking)
      : name_(std::move(name)),
        unpacking_(unpacking),
        next_(MakeUnpacker(Without(name_, ".gz"), unpacking)) {
    open_ = inflateInit2(&stream_, 15 + 32) == Z_OK;
  }
  ~Gunzip() override { inflateEnd(&stream_); }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  void Feed(std::string_view bytes) override {
    std::array<char, kUnpackPiece> out;
    std::string in(bytes);  // zlib wants it mutable
    stream_.next_in = reinterpret_cast<Bytef*>(in.data());
    stream_.avail_in = static_cast<uInt>(in.size());
    while (open_ && stream_.avail_in > 0) {
      stream_.next_out = reinterpret_cast<Bytef*>(out.data());
      stream_.avail_out = static_cast<uInt>(out.size());
      const int code = inflate(&stream_, Z_NO_FLUSH);
      const std::size_t made = out.size() - stream_.avail_out;
      if (!Spend(unpacking_, name_, made)) {
        open_ = false;
        return;
      }
      next_->Feed({out.data(), made});
      inside_ = code != Z_STREAM_END;
      if (code == Z_STREAM_END) {
        // Files of several members, as pigz and logrotate make them.
        open_ = inflateReset(&stream_) == Z_OK;
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        Note(unpacking_, name_ + ": corrupt gzip, read only the beginning");
        open_ = false;
      }
    }
  }
  void End() override {
    if (open_ && inside_) {
      Note(unpacking_, name_ + ": incomplete gzip, read only the beginning");
    }
    next_->End();
  }

 private:
  std::string name_;
  Unpacking unpacking_;
  std::unique_ptr<ByteSink> next_;
  z_stream stream_{};
  bool open_ = false;
  bool inside_ = false;  // of a member
};

class Unzstd : public ByteSink {
 public:
  Unzstd(std::string name, const Unpacking& unpacking)
      : name_(std::move(name)),
        unpacking_(unpacking),
        next_(MakeUnpacker(Without(name_, ".zst"), unpacking)),
        stream_(ZSTD_createDStream()) {
    // What a window may need, that of --long=27; more is refused instead of
    // allocated, as the program zstd does.
    ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, 27);
  }
  ~Unzstd() override { ZSTD_freeDStream(stream_); }
  Unzstd(const Unzstd&) = delete;
  Unzstd& operator=(const Unzstd&) = delete;

  void Feed(std::string_view bytes) override {
    std::array<char, kUnpackPiece> out;
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    while (open_ && in.pos < in.size) {
      ZSTD_outBuffer to{out.data(), out.size(), 0};
      const std::size_t code = ZSTD_decompressStream(stream_, &to, &in);
      inside_ = code != 0;
      if (!Spend(unpacking_, name_, to.pos)) {
        open_ = false;
        return;
      }
      next_->Feed({out.data(), to.pos});
      if (ZSTD_isError(code) != 0) {
        Failed(code);
      }
    }
  }
  void End() override {
    if (open_ && inside_) {
      Note(unpacking_, name_ + ": incomplete zstd, read only the beginning");
    }
    next_->End();
  }

 private:
  void Failed(std::size_t code) {
    const bool large =
        ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge;
    Note(unpacking_,
         name_ + (large ? ": zstd with a window over 128 MiB, skipped"
                        : ": corrupt zstd, read only the beginning"));
    open_ = false;
  }

  std::string name_;
  Unpacking unpacking_;
  std::unique_ptr<ByteSink> next_;
  ZSTD_DStream* stream_;
  bool open_ = true;
  bool inside_ = false;  // of a frame
};

// To UTF-8. Pairs of surrogates become what they stand for, broken ones "?".
class Utf16 : public ByteSink {
 public:
  Utf16(std::string name, bool little_endian, const Unpacking& unpacking)
      : little_endian_(little_endian),
        next_(MakeText(std::move(name), unpacking)) {}

  void Feed(std::string_view bytes) override {
    std::string out;
    for (const char byte : bytes) {
      if (!half_) {
        half_ = byte;
        continue;
      }
      const auto low =
          static_cast<unsigned char>(little_endian_ ? *half_ : byte);
      const auto high =
          static_cast<unsigned char>(little_endian_ ? byte : *half_);
      half_.reset();
      Unit(static_cast<std::uint32_t>(high << 8 | low), out);
    }
    next_->Feed(out);
  }
  void End() override { next_->End(); }

 private:
  static void Append(std::uint32_t code, std::string& out) {
    const auto tail = [&](int shift) {
      out += static_cast<char>(0x80 | (code >> shift & 0x3F));
    };
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xC0 | code >> 6);
      tail(0);
    } else if (code < 0x10000) {
      out += static_cast<char>(0xE0 | code >> 12);
      tail(6);
      tail(0);
    } else {
      out += static_cast<char>(0xF0 | code >> 18);
      tail(12);
      tail(6);
      tail(0);
    }
  }
  void Unit(std::uint32_t unit, std::string& out) {
    if (unit == 0xFEFF) {
      return;
    }
    if (unit >= 0xD800 && unit < 0xDC00) {
      lead_ = unit;
    } else if (unit >= 0xDC00 && unit < 0xE000) {
      Append(lead_ == 0 ? '?'
                        : 0x10000 + ((lead_ - 0xD800) << 10) + (unit - 0xDC00),
             out);
      lead_ = 0;
    } else {
      Append(unit, out);
    }
  }

  bool little_endian_;
  std::unique_ptr<ByteSink> next_;
  std::optional<char> half_;
  std::uint32_t lead_ = 0;
};

}  // namespace

std::unique_ptr<ByteSink> MakeGunzip(std::string name,
                                     const Unpacking& unpacking) {
  return std::make_unique<Gunzip>(std::move(name), unpacking);
}

std::unique_ptr<ByteSink> MakeUnzstd(std::string name,
                                     const Unpacking& unpacking) {
  return std::make_unique<Unzstd>(std::move(name), unpacking);
}

std::unique_ptr<ByteSink> MakeUtf16(std::string name, bool little_endian,
                                    const Unpacking& unpacking) {
  return std::make_unique<Utf16>(std::move(name), little_endian, unpacking);
}

}  // namespace muster::diagnose
