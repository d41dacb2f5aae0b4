// SPDX-License-Identifier: Apache-2.0
#include "evidence/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "evidence/inputs.h"

namespace muster::evidence {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kCanary = "CANARY0123456789abcdefCANARY";

class BundleTest : public testing::Test {
 protected:
  BundleTest() { std::filesystem::create_directories(folder_ + "/logs/a1"); }
  ~BundleTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }
  // What explain sees in it.
  Reading Read(const Bundle& bundle) const {
    const std::string path = Write("bundle.tar.gz", bundle.archive);
    const Matcher matcher;
    const std::vector<std::string> inputs{path};
    return *ReadInputs(inputs, {}, matcher);
  }

  // What is inside, one after the other, unpacked by somebody else's tar.
  std::string Plain(const Bundle& bundle) const {
    const std::string path = Write("b.tar.gz", bundle.archive);
    const std::string command =
        "tar -xzOf '" + path + "' > '" + folder_ + "/plain'";
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::ifstream file(folder_ + "/plain");
    return {(std::istreambuf_iterator<char>(file)), {}};
  }

  const std::string folder_ = testing::TempDir() + "bundle_test";
};

TEST_F(BundleTest, IsReadAsTheLogsItWasMadeOf) {
  Write("logs/a1/rank1.err", "ValueError: no such column\n");
  const std::vector<std::string> inputs{folder_};
  const auto bundle = MakeBundle(inputs, {});
  ASSERT_TRUE(bundle) << bundle.error().ToText();
  const Reading reading = Read(*bundle);
  EXPECT_THAT(reading.facts,
              Contains(testing::AllOf(
                  Field(&Fact::name, "python.exception"),
                  Field(&Fact::by, HasSubstr("logs/a1/rank1.err")))));
}

TEST_F(BundleTest, HoldsNoSecret) {
  const std::string canary(kCanary);
  const std::vector<std::string> inputs{
      Write("a.log", "WANDB_API_KEY=" + canary + "\nhello\n")};
  const auto bundle = MakeBundle(
      inputs, {.environment = {{"SECRET_TOKEN", canary},
                               {"RANK", "3"},
                               {"NCCL_URL", "https://u:" + canary + "@h/"}}});
  ASSERT_TRUE(bundle) << bundle.error().ToText();
  EXPECT_THAT(bundle->left_out, ElementsAre("SECRET_TOKEN"));
  EXPECT_EQ(bundle->removed.size(), 2U);
  const std::string plain = Plain(*bundle);
  EXPECT_THAT(plain, HasSubstr("hello"));
  EXPECT_THAT(plain, HasSubstr("RANK=3"));
  EXPECT_THAT(plain, Not(HasSubstr(canary)));
}

TEST_F(BundleTest, LosesNothingBehindAKeyWithoutAnEnd) {
  const std::string begin = "-----BEGIN " + std::string("PRIVATE KEY-----");
  const std::vector<std::string> inputs{
      Write("a.log", begin + "\nMIIEcanary\nValueError: no key\nbye\n"),
      Write("b.log", "hello\n")};
  const auto bundle = MakeBundle(inputs, {.environment = {{"RANK", "3"}}});
  ASSERT_TRUE(bundle) << bundle.error().ToText();
  const std::string plain = Plain(*bundle);
  EXPECT_THAT(plain, Not(HasSubstr("MIIEcanary")));
  EXPECT_THAT(plain, HasSubstr("ValueError: no key\nbye"));
  EXPECT_THAT(plain, HasSubstr("hello"));
  EXPECT_THAT(plain, HasSubstr("RANK=3"));
}

TEST_F(BundleTest, KeepsTheBeginningAndTheEndOfALargeFile) {
  std::string text = "the first line\n";
  for (int i = 0; i < 20 * 1024; ++i) {
    text += std::string(1023, '.') + "\n";
  }
  text += "the last line\n";
  const std::vector<std::string> inputs{Write("large.log", text)};
  const auto bundle = MakeBundle(inputs, {});
  ASSERT_TRUE(bundle) << bundle.error().ToText();
  EXPECT_THAT(bundle->notes, Contains(HasSubstr("left out here")));
  EXPECT_LT(bundle->archive.size(), std::size_t{1} << 20);
}

TEST_F(BundleTest, LeavesOutWhatIsNoText) {
  const std::vector<std::string> inputs{
      Write("model.bin", std::string("\0\1\2", 3)), Write("a.log", "hello\n")};
  const auto bundle = MakeBundle(inputs, {});
  ASSERT_TRUE(bundle) << bundle.error().ToText();
  EXPECT_EQ(bundle->files.size(), 1U);
  EXPECT_THAT(bundle->notes, ElementsAre(HasSubstr("not text")));
}

TEST_F(BundleTest, OfNothingIsAnError) {
  const std::vector<std::string> inputs{folder_ + "/no-such-file"};
  const auto bundle = MakeBundle(inputs, {});
  ASSERT_FALSE(bundle);
  EXPECT_EQ(bundle.error().cause(), Cause::kFileMissing);
}

}  // namespace
}  // namespace muster::evidence
