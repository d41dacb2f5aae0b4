// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "base/text.h"
#include "settings/settings.h"

namespace muster::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using Words = std::vector<std::string>;

CommandLine Parse(const Words& words) {
  auto line = ParseCommandLine(words);
  EXPECT_TRUE(line) << line.error().ToString();
  return line ? *line : CommandLine{};
}

TEST(CommandLine, OfRunTakesAllFlags) {
  const CommandLine line =
      Parse({"run", "-n", "2", "--env", "A=1", "--env", "B=x=y", "--grace",
             "2s", "--dry-run", "--raw", "--port-range=5000-6000", "--",
             "python", "-n", "--", "x"});
  EXPECT_EQ(line.verb->path, "run");
  EXPECT_EQ(line.cluster.processes, 2);
  EXPECT_THAT(line.environment, ElementsAre(Pair("A", "1"), Pair("B", "x=y")));
  EXPECT_THAT(line.settings, ElementsAre(Pair("grace", "2s"),
                                         Pair("port_range", "5000-6000")));
  EXPECT_TRUE(line.dry_run);
  EXPECT_TRUE(line.raw);
  EXPECT_THAT(line.command, ElementsAre("python", "-n", "--", "x"));
}

TEST(CommandLine, OfCheckTakesGroupsAmongFlags) {
  const CommandLine line =
      Parse({"check", "network", "--data", "/a", "host.memory", "--data", "/b",
             "--checkpoints", "/ck", "-n", "2", "--fail-on", "warning"});
  EXPECT_EQ(line.verb->path, "check");
  EXPECT_THAT(line.groups, ElementsAre("network", "host.memory"));
  EXPECT_THAT(line.data, ElementsAre("/a", "/b"));
  EXPECT_THAT(line.checkpoints, ElementsAre("/ck"));
  EXPECT_EQ(line.cluster.processes, 2);
  EXPECT_THAT(line.settings, ElementsAre(Pair("fail_on", "warning")));
}

TEST(CommandLine, OfResolveTakesTheCluster) {
  const CommandLine line =
      Parse({"resolve", "--hosts", "a:1,b:1", "--rank", "1"});
  EXPECT_EQ(line.verb->path, "resolve");
  EXPECT_EQ(line.cluster.hosts, "a:1,b:1");
  EXPECT_EQ(line.cluster.rank, 1);
  EXPECT_EQ(Parse({"resolve", "--cluster", "c.json"}).cluster.cluster,
            "c.json");
}

TEST(CommandLine, OfExplainTakesALabelOrTheList) {
  EXPECT_EQ(Parse({"explain", "peer-died"}).inputs[0], "peer-died");
  EXPECT_TRUE(Parse({"explain", "--list", "--output", "json"}).list);
}

TEST(CommandLine, GivesHelpWhateverElseIsMissing) {
  EXPECT_TRUE(Parse({"--help"}).help);
  EXPECT_TRUE(Parse({"run", "-h"}).help);
  EXPECT_EQ(Parse({"explain", "--help"}).verb->path, "explain");
  EXPECT_TRUE(Parse({"--version"}).version);
}

TEST(CommandLine, OfTpuSshTakesACommandAndHowWorkersAreReached) {
  const auto line = Parse({"tpu", "ssh", "t", "--worker", "all",
                           "--internal-ip", "--user", "ann", "--", "ls", "-l"});
  EXPECT_EQ(line.verb->path, "tpu ssh");
  EXPECT_EQ(line.tpu.name, "t");
  EXPECT_EQ(line.reach.worker, "all");
  EXPECT_EQ(line.reach.address, "internal");
  EXPECT_EQ(line.reach.user, "ann");
  EXPECT_THAT(line.command, ElementsAre("ls", "-l"));
}

TEST(CommandLine, KeepsAnEmptyHostList) {
  EXPECT_EQ(Parse({"resolve", "--hosts", ""}).cluster.hosts, "");
}

struct BadLine {
  Words words;
  const char* says;
};
class BadCommandLine : public testing::TestWithParam<BadLine> {};

TEST_P(BadCommandLine, SaysWhatIsWrong) {
  const auto line = ParseCommandLine(GetParam().words);
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().cause(), Cause::kUsageInvalid);
  EXPECT_THAT(line.error().message(), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadCommandLine,
    testing::Values(
        BadLine{{"run", "--max-restart", "2", "--", "x"},
                "unknown flag `--max-restart` of `muster run`, did you mean "
                "`--max-restarts`?"},
        BadLine{{"run", "--verbose", "--", "x"}, "unknown flag `--verbose`"},
        BadLine{{"--verison"},
                "unknown flag `--verison`, did you mean `--version"},
        BadLine{{"runn"}, "unknown sub-command `runn`, did you mean `run`?"},
        BadLine{{"fly"}, "unknown sub-command `fly`"},
        BadLine{{"run", "-n", "2"}, "no command to run: put it after `--`"},
        BadLine{{"run", "-n", "2", "--"}, "no command to run"},
        BadLine{{"run", "-n", "2", "python", "t.py", "--lr", "1"},
                "`python` is not a flag: put the command"},
        BadLine{{"run", "-n", "two", "--", "x"}, "flag -n is `two`"},
        BadLine{{"run", "-n", "-1", "--", "x"}, "-n"},
        BadLine{{"run", "--hosts"}, "--hosts"},
        BadLine{{"run", "--env", "A", "--", "x"}, "flag --env is `A`"},
        BadLine{{"run", "--env", "=A", "--", "x"}, "expected NAME=VALUE"},
        BadLine{{"run", "--grace", "1s", "--grace", "2s", "--", "x"},
                "--grace"},
        BadLine{{"resolve", "--dry-run"}, "unknown flag `--dry-run`"},
        BadLine{{"resolve", "--", "x"},
                "only `muster run`, `muster check`, `muster tpu ssh`"},
        BadLine{{"tpu", "list", "--", "x"},
                "only `muster run`, `muster check`"},
        BadLine{{"tpu", "ssh", "t", "--"}, "no command after `--`"},
        BadLine{{"tpu", "ssh", "t", "--command", "a", "--", "b"}, "exclusive"},
        BadLine{{"tpu", "ssh"}, "requires NAME, as in `muster tpu ssh NAME`"},
        BadLine{{"tpu", "ssh", "t", "--port", "1"},
                "`--port` of `muster tpu ssh`: it is a flag of `muster tpu "
                "notebook`"},
        BadLine{{"tpu", "list", "--worker", "1"},
                "`--worker` of `muster tpu list`: it is a flag of"},
        BadLine{{"tpu", "notebook", "t", "--port", "0"}, "flag --port is 0"},
        BadLine{{"run", "--copy", ".", "--", "x"},
                "--copy is valid only with --tpu"},
        BadLine{
            {"run", "--tpu", "t", "--hosts", "a,b", "--copy", ".", "--", "x"},
            "--copy is valid only with --tpu NAME, without another cluster"},
        BadLine{{"run", "--tpu", "t", "--keep-copy", "--", "x"}, "--copy DIR"},
        BadLine{{"run", "--recreate", "--", "x"},
                "--recreate is valid only with --tpu"},
        BadLine{{"run", "--tpu", "t", "--yes", "--", "x"},
                "flag --yes is valid only with --recreate"},
        BadLine{{"check", "--worker", "1"},
                "--worker is valid only with --tpu"},
        BadLine{{"explain"}, "give a log, a folder"}));

TEST(CommandLine, ExplainsSeveralLogsTogether) {
  EXPECT_THAT(Parse({"explain", "a", "b"}).inputs, ElementsAre("a", "b"));
}

TEST(CommandLine, AsksAboutAProgram) {
  const auto line =
      ParseCommandLine({"check", "program", "step.mlir", "--on", "v5e:2x4",
                        "--replicas", "8", "--timeout", "2min"});
  ASSERT_TRUE(line) << line.error().ToString();
  EXPECT_EQ(line->verb->path, "check program");
  EXPECT_EQ(line->program.files, std::vector<std::string>{"step.mlir"});
  EXPECT_EQ(line->program.on, "v5e:2x4");
  EXPECT_EQ(line->replicas, 8);
  EXPECT_FALSE(line->program.partitions);
  EXPECT_EQ(line->program.request_timeout, std::chrono::minutes(2));
}

TEST(CommandLine, TakesSeveralProgramsAndCompilers) {
  const auto line = ParseCommandLine(
      {"check", "program", "a", "b", "--on", "v5e:2x4", "--plugin", "/x.so",
       "--plugin", "/y.so", "--batch", "64,128"});
  ASSERT_TRUE(line) << line.error().ToString();
  EXPECT_EQ(line->program.files, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(line->program.plugins,
            (std::vector<std::string>{"/x.so", "/y.so"}));
  EXPECT_EQ(line->program.batches, (std::vector<int>{64, 128}));
}

TEST(CommandLine, AsksTargets) {
  const auto line =
      ParseCommandLine({"check", "--target", "grpc://a:1,b:2", "--target",
                        "c:3", "--framework", "tf", "--replicas", "4"});
  ASSERT_TRUE(line) << line.error().ToString();
  EXPECT_EQ(line->targets, (std::vector<std::string>{"grpc://a:1,b:2", "c:3"}));
  EXPECT_EQ(line->framework, "tf");
  EXPECT_EQ(line->replicas, 4);
  EXPECT_TRUE(line->groups.empty());
}

TEST(CommandLine, WantsAFileAndATopologyForAProgram) {
  const std::vector<std::vector<std::string>> wrong{
      {"check", "program", "step.mlir"},
      {"check", "program", "--on", "v5e:2x4"},
      {"check", "--verbose", "program", "a", "--on", "v5e:2x4"},
      {"check", "program", "a", "--on", "v5e:2x4", "--replicas", "0"},
      {"check", "program", "a", "--on", "v5e:2x4", "--timeout", "soon"},
      {"check", "program", "a", "--on", "v5e:2x4", "--batch", "0"},
      {"check", "program", "a", "--on", "v5e:2x4", "--batch", "64,"},
      {"check", "network", "--on", "v5e:2x4"}};
  for (const auto& args : wrong) {
    const auto line = ParseCommandLine(args);
    ASSERT_FALSE(line) << args[1];
    EXPECT_EQ(line.error().cause(), Cause::kUsageInvalid);
  }
}

TEST(CommandLine, TakesHelpAsAWord) {
  EXPECT_TRUE(Parse({"help"}).help);
  EXPECT_EQ(Parse({"help"}).verb->path, "");
  EXPECT_TRUE(Parse({"help", "run"}).help);
  EXPECT_EQ(Parse({"help", "run"}).verb->path, "run");
  EXPECT_EQ(Parse({"run", "--", "help"}).command,
            std::vector<std::string>{"help"});
}

TEST(CommandLine, ExplainsWithoutALogWhatElseTells) {
  EXPECT_EQ(Parse({"explain", "--exit", "137"}).exit, "137");
  EXPECT_TRUE(Parse({"explain", "--inspect-host"}).inspect_host);
  EXPECT_THAT(Parse({"explain", "--note", "it hangs"}).notes,
              testing::ElementsAre("it hangs"));
  EXPECT_FALSE(ParseCommandLine({"explain"}));
}

TEST(CommandLine, TakesNotesBesideALog) {
  const CommandLine line =
      Parse({"explain", "--note", "it hangs", "--note", "at step 3", "a.log"});
  EXPECT_THAT(line.notes, testing::ElementsAre("it hangs", "at step 3"));
  EXPECT_THAT(line.inputs, testing::ElementsAre("a.log"));
  EXPECT_FALSE(ParseCommandLine({"explain", "a.log", "--note", " "}));
}

TEST(CommandLine, ReadsTheWordsAfterTpu) {
  const CommandLine line =
      Parse({"tpu", "queued", "describe", "q", "--zone", "us-west4-a"});
  EXPECT_EQ(line.verb->path, "tpu queued describe");
  EXPECT_EQ(line.tpu.name, "q");
  EXPECT_EQ(line.cluster.cloud.zone, "us-west4-a");
  EXPECT_EQ(Parse({"tpu"}).verb->path, "tpu");
}

}  // namespace
}  // namespace muster::cli
