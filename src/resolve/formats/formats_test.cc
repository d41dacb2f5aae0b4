// SPDX-License-Identifier: Apache-2.0
// Positions, limits and oddities of the grammars; what they accept is in the
// conformance vectors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "accelerator/tpu_type.h"
#include "resolve/formats/endpoint.h"
#include "resolve/formats/host_file.h"
#include "resolve/formats/host_list.h"
#include "resolve/formats/key_values.h"
#include "resolve/formats/node_range.h"

namespace muster::resolve {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

template <typename T>
std::string Refusal(const Result<T>& result) {
  return result ? "" : result.error().message();
}

TEST(HostList, ErrorsNameThePosition) {
  EXPECT_THAT(Refusal(ExpandHostList("a,n[1-x]")),
              HasSubstr("not a number inside the brackets at position 7"));
  EXPECT_THAT(Refusal(ExpandHostList("n[3-1]")),
              HasSubstr("is not ascending at position 3"));
  EXPECT_THAT(Refusal(ExpandHostList("n[1")),
              HasSubstr("`[` is not closed at position 2"));
}

TEST(HostList, TakesWhatSlurmTolerates) {
  EXPECT_THAT(*ExpandHostList("n[1-,4]"), ElementsAre("n1", "n4"));
  EXPECT_THAT(*ExpandHostList("foo]"), ElementsAre("foo]"));
  EXPECT_THAT(*ExpandHostList("r[0-1]n[0-1]"),
              ElementsAre("r0n0", "r0n1", "r1n0", "r1n1"));
  EXPECT_TRUE(ExpandHostList(" , ")->empty());
}

TEST(HostList, IsBounded) {
  EXPECT_FALSE(ExpandHostList("n[0-99999999]"));
  EXPECT_FALSE(ExpandHostList("[1-999][1-999][1-999]"));
  EXPECT_FALSE(ExpandHostList(std::string(2U << 20, 'a')));
  EXPECT_FALSE(ExpandTasksPerNode("1(x99999999)"));
  // Each of 65,536 names would be as long as the text.
  EXPECT_THAT(Refusal(ExpandHostList("[0-65535]" + std::string(300, 'a'))),
              HasSubstr("longer than 255"));
  EXPECT_THAT(Refusal(ExpandHostList("[" + std::string(300, '0') + "1-9]")),
              HasSubstr("more than 18 digits at position 2"));
}

TEST(HostFile, AddsRepeatedSlotsUpToTheLimit) {
  const auto hosts = ParseHostFile("a slots=65536\na slots=65536\n", "`f`",
                                   {.default_slots = 1, .add_repeated = true});
  EXPECT_EQ(hosts->front().slots, 65536);
}

TEST(TpuEndpoints, ErrorsNameTheEntry) {
  EXPECT_THAT(ParseTpuEndpoints("a:1,b:x").error().ToString(),
              AllOf(HasSubstr("at position 3"), HasSubstr("entry 2")));
}

TEST(TasksPerNode, ErrorsNameThePosition) {
  EXPECT_THAT(Refusal(ExpandTasksPerNode("2(x3")), HasSubstr("position 5"));
  EXPECT_THAT(Refusal(ExpandTasksPerNode("2,")), HasSubstr("position 2"));
  EXPECT_FALSE(ExpandTasksPerNode(""));
}

TEST(Endpoint, TakesIpv6InEveryForm) {
  EXPECT_EQ(*ParseEndpoint("[2001:db8::1]:5", 1),
            (HostAndPort{"2001:db8::1", 5}));
  EXPECT_EQ(*ParseEndpoint("2001:db8::1", 1), (HostAndPort{"2001:db8::1", 1}));
  EXPECT_EQ(*ParseEndpoint("", 1), (HostAndPort{"localhost", 1}));
  EXPECT_THAT(*ParseTpuEndpoints("grpc://[::1]:1,10.0.0.1"),
              ElementsAre("[::1]:1", "10.0.0.1:8470"));
}

TEST(Endpoint, TellsNamesOfTpusFromAddresses) {
  EXPECT_TRUE(IsTpuEndpoints("10.0.0.2:8470"));
  EXPECT_TRUE(IsTpuEndpoints("host:8470"));
  EXPECT_TRUE(IsTpuEndpoints("grpc://host"));
  EXPECT_FALSE(IsTpuEndpoints("my-tpu"));
  EXPECT_FALSE(IsTpuEndpoints("grpctpu"));
}

TEST(RdzvConf, ErrorsNameThePosition) {
  EXPECT_THAT(Refusal(ParseRdzvConf("a=1,b")),
              HasSubstr("the key `b` has no value at position 5"));
}

TEST(TpuEnv, NamesLinesThatItCannotRead) {
  const auto env =
      ParseTpuEnv("A: 'x'\nno line\n\n# note\n: y\nB: \"z\"\nC: 'q\n");
  EXPECT_EQ(env.values,
            (std::map<std::string, std::string>{{"A", "x"}, {"B", "z"}}));
  EXPECT_THAT(env.odd, ElementsAre("line 2: `no line` is not KEY: 'VALUE'",
                                   "line 5: `: y` is not KEY: 'VALUE'",
                                   "line 7: `C: 'q` is not KEY: 'VALUE'"));
}

TEST(HostFile, NamesTheLine) {
  EXPECT_THAT(Refusal(ParseHostFile("a slots=1\na slots=2\n", "`f`", {})),
              HasSubstr("`f`, line 2: the host `a` occurs twice"));
  EXPECT_THAT(Refusal(ParseHostFile("a\n", "`f`", {})), HasSubstr("line 1"));
  EXPECT_EQ((*ParseHostFile("a\na\n", "f",
                            {.default_slots = 2, .add_repeated = true}))[0]
                .slots,
            4);
}

TEST(NodeRange, NamesThePlace) {
  EXPECT_EQ(ParseNodeRange(" 1 : 3 ")->most, 3);
  EXPECT_EQ(ParseNodeRange("4")->least, 4);
  EXPECT_THAT(Refusal(ParseNodeRange("1:x")), HasSubstr("at position 3"));
  EXPECT_THAT(Refusal(ParseNodeRange("1:2:3")), HasSubstr("at position 3"));
  EXPECT_THAT(Refusal(ParseNodeRange("3:1")),
              HasSubstr("MAX is below MIN or 0 at position 3"));
  EXPECT_THAT(Refusal(ParseNodeRange("")), HasSubstr("at position 1"));
}

TEST(TpuType, KnowsHostsOfEachGeneration) {
  EXPECT_EQ(accelerator::HostsOf(*accelerator::ParseTpuType("v4-16"), 4), 2);
  EXPECT_EQ(accelerator::HostsOf(*accelerator::ParseTpuType("v5litepod-16"), 4),
            4);
  EXPECT_EQ(accelerator::HostsOf(*accelerator::ParseTpuType("v6e-8"), 8), 1);
  EXPECT_FALSE(accelerator::ParseTpuType("v4-"));
  EXPECT_FALSE(accelerator::ParseTpuType("nonsense"));
}

}  // namespace
}  // namespace muster::resolve
