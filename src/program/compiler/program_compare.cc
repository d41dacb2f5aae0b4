// SPDX-License-Identifier: Apache-2.0
#include "program/compiler/program_compare.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace muster::program {
namespace {

bool Takes(const AskedProgram& one) {
  return one.report.outcome.state == OutcomeState::kPass;
}

bool Refuses(const AskedProgram& one) {
  return one.report.outcome.state == OutcomeState::kFail;
}

bool IsTooLarge(const AskedProgram& one) {
  const auto& findings = one.report.outcome.findings;
  return Refuses(one) && !findings.empty() &&
         findings.front().cause == Cause::kOomDevice;
}

Outcome OutcomeOf(OutcomeState state, std::string detail,
                  std::vector<Finding> findings) {
  Outcome outcome;
  outcome.state = state;
  outcome.detail = std::move(detail);
  outcome.findings = std::move(findings);
  return outcome;
}

// The findings of those that were not asked, or nullopt: all were.
std::optional<Outcome> NotAsked(std::span<const AskedProgram> asked) {
  std::vector<Finding> findings;
  std::string why;
  bool skipped = false;
  for (const AskedProgram& one : asked) {
    if (Takes(one) || Refuses(one)) {
      continue;
    }
    skipped = skipped || one.report.outcome.state == OutcomeState::kSkip;
    why = why.empty() ? one.report.outcome.detail : why;
    findings.insert(findings.end(), one.report.outcome.findings.begin(),
                    one.report.outcome.findings.end());
  }
  if (why.empty()) {
    return std::nullopt;
  }
  return OutcomeOf(skipped ? OutcomeState::kSkip : OutcomeState::kBroken, why,
                   std::move(findings));
}

std::optional<std::int64_t> ValueOf(const std::string& side) {
  return IsDigits(side) ? ParseInt(side) : std::nullopt;
}

// All programs take as many arguments of as many sides.
bool AreAlike(std::span<const AskedProgram> asked) {
  const auto& first = asked.front().report.arguments;
  return std::all_of(asked.begin(), asked.end(), [&](const AskedProgram& one) {
    const auto& arguments = one.report.arguments;
    return arguments.size() == first.size() &&
           std::equal(first.begin(), first.end(), arguments.begin(),
                      [](const auto& a, const auto& b) {
                        return a.size() == b.size();
                      });
  });
}

// The values of one side, where they are numbers that differ from each other.
std::optional<Varied> VariedIn(std::span<const AskedProgram> asked,
                               std::size_t argument, std::size_t side) {
  Varied varied{.argument = argument, .side = side};
  for (const AskedProgram& one : asked) {
    const auto value = ValueOf(one.report.arguments[argument][side]);
    if (!value || std::find(varied.values.begin(), varied.values.end(),
                            *value) != varied.values.end()) {
      return std::nullopt;
    }
    varied.values.push_back(*value);
  }
  return varied;
}

}  // namespace

std::string CompilerText(const AskedProgram& one) {
  std::vector<std::string> versions;
  if (!one.report.package.empty()) {
    versions.push_back(Printable(one.report.package));
  }
  if (one.report.answer) {
    versions.push_back("PJRT 0." +
                       std::to_string(one.report.answer->api_minor));
    versions.push_back("StableHLO " + Printable(one.report.answer->stablehlo));
  }
  return "`" + Printable(one.request.plugin.value) + "`" +
         (versions.empty() ? "" : " (" + Join(versions, ", ") + ")");
}

Outcome CompareCompilers(std::span<const AskedProgram> asked) {
  if (auto broken = NotAsked(asked)) {
    return *std::move(broken);
  }
  std::vector<std::string> takers;
  for (const AskedProgram& one : asked) {
    if (Takes(one)) {
      takers.push_back(CompilerText(one));
    }
  }
  if (takers.size() == asked.size()) {
    return Pass("it compiles and fits with each of " +
                std::to_string(asked.size()) + " compilers");
  }
  std::vector<Finding> findings;
  for (const AskedProgram& one : asked) {
    for (Finding finding : one.report.outcome.findings) {
      finding.what =
          CompilerText(one) +
          (takers.empty() ? ""
                          : " rejects what " + Join(takers, ", ") +
                                (takers.size() == 1 ? " accepts" : " accept")) +
          ": " + finding.what;
      findings.push_back(std::move(finding));
    }
  }
  return OutcomeOf(OutcomeState::kFail,
                   "it compiles with " + std::to_string(takers.size()) +
                       " of " + std::to_string(asked.size()) + " compilers",
                   std::move(findings));
}

std::optional<Varied> FindVaried(std::span<const AskedProgram> asked) {
  if (asked.empty() || !AreAlike(asked)) {
    return std::nullopt;
  }
  const auto& arguments = asked.front().report.arguments;
  std::optional<Varied> found;
  for (std::size_t argument = 0; argument < arguments.size(); ++argument) {
    for (std::size_t side = 0; side < arguments[argument].size(); ++side) {
      auto varied = VariedIn(asked, argument, side);
      // A first side is a batch, whatever else grows with it.
      if (varied && (!found || (found->side != 0 && side == 0))) {
        found = std::move(varied);
      }
    }
  }
  return found;
}

std::string VariedText(const Varied& varied, std::size_t program) {
  const std::string value = std::to_string(varied.values[program]);
  return varied.side == 0
             ? "batch " + value
             : "side " + std::to_string(varied.side) + " of argument " +
                   std::to_string(varied.argument) + " = " + value;
}

std::optional<std::int64_t> NeededMemory(const ProgramReport& report) {
  if (!report.answer) {
    return std::nullopt;
  }
  if (report.answer->result) {
    const pjrt::Memory& memory = report.answer->result->memory;
    return memory.peak.value_or(memory.arguments + memory.outputs -
                                memory.alias + memory.temporaries +
                                memory.code);
  }
  for (const Fact& fact : report.answer->result.error().evidence()) {
    if (fact.Has("needed")) {
      return fact.Number("needed");
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> LargestThatFits(
    std::span<const AskedProgram> asked, const std::optional<Varied>& varied) {
  std::optional<std::size_t> largest;
  std::int64_t most = -1;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const std::int64_t size =
        varied ? varied->values[i] : NeededMemory(asked[i].report).value_or(0);
    if (Takes(asked[i]) && size > most) {
      largest = i;
      most = size;
    }
  }
  return largest;
}

Outcome CompareSizes(std::span<const AskedProgram> asked) {
  if (auto broken = NotAsked(asked)) {
    return *std::move(broken);
  }
  std::vector<Finding> refused, too_large;
  for (const AskedProgram& one : asked) {
    auto& findings = IsTooLarge(one) ? too_large : refused;
    findings.insert(findings.end(), one.report.outcome.findings.begin(),
                    one.report.outcome.findings.end());
  }
  if (!refused.empty()) {
    return OutcomeOf(OutcomeState::kFail, "not all of them compile",
                     std::move(refused));
  }
  const auto varied = FindVaried(asked);
  const auto largest = LargestThatFits(asked, varied);
  if (!largest) {
    return OutcomeOf(OutcomeState::kFail, "none of them fits",
                     std::move(too_large));
  }
  return Pass("the largest that fits is " +
              Printable(asked[*largest].request.file) +
              (varied ? ", " + VariedText(*varied, *largest) : ""));
}

}  // namespace muster::program
