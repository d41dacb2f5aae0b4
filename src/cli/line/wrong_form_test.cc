// SPDX-License-Identifier: Apache-2.0
// What people type that is not quite right, and what they get.
#include "cli/line/wrong_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/command_line.h"

namespace muster::cli {
namespace {

using testing::HasSubstr;

struct Typed {
  const char* words;
  const char* says;
};
class WrongForm : public testing::TestWithParam<Typed> {};

TEST_P(WrongForm, GetsASuggestionOrAReason) {
  const auto line = ParseCommandLine(Split(GetParam().words, ' '));
  ASSERT_FALSE(line) << GetParam().words;
  EXPECT_EQ(line.error().cause(), Cause::kUsageInvalid);
  EXPECT_THAT(line.error().message(), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    SubCommands, WrongForm,
    testing::Values(
        Typed{"rnu -n 2 -- true", "did you mean `run`?"},
        Typed{"chekc", "did you mean `check`?"},
        Typed{"explian x.log", "did you mean `explain`?"},
        Typed{"RUN -- true", "did you mean `run`?"},
        Typed{"launch -- train", "did you mean `run`?"},
        Typed{"doctor", "did you mean `muster tpu doctor`?"},
        Typed{"diagnose x.log", "did you mean `explain`?"},
        Typed{"create mine", "did you mean `muster tpu create`?"},
        Typed{"train.py", "did you mean `muster run -- python3 train.py`?"},
        Typed{"train.log", "did you mean `muster explain train.log`?"},
        Typed{"peer-died", "did you mean `muster explain peer-died`?"},
        Typed{"fly", "expected one of run, torchrun, resolve, check"},
        Typed{"tpu lst",
              "`muster tpu lst` is not a sub-command, did you mean "
              "`list`?"},
        Typed{"tpu zones",
              "`muster tpu zones` is not a sub-command, expected "
              "one of auth, doctor"},
        Typed{"tpu zones --help", "`muster tpu zones` is not a sub-command"},
        Typed{"tpu queue --help", "did you mean `queued`?"},
        Typed{"tpu rm mine", "did you mean `delete`?"},
        Typed{"tpu queued lst", "did you mean `list`?"},
        Typed{"help rnu", "did you mean `run`?"},
        Typed{"check progam step.mlir --on v5e:2x4", "unknown flag `--on`"},
        Typed{"check --verbose fit",
              "it stands directly after `muster check`"}));

INSTANTIATE_TEST_SUITE_P(
    Flags, WrongForm,
    testing::Values(
        Typed{"run --np 2 -- true", "did you mean `-n N`?"},
        Typed{"run -np 2 -- true", "did you mean `-n N`?"},
        Typed{"run --num_processes=2 -- x", "did you mean `-n N`?"},
        Typed{"run -H a,b -- x", "did you mean `--hosts A,B`?"},
        Typed{"run -x A=1 -- x", "did you mean `--env NAME=VALUE`?"},
        Typed{"run --dryrun -- x", "did you mean `--dry-run`?"},
        Typed{"run --max_restarts 2 -- x", "did you mean `--max-restarts`?"},
        Typed{"run -hosts a,b -- x", "did you mean `--hosts`?"},
        Typed{"check --json", "did you mean `--output json`?"},
        Typed{"check --outptu json", "did you mean `--output`?"},
        Typed{"resolve --grace 1s", "it is a flag of `muster run`"},
        Typed{"-n 2 -- true", "it is a flag of `muster run`"},
        Typed{"tpu --zone z list", "it is a flag of `muster tpu doctor`"},
        Typed{"tpu list --worker 1",
              "it is a flag of `muster run`, `muster check`"},
        Typed{"tpu delete mine --force", "did you mean `--yes`?"},
        Typed{"--verison", "did you mean `--version`?"}));

INSTANTIATE_TEST_SUITE_P(
    Values, WrongForm,
    testing::Values(
        Typed{"run -n two -- x", "flag -n is `two`, expected a whole number"},
        Typed{"run -n -1 -- x", "flag -n is `-1`, expected a whole number"},
        Typed{"run --hosts", "requires a value: --hosts A:PORT,B:PORT"},
        Typed{"run --hosts --dry-run -- x", "flag --hosts requires a value"},
        Typed{"run --dry-run=yes -- x", "flag --dry-run takes no value"},
        Typed{"run --grace 1s --grace 2s -- x", "--grace is given more than"},
        Typed{"run --profile trch -- x", "did you mean `torch`?"},
        Typed{"run --log-level loud -- x", "expected one of trace, debug"},
        Typed{"run --env A -- x", "expected NAME=VALUE"},
        Typed{"run -n 2 train.py --lr 1",
              "as in `muster run -n 2 -- python3 train.py --lr 1`"},
        Typed{"run -n 2", "no command to run: put it after `--`"},
        Typed{"tpu list -- x", "only `muster run`, `muster check`"},
        Typed{"tpu create", "requires NAME, as in `muster tpu create NAME"},
        Typed{"tpu describe a b",
              "unexpected `b` after `muster tpu describe "
              "NAME`"},
        Typed{"tpu list --all-zones --zone z", "mutually exclusive"},
        Typed{"check --framework tensorflow", "expected one of tf, jax, torch"},
        Typed{"check --open", "--open is valid only with"}));

TEST(RightForm, IsTakenInEverySpelling) {
  for (const char* words : {"run -n2 -- x", "run -n=2 -- x", "run -n 2 -- x"}) {
    const auto line = ParseCommandLine(Split(words, ' '));
    ASSERT_TRUE(line) << words << line.error().ToString();
    EXPECT_EQ(line->cluster.processes, 2) << words;
  }
  EXPECT_EQ(ParseCommandLine({"check", "--log-level", "DEBUG"})
                ->settings.at("log_level"),
            "debug");
  EXPECT_TRUE(ParseCommandLine({"-V"})->version);
  EXPECT_EQ(ParseCommandLine({"version"})->verb->path, "version");
  EXPECT_TRUE(ParseCommandLine({"help", "tpu", "create"})->help);
  const auto both = ParseCommandLine({"tpu", "create", "a", "-yq"});
  ASSERT_TRUE(both);
  EXPECT_TRUE(both->tpu.yes && both->tpu.quiet);
}

}  // namespace
}  // namespace muster::cli
