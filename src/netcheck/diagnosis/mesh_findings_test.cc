// SPDX-License-Identifier: Apache-2.0
#include "netcheck/diagnosis/mesh_findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/text.h"

namespace muster::netcheck {
namespace {

using testing::Contains;
using testing::HasSubstr;

// The rows of three members on three hosts, all well.
class MeshVerdictTest : public testing::Test {
 protected:
  void SetUp() override {
    for (int rank = 0; rank < 3; ++rank) {
      Member member{.rank = rank, .index = rank};
      member.address = {Address{"10.0.0." + std::to_string(rank + 1), 8476},
                        "test"};
      cluster_.members.push_back(member);
    }
    cluster_.size = {3, "test"};
    for (int from = 0; from < 3; ++from) {
      MeshRow& row = rows_[from];
      row = {.rank = from,
             .host = "w-" + std::to_string(from),
             .pid = 10 + from,
             .version = "0.1.0",

             .final = true};
      for (int to = 0; to < 3; ++to) {
        row.claims[to] = {"host w-" + std::to_string(to)};
        if (to != from) {
          At(from, to) = {.path = Path::kOk,
                          .round_trip = std::chrono::microseconds(210),
                          .tries = 1,
                          .answered_as = to};
        }
      }
    }
  }

  PathResult& At(int from, int to) { return rows_[from].paths[{to, 8476}]; }
  void Set(int from, int to, Path path, const std::string& seen = "") {
    At(from, to).path = path;
    At(from, to).seen = seen;
  }
  MeshFindings Judge() { return JudgeMesh(cluster_, rows_, WallTime{}); }
  // "error net-mtu: what"; one line per finding.
  std::string Text() {
    std::string text;
    for (const Finding& finding : Judge().findings) {
      text += std::string(muster::ToString(finding.severity)) + " " +
              std::string(Label(finding.cause)) + ": " + finding.what + "\n";
    }
    return text;
  }

  Cluster cluster_;
  std::map<int, MeshRow> rows_;
};

TEST_F(MeshVerdictTest, NothingIsFoundWhereAllIsWell) {
  EXPECT_EQ(Text(), "");
  EXPECT_THAT(Judge().detail, HasSubstr("6 of 6 paths work"));
  EXPECT_EQ(Judge().lines.size(), 5U) << Join(Judge().lines, "\n");
}

TEST_F(MeshVerdictTest, RanksOfALongerListAreTakenOut) {
  const PathResult healed{.path = Path::kOk, .before = Path::kNoAnswer};
  rows_[1].paths[{3, 8476}] = healed;
  rows_[1].paths[{1'000'000, 8476}] = healed;
  rows_[1].claims[3] = {"host w-3"};
  rows_[1].marks[3] = {"/ck"};
  rows_[1].heard = {0, 3};
  KeepRanksBelow(3, rows_[1]);
  EXPECT_EQ(Text(), "");
  EXPECT_EQ(rows_[1].paths.size(), 2U);
  EXPECT_EQ(rows_[1].heard, std::set<int>{0});
}

TEST_F(MeshVerdictTest, PackagesOfAHostThatDifferAreOneFinding) {
  for (auto& [rank, row] : rows_) {
    row.versions = {{"jax", rank == 1 ? "0.4.30" : "0.5.1"},
                    {"jaxlib", rank == 1 ? "0.4.30" : "0.5.1"}};
  }
  EXPECT_EQ(Text(),
            "error ver-peer-mismatch: rank 1 (10.0.0.2:8476) has different "
            "versions of jax, jaxlib than its peers\n");
}

TEST_F(MeshVerdictTest, ALastNumberThatDiffersIsAWarning) {
  for (auto& [rank, row] : rows_) {
    row.versions = {{"torch", rank == 2 ? "2.3.1" : "2.3.0"}};
  }
  EXPECT_THAT(Text(), HasSubstr("warning ver-peer-mismatch: rank 2"));
}

TEST_F(MeshVerdictTest, EqualPackagesAndThoseOfSomeHostsAreNoFinding) {
  for (auto& [rank, row] : rows_) {
    row.versions = {{"jax", "0.5.1"}};
  }
  rows_[0].versions = {};
  rows_[1].versions["torch"] = "2.3.0";
  EXPECT_EQ(Text(), "");
}

TEST_F(MeshVerdictTest, SystemsThatDifferAreWorthAWordAtMost) {
  for (auto& [rank, row] : rows_) {
    row.versions = {{"kernel", rank == 1 ? "6.1.0" : "5.10.0"},
                    {"glibc", rank == 1 ? "2.36" : "2.31"},
                    {"nvidia-driver", rank == 1 ? "535.1" : "550.2"}};
  }
  EXPECT_THAT(Text(),
              HasSubstr("warning ver-peer-mismatch: rank 1 (10.0.0.2:8476) has "
                        "different versions of nvidia-driver than its peers"));
  EXPECT_THAT(Text(),
              HasSubstr("note ver-peer-mismatch: rank 1 (10.0.0.2:8476) has "
                        "different versions of glibc, kernel than its peers"));
}

TEST_F(MeshVerdictTest, AnotherProgramIsAnErrorAndOtherDataAWarning) {
  for (auto& [rank, row] : rows_) {
    row.files = {{"program train.py", rank == 2 ? "b" : "a"},
                 {"interpreter python3", "p"},
                 {"data /mnt/d", rank == 0 ? "x" : "y"}};
  }
  EXPECT_THAT(Text(),
              HasSubstr("error ver-peer-mismatch: rank 2 (10.0.0.3:8476) has a "
                        "different `train.py` than its peers"));
  EXPECT_THAT(Text(), HasSubstr("warning uneven-data: rank 0 (10.0.0.1:8476) "
                                "has a different `/mnt/d` than its peers"));
  EXPECT_EQ(Judge().findings.size(), 2U) << Text();
}

TEST_F(MeshVerdictTest, EqualFilesAndThoseOfSomeHostsAreNoFinding) {
  rows_[0].files = {{"program train.py", "a"}};
  rows_[1].files = {{"program train.py", "a"}, {"data /d", "b"}};
  EXPECT_EQ(Text(), "");
}

TEST_F(MeshVerdictTest, AFolderThatOthersShareIsAnError) {
  for (auto& [rank, row] : rows_) {
    for (int of = 0; of < 3; ++of) {
      if (of != rank) {
        row.marks[of] = rank == 2 || of == 2 ? std::vector<std::string>{"/ck"}
                                             : std::vector<std::string>{};
      }
    }
  }
  EXPECT_EQ(Text(),
            "error ckpt-placement: `/ck` of rank 2 (10.0.0.3:8476) is not the "
            "folder that other hosts share\n");
}

TEST_F(MeshVerdictTest, FoldersOfEachHostMayBeMeant) {
  for (auto& [rank, row] : rows_) {
    for (int of = 0; of < 3; ++of) {
      if (of != rank) {
        row.marks[of] = {"/ck"};
      }
    }
  }
  EXPECT_THAT(Text(), HasSubstr("warning ckpt-placement: every host has its "
                                "own `/ck`"));
  for (auto& [rank, row] : rows_) {
    for (auto& [of, unseen] : row.marks) {
      unseen.clear();
    }
  }
  EXPECT_EQ(Text(), "");
}

TEST_F(MeshVerdictTest, MembersOfOneHostSeeItsFolderInAnyCase) {
  cluster_.members[1].address->value.host = "10.0.0.1";
  for (auto& [rank, row] : rows_) {
    for (int of = 0; of < 3; ++of) {
      if (of != rank) {
        row.marks[of] = rank == 2 || of == 2 ? std::vector<std::string>{"/ck"}
                                             : std::vector<std::string>{};
      }
    }
  }
  EXPECT_THAT(Text(), HasSubstr("warning ckpt-placement: every host has its "
                                "own `/ck`"));
}

TEST_F(MeshVerdictTest, OfTwoHostsTheOneWithoutTheMountIsNamed) {
  rows_.erase(2);
  for (const int rank : {0, 1}) {
    rows_[rank].marks[1 - rank] = {"/ck"};
    rows_[rank].files["place /ck"] = kOwnPlace;
  }
  EXPECT_THAT(Text(), HasSubstr("warning ckpt-placement: every host has"));
  rows_[0].files["place /ck"] = kServedPlace;
  EXPECT_THAT(Text(), HasSubstr("error ckpt-placement: `/ck` of rank 1 "
                                "(10.0.0.2:8476) is on a local disk"));
}

TEST_F(MeshVerdictTest, MarksOfRanksThatAreNoneAreNotRead) {
  rows_[0].marks = {{7, {"/ck"}}, {-1, {"/ck"}}};
  EXPECT_EQ(Text(), "");
}

TEST_F(MeshVerdictTest, AMemberThatSpeaksShowsAFilterNotADeadHost) {
  Set(0, 2, Path::kNoAnswer);
  Set(1, 2, Path::kNoAnswer);
  EXPECT_EQ(
      Text(),
      "error net-timeout-filtered: rank 2 (10.0.0.3:8476) does not respond\n");
  EXPECT_EQ(Judge().findings[0].confidence, Confidence::kCertain);
  rows_.erase(2);
  EXPECT_EQ(Judge().findings[0].confidence, Confidence::kLikely);
  At(0, 2).sign_of_life = "port 22 is open";
  EXPECT_EQ(Judge().findings[0].confidence, Confidence::kCertain);
}

TEST_F(MeshVerdictTest, ArpShowsAHostThatIsDownNotFiltered) {
  rows_.erase(2);
  Set(0, 2, Path::kNoAnswer);
  Set(1, 2, Path::kNoAnswer);
  At(0, 2).neighbor = kNoArp;
  const Finding down = Judge().findings.at(0);
  EXPECT_THAT(down.what, HasSubstr("does not respond, not even to ARP"));
  EXPECT_EQ(down.confidence, Confidence::kCertain);
  EXPECT_THAT(down.fixes.at(0).text, HasSubstr("start the host"));
  At(1, 2).neighbor = kAnswersArp;
  const Finding filtered = Judge().findings.at(0);
  EXPECT_THAT(filtered.evidence.back().what, HasSubstr("the host is up"));
  EXPECT_EQ(filtered.confidence, Confidence::kLikely);
}

TEST_F(MeshVerdictTest, OneDirectionIsTold) {
  Set(1, 2, Path::kNoAnswer);
  const auto verdict = Judge();
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_THAT(verdict.findings[0].subjects, Contains("rank 1"));
  EXPECT_THAT(verdict.findings[0].evidence.back().what,
              HasSubstr("only one direction fails"));
}

TEST_F(MeshVerdictTest, AMemberThatNeverCameIsLate) {
  rows_.erase(2);
  Set(0, 2, Path::kRefused);
  Set(1, 2, Path::kRefused);
  EXPECT_THAT(Text(), HasSubstr("error rendezvous-timeout: rank 2"));
}

TEST_F(MeshVerdictTest, WhoIsAloneFindsNothingInHostsThatRefuse) {
  rows_.erase(1);
  rows_.erase(2);
  Set(0, 1, Path::kRefused);
  Set(0, 2, Path::kNoAnswer);
  EXPECT_EQ(
      Text(),
      "error net-timeout-filtered: rank 2 (10.0.0.3:8476) does not respond\n");
  EXPECT_THAT(Judge().detail, HasSubstr("not running there"));
}

TEST_F(MeshVerdictTest, ARefusalWhereTheMemberListensIsAFilter) {
  Set(0, 2, Path::kRefused);
  Set(1, 2, Path::kRefused);
  // It may have come when both had stopped trying.
  EXPECT_THAT(Text(), HasSubstr("note rendezvous-timeout: rank 2"));
  At(1, 2).sign_of_life = "its member had joined before the last attempt";
  EXPECT_THAT(Text(), HasSubstr("net-timeout-filtered: rank 2"));
}

TEST_F(MeshVerdictTest, TwoWhoClaimOneRankAreOneFinding) {
  rows_.erase(2);
  rows_[0].claims[1].insert("host w-2, pid 12");
  Set(0, 2, Path::kOtherMember);
  Set(1, 2, Path::kOtherMember);
  At(0, 2).answered_as = At(1, 2).answered_as = 1;
  EXPECT_EQ(Text(),
            "error duplicate-identity: 2 processes claim to be rank 1 "
            "(10.0.0.2:8476)\n");
}

TEST_F(MeshVerdictTest, SwappedMembersAreOneFinding) {
  Set(0, 1, Path::kOtherMember);
  At(0, 1).answered_as = 2;
  Set(0, 2, Path::kOtherMember);
  At(0, 2).answered_as = 1;
  Set(1, 2, Path::kItself);
  At(1, 2).answered_as = 1;
  EXPECT_THAT(Text(), HasSubstr("error net-wrong-endpoint: rank 2 responds"));
  EXPECT_EQ(Judge().findings.size(), 1U);
}

TEST_F(MeshVerdictTest, AnotherListIsNamedWithItsLine) {
  for (const int rank : {0, 2}) {
    rows_[rank].other_lists["host w-1, pid 11"] = "b, where others have a";
    rows_[1].other_lists["host w-" + std::to_string(rank) + ", pid " +
                         std::to_string(10 + rank)] = "a";
  }
  Set(1, 0, Path::kOtherMember);
  const auto verdict = Judge();
  ASSERT_EQ(verdict.findings.size(), 1U) << Text();
  EXPECT_EQ(verdict.findings[0].cause, Cause::kRankWorldMismatch);
  EXPECT_THAT(verdict.findings[0].subjects,
              testing::ElementsAre("host w-1, pid 11"));
}

TEST_F(MeshVerdictTest, ATakenPortExplainsWhatAnswersThere) {
  rows_[2].taken = {{8476, "port 8476 is in use by process 7 (python3)"}};
  Set(0, 2, Path::kForeign, "an HTTP server (`HTTP/1.0 404 Not Found`)");
  Set(1, 2, Path::kForeign, "an HTTP server (`HTTP/1.0 404 Not Found`)");
  EXPECT_THAT(Text(), HasSubstr("error net-port-in-use: rank 2"));
  EXPECT_EQ(Judge().findings.size(), 1U);
}

TEST_F(MeshVerdictTest, APortKeptForRootIsHeldByNobody) {
  const std::string why = "port 80 may not be listened on by this user";
  rows_[2].taken = {{80, why, Cause::kOsLimit}};
  const auto row = MeshRowFromJson(ToJson(rows_[2]));
  ASSERT_TRUE(row) << row.error().ToString();
  rows_[2] = *row;
  const auto verdict = Judge();
  ASSERT_EQ(verdict.findings.size(), 1U) << Text();
  EXPECT_EQ(verdict.findings[0].cause, Cause::kOsLimit);
  EXPECT_THAT(verdict.findings[0].fixes[0].command,
              HasSubstr("ip_unprivileged_port_start"));
}

TEST_F(MeshVerdictTest, WhoHasNoPortLeftIsNamedAndNotItsPeers) {
  Set(0, 1, Path::kOwnLimit, "EADDRNOTAVAIL");
  Set(0, 2, Path::kOwnLimit, "EMFILE");
  EXPECT_EQ(Text(),
            "error os-limit: rank 0 (10.0.0.1:8476) could not open a "
            "connection on 2 paths\n");
}

TEST_F(MeshVerdictTest, WithoutARouteNothingIsFiltered) {
  Set(0, 2, Path::kNoRoute, "ENETUNREACH");
  const auto verdict = Judge();
  ASSERT_EQ(verdict.findings.size(), 1U) << Text();
  const Finding& found = verdict.findings[0];
  EXPECT_EQ(found.evidence.back().what,
            "its kernel has no route: no packet was sent");
  EXPECT_EQ(found.evidence.back().source, "rank 0 (10.0.0.1:8476)");
  EXPECT_EQ(found.fixes[0].command, "ip route get 10.0.0.3");
  Set(0, 2, Path::kNoRoute, "EHOSTUNREACH");
  EXPECT_THAT(Judge().findings[0].fixes[0].command, HasSubstr("/dev/tcp"));
}

// Its kernel takes connections, and its process may be stopped or busy.
TEST_F(MeshVerdictTest, AMemberThatFallsSilentIsAtItsAddress) {
  Set(0, 2, Path::kSilent, "it stopped during the test");
  Set(1, 2, Path::kSilent, "it stopped during the test");
  EXPECT_THAT(Text(),
              HasSubstr("error heartbeat-missed: rank 2 (10.0.0.3:8476) "
                        "responds and then sends nothing"));
  EXPECT_EQ(Judge().findings[0].confidence, Confidence::kLikely);
  At(0, 2).answered_as = At(1, 2).answered_as = -1;
  EXPECT_THAT(Text(),
              HasSubstr("error net-wrong-endpoint: rank 2 (10.0.0.3:8476) "
                        "accepts connections and sends nothing"));
  EXPECT_EQ(Judge().findings[0].confidence, Confidence::kLikely);
}

struct ProbeOutcome {
  Path path;
  const char* seen;
  const char* cause;
};

class MeshProbe : public MeshVerdictTest,
                  public testing::WithParamInterface<ProbeOutcome> {};

TEST_P(MeshProbe, HasItsCause) {
  rows_.erase(2);
  Set(0, 2, GetParam().path, GetParam().seen);
  Set(1, 2, GetParam().path, GetParam().seen);
  At(0, 2).answered_as = At(1, 2).answered_as = -1;
  EXPECT_THAT(Text(), testing::StartsWith(std::string("error ") +
                                          GetParam().cause + ": "));
}

INSTANTIATE_TEST_SUITE_P(
    All, MeshProbe,
    testing::Values(
        ProbeOutcome{Path::kNoAnswer, "", "net-timeout-filtered"},
        ProbeOutcome{Path::kNoRoute, "EHOSTUNREACH", "net-timeout-filtered"},
        ProbeOutcome{Path::kStranger, "", "net-wrong-endpoint"},
        ProbeOutcome{Path::kForeign, "an SSH server", "net-wrong-endpoint"},
        ProbeOutcome{Path::kForeign,
                     "an HTTP server (`HTTP/1.1 403 Forbidden`)", "net-proxy"},
        ProbeOutcome{Path::kForeign,
                     "an HTTP server (`HTTP/1.0 505 muster mesh/2`)",
                     "ver-peer-mismatch"},
        ProbeOutcome{Path::kSilent, "", "net-wrong-endpoint"},
        ProbeOutcome{Path::kClosed, "", "net-wrong-endpoint"},
        ProbeOutcome{Path::kLargeLost, "", "net-mtu"}));

TEST_F(MeshVerdictTest, AClockThatIsAheadIsNamed) {
  for (const int from : {0, 1}) {
    At(from, 2).clock_ahead = std::chrono::minutes(10);
    At(2, from).clock_ahead = -std::chrono::minutes(10);
  }
  const auto verdict = Judge();
  ASSERT_EQ(verdict.findings.size(), 1U) << Text();
  EXPECT_EQ(verdict.findings[0].cause, Cause::kClockSkew);
  EXPECT_THAT(verdict.findings[0].subjects, testing::ElementsAre("rank 2"));
  EXPECT_THAT(verdict.findings[0].what, HasSubstr("ahead"));
  EXPECT_THAT(verdict.findings[0].evidence[0].what,
              HasSubstr("ahead, give or take 0.1"));
}

TEST_F(MeshVerdictTest, AClockThatIsBehindIsNamed) {
  for (const int from : {0, 1}) {
    At(from, 2).clock_ahead = -std::chrono::minutes(10);
    At(2, from).clock_ahead = std::chrono::minutes(10);
  }
  const auto verdict = Judge();
  ASSERT_EQ(verdict.findings.size(), 1U) << Text();
  EXPECT_THAT(verdict.findings[0].subjects, testing::ElementsAre("rank 2"));
  EXPECT_THAT(verdict.findings[0].what, HasSubstr("behind"));
}

TEST_F(MeshVerdictTest, ClocksThatAgreeHaveABound) {
  At(0, 1).clock_ahead = -std::chrono::milliseconds(3);
  EXPECT_THAT(Judge().detail, HasSubstr("clocks differ by at most 3.1"));
}

TEST_F(MeshVerdictTest, AClockThatIsBorneIsAWarning) {
  for (const int from : {0, 1}) {
    At(from, 2).clock_ahead = std::chrono::minutes(1);
    At(2, from).clock_ahead = -std::chrono::minutes(1);
  }
  EXPECT_THAT(Text(), testing::StartsWith("warning clock-skew"));
}

TEST_F(MeshVerdictTest, WhatHealedIsANote) {
  At(0, 1).before = Path::kNoAnswer;
  At(0, 1).tries = 3;
  At(0, 1).healed = std::chrono::milliseconds(1200);
  EXPECT_THAT(Text(), testing::StartsWith("note net-timeout-filtered: 1 path"));
  At(0, 1).before = Path::kRefused;
  EXPECT_EQ(Text(), "") << "not started yet is no fault";
}

TEST_F(MeshVerdictTest, AnotherAddressThanTheOwnIsAWarning) {
  At(0, 1).translated = "192.0.2.1:4000";
  EXPECT_THAT(Text(), testing::StartsWith("warning net-proxy"));
}

}  // namespace
}  // namespace muster::netcheck
