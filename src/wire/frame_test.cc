// SPDX-License-Identifier: Apache-2.0
#include "wire/frame.h"

#include <gtest/gtest.h>

#include "wire/guardian_frame.h"

namespace muster::wire {
namespace {

TEST(Frame, HasTheBytesOfItsDefinition) {
  EXPECT_EQ(FrameBuilder(7).Number(-2).Text("ab").Texts({"c"}).Finish(),
            std::string("\x18\0\0\0\x07"
                        "\xfe\xff\xff\xff\xff\xff\xff\xff"
                        "\x02\0\0\0ab"
                        "\x01\0\0\0\x01\0\0\0c",
                        28));
}

TEST(Frame, WaitsForItsLastByte) {
  const std::string whole = FrameBuilder(1).Text("body").Finish();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(*PeekFrame(whole.substr(0, size), {})) << size;
  }
  const std::string more = whole + "more";
  const auto frame = *PeekFrame(more, {});
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->kind, 1);
  EXPECT_EQ(frame->size, whole.size());
  BodyReader body(frame->body);
  EXPECT_EQ(body.Text(), "body");
  EXPECT_TRUE(body.Complete());
}

TEST(Frame, OfALengthOutOfItsBoundsIsRefusedAtItsHead) {
  const std::string bytes("\x05\0\0\0", 4);
  EXPECT_FALSE(PeekFrame(bytes, {.least = 6}));
  EXPECT_FALSE(PeekFrame(bytes, {.most = 4}));
  EXPECT_TRUE(PeekFrame(bytes, {.least = 5, .most = 5}));
  EXPECT_FALSE(PeekFrame(std::string(4, '\0'), {}));
}

TEST(BodyReader, NeverReadsPastTheEnd) {
  const std::string whole = FrameBuilder(1)
                                .Number(3)
                                .Text("ab")
                                .Texts({"c", "d"})
                                .Numbers({4, 5})
                                .Finish()
                                .substr(5);
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    BodyReader body(std::string_view(whole).substr(0, size));
    body.Number();
    body.Text();
    body.Texts();
    body.Numbers();
    EXPECT_EQ(body.Complete(), size == whole.size()) << size;
  }
  BodyReader many(std::string_view("\xff\xff\xff\xff", 4));
  EXPECT_TRUE(many.Texts().empty() || !many.Complete());
  EXPECT_FALSE(many.Complete());
}

TEST(GuardianFrame, ComesBackAsItWas) {
  StartRequest request{.id = 9,
                       .argv = {"a", ""},
                       .environment = {"N=v"},
                       .programs = {"/bin/a"},
                       .directory = "/",
                       .targets = {0, 1},
                       .cores = {3}};
  std::string buffer = Pack(request) + PackKillAll(4);
  const auto start = TakeFrame(buffer);
  ASSERT_TRUE(start);
  EXPECT_EQ(start->op, GuardianOp::kStart);
  const auto read = UnpackStart(start->body);
  EXPECT_EQ(read.argv, request.argv);
  EXPECT_EQ(read.targets, request.targets);
  EXPECT_EQ(read.cores, request.cores);
  const auto kill = TakeFrame(buffer);
  ASSERT_TRUE(kill);
  EXPECT_EQ(UnpackKillAll(kill->body), 4);
  EXPECT_TRUE(buffer.empty());
}

}  // namespace
}  // namespace muster::wire
