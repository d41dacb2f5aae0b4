// SPDX-License-Identifier: Apache-2.0
#include "pjrt/plugin/child.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "base/json.h"
#include "sys/process/process.h"

namespace muster::pjrt {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::chrono::minutes kLong{2};

// Takes 1 GiB in steps, and waits to be ended.
Result<Json> Eat(const sys::ChildWork::Say& say) {
  say("eating");
  std::vector<std::vector<char>> eaten;
  while (eaten.size() < 64) {
    eaten.emplace_back(16 * kMiB, 'x');
  }
  while (true) {
    pause();
  }
}

TEST(AskInChild, EndsOneThatTakesTooMuchMemory) {
  // A sanitizer's own memory is the child's, too.
  const std::uint64_t own = sys::OwnMemoryOf(sys::OwnPid()).value();
  const auto answer =
      AskInChild({.plugin = "p.so", .ask = Eat, .memory = own + 256 * kMiB},
                 Deadline::After(kLong));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().cause(), Cause::kOomHost);
  EXPECT_NE(answer.error().message().find("`p.so` was killed while eating"),
            std::string::npos)
      << answer.error().message();
}

TEST(AskInChild, LeavesOneAloneThatTakesLittle) {
  const auto answer = AskInChild({.plugin = "p.so",
                                  .ask =
                                      [](const auto&) {
                                        return Result<Json>(Json{{"a", 1}});
                                      }},
                                 Deadline::After(kLong));
  ASSERT_TRUE(answer) << answer.error().ToString();
  EXPECT_EQ(answer->value("a", 0), 1);
}

}  // namespace
}  // namespace muster::pjrt
