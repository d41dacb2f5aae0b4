// SPDX-License-Identifier: Apache-2.0
#include "run/plan/plan_text.h"
#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::run {
namespace {

using testing::HasSubstr;
using testing::Not;

Json Plan() {
  Cluster cluster;
  for (int rank = 0; rank < 2; ++rank) {
    cluster.members.push_back({.rank = rank, .index = rank});
  }
  cluster.size = {2, "flag -n"};
  cluster.one_host = true;
  wire::Hello agent;
  agent.ranks = {0, 1};
  agent.host = "a";
  agent.cores = 2;
  agent.core_ids = {0, 1};
  agent.environment = {{"TORCHELASTIC_USE_AGENT_STORE", "True"}};
  auto planned = MakePlan(cluster, std::vector{agent},
                          {.argv = {"python3", "a b.py"}, .dry_run = true});
  EXPECT_TRUE(planned) << planned.error().ToString();
  return PlanJson(cluster, *planned);
}

TEST(PlanText, TellsWhatRanksShareOnce) {
  const std::string text = RenderPlan(Plan());
  EXPECT_THAT(text, HasSubstr("dry run: nothing is started"));
  EXPECT_THAT(text, HasSubstr("command  python3 'a b.py'\n"));
  EXPECT_THAT(text, HasSubstr("2 members, world size 2 (flag -n)"));
  EXPECT_THAT(text, HasSubstr("every rank\n"));
  EXPECT_THAT(text, HasSubstr("rank 1, agent 0, local rank 1 of 2, cores 1"));
  EXPECT_THAT(text, HasSubstr("  RANK=1 "));
  EXPECT_THAT(text, HasSubstr("TORCHELASTIC_USE_AGENT_STORE is unset"));
  const auto first = text.find("MASTER_ADDR=");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("MASTER_ADDR=", first + 1), std::string::npos);
}

TEST(PlanText, TheDocumentGivesEachValueItsSource) {
  const Json plan = Plan();
  EXPECT_EQ(plan["schema"], "muster.plan/1");
  const Json& world = plan["ranks"][1]["environment"]["WORLD_SIZE"];
  EXPECT_EQ(world["value"], "2");
  EXPECT_EQ(world["source"], "cluster: flag -n");
  EXPECT_EQ(plan["ranks"][0]["argv"][1], "a b.py");
}

TEST(PlanText, OfOneRankHasNoCommonPart) {
  Json plan = Plan();
  plan["ranks"].erase(1);
  EXPECT_THAT(RenderPlan(plan), Not(HasSubstr("\nevery rank\n")));
  EXPECT_THAT(RenderPlan(plan), HasSubstr("MASTER_ADDR="));
}

}  // namespace
}  // namespace muster::run
