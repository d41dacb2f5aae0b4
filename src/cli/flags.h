// SPDX-License-Identifier: Apache-2.0
// Flags on their way from the words of the command line to what they mean: each
// group adds its own to a verb, and takes them when the words are read. Errors
// are usage-invalid. Main thread.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "cli/command_line.h"

namespace muster::cli {

// What the flags were given as, before it is read.
struct Texts {
  std::string processes, hosts, cluster, rank;
  std::string source, profile, host_file, instance_group;
  std::string tpu, project, zone;
  std::string on, batch, examples, replicas, partitions, request_timeout, port,
      signature;
  bool internal_ip = false;
  std::vector<std::string> pods;
  std::vector<std::string> environment;
  std::map<std::string, std::string> settings;
};

// "--rank R" is the flag --rank; the help names its value R. A list takes one
// value each time that its flag is given.
template <typename T>
CLI::Option* AddOption(CLI::App& app, const std::string& flag, T& value,
                       const std::string& help) {
  const auto space = flag.find(' ');
  CLI::Option* option = app.add_option(flag.substr(0, space), value, help);
  if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    option->allow_extra_args(false)->take_all();
  }
  return option->type_name(flag.substr(space + 1));
}

// ", did you mean `--zone`?", or nothing.
std::string Meant(const std::string& word,
                  const std::vector<std::string>& known);
bool IsGiven(const CLI::App& app, const char* flag);
std::optional<std::string> Given(const CLI::App& app, const char* flag,
                                 const std::string& text);
// A whole number up to a million.
Result<std::optional<int>> Number(const CLI::App& app, const char* flag,
                                  const std::string& text);

// `check`, with `check program` and `check fit`.
void AddCheckFlags(CLI::App& app, Texts& texts, CommandLine& line);
Status TakeCheck(const CLI::App& verb, const Texts& texts, CommandLine& line);

// How the workers of a TPU are reached.
void AddReachFlags(CLI::App& app, Texts& texts, settings::ReachFlags& flags);
Status TakeReach(const CLI::App& verb, const Texts& texts, CommandLine& line);

void AddTpuFlags(CLI::App& app, Texts& texts, TpuFlags& flags);
Status TakeTpu(const CLI::App& verb, const Texts& texts, CommandLine& line);

}  // namespace muster::cli
