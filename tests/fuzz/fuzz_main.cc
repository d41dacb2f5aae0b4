// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "base/log.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  muster::SetLogLevel(muster::LogLevel::kError);
  Fuzz({reinterpret_cast<const char*>(data), size});
  return 0;
}

void CheckPrintable(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    MUSTER_CHECK(byte >= 0x20 || byte == '\n' || byte == '\t');
    MUSTER_CHECK(byte != 0x7F);
    // C1 in UTF-8: C2 80 to C2 9F.
    MUSTER_CHECK(byte != 0xC2 || i + 1 == text.size() ||
                 static_cast<unsigned char>(text[i + 1]) >= 0xA0);
  }
}

void CheckError(const muster::Error& error) {
  constexpr std::size_t kMaxMessage = std::size_t{64} << 10;
  MUSTER_CHECK(!error.message().empty());
  MUSTER_CHECK(error.message().size() <= kMaxMessage);
  MUSTER_CHECK(error.message().find('\n') == std::string::npos);
  CheckPrintable(error.ToString());
}
