// SPDX-License-Identifier: Apache-2.0
// Which libraries a training process has loaded: the wrong BLAS is ten times
// slower and says nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <fstream>
#include <set>
#include <string>

namespace muster {
namespace {

// Paths of the mapped files whose name contains `part`, after a product has
// made libtorch load what it needs.
std::set<std::string> Mapped(const std::string& part) {
  torch::mm(torch::ones({64, 64}), torch::ones({64, 64}));
  std::set<std::string> paths;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::size_t slash = line.find('/');
    std::string path = slash == std::string::npos ? "" : line.substr(slash);
    if (path.substr(path.rfind('/') + 1).find(part) != std::string::npos) {
      paths.insert(path);
    }
  }
  return paths;
}

#ifdef MUSTER_TORCH_FOREIGN
TEST(Libraries, OfTheSystemsTorchAreNotLoaded) {
  for (const char* part : {"libtorch", "libc10", "gloo", "blas"}) {
    for (const std::string& path : Mapped(part)) {
      EXPECT_THAT(path, testing::StartsWith(MUSTER_TORCH_FOREIGN));
    }
  }
}
#else
TEST(Libraries, UseOpenBlasWithThreadsAndNoOtherBlas) {
  std::set<std::string> paths = Mapped("blas");
  EXPECT_FALSE(paths.empty());
  for (const std::string& path : paths) {
    EXPECT_THAT(path, testing::HasSubstr("openblas-pthread"));
  }
  EXPECT_TRUE(Mapped("mkl").empty());
  EXPECT_TRUE(Mapped("libatlas").empty());
}
#endif

TEST(Libraries, HaveOneLibtorchAndOneC10) {
  EXPECT_EQ(Mapped("libtorch_cpu").size(), 1U);
  EXPECT_EQ(Mapped("libc10").size(), 1U);
}

}  // namespace
}  // namespace muster
