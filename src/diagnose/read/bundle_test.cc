// SPDX-License-Identifier: Apache-2.0
#include "diagnose/read/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "diagnose/read/inputs.h"
#include "sys/testing.h"

namespace muster::diagnose {
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

  const sys::TemporaryFolder owned_;
  const std::string folder_ = owned_.path();
};

TEST_F(BundleTest, IsReadAsTheLogsItWasMadeOf) {
  Write("logs/a1/rank1.err", "ValueError: no such column\n");
  const std::vector<std::string> inputs{folder_};
  const auto bundle = MakeBundle(inputs, {});
  ASSERT_TRUE(bundle) << bundle.error().ToString();
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
  ASSERT_TRUE(bundle) << bundle.error().ToString();
  EXPECT_THAT(bundle->left_out, ElementsAre("SECRET_TOKEN"));
  EXPECT_EQ(bundle->removed.size(), 2U);
  const std::string plain = Plain(*bundle);
  EXPECT_THAT(plain, HasSubstr("hello"));
  EXPECT_THAT(plain, HasSubstr("RANK=3"));
  EXPECT_THAT(plain, Not(HasSubstr(canary)));
}

TEST_F(BundleTest, HoldsNoSecretInNamesOfFiles) {
  Write("logs/password=" + std::string(kCanary) + ".log", "one\n");
  Write("logs/password=" + std::string(kCanary) + "2.log", "two\n");
  const std::vector<std::string> inputs{folder_};
  const auto bundle = MakeBundle(inputs, {});
  ASSERT_TRUE(bundle) << bundle.error().ToString();
  EXPECT_THAT(bundle->files,
              testing::Each(HasSubstr("/password=[removed: secret].log")));
  const std::string path = Write("b.tar.gz", bundle->archive);
  const std::string list = "tar -tzf '" + path + "' > '" + folder_ + "/names'";
  ASSERT_EQ(std::system(list.c_str()), 0);
  std::ifstream file(folder_ + "/names");
  const std::string names{(std::istreambuf_iterator<char>(file)), {}};
  EXPECT_THAT(names, Not(HasSubstr("CANARY")));
  EXPECT_THAT(names, HasSubstr("/password=[removed: secret].log\n"));
  EXPECT_THAT(names, HasSubstr("/password=[removed: secret].log.2\n"));
  const std::string plain = Plain(*bundle);
  EXPECT_THAT(plain, HasSubstr("one\n"));
  EXPECT_THAT(plain, HasSubstr("two\n"));
  EXPECT_THAT(plain, Not(HasSubstr("CANARY")));
}

TEST_F(BundleTest, HoldsNoEmailIfAskedTo) {
  const std::vector<std::string> inputs{Write("a.log", "ask me@example.org\n")};
  const auto bundle = MakeBundle(inputs, {.redact_emails = true});
  ASSERT_TRUE(bundle) << bundle.error().ToString();
  EXPECT_EQ(bundle->removed.at("email"), 1);
  EXPECT_THAT(Plain(*bundle), HasSubstr("ask [removed: email]\n"));
}

TEST_F(BundleTest, LosesNothingBehindAKeyWithoutAnEnd) {
  const std::string begin = "-----BEGIN " + std::string("PRIVATE KEY-----");
  const std::vector<std::string> inputs{
      Write("a.log", begin + "\nMIIEcanary\nValueError: no key\nbye\n"),
      Write("b.log", "hello\n")};
  const auto bundle = MakeBundle(inputs, {.environment = {{"RANK", "3"}}});
  ASSERT_TRUE(bundle) << bundle.error().ToString();
  const std::string plain = Plain(*bundle);
  EXPECT_THAT(plain, Not(HasSubstr("MIIEcanary")));
  EXPECT_THAT(plain, HasSubstr("ValueError: no key\nbye"));
  EXPECT_THAT(plain, HasSubstr("hello"));
  EXPECT_THAT(plain, HasSubstr("RANK=3"));
}

TEST_F(BundleTest, KnowsASecretOnTheBorderOfItsPieces) {
  const std::string canary(kCanary);
  const std::string secret = "WANDB_API_KEY=" + canary + "\n";
  const std::string line = std::string(1023, '.') + "\n";
  std::string text;
  for (int i = 0; i < 1023; ++i) {
    text += line;
  }
  // One MiB ends in the middle of the value.
  text += std::string(1024 - 30, '.') + "\n" + secret + "hello\n";
  const std::vector<std::string> inputs{Write("large.log", text)};
  const auto bundle = MakeBundle(inputs, {});
  ASSERT_TRUE(bundle) << bundle.error().ToString();
  const std::string plain = Plain(*bundle);
  EXPECT_THAT(plain, HasSubstr("WANDB_API_KEY=[removed: secret]\nhello\n"));
  EXPECT_THAT(plain, Not(HasSubstr("CANARY")));
}

class LargeFile : public BundleTest {
 protected:
  struct Parts {
    std::string first, last;
    std::string at_gap, behind_gap;  // the gap begins and ends within these
  };
  // Of 20 MiB of lines of 1 KiB the first MiB and the last 15 are kept.
  std::string PackedOf(const Parts& parts) const {
    constexpr std::size_t kMiB = std::size_t{1} << 20;
    const std::string line = std::string(1023, '.') + "\n";
    std::string text = parts.first;
    while (text.size() < 20 * kMiB) {
      text += line;
    }
    text += parts.last;
    const auto put = [&](std::size_t at, const std::string& part) {
      text.replace(at - part.size() / 2, part.size(), part);
    };
    put(text.size() - 15 * kMiB, parts.behind_gap);
    put(kMiB, parts.at_gap);
    const std::vector<std::string> inputs{Write("large.log", text)};
    const auto bundle = MakeBundle(inputs, {});
    EXPECT_TRUE(bundle) << bundle.error().ToString();
    EXPECT_THAT(bundle->notes, Contains(HasSubstr("skipped")));
    EXPECT_LT(bundle->archive.size(), kMiB);
    return Plain(*bundle);
  }
};

TEST_F(LargeFile, KeepsItsBeginningAndItsEnd) {
  const std::string plain =
      PackedOf({"the first line\n", "the last line\n", "", ""});
  EXPECT_TRUE(plain.starts_with("the first line\n."));
  EXPECT_THAT(plain, HasSubstr(".\nthe last line\n"));
  EXPECT_THAT(plain, HasSubstr(".\n[muster: 4.0 MiB skipped]\n."));
  EXPECT_LT(plain.size(), std::size_t{17} << 20);
}

TEST_F(LargeFile, ShowsNoPartOfASecretOnItsCuts) {
  const std::string password = "\nPASSWORD=" + std::string(kCanary) + "\n";
  // Cut between its lines.
  std::string key = "\n-----BEGIN " + std::string("PRIVATE KEY-----\n");
  for (int i = 0; i < 40; ++i) {
    key += std::string(kCanary) + "\n";
  }
  key += "-----END PRIVATE KEY-----\n";
  EXPECT_THAT(PackedOf({"", "", password, key}), Not(HasSubstr("CANARY")));
}

TEST_F(BundleTest, LeavesOutWhatIsNoText) {
  const std::vector<std::string> inputs{
      Write("model.bin", std::string("\0\1\2", 3)), Write("a.log", "hello\n")};
  const auto bundle = MakeBundle(inputs, {});
  ASSERT_TRUE(bundle) << bundle.error().ToString();
  EXPECT_EQ(bundle->files.size(), 1U);
  EXPECT_THAT(bundle->notes, ElementsAre(HasSubstr("not text")));
}

TEST_F(BundleTest, FollowsNoLinkOutOfTheFolder) {
  const sys::TemporaryFolder elsewhere;
  std::ofstream(elsewhere / "shadow") << kCanary << "\n";
  std::filesystem::create_symlink(elsewhere / "shadow",
                                  folder_ + "/logs/rank1.log");
  Write("logs/rank0.log", "hello\n");
  const std::vector<std::string> inputs{folder_};
  const auto bundle = MakeBundle(inputs, {});
  ASSERT_TRUE(bundle) << bundle.error().ToString();
  EXPECT_THAT(bundle->notes, Contains(HasSubstr("rank1.log` is a symbolic link "
                                                "that may lead out of")));
  EXPECT_THAT(Plain(*bundle), Not(HasSubstr(std::string(kCanary))));
}

TEST_F(BundleTest, OfNothingIsAnError) {
  const std::vector<std::string> inputs{folder_ + "/no-such-file"};
  const auto bundle = MakeBundle(inputs, {});
  ASSERT_FALSE(bundle);
  EXPECT_EQ(bundle.error().cause(), Cause::kFileMissing);
  EXPECT_EQ(bundle.error().evidence().at(0).Text("object"), inputs[0]);
}

TEST_F(BundleTest, OfAnEmptyFolderNamesIt) {
  const std::vector<std::string> inputs{folder_ + "/empty"};
  std::filesystem::create_directories(inputs[0]);
  const auto bundle = MakeBundle(inputs, {});
  ASSERT_FALSE(bundle);
  EXPECT_THAT(bundle.error().message(),
              HasSubstr("nothing to pack in `" + inputs[0] + "`"));
}

}  // namespace
}  // namespace muster::diagnose
