// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli), the usual convention: of "123456789" it is e3069283.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace muster {

// Continues `crc` (0 at the start) over more bytes. By the instruction of the
// processor where it has one.
std::uint32_t Crc32c(std::uint32_t crc, std::span<const std::byte> bytes);
// The same without the instruction.
std::uint32_t PortableCrc32c(std::uint32_t crc,
                             std::span<const std::byte> bytes);
// Eight hex digits.
std::string CrcText(std::uint32_t crc);

}  // namespace muster
