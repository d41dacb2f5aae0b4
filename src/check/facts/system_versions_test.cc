// SPDX-License-Identifier: Apache-2.0
#include "check/facts/system_versions.h"

#include <gtest/gtest.h>

#include "check/testing.h"

namespace muster::check {
namespace {

using Versions = std::map<std::string, std::string>;

void Fill(sys::FakeFs& fs) {
  fs.files["/proc/sys/kernel/osrelease"] = "6.1.0-18-amd64\n";
  fs.files["/lib/x86_64-linux-gnu/libc.so.6"] = std::string(
      "\0ELF GNU C Library (Debian GLIBC 2.36-9+deb12u10) stable "
      "release version 2.36.\nCopyright",
      83);
  fs.files["/proc/driver/nvidia/version"] =
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19\n"
      "GCC version: 12.2.0\n";
  fs.files["/usr/lib/x86_64-linux-gnu/libnccl.so.2"] = "";
  fs.files["/usr/lib/x86_64-linux-gnu/libnccl.so.2.20.5"] = "";
}

TEST(SystemVersionsTest, AreThoseThatFilesTell) {
  sys::FakeFs fs;
  EXPECT_EQ(SystemVersions(fs), Versions());
  Fill(fs);
  EXPECT_EQ(SystemVersions(fs), (Versions{{"glibc", "2.36"},
                                          {"kernel", "6.1.0-18-amd64"},
                                          {"nccl", "2.20.5"},
                                          {"nvidia-driver", "535.104.05"}}));
}

TEST(SystemVersionsTest, OfThisHostAreRead) {
  const auto versions = SystemVersions(sys::RealFs());
  EXPECT_EQ(versions.count("kernel"), 1U);
}

TEST(SystemVersionsTest, AreToldByTheCheck) {
  FakeHost host;
  EXPECT_EQ(host.Run("versions.system").detail, "kernel 6.1.0-18-amd64");
  host.fs.files.erase("/proc/sys/kernel/osrelease");
  EXPECT_EQ(Summary(host.Run("versions.system")), "broken");
  Fill(host.fs);
  const Outcome outcome = host.Run("versions.system");
  EXPECT_EQ(Summary(outcome), "pass");
  EXPECT_EQ(outcome.detail,
            "glibc 2.36, kernel 6.1.0-18-amd64, nccl 2.20.5, nvidia-driver "
            "535.104.05");
}

}  // namespace
}  // namespace muster::check
