// SPDX-License-Identifier: Apache-2.0
#include "cli/check/table.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

const check::Check kCheck{.id = "host.clock", .title = "", .run = nullptr};

check::Answer AnswerOf(Outcome outcome) {
  return {.check = &kCheck, .outcome = std::move(outcome)};
}

TEST(CheckTable, WrapsNothingWhereThereIsNoTerminal) {
  auto answer = AnswerOf(Pass(std::string(90, 'a') + " b"));
  answer.outcome.lines = {std::string(90, 'c') + " d"};
  EXPECT_EQ(RowsOf(answer, {}), "ok      host.clock              " +
                                    std::string(90, 'a') + " b\n        " +
                                    std::string(90, 'c') + " d\n");
}

TEST(CheckTable, WrapsBesideTheColumnsOfATerminal) {
  auto answer = AnswerOf(Skip("no accelerator is visible here or elsewhere"));
  answer.outcome.lines = {
      "/dev/accel0  TPU v4  at 0000:00:04.0  driver "
      "gasket  held by process 7"};
  EXPECT_EQ(RowsOf(answer, {.width = 64}),
            "skip    host.clock              no accelerator is visible here\n"
            "                                or elsewhere\n"
            "        /dev/accel0  TPU v4  at 0000:00:04.0  driver gasket\n"
            "          held by process 7\n");
}

TEST(CheckTable, WrapsBelowOnANarrowOne) {
  EXPECT_EQ(
      RowsOf(AnswerOf(Skip("no accelerator is visible here")), {.width = 40}),
      "skip    host.clock\n"
      "        no accelerator is visible here\n");
}

TEST(CheckTable, PaintsTheMarkAlone) {
  EXPECT_EQ(RowsOf(AnswerOf(Pass("right")), {.width = 80, .color = true}),
            "\033[32mok\033[0m      host.clock              right\n");
}

}  // namespace
}  // namespace muster::cli
