// SPDX-License-Identifier: Apache-2.0
#include "sys/machine.h"

#include <gtest/gtest.h>

#include "sys/net/net.h"
#include "sys/process/process.h"

namespace muster::sys {
namespace {

TEST(Machine, TellsTheSpaceOfAFileSystem) {
  const auto space = RealMachine().SpaceOf("/");
  ASSERT_TRUE(space) << space.error().ToText();
  EXPECT_GT(space->bytes, 0U);
  EXPECT_LE(space->free_bytes, space->bytes);
  EXPECT_FALSE(RealMachine().SpaceOf("/proc")->served);
  EXPECT_EQ(RealMachine().SpaceOf("/no/such/path").error().cause(),
            Cause::kFileMissing);
}

TEST(Machine, NamesWhoHoldsAPort) {
  const auto held = Listen(Address{.host = "127.0.0.1", .port = 0});
  ASSERT_TRUE(held);
  const auto tried =
      RealMachine().TryPort(Address{.host = "", .port = held->address.port});
  ASSERT_FALSE(tried);
  EXPECT_EQ(tried.error().cause(), Cause::kNetPortInUse);
  EXPECT_NE(tried.error().message().find(std::to_string(OwnPid())),
            std::string::npos);
}

TEST(Machine, LeavesThePortAsItWas) {
  std::uint16_t port = 0;
  {
    const auto held = Listen(Address{.host = "127.0.0.1", .port = 0});
    ASSERT_TRUE(held);
    port = held->address.port;
  }
  const Address address{.host = "127.0.0.1", .port = port};
  EXPECT_TRUE(RealMachine().TryPort(address));
  EXPECT_TRUE(RealMachine().TryPort(address));
}

TEST(Machine, DoesNotCountItselfAsAHolder) {
  EXPECT_TRUE(RealMachine().HoldersOf({"/dev/null"}).empty() ||
              RealMachine().HoldersOf({"/dev/null"}).front().pid != OwnPid());
}

TEST(Machine, KnowsTheRouteToItself) {
  const auto own = RealMachine().RouteTo("127.0.0.1");
  ASSERT_TRUE(own) << own.error().ToText();
  EXPECT_EQ(*own, "127.0.0.1");
}

TEST(Machine, SaysWhyAPathCannotBeRead) {
  EXPECT_EQ(RealMachine().MayAccess("/no/such", Access::kRead).error().cause(),
            Cause::kFileMissing);
  EXPECT_TRUE(RealMachine().MayAccess("/", Access::kRead));
}

}  // namespace
}  // namespace muster::sys
