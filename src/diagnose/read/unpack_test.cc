// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include "base/json.h"
#include "diagnose/match/log_scanner.h"
#include "diagnose/read/byte_sink.h"
#include "diagnose/read/testing.h"

namespace muster::diagnose {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Unpacked {
  std::vector<std::string> seen;  // "NAME:LINE" of every fact
  std::vector<std::string> notes;
};

// What a stream of these bytes gives.
Unpacked Unpack(std::string_view bytes, std::string name = "in",
                std::size_t piece = 7, Budget budget = {}) {
  const Matcher matcher(kInputRows);
  LogScanner scanner(matcher);
  Unpacked all;
  const auto unpacker = MakeUnpacker(
      std::move(name),
      {.scanner = &scanner, .notes = &all.notes, .budget = &budget});
  for (std::size_t i = 0; i < bytes.size(); i += piece) {
    unpacker->Feed(bytes.substr(i, piece));
  }
  unpacker->End();
  for (const Fact& fact : scanner.TakeFacts()) {
    if (fact.name != kEnd) {
      all.seen.push_back(fact.by);
    }
  }
  return all;
}

// That nothing of it needed a note.
std::vector<std::string> SeenIn(std::string_view bytes,
                                std::string name = "in") {
  const Unpacked all = Unpack(bytes, std::move(name));
  EXPECT_THAT(all.notes, testing::IsEmpty());
  return all.seen;
}

std::vector<std::string> NotesOf(std::string_view bytes) {
  return Unpack(bytes).notes;
}
TEST(Unpacking, ReadsText) {
  EXPECT_THAT(SeenIn(kLog), ElementsAre("in:2"));
}

TEST(Unpacking, ReadsGzipOfSeveralMembers) {
  const std::string once = Deflated(kLog, 15 + 16);
  EXPECT_THAT(SeenIn(once + Deflated("out of disk on sdb\n", 31), "a.log.gz"),
              ElementsAre("a.log:2", "a.log:3"));
}

TEST(Unpacking, ReadsZstd) {
  std::string out(1000, '\0');
  out.resize(
      ZSTD_compress(out.data(), out.size(), kLog.data(), kLog.size(), 3));
  EXPECT_THAT(SeenIn(out, "a.zst"), ElementsAre("a:2"));
}

TEST(Unpacking, ReadsTarInsideOfGzip) {
  const std::string tar = TarMember("rank1.err", kLog) +
                          TarMember("empty", "") +
                          TarMember("rank2.err", kLog) + TarEnd();
  EXPECT_THAT(SeenIn(Deflated(tar, 31), "b.tar.gz"),
              ElementsAre("b.tar:rank1.err:2", "b.tar:rank2.err:2"));
}

TEST(Unpacking, ReadsZip) {
  const std::string zip =
      ZipMember("a.log", kLog, true) + ZipMember("dir/", "", false) +
      ZipMember("b.log", kLog, false) + std::string(kZipDirectory);
  EXPECT_THAT(SeenIn(zip, "x.zip"),
              ElementsAre("x.zip:a.log:2", "x.zip:b.log:2"));
}

TEST(Unpacking, ReadsALogOfKaggle) {
  EXPECT_THAT(
      SeenIn(
          R"([{"stream_name":"stderr","time":1.5,"data":"one\n"},)"
          R"({"stream_name":"stderr","time":2.5,"data":"out of disk on sda\n"}])"),
      ElementsAre("in:2"));
}

TEST(Unpacking, ReadsTheOutputsOfANotebook) {
  EXPECT_THAT(
      SeenIn(
          R"({"cells": [{"cell_type": "code", "source": ["out of disk on x"],)"
          R"("outputs": [{"output_type": "stream", "text": ["one\n",)"
          R"("out of disk on sda\n"]}]}], "metadata": {}})",
          "n.ipynb"),
      ElementsAre("n.ipynb:2"));
  // What Colab writes of an exception is no part of the line that follows.
  EXPECT_THAT(
      SeenIn(R"({"cells": [{"outputs": [{"evalue": "ignored",)"
             R"("traceback": ["out of disk on sda"]}]}], "metadata": {}})",
             "n.ipynb"),
      ElementsAre("n.ipynb:2"));
}

TEST(Unpacking, ReadsUtf16) {
  std::string wide("\xFF\xFE", 2);
  for (char c : kLog) {
    wide += {c, '\0'};
  }
  EXPECT_THAT(SeenIn(wide), ElementsAre("in:2"));
}

TEST(Unpacking, ReadsUtf16OfTheOtherOrder) {
  std::string wide("\xFE\xFF", 2);
  for (char c : kLog) {
    wide += {'\0', c};
  }
  EXPECT_THAT(SeenIn(wide), ElementsAre("in:2"));
}

TEST(Unpacking, ReadsUtf16WithoutAMark) {
  std::string little;
  std::string big;
  for (char c : kLog) {
    little += {c, '\0'};
    big += {'\0', c};
  }
  EXPECT_THAT(SeenIn(little), ElementsAre("in:2"));
  EXPECT_THAT(SeenIn(big), ElementsAre("in:2"));
}

TEST(Unpacking, SaysWhatIsNotReadAndHowToUnpackIt) {
  using std::string_literals::operator""s;
  std::string wide("\xFF\xFE\0\0", 4);
  for (char c : kLog) {
    wide += {c, '\0', '\0', '\0'};
  }
  const std::pair<std::string, std::string> kinds[] = {
      {"\xFD"
       "7zXZ\0\0\4"s,
       "in: xz: unpack it first (xz -d)"},
      {"BZh91AY&SY\1\2\3", "in: bzip2: unpack it first (bzip2 -d)"},
      {"7z\xBC\xAF\x27\x1C"s, "in: 7z: unpack it first (7z x)"},
      {wide, "in: UTF-32: convert it first (iconv -f UTF-32)"},
      {wide.substr(4), "in: not text"},
      {"\x7F" + "ELF\2\1\1\0\0\0"s, "in: not text"}};
  for (const auto& [bytes, note] : kinds) {
    const Unpacked all = Unpack(bytes);
    EXPECT_THAT(all.seen, testing::IsEmpty()) << note;
    EXPECT_THAT(all.notes, ElementsAre(note));
  }
}

TEST(Unpacking, TakesOddTextForText) {
  const std::string bar = "1/9" + std::string(400, '\b') + "2/9\n";
  EXPECT_THAT(SeenIn(bar + "out of disk on sda\n"), ElementsAre("in:2"));
  EXPECT_THAT(SeenIn("BZh is how bzip2 begins\nout of disk on sda\n"),
              ElementsAre("in:2"));
  const std::string zeros(3000, '\0');
  EXPECT_THAT(SeenIn(zeros + "one\nout of disk on sda\n"), ElementsAre("in:2"));
  EXPECT_THAT(SeenIn("one\nout of disk on sda\n" + zeros), ElementsAre("in:2"));
  EXPECT_THAT(SeenIn("one\n" + zeros + "out of disk on sda\n"),
              ElementsAre("in:2"));
  // The frames of a container's log as its engine gives them.
  const std::string frame("\1\0\0\0\0\0\0\x30", 8);
  EXPECT_THAT(
      SeenIn(frame + "one line of forty-eight characters of a program\n" +
             frame + "two: out of disk on sda, and some words more now\n"),
      ElementsAre("in:2"));
}

TEST(Unpacking, ReadsLinesOfJson) {
  EXPECT_THAT(SeenIn("{\"level\":\"info\",\"msg\":\"one\"}\n"
                     "{\"level\":\"error\",\"msg\":\"out of disk on sda\"}\n"),
              ElementsAre("in:2"));
}

std::string Zstd(std::string_view text, int window_log = 0) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  // Of an unknown size, so that the window is not made smaller.
  ZSTD_inBuffer in{text.data(), text.size(), 0};
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  ZSTD_compressStream2(context, &to, &in, ZSTD_e_flush);
  EXPECT_EQ(ZSTD_compressStream2(context, &to, &in, ZSTD_e_end), 0U);
  ZSTD_freeCCtx(context);
  out.resize(to.pos);
  return out;
}

TEST(Unpacking, SaysThatACompressedStreamIsIncomplete) {
  const std::string gzip = Deflated(kLog, 31);
  EXPECT_THAT(NotesOf(gzip.substr(0, gzip.size() / 2)),
              ElementsAre("in: incomplete gzip, read only the beginning"));
  EXPECT_THAT(NotesOf(gzip + gzip.substr(0, 12)),
              ElementsAre("in: incomplete gzip, read only the beginning"));
  const std::string zstd = Zstd(kLog);
  EXPECT_THAT(NotesOf(zstd.substr(0, zstd.size() - 4)),
              ElementsAre("in: incomplete zstd, read only the beginning"));
  EXPECT_THAT(NotesOf("\x28\xB5\x2F\xFD broken and then some more"),
              ElementsAre("in: corrupt zstd, read only the beginning"));
}

TEST(Unpacking, ReadsZstdOfALongWindow) {
  EXPECT_THAT(SeenIn(Zstd(kLog, 27)), ElementsAre("in:2"));
  EXPECT_THAT(NotesOf(Zstd(kLog, 28)),
              ElementsAre("in: zstd with a window over 128 MiB, skipped"));
}

TEST(Unpacking, SaysThatATarIsIncompleteOrDamaged) {
  const std::string tar = TarMember("a", kLog);
  for (const std::size_t size :
       {std::size_t{100}, std::size_t{513}, std::size_t{600}, tar.size()}) {
    EXPECT_THAT(NotesOf(TarMember("b", kLog) + tar.substr(0, size)),
                ElementsAre("in: incomplete tar, read only the beginning"))
        << size;
  }
  std::string damaged = tar + tar + TarEnd();
  damaged[tar.size() + 124] = 'x';
  EXPECT_THAT(NotesOf(damaged),
              ElementsAre("in: corrupt tar, read only the beginning"));
}

TEST(Unpacking, SaysThatAZipIsIncompleteOrDamaged) {
  const std::string first = ZipMember("a", kLog, true);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{20}, std::size_t{35}, first.size()}) {
    EXPECT_THAT(NotesOf(first + first.substr(0, size)),
                ElementsAre("in: incomplete zip, read only the beginning"))
        << size;
  }
  EXPECT_THAT(NotesOf(first + "XX\x03\x04" + first),
              ElementsAre("in: corrupt zip, read only the beginning"));
  EXPECT_THAT(NotesOf("PK\x03\x04" + std::string(200, '\xff')),
              ElementsAre("in: incomplete zip, read only the beginning"));
}

TEST(Unpacking, ReadsWhatFollowsAStreamedMemberOfZip) {
  for (const bool sign : {true, false}) {
    for (const int bytes : {4, 8}) {
      const std::string zip =
          ZipMember("a", kLog, true, 8) + ZipDescriptor(kLog, sign, bytes) +
          ZipMember("folder/", "", false, 8) + ZipMember("b", kLog, true) +
          std::string(kZipDirectory);
      EXPECT_THAT(SeenIn(zip), ElementsAre("in:a:2", "in:b:2"))
          << sign << " " << bytes;
    }
  }
  EXPECT_THAT(NotesOf(ZipMember("a", kLog, true, 8) + std::string(40, 'x') +
                      std::string(kZipDirectory)),
              ElementsAre("in: corrupt zip, read only the beginning"));
}

TEST(Unpacking, SkipsAnEncryptedMemberOfZip) {
  const Unpacked all =
      Unpack(ZipMember("a", kLog, true, 1) + ZipMember("b", kLog, true) +
             std::string(kZipDirectory));
  EXPECT_THAT(all.seen, ElementsAre("in:b:2"));
  EXPECT_THAT(all.notes, ElementsAre("in:a: encrypted, not read"));
  EXPECT_THAT(
      NotesOf(ZipMember("a", kLog, true, 9)),
      ElementsAre(
          "in:a: encrypted, not read, skipped with the following members"));
}

// A record of pax: its length counts itself.
std::string Attribute(const std::string& text) {
  std::size_t size = text.size() + 3;
  while (std::to_string(size).size() + text.size() + 2 > size) {
    ++size;
  }
  return std::to_string(size) + " " + text + "\n";
}

TEST(Unpacking, ReadsTheLongNamesOfTar) {
  const std::string name = std::string(150, 'd') + "/rank7.err";
  const std::vector<std::string> as_named{"in:" + name + ":2"};
  EXPECT_EQ(SeenIn(TarMember("@LongLink", name + '\0', 'L') +
                   TarMember("cut", kLog) + TarEnd()),
            as_named);
  const std::string attributes =
      Attribute("mtime=1.5") + Attribute("path=" + name);
  EXPECT_EQ(SeenIn(TarMember("PaxHeaders/x", attributes, 'x') +
                   TarMember("cut", kLog) + TarEnd()),
            as_named);
}

TEST(Unpacking, ReadsTheSizeOfALargeMemberOfTar) {
  std::string member = TarMember("a", kLog);
  member.replace(124, 11, "00000000000");
  EXPECT_THAT(
      SeenIn(TarMember("x", Attribute("size=" + std::to_string(kLog.size())),
                       'x') +
             member + TarMember("b", kLog) + TarEnd()),
      ElementsAre("in:a:2", "in:b:2"));
  member.replace(124, 12, "\x80" + std::string(11, '\0'));
  member[135] = static_cast<char>(kLog.size());
  EXPECT_THAT(SeenIn(member + TarEnd()), ElementsAre("in:a:2"));
}

TEST(Unpacking, GivesALongNameToNobodyElse) {
  const std::string name = std::string(150, 'd') + "/";
  EXPECT_THAT(
      SeenIn(TarMember("@LongLink", name + '\0', 'L') +
             TarMember("cut/", "", '5') + TarMember("a", kLog) + TarEnd()),
      ElementsAre("in:a:2"));
}

TEST(Unpacking, BoundsALongName) {
  const std::string name(200 << 10, 'n');
  const Unpacked all = Unpack(TarMember("@LongLink", name, 'L') +
                              TarMember("cut", kLog) + TarEnd());
  ASSERT_EQ(all.seen.size(), 1U);
  EXPECT_LT(all.seen[0].size(), std::size_t{65} << 10);
  EXPECT_THAT(
      all.notes,
      ElementsAre(
          "in: a name or attributes of 200.0 KiB, read only up to 64.0 KiB"));
}

TEST(Unpacking, ReadsSoManyMembersAndNoMore) {
  for (const std::string& packed :
       {TarMember("a", kLog) + TarMember("b", kLog) + TarEnd(),
        ZipMember("a", kLog, true) + ZipMember("b", kLog, true)}) {
    const Unpacked all = Unpack(packed, "in", 7, {.members = 1});
    EXPECT_THAT(all.seen, ElementsAre("in:a:2"));
    EXPECT_THAT(all.notes,
                ElementsAre("in: too many members, read only the first ones"));
  }
}

TEST(Unpacking, StopsWhenMoreComesOutThanMayBe) {
  const Matcher matcher(kInputRows);
  const std::string bomb = Deflated(std::string(1 << 20, 'x'), 31);
  for (const std::string& packed :
       {bomb, ZipMember("a", std::string(1 << 20, 'x'), true)}) {
    LogScanner scanner(matcher);
    std::vector<std::string> notes;
    Budget budget{.left = 1000};
    const auto unpacker = MakeUnpacker(
        "bomb", {.scanner = &scanner, .notes = &notes, .budget = &budget});
    unpacker->Feed(packed);
    unpacker->End();
    EXPECT_THAT(notes, ElementsAre(HasSubstr("too large to unpack")));
    EXPECT_EQ(budget.left, 0U);
  }
}

}  // namespace
}  // namespace muster::diagnose
