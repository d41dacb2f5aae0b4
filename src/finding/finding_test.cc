// SPDX-License-Identifier: Apache-2.0
#include "finding/finding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "finding/catalogue.h"

namespace muster {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const WallTime kAt{std::chrono::microseconds(1'795'271'719'000'123)};

Fact Refused() {
  return {.name = "connect.refused",
          .fields = {{"errno", std::string("ECONNREFUSED")},
                     {"after_ms", 0.4},
                     {"host", std::string("w-3")}},
          .subject = "rank 3 (10.0.0.7:8476)",
          .by = "rank 0, tcp probe",
          .at = kAt};
}

// Everything filled in, with the texts of another program in it.
Finding Full() {
  return {.cause = Cause::kPeerDied,
          .severity = Severity::kError,
          .confidence = Confidence::kCertain,
          .what = "rank 1 (10.0.0.7:8476) was killed by SIGKILL at step 120",
          .subjects = {"rank 1"},
          .evidence = {{"wait status 9: SIGKILL, not sent by muster",
                        "agent of rank 1", kAt},
                       {"\033[2Jlast line", "rank 1, stderr", {}}},
          .ruled_out = {"oom-host: the memory counter did not move"},
          .fixes = {{"find the sender of the signal", "journalctl -k",
                     Safety::kSafe, false},
                    {"make the batch smaller", "", Safety::kAsks, true}},
          .victims = {"rank 0 lost rank 1, 0.3 s later"},
          .related = {"oom-host", "preempted"}};
}

TEST(FindingText, HasTheFixedOrder) {
  EXPECT_EQ(
      RenderText(Full(), {.width = 80}),
      R"(error[peer-died] rank 1 (10.0.0.7:8476) was killed by SIGKILL at step 120
  evidence  wait status 9: SIGKILL, not sent by muster           agent of rank 1
            \x1b[2Jlast line                                      rank 1, stderr
  cause     a rank's process was killed or crashed                       certain
  ruled out oom-host: the memory counter did not move
  victims   rank 0 lost rank 1, 0.3 s later
  see also  oom-host, preempted
  fix       find the sender of the signal: journalctl -k                    safe
            make the batch smaller                         asks, changes results
  more      muster explain peer-died
)");
}

TEST(FindingText, WrapsAtTheWidthAndKeepsTheFirstLineWhole) {
  const std::string text = RenderText(Full(), {.width = 44});
  EXPECT_THAT(text, StartsWith("error[peer-died] rank 1 (10.0.0.7:8476) was "
                               "killed by SIGKILL at step 120\n"));
  EXPECT_THAT(text,
              HasSubstr("  evidence  wait status 9: SIGKILL, not sent\n"
                        "            by muster        agent of rank 1\n"));
}

TEST(FindingText, KeepsTheSafetyBesideItsFix) {
  EXPECT_THAT(RenderText(Full(), {.width = 44}),
              HasSubstr("            make the batch\n"
                        "            smaller    asks, changes results\n"));
  Finding finding = Full();
  finding.fixes = {{.text = "see", .command = std::string(40, 'x')}};
  EXPECT_THAT(RenderText(finding, {.width = 44}),
              HasSubstr("  fix       see:                        asks\n"
                        "            xxx"));
  finding.fixes = {{.text = std::string(40, 'x'), .command = ""}};
  EXPECT_THAT(RenderText(finding, {.width = 44}), HasSubstr("xxx  asks\n"));
}

TEST(FindingText, ShowsAtMostFiveLinesOfEvidence) {
  Finding finding = Full();
  finding.evidence.assign(7, {"the same", "rank 0", kAt});
  EXPECT_THAT(RenderText(finding, {}),
              HasSubstr("            and 2 more (see --output json)\n"));
}

TEST(FindingText, ColoursOnlyTheTag) {
  EXPECT_THAT(RenderText(Full(), {.width = 80, .color = true}),
              StartsWith("\033[1;31merror[peer-died]\033[0m rank 1"));
}

TEST(FindingText, SaysThatNoFixIsKnown) {
  Finding finding = Full();
  finding.fixes.clear();
  EXPECT_THAT(RenderText(finding, {}), HasSubstr("  fix       none known\n"));
}

TEST(FindingJson, HasExactlyTheKeysOfTheSchema) {
  std::vector<std::string> keys;
  const Json json = ToJson(Full());
  for (const auto& [key, value] : json.items()) {
    keys.push_back(key);
  }
  EXPECT_THAT(keys, ElementsAre("schema", "cause", "severity", "confidence",
                                "what", "subjects", "evidence", "ruled_out",
                                "fixes", "victims", "related"));
  EXPECT_EQ(
      json["evidence"][0].dump(),
      R"({"what":"wait status 9: SIGKILL, not sent by muster",)"
      R"("source":"agent of rank 1","at":"2026-11-21T14:35:19.000123Z"})");
  EXPECT_EQ(json["fixes"][1].dump(),
            R"({"text":"make the batch smaller","command":"",)"
            R"("safety":"asks","changes_results":true})");
}

TEST(FindingJson, ReadsWhatItWrites) {
  auto read = FindingFromJson(ToJson(Full()));
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(*read, Full());
}

TEST(FindingJson, RefusesWhatIsNoFinding) {
  Json json = ToJson(Full());
  json["cause"] = "peer-dyed";
  EXPECT_THAT(FindingFromJson(json).error().ToString(),
              HasSubstr("unknown cause `peer-dyed`"));
  json = ToJson(Full());
  json["confidence"] = "sure";
  EXPECT_THAT(FindingFromJson(json).error().ToString(),
              HasSubstr("confidence is `sure`"));
  EXPECT_EQ(FindingFromJson(Json::array()).error().cause(),
            Cause::kFileCorrupt);
}

TEST(FindingFromError, TakesFixesAndRelatedCausesFromTheCatalogue) {
  const Finding finding =
      FromError(Error(Cause::kNetNameResolution, "`w-3` does not resolve")
                    .With(Refused())
                    .While("while gathering members"));
  EXPECT_EQ(finding.what, "`w-3` does not resolve (while gathering members)");
  EXPECT_THAT(finding.subjects, ElementsAre("rank 3 (10.0.0.7:8476)"));
  ASSERT_EQ(finding.fixes.size(), 2U);
  EXPECT_EQ(finding.fixes[0].command, "getent hosts w-3");
  EXPECT_EQ(finding.fixes[0].safety, Safety::kSafe);
  EXPECT_THAT(finding.related,
              ElementsAre("rendezvous-timeout", "net-loopback-name"));
}

TEST(FindingFromError, NamesWhatCannotBePastedInCapitals) {
  Fact fact = Refused();
  fact.fields["host"] = std::string("x; rm -rf /");
  const Finding finding = FromError(
      Error(Cause::kNetNameResolution, "no such name").With(std::move(fact)));
  EXPECT_EQ(finding.fixes[0].command, "getent hosts HOST");
  EXPECT_EQ(FromError(Error(Cause::kNetNameResolution, "x")).fixes[0].command,
            "getent hosts HOST");
}

TEST(Evidence, IsTheTextOfAFactOrItsFields) {
  Fact fact = Refused();
  EXPECT_EQ(FromFact(fact).what,
            "connect.refused after_ms=0.4 errno=ECONNREFUSED host=w-3");
  fact.fields["text"] = std::string("it refused");
  EXPECT_EQ(FromFact(fact), (Evidence{"it refused", "rank 0, tcp probe", kAt}));
}

TEST(Catalogue, HasAnEntryForEveryCause) {
  for (Cause cause : AllCauses()) {
    const CatalogueEntry& entry = EntryOf(cause);
    EXPECT_EQ(entry.cause, cause) << Label(cause);
    EXPECT_FALSE(entry.happened.empty() || entry.why.empty()) << Label(cause);
    EXPECT_FALSE(entry.fixes.empty()) << Label(cause);
    EXPECT_FALSE(entry.match.empty() && entry.facts.empty()) << Label(cause);
    EXPECT_EQ(CauseFromLabel(Label(cause)), cause);
  }
  EXPECT_EQ(CauseFromLabel("peer-dyed"), std::nullopt);
}

TEST(CatalogueText, HasAllSections) {
  const std::string text = RenderText(EntryOf(Cause::kPeerDied));
  EXPECT_THAT(text,
              StartsWith("peer-died: a rank's process was killed or crashed\n"
                         "severity error · retry: yes, it may succeed · "
                         "since 0.1\n"));
  EXPECT_THAT(text,
              AllOf(HasSubstr("\nWhat happened\n  A signal"),
                    HasSubstr("\nConfirm it yourself\n"), HasSubstr("(safe)\n"),
                    HasSubstr("\nIt is another cause if\n  - oom-host: "),
                    Not(HasSubstr("```"))));
}

TEST(CatalogueJson, NamesWhatLeadsToTheCause) {
  const Json json = ToJson(EntryOf(Cause::kOomHost));
  EXPECT_EQ(json["label"], "oom-host");
  EXPECT_THAT(json["facts"].get<std::vector<std::string>>(),
              testing::Contains("oom.kill"));
  EXPECT_EQ(json["retry"], "needs-change");
}

}  // namespace
}  // namespace muster
