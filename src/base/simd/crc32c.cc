// SPDX-License-Identifier: Apache-2.0
#include "base/simd/crc32c.h"

#include <array>
#include <cstdio>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace muster {
namespace {

// Polynomials over GF(2), reflected: bit 31 is the coefficient of x^0.
constexpr std::uint32_t kCastagnoli = 0x82F63B78;

constexpr std::uint32_t Times(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = 1U << 31; bit != 0; bit >>= 1) {
    product ^= (a & bit) != 0 ? b : 0;
    b = (b >> 1) ^ ((b & 1) != 0 ? kCastagnoli : 0);
  }
  return product;
}

// What a register becomes after so many zero bytes, by its byte `which`.
using Table = std::array<std::uint32_t, 256>;
constexpr Table AfterZeros(std::size_t bytes, unsigned which) {
  std::uint32_t power = 1U << 31;
  std::uint32_t square = 1U << 30;  // x
  for (std::size_t bits = 8 * bytes; bits != 0; bits >>= 1) {
    power = (bits & 1) != 0 ? Times(power, square) : power;
    square = Times(square, square);
  }
  Table table{};
  for (std::uint32_t value = 0; value < table.size(); ++value) {
    table[value] = Times(power, value << (8 * which));
  }
  return table;
}

std::uint32_t Portable(std::uint32_t state, std::span<const std::byte> bytes) {
  static constexpr Table kTable = AfterZeros(1, 0);
  for (const std::byte byte : bytes) {
    state = kTable[(state ^ static_cast<std::uint32_t>(byte)) & 255U] ^
            (state >> 8);
  }
  return state;
}

#if defined(__x86_64__)
// The instruction gives its result three cycles later and may begin in each:
// three lanes side by side keep it busy. One lane runs at a third of the speed.
constexpr std::size_t kLane = 4096;

std::uint32_t AfterLane(std::uint64_t state) {
  static constexpr std::array<Table, 4> kTables = {
      AfterZeros(kLane, 0), AfterZeros(kLane, 1), AfterZeros(kLane, 2),
      AfterZeros(kLane, 3)};
  return kTables[0][state & 255U] ^ kTables[1][state >> 8 & 255U] ^
         kTables[2][state >> 16 & 255U] ^ kTables[3][state >> 24 & 255U];
}

std::uint64_t WordAt(const std::byte* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

[[gnu::target("sse4.2")]] std::uint32_t Sse42(
    std::uint32_t state, std::span<const std::byte> bytes) {
  std::uint64_t first = state;
  for (; bytes.size() >= 3 * kLane; bytes = bytes.subspan(3 * kLane)) {
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t i = 0; i < kLane; i += 8) {
      first = _mm_crc32_u64(first, WordAt(&bytes[i]));
      second = _mm_crc32_u64(second, WordAt(&bytes[kLane + i]));
      third = _mm_crc32_u64(third, WordAt(&bytes[2 * kLane + i]));
    }
    first = AfterLane(AfterLane(first) ^ second) ^ third;
  }
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    first = _mm_crc32_u64(first, WordAt(bytes.data()));
  }
  state = static_cast<std::uint32_t>(first);
  for (const std::byte byte : bytes) {
    state = _mm_crc32_u8(state, static_cast<std::uint8_t>(byte));
  }
  return state;
}
#endif

}  // namespace

std::uint32_t Crc32c(std::uint32_t crc, std::span<const std::byte> bytes) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) {
    return ~Sse42(~crc, bytes);
  }
#endif
  return ~Portable(~crc, bytes);
}

std::uint32_t PortableCrc32c(std::uint32_t crc,
                             std::span<const std::byte> bytes) {
  return ~Portable(~crc, bytes);
}

std::string CrcText(std::uint32_t crc) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", crc);
  return text;
}

}  // namespace muster
