// SPDX-License-Identifier: Apache-2.0
#include "diagnose/derive/derive.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace muster::diagnose {
namespace {

Fact Said(std::string name,
          std::initializer_list<std::pair<const char*, const char*>> fields,
          std::int64_t rank = -1) {
  Fact fact;
  fact.name = std::move(name);
  for (const auto& [key, value] : fields) {
    fact.fields[key] = std::string(value);
  }
  if (rank >= 0) {
    fact.fields["rank"] = rank;
  }
  return fact;
}

bool Follows(std::vector<Fact> facts, std::string_view name) {
  Derive(facts);
  return std::any_of(facts.begin(), facts.end(),
                     [&](const Fact& fact) { return fact.name == name; });
}

TEST(Derive, GroupsOfProcessesCountTheirOwnCollectives) {
  const auto gave_up = [](const char* group, const char* seq, const char* op,
                          std::int64_t rank) {
    return Said("collective.timeout",
                {{"group", group}, {"seq", seq}, {"op", op}}, rank);
  };
  EXPECT_FALSE(Follows({gave_up("1", "9001", "_ALLGATHER_BASE", 0),
                        gave_up("7", "340", "ALLREDUCE", 4)},
                       "collective.ops_differ"));
  EXPECT_FALSE(Follows(
      {gave_up("1", "5", "BROADCAST", 0), gave_up("7", "5", "ALLREDUCE", 4)},
      "collective.ops_differ"));
  EXPECT_TRUE(Follows(
      {gave_up("7", "5", "BROADCAST", 0), gave_up("7", "5", "ALLREDUCE", 4)},
      "collective.ops_differ"));
}

TEST(Derive, RanksThatGaveUpElsewhereInAnotherOperationDiffer) {
  EXPECT_TRUE(Follows(
      {Said("collective.timeout", {{"seq", "7219"}, {"op", "BROADCAST"}}, 3),
       Said("collective.timeout", {{"seq", "7221"}, {"op", "ALLREDUCE"}}, 0)},
      "collective.ops_differ"));
  EXPECT_FALSE(Follows(
      {Said("collective.timeout", {{"seq", "7219"}, {"op", "ALLREDUCE"}}, 3),
       Said("collective.timeout", {{"seq", "7221"}, {"op", "ALLREDUCE"}}, 0)},
      "collective.ops_differ"));
}

TEST(Derive, TheSameOperationOfAnotherSizeIsToldApart) {
  const auto of_size = [](const char* size, std::int64_t rank) {
    return Said("collective.timeout",
                {{"seq", "9"}, {"op", "ALLREDUCE"}, {"size", size}}, rank);
  };
  EXPECT_TRUE(Follows({of_size("64", 0), of_size("128", 1)},
                      "collective.sizes_differ"));
  EXPECT_FALSE(
      Follows({of_size("64", 0), of_size("64", 1)}, "collective.sizes_differ"));
}

TEST(Derive, TasksAreComparedWithinOneCommandOrTheJob) {
  const auto told = [](const char* name, const char* value, const char* srun,
                       std::int64_t line) {
    Fact fact = Said(name, {{"value", value}});
    fact.fields["line"] = line;
    if (*srun != 0) {
      fact.fields["srun"] = srun;
    }
    return fact;
  };
  const Fact each = told("slurm.ntasks_per_node", "8", "", 2);
  const auto disagrees = [&](const std::vector<Fact>& facts) {
    return Follows(facts, "numbers.tasks_disagree");
  };
  EXPECT_TRUE(disagrees({told("slurm.ntasks", "1", "", 1), each}));
  EXPECT_FALSE(disagrees({told("slurm.ntasks", "64", "", 1), each}));
  EXPECT_FALSE(disagrees({told("slurm.ntasks", "64", "", 1), each,
                          told("slurm.nodes", "8", "", 3)}));
  EXPECT_TRUE(disagrees({told("slurm.ntasks", "64", "", 1), each,
                         told("slurm.nodes", "4", "", 3)}));
  // A step of one task before the one that trains.
  const Fact one = told("slurm.ntasks", "1", "srun", 1);
  const Fact all = told("slurm.ntasks", "64", "srun", 2);
  const Fact of_all = told("slurm.ntasks_per_node", "8", "srun", 2);
  EXPECT_FALSE(disagrees({one, all, of_all}));
  EXPECT_FALSE(disagrees({one, each}));
  EXPECT_TRUE(disagrees({told("slurm.ntasks", "1", "srun", 2), of_all}));
}

TEST(Derive, ABarBeyondTheBoundOfTheWaitersIsAtTheLimit) {
  const Fact bound = Said("collective.timeout",
                          {{"seq", "1"}, {"op", "X"}, {"limit", "600000"}});
  const Fact bar = Said("progress.bar", {{"minutes", "17"}});
  EXPECT_TRUE(Follows({bound, bar}, "numbers.bar_at_limit"));
  EXPECT_FALSE(Follows({bar}, "numbers.bar_at_limit"));
  EXPECT_TRUE(Follows({Said("collective.wait_ended", {}), bar},
                      "numbers.bar_at_limit"));
  EXPECT_FALSE(Follows({Said("collective.wait_ended", {}),
                        Said("progress.bar", {{"minutes", "3"}})},
                       "numbers.bar_at_limit"));
  EXPECT_FALSE(Follows({bound, Said("progress.bar", {{"minutes", "4"}})},
                       "numbers.bar_at_limit"));
  // Where nobody tells of a bound, one that came to its end was not cut short.
  const auto near = [](const char* percent) {
    return Said("progress.bar", {{"minutes", "29"}, {"percent", percent}});
  };
  const Fact trouble = Said("log.trouble", {});
  EXPECT_TRUE(Follows({near("98"), trouble}, "numbers.bar_at_limit"));
  EXPECT_FALSE(Follows({near("100"), trouble}, "numbers.bar_at_limit"));
  EXPECT_FALSE(Follows({near("98")}, "numbers.bar_at_limit"));
}

TEST(Derive, MembersThatTellOtherShapesOfOneOperationDiffer) {
  const auto told = [](const char* member, const char* op, const char* shape) {
    return Said("collective.reported_shape",
                {{"member", member}, {"op", op}, {"shape", shape}});
  };
  EXPECT_TRUE(Follows(
      {told("0", "all_reduce", "8, 4"), told("1", "all_reduce", "6, 4")},
      "numbers.shapes_differ"));
  EXPECT_FALSE(
      Follows({told("0", "all_reduce", "8"), told("1", "all_reduce", "8 ")},
              "numbers.shapes_differ"));
  EXPECT_FALSE(
      Follows({told("0", "all_reduce", "8"), told("1", "broadcast", "6")},
              "numbers.shapes_differ"));
  EXPECT_FALSE(
      Follows({told("0", "all_reduce", "8"), told("0", "all_reduce", "6")},
              "numbers.shapes_differ"));
}

TEST(Derive, ABarrierAmongTheFirstCollectivesWaitsForSomebodysWork) {
  const auto timed_out = [](const char* seq, const char* size) {
    return Said("collective.timeout", {{"seq", seq},
                                       {"op", "ALLREDUCE"},
                                       {"size", size},
                                       {"limit", "600000"}});
  };
  constexpr const char* kFollows = "numbers.early_barrier";
  EXPECT_TRUE(Follows({timed_out("4", "1")}, kFollows));
  EXPECT_FALSE(Follows({timed_out("1", "1")}, kFollows));
  EXPECT_FALSE(Follows({timed_out("335", "1")}, kFollows));
  EXPECT_FALSE(Follows({timed_out("4", "2048")}, kFollows));
}

TEST(Derive, AMemberThatIsAnnouncedTwiceIsTwo) {
  Fact twice = Said("member.announced", {{"member", "1"}, {"of", "4"}});
  twice.fields["times"] = std::int64_t{2};
  const Fact other = Said("member.announced", {{"member", "0"}, {"of", "4"}});
  EXPECT_TRUE(Follows({other, twice}, "numbers.member_twice"));
  // Of a large world not all are kept.
  EXPECT_FALSE(
      Follows({Said("member.announced", {{"member", "0"}, {"of", "512"}}),
               Said("member.announced", {{"member", "1"}, {"of", "512"}})},
              "numbers.members_missing"));
  // They trained, and then evaluated.
  Fact again = Said("member.announced", {{"member", "2"}, {"of", "2"}});
  again.fields["times"] = std::int64_t{2};
  Fact first = Said("member.announced", {{"member", "1"}, {"of", "2"}});
  first.fields["times"] = std::int64_t{2};
  EXPECT_FALSE(Follows({first, again}, "numbers.member_twice"));
}

TEST(Derive, AnAddressThatWasNotNamedIsSoughtOnAnotherInterface) {
  const auto named = [](const char* hosts) {
    return Said("hosts.named", {{"hosts", hosts}});
  };
  const Fact failed = Said("connect.failed_to", {{"peer", "192.168.1.2"}});
  constexpr const char* kFollows = "numbers.peer_not_named";
  EXPECT_TRUE(Follows({named("10.0.0.1:2,10.0.0.2:2"), failed}, kFollows));
  EXPECT_FALSE(Follows({named("10.0.0.1:2,192.168.1.2:2"), failed}, kFollows));
  EXPECT_FALSE(Follows({named("nodea:2,nodeb:2"), failed}, kFollows));
  EXPECT_FALSE(Follows({failed}, kFollows));
}

TEST(Derive, ALibraryBuiltForANewerCudaIsAhead) {
  const auto built = [](const char* version) {
    return Said("cuda.built_for", {{"version", version}});
  };
  const Fact there = Said("cuda.there", {{"version", "10.2"}});
  EXPECT_TRUE(Follows({built("11.0"), there}, "numbers.cuda_ahead"));
  EXPECT_FALSE(Follows({built("10.1"), there}, "numbers.cuda_ahead"));
  EXPECT_FALSE(Follows({built("11.0")}, "numbers.cuda_ahead"));
}

TEST(Derive, SizesOfPaddedShardsAreWholeMultiples) {
  const auto sizes = [](const char* a, const char* b) {
    return Said("shapes.differ", {{"a", a}, {"b", b}});
  };
  constexpr const char* kFollows = "numbers.whole_multiple";
  EXPECT_TRUE(Follows({sizes("882700288", "220675072")}, kFollows));
  EXPECT_TRUE(Follows({sizes("14031139", "56124554")}, kFollows));
  EXPECT_FALSE(Follows({sizes("14031140", "56124554")}, kFollows));
  EXPECT_FALSE(Follows({sizes("256", "128")}, kFollows));
}

TEST(Derive, VersionsOfTwoMembersInOneLineAreCompared) {
  const auto told = [](const char* one, const char* other) {
    return Said("version.two_told", {{"one", one}, {"other", other}});
  };
  EXPECT_TRUE(Follows({told("2.1.0", "2.0.1")}, "members.versions_differ"));
  EXPECT_FALSE(Follows({told("2.1.0", "2.1.0")}, "members.versions_differ"));
  EXPECT_FALSE(Follows({told("3.10", "3.10.4")}, "members.versions_differ"));
}

TEST(Derive, ANameThatALibraryLacksIsItsDefect) {
  const auto raised = [](const char* type, const char* frame) {
    return Said("python.exception",
                {{"type", type}, {"message", "x"}, {"frame", frame}});
  };
  constexpr const char* kFollows = "python.library_defect";
  constexpr const char* kLibrary = "/x/site-packages/lib/engine.py";
  EXPECT_TRUE(Follows({raised("UnboundLocalError", kLibrary)}, kFollows));
  EXPECT_FALSE(Follows({raised("UnboundLocalError", "train.py")}, kFollows));
  EXPECT_FALSE(Follows({raised("ValueError", kLibrary)}, kFollows));
  constexpr const char* kRaisedThere = "python.library_exception";
  EXPECT_TRUE(Follows({raised("ValueError", kLibrary)}, kRaisedThere));
  EXPECT_FALSE(Follows({raised("ValueError", "train.py")}, kRaisedThere));
}

TEST(Derive, ProcessesThatAreEachAlone) {
  Fact single = Said("member.single", {});
  EXPECT_FALSE(Follows({single}, "numbers.each_alone"));
  single.fields["times"] = std::int64_t{2};
  EXPECT_TRUE(Follows({single}, "numbers.each_alone"));
}

TEST(Derive, RanksOfNcclOnOneHost) {
  const auto on = [](const char* host) {
    return Said("nccl.rank_on", {{"host", host}});
  };
  constexpr const char* kFollows = "numbers.nccl_one_host";
  EXPECT_TRUE(Follows({on("a")}, kFollows));
  EXPECT_FALSE(Follows({on("a"), on("b")}, kFollows));
}

TEST(Derive, MembersAreMissingWhereSomeOfThemAreThere) {
  const Fact one = Said("member.announced", {{"member", "0"}, {"of", "4"}});
  const Fact two = Said("member.announced", {{"member", "1"}, {"of", "4"}});
  EXPECT_TRUE(Follows({one, two}, "numbers.members_missing"));
  EXPECT_FALSE(Follows({one}, "numbers.members_missing"));
  EXPECT_TRUE(Follows({one}, "numbers.member_alone"));
  EXPECT_FALSE(Follows({one, two}, "numbers.member_alone"));
}

TEST(Derive, MoreThatArriveThanTheWorldHolds) {
  const auto barrier = [](const char* size, const char* count) {
    return Said("store.barrier", {{"size", size}, {"count", count}});
  };
  EXPECT_TRUE(Follows({barrier("4", "8")}, "numbers.more_than_world"));
  EXPECT_FALSE(Follows({barrier("4", "4")}, "numbers.more_than_world"));
  EXPECT_FALSE(Follows({barrier("4", "3")}, "numbers.more_than_world"));
}

TEST(Derive, ProcessesThatNameOneDeviceShareIt) {
  const auto index = [](const char* value) {
    return Said("process.local_index", {{"index", value}});
  };
  const auto device = [](const char* value) {
    return Said("process.device", {{"device", value}});
  };
  constexpr const char* kFollows = "numbers.device_shared";
  EXPECT_TRUE(Follows({index("0"), index("1"), device("cuda:0")}, kFollows));
  EXPECT_FALSE(Follows(
      {index("0"), device("cuda:0"), index("1"), device("cuda:1")}, kFollows));
  EXPECT_FALSE(Follows({index("0"), device("cuda:0")}, kFollows));
}

TEST(Derive, ParameterServersWithNobodyWhoLeads) {
  const auto told = [](const char* jobs) {
    return Said("cluster.reported",
                {{"jobs", jobs}, {"task", "'type': 'ps', 'index': 0"}});
  };
  constexpr const char* kFollows = "numbers.cluster_without_chief";
  EXPECT_TRUE(Follows({told("'ps': ['a:1'], 'worker': ['b:1']")}, kFollows));
  EXPECT_FALSE(Follows({told("'ps': ['a:1'], 'chief': ['b:1']")}, kFollows));
  EXPECT_FALSE(Follows({told("'ps': ['a:1'], 'master': ['b:1']")}, kFollows));
  EXPECT_FALSE(Follows({told("'worker': ['b:1']")}, kFollows));
}

TEST(Derive, ThreeShapesOfAFunctionAreCompiledAnew) {
  const auto compiled = [](const char* shapes) {
    return Said("compile.reported", {{"function", "step"}, {"shapes", shapes}});
  };
  EXPECT_TRUE(Follows({compiled("32,9"), compiled("32,7"), compiled("32,4")},
                      "numbers.compiled_anew"));
  EXPECT_FALSE(
      Follows({compiled("32,9"), compiled("32,7")}, "numbers.compiled_anew"));
}

TEST(Derive, AsManyCompilationsAsExecutionsAreCompiledAnew) {
  const auto counted = [](const char* compiled, const char* executed) {
    return std::vector<Fact>{Said("metric.name", {{"name", "CompileTime"}}),
                             Said("metric.samples", {{"count", compiled}}),
                             Said("metric.name", {{"name", "ExecuteTime"}}),
                             Said("metric.samples", {{"count", executed}})};
  };
  EXPECT_TRUE(Follows(counted("109", "120"), "numbers.compiled_anew"));
  EXPECT_FALSE(Follows(counted("12", "4000"), "numbers.compiled_anew"));
}

TEST(Derive, AReportThatIsPrintedTwiceIsReadInItsOrder) {
  const auto at = [](Fact fact, std::int64_t line, std::int64_t last_line) {
    fact.fields["line"] = line;
    fact.fields["last_line"] = last_line;
    return fact;
  };
  EXPECT_TRUE(
      Follows({at(Said("metric.name", {{"name", "CompileTime"}}), 1, 3),
               at(Said("metric.samples", {{"count", "4"}}), 2, 2),
               at(Said("metric.samples", {{"count", "14"}}), 4, 6),
               at(Said("metric.name", {{"name", "ExecuteTime"}}), 5, 5)},
              "numbers.compiled_anew"));
}

TEST(Derive, CompilationsAreAlsoComparedWithThoseFoundCompiled) {
  const auto counted = [](const char* found, const char* compiled) {
    return std::vector<Fact>{Said("metric.name", {{"name", "CachedCompile"}}),
                             Said("metric.samples", {{"count", found}}),
                             Said("metric.name", {{"name", "UncachedCompile"}}),
                             Said("metric.samples", {{"count", compiled}})};
  };
  EXPECT_TRUE(Follows(counted("29", "27"), "numbers.compiled_anew"));
  EXPECT_FALSE(Follows(counted("2900", "27"), "numbers.compiled_anew"));
}

TEST(Derive, AStepThatIsMostlyDataWaits) {
  EXPECT_TRUE(Follows(
      {Said("loader.times", {{"whole_last", "5.01"}, {"data_first", "4.82"}})},
      "numbers.waits_for_data"));
  EXPECT_FALSE(
      Follows({Said("loader.times", {{"whole", "1.20"}, {"data", "0.02"}})},
              "numbers.waits_for_data"));
}

TEST(Derive, TwoLongStepsThatAreMostlyDataAreToldByThemselves) {
  const auto step = [](const char* whole, const char* data, const char* text) {
    return Said("loader.times",
                {{"whole", whole}, {"data", data}, {"text", text}});
  };
  const Fact slow = step("8.719", "8.597", "[100/5005] Time 8.719 Data 8.597");
  const Fact fast = step("0.200", "0.045", "[20/5005] Time 0.200 Data 0.045");
  const Fact first = step("9.100", "8.900", "[0/5005] Time 9.100 Data 8.900");
  EXPECT_TRUE(Follows({fast, slow, slow}, "numbers.mostly_waits_for_data"));
  EXPECT_FALSE(Follows({fast, slow}, "numbers.mostly_waits_for_data"));
  EXPECT_FALSE(Follows({first, first, fast}, "numbers.mostly_waits_for_data"));
}

TEST(Derive, PartsOfABatchThatAreNotAlike) {
  const auto pair = [](const char* a, const char* b, const char* rest_b) {
    return Said("shapes.pair",
                {{"a", a}, {"b", b}, {"rest", ",1"}, {"rest_b", rest_b}});
  };
  EXPECT_TRUE(Follows({pair("31", "30", ",1")}, "shapes.first_differs"));
  EXPECT_FALSE(Follows({pair("31", "31", ",1")}, "shapes.first_differs"));
  EXPECT_FALSE(Follows({pair("31", "30", ",8")}, "shapes.first_differs"));
  EXPECT_FALSE(Follows({pair("31", "1", ",1")}, "shapes.first_differs"));
}

TEST(Derive, ARuntimeErrorThatTheProgramRaisesIsItsOwn) {
  Fact error = Said("python.exception", {{"type", "RuntimeError"},
                                         {"message", "data dir is empty"},
                                         {"frame", "/home/u/train.py"}});
  error.fields["line"] = std::int64_t{8};
  Fact raise = Said("python.raise", {{"type", "RuntimeError"}});
  raise.fields["line"] = std::int64_t{7};
  EXPECT_TRUE(Follows({raise, error}, "python.own_exception"));
  EXPECT_FALSE(Follows({error}, "python.own_exception"));
  const Fact interrupt =
      Said("python.exception",
           {{"type", "KeyboardInterrupt"}, {"frame", "train.py"}});
  EXPECT_FALSE(Follows({interrupt}, "python.own_exception"));
  raise.fields["line"] = std::int64_t{2};
  EXPECT_FALSE(Follows({raise, error}, "python.own_exception"));
  raise.fields["line"] = std::int64_t{7};
  error.fields["frame"] = "/opt/lib/python3.9/site-packages/torch/x.py";
  EXPECT_FALSE(Follows({raise, error}, "python.own_exception"));
}

TEST(Derive, ALossThatStaysThatOfAGuessIsOne) {
  const auto ends = [](const char* text) {
    return std::vector<Fact>{Said("log.end", {{"text", text}})};
  };
  EXPECT_TRUE(Follows(ends("Epoch 1 loss: 2.3026\nEpoch 2 loss: 2.3027\n"
                           "Epoch 3 loss: 2.3024"),
                      "numbers.loss_of_chance"));
  EXPECT_TRUE(Follows(ends("Epoch 1 loss: 2.3161\nEpoch 2 loss: 2.3027\n"
                           "Epoch 3 loss: 2.3024\nEpoch 4 loss: 2.3025"),
                      "numbers.loss_of_chance"));
  // It falls; it is no value of a guess; the first steps may stay near it.
  EXPECT_FALSE(Follows(ends("Epoch 1 loss: 2.3026\nEpoch 2 loss: 2.2301\n"
                            "Epoch 3 loss: 2.2024"),
                       "numbers.loss_of_chance"));
  EXPECT_FALSE(Follows(ends("Epoch 1 loss: 0.0712\nEpoch 2 loss: 0.0712\n"
                            "Epoch 3 loss: 0.0712"),
                       "numbers.loss_of_chance"));
  EXPECT_FALSE(Follows(ends("step 1 loss 0.6931\nstep 2 loss 0.6931\n"
                            "step 3 loss 0.6931"),
                       "numbers.loss_of_chance"));
}

TEST(Derive, ALossThatIsThatOfAGuessAtFirstIsNoPlateau) {
  const auto of_steps = [](int first) {
    std::string text;
    for (int step = first; step < first + 8; ++step) {
      text += "Epoch: [0][" + std::to_string(step) + "/ 5005] Loss 6.9077\n";
    }
    return std::vector<Fact>{Said("log.end", {{"text", text.c_str()}})};
  };
  EXPECT_FALSE(Follows(of_steps(14), "numbers.loss_of_chance"));
  EXPECT_TRUE(Follows(of_steps(2014), "numbers.loss_of_chance"));
}

TEST(Derive, GradientsOfZeroAreToldByTheirNorm) {
  std::string text;
  for (int step = 0; step < 8; ++step) {
    text += "{'loss': 11.93, 'grad_norm': 0.0, 'step': 1}\n";
  }
  EXPECT_TRUE(Follows({Said("log.end", {{"text", text.c_str()}})},
                      "numbers.gradient_zero"));
  text += "{'loss': 11.93, 'grad_norm': 0.31, 'step': 9}";
  EXPECT_FALSE(Follows({Said("log.end", {{"text", text.c_str()}})},
                       "numbers.gradient_zero"));
}

TEST(Derive, ALoadIsComparedWithTheCores) {
  EXPECT_TRUE(Follows({Said("host.load", {{"value", "402"}}),
                       Said("host.cores", {{"value", "64"}})},
                      "numbers.load_above_cores"));
  EXPECT_FALSE(Follows({Said("host.load", {{"value", "70"}}),
                        Said("host.cores", {{"value", "64"}})},
                       "numbers.load_above_cores"));
  EXPECT_FALSE(Follows({Said("host.load", {{"value", "402"}})},
                       "numbers.load_above_cores"));
}

TEST(Derive, TheLastWordIsTheLastLine) {
  Fact waits = Said("wait.going_on", {{"level", "I"}});
  waits.fields["line"] = std::int64_t{3};
  waits.fields["last_line"] = std::int64_t{9};
  Fact before = Said("log.trouble", {});
  before.fields["line"] = std::int64_t{5};
  EXPECT_TRUE(Follows({waits, before}, "log.ends_waiting"));
  before.fields["line"] = std::int64_t{12};
  EXPECT_FALSE(Follows({waits, before}, "log.ends_waiting"));
}

TEST(Derive, BarThatMovedUntilTheWaitEndedBeganWithIt) {
  const Fact bound = Said("collective.timeout", {{"limit", "1800000"}});
  EXPECT_TRUE(Follows({bound, Said("progress.bar", {{"minutes", "30"}})},
                      "numbers.bar_ends_with_wait"));
  EXPECT_TRUE(Follows({bound, Said("progress.bar", {{"minutes", "29"}})},
                      "numbers.bar_ends_with_wait"));
  // A bar of training, which had moved before anybody waited.
  EXPECT_FALSE(Follows(
      {bound, Said("progress.bar", {{"hours", "6"}, {"minutes", "28"}})},
      "numbers.bar_ends_with_wait"));
  EXPECT_FALSE(Follows({Said("progress.bar", {{"minutes", "30"}})},
                       "numbers.bar_ends_with_wait"));
}

TEST(Derive, RoleOfTheTaskThatIsNotInItsCluster) {
  const auto told = [](const char* jobs, const char* task) {
    return Said("cluster.reported", {{"jobs", jobs}, {"task", task}});
  };
  EXPECT_TRUE(Follows({told("'worker': ['a:1', 'b:1']", "'type': 'chief'")},
                      "numbers.task_not_in_cluster"));
  EXPECT_FALSE(Follows({told(R"("worker": ["a:1"])", R"("type": "worker")")},
                       "numbers.task_not_in_cluster"));
  EXPECT_FALSE(Follows({told("'worker': ['a:1']", "'type': 'evaluator'")},
                       "numbers.task_not_in_cluster"));
  EXPECT_FALSE(Follows({told("'worker': ['a:1']", "'index': 0")},
                       "numbers.task_not_in_cluster"));
}

TEST(Derive, AnAnswerFromOutsideOfTheClusterIsToldByItsAddress) {
  const Fact cluster =
      Said("cluster.reported",
           {{"jobs", R"("worker": ["10.0.0.1:1", "10.0.0.2:1"])"}});
  const auto from = [](const char* peer) {
    return Said("rpc.answered_from", {{"peer", peer}});
  };
  EXPECT_TRUE(
      Follows({cluster, from("10.9.0.1")}, "numbers.answered_from_outside"));
  EXPECT_FALSE(
      Follows({cluster, from("10.0.0.2")}, "numbers.answered_from_outside"));
  const Fact names =
      Said("cluster.reported", {{"jobs", R"("worker": ["a:1"])"}});
  EXPECT_FALSE(
      Follows({names, from("10.9.0.1")}, "numbers.answered_from_outside"));
}

TEST(Derive, MembersThatNameOtherMastersDiffer) {
  const auto port = [](const char* value) {
    return Said("env.port_of_member", {{"value", value}});
  };
  EXPECT_TRUE(Follows({port("1"), port("2")}, "numbers.masters_differ"));
  EXPECT_FALSE(Follows({port("1"), port("1")}, "numbers.masters_differ"));
}

TEST(Derive, DevicesThatAreUsedBeforeTheMembersAreJoinedAreTold) {
  Fact use = Said("call.uses_devices", {{"source", "a"}});
  Fact join = Said("call.joins", {{"source", "a"}});
  use.fields["line"] = std::int64_t{2};
  join.fields["line"] = std::int64_t{3};
  EXPECT_TRUE(Follows({use, join}, "order.devices_before_joining"));
  use.fields["line"] = std::int64_t{4};
  EXPECT_FALSE(Follows({use, join}, "order.devices_before_joining"));
}

}  // namespace
}  // namespace muster::diagnose
