// SPDX-License-Identifier: Apache-2.0
#include "monitor/metric/event_file.h"

#include <gtest/gtest.h>

namespace muster::monitor {
namespace {

constexpr WallTime kAt{std::chrono::milliseconds(1'800'000'000'500)};

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x",
                  static_cast<unsigned>(static_cast<unsigned char>(c)));
    text += digits;
  }
  return text;
}

TEST(EventFile, FramesARecordWithMaskedChecksums) {
  // The CRC-32C of "123456789" is e3069283; masked it is 0xc78a4b07 + mask.
  const auto record = EventRecord("123456789");
  ASSERT_EQ(record.size(), 8 + 4 + 9 + 4);
  EXPECT_EQ(Hex(record.substr(0, 8)), "0900000000000000");
  const std::uint32_t crc = 0xe3069283;
  const std::uint32_t masked = ((crc >> 15) | (crc << 17)) + 0xa282ead8;
  std::uint32_t written = 0;
  std::memcpy(&written, record.data() + 21, 4);
  EXPECT_EQ(written, masked);
}

TEST(EventFile, BeginsWithItsVersionAndAppendsScalars) {
  sys::FakeFs fs;
  auto file = EventFile::Open(fs, "runs/r/metrics", "host", kAt);
  ASSERT_TRUE(file) << file.error().ToText();
  EXPECT_EQ((*file)->path(),
            "runs/r/metrics/events.out.tfevents.1800000000.host");
  const std::size_t before = fs.files[(*file)->path()].size();
  EXPECT_NE(fs.files[(*file)->path()].find("brain.Event:2"), std::string::npos);
  const Scalar scalars[] = {{"loss", 0.5}};
  ASSERT_TRUE((*file)->Write(kAt, 300, scalars));
  const auto record = fs.files[(*file)->path()].substr(before);
  // wall_time; step 300 = ac 02; summary { value { "loss", 0.5f } }.
  EXPECT_EQ(Hex(record.substr(12, record.size() - 16)),
            "090000208074d2da41"
            "10ac02"
            "2a0d0a0b0a046c6f7373150000003f");
}

TEST(EventFile, NamesTheDirectoryThatCannotBeMade) {
  sys::FakeFs fs;
  fs.fail["m"] = Cause::kDiskFull;
  const auto file = EventFile::Open(fs, "m", "host", kAt);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().cause(), Cause::kDiskFull);
}

}  // namespace
}  // namespace muster::monitor
