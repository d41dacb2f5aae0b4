// SPDX-License-Identifier: Apache-2.0
// Runs the vectors of a directory (or of one file) against the resolver, each
// on a fake host of its own:
//
//   resolve_conformance [--output json] DIR
//
// Prints total, passed, average (the mean over resolvers of each one's share)
// and every failure. Exit 0: all pass; 1: not all; 2: DIR has no vectors.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "arguments.h"
#include "base/json.h"
#include "base/text.h"
#include "queries.h"
#include "request.h"
#include "vector.h"

namespace muster::conformance {
namespace {

// Resolvers that are sources under another name.
std::string SourceOf(const std::string& resolver) {
  static const std::map<std::string, std::string> names{
      {"launcher-args", "launcher"}, {"torchrun", "torch"}};
  const auto found = names.find(resolver);
  return found == names.end() ? resolver : found->second;
}

struct Tally {
  int total = 0;
  int passed = 0;
};

struct Run {
  Tally all;
  std::map<std::string, Tally> by_resolver;
  Json failures = Json::array();

  double Average() const {
    double sum = 0;
    for (const auto& [name, tally] : by_resolver) {
      sum += static_cast<double>(tally.passed) / tally.total;
    }
    return by_resolver.empty() ? 0
                               : sum / static_cast<double>(by_resolver.size());
  }
};

void RunOne(const Json& vector, Run& run) {
  const auto question = MakeQuestion(vector);
  const auto differences = Compare(vector, Answer(*question));
  Tally& tally = run.by_resolver[question->resolver];
  ++run.all.total;
  ++tally.total;
  if (differences.empty()) {
    ++run.all.passed;
    ++tally.passed;
    return;
  }
  for (const Difference& one : differences) {
    Json failure = Json::object();
    failure["id"] = vector.value("id", "");
    failure["key"] = one.key;
    failure["expected"] = one.expected;
    failure["got"] = one.got;
    run.failures.push_back(std::move(failure));
  }
}

std::vector<std::string> FilesOf(const std::string& place) {
  std::vector<std::string> files;
  std::error_code error;
  if (std::filesystem::is_regular_file(place, error)) {
    return {place};
  }
  for (const auto& entry : std::filesystem::directory_iterator(place, error)) {
    if (entry.path().extension() == ".json") {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<Run> RunAll(const std::string& place) {
  Run run;
  for (const std::string& file : FilesOf(place)) {
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    MUSTER_ASSIGN(const Json json,
                  ParseJson(text.str(), Cause::kFileCorrupt, file));
    for (const Json& vector : json.is_array() ? json : Json::array({json})) {
      RunOne(vector, run);
    }
  }
  if (run.all.total == 0) {
    return Error(Cause::kFileMissing, "`" + place + "` has no vectors");
  }
  return run;
}

void Print(const Run& run, bool as_json) {
  if (as_json) {
    Json json = Json::object();
    json["total"] = run.all.total;
    json["passed"] = run.all.passed;
    json["average"] = run.Average();
    json["failures"] = run.failures;
    std::cout << json.dump(1) << "\n";
    return;
  }
  for (const Json& failure : run.failures) {
    std::cout << "FAILED " << failure["id"].get<std::string>() << " "
              << failure["key"].get<std::string>() << ": expected "
              << failure["expected"].get<std::string>() << ", got "
              << Printable(failure["got"].get<std::string>()) << "\n";
  }
  std::printf("total    %d\npassed   %d\naverage  %.4f\n", run.all.total,
              run.all.passed, run.Average());
}

}  // namespace

Result<Json> Answer(Question& question) {
  const auto query = Queries().find(question.resolver);
  const std::string source = SourceOf(question.resolver);
  const Json& args = *question.args;
  try {
    MUSTER_TRY(PutArguments(source, args, question.env));
    const sys::Host host = question.Host();
    if (query != Queries().end()) {
      return query->second(args, host);
    }
    MUSTER_ASSIGN(const auto claim, AskSource(source, args, host));
    return ToJson(claim);
  } catch (const Json::exception& error) {
    return Error(Cause::kInternalError, error.what());
  }
}

}  // namespace muster::conformance

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  const bool as_json =
      args.size() > 2 && args[0] == "--output" && args[1] == "json";
  if (args.empty()) {
    std::cerr << "resolve_conformance [--output json] DIR\n";
    return 2;
  }
  const auto run = muster::conformance::RunAll(args.back());
  if (!run) {
    std::cerr << run.error().ToString() << "\n";
    return 2;
  }
  muster::conformance::Print(*run, as_json);
  return run->failures.empty() ? 0 : 1;
}
