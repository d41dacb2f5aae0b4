// SPDX-License-Identifier: Apache-2.0
#include "cli/line/wrong_form.h"

#include <algorithm>
#include <array>

#include "base/command_text.h"
#include "base/text.h"
#include "base/words/suggest.h"
#include "muster/cause.h"

namespace muster::cli {
namespace {

// Words of other programs for what ours are called.
struct OtherWord {
  std::string_view word, meant;
};

// Flags of mpirun, torchrun, accelerate, deepspeed and kubectl. One whose
// meaning begins with a flag that the sub-command has is shown.
constexpr std::array kForeignFlags{
    OtherWord{"-np", "-n N"},
    OtherWord{"--np", "-n N"},
    OtherWord{"-c", "-n N"},
    OtherWord{"--ntasks", "-n N"},
    OtherWord{"--num-processes", "-n N"},
    OtherWord{"--num-gpus", "-n N"},
    OtherWord{"-H", "--hosts A,B"},
    OtherWord{"--host", "--hosts A,B"},
    OtherWord{"--include", "--hosts A,B"},
    OtherWord{"--machinefile", "--hostfile FILE"},
    OtherWord{"-x", "--env NAME=VALUE"},
    OtherWord{"-e", "--env NAME=VALUE"},
    OtherWord{"--export", "--env NAME=VALUE"},
    OtherWord{"--main-process-port", "--hosts A:PORT,B:PORT"},
    OtherWord{"-o", "--output json"},
    OtherWord{"--json", "--output json"},
    OtherWord{"--format", "--output json"},
    OtherWord{"--loglevel", "--log-level LEVEL"},
    OtherWord{"--debug", "--log-level debug"},
    OtherWord{"--force", "--yes"},
    OtherWord{"-f", "--yes"},
};

// Sub-commands of other programs.
constexpr std::array kForeignVerbs{
    OtherWord{"launch", "run"},       OtherWord{"start", "run"},
    OtherWord{"exec", "run"},         OtherWord{"train", "run"},
    OtherWord{"test", "check"},       OtherWord{"why", "explain"},
    OtherWord{"diagnose", "explain"}, OtherWord{"env", "resolve"},
    OtherWord{"pack", "bundle"},      OtherWord{"ps", "runs"},
    OtherWord{"ls", "runs"},          OtherWord{"history", "runs"},
    OtherWord{"log", "logs"},         OtherWord{"tail", "logs"},
    OtherWord{"settings", "config"},  OtherWord{"rm", "delete"},
    OtherWord{"remove", "delete"},    OtherWord{"ls", "list"},
    OtherWord{"get", "describe"},     OtherWord{"show", "describe"},
    OtherWord{"info", "describe"},    OtherWord{"shell", "ssh"},
    OtherWord{"jupyter", "notebook"}, OtherWord{"up", "create"},
    OtherWord{"down", "delete"},
};

// torchrun spells its flags both ways.
std::string Dashed(std::string_view flag) {
  std::string text(flag);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

std::string Meant(const std::string& what) {
  return ", did you mean `" + what + "`?";
}

std::vector<std::string> NamesOf(const Verb& verb) {
  std::vector<std::string> names;
  for (const FlagGroup& group : verb.groups) {
    for (const Flag& flag : group.flags) {
      if (!flag.help.empty()) {
        names.push_back(flag.name());
      }
    }
  }
  return names;
}

// ": it is a flag of `muster run`", or nothing. Of a group of sub-commands,
// those below it.
std::string OwnersOf(const Verb& asked, const std::string& flag) {
  const bool is_group = asked.run == nullptr && !asked.path.empty();
  std::vector<std::string> owners;
  for (const Verb& verb : Verbs()) {
    if (verb.Find(flag) != nullptr && !verb.hidden && verb.run != nullptr &&
        (!is_group || verb.path.starts_with(asked.path + " "))) {
      owners.push_back("`" + verb.Typed() + "`");
    }
  }
  return owners.empty() ? "" : ": it is a flag of " + JoinSome(owners, 3);
}

std::string MeantByFlag(const Verb& verb, const std::string& flag) {
  if (const auto meant = MeantByForeign(verb, flag)) {
    return Meant(*meant);
  }
  const std::string dashed = Dashed(flag);
  if (verb.Find(dashed) != nullptr) {
    return Meant(dashed);
  }
  if (!flag.starts_with("--") && verb.Find("-" + dashed) != nullptr) {
    return Meant("-" + dashed);
  }
  const std::string owners = OwnersOf(verb, flag);
  return owners.empty() ? MeantText(dashed, NamesOf(verb)) : owners;
}

std::vector<std::string> LastWords(const Verb& group) {
  std::vector<std::string> words;
  for (const Verb* verb : Below(group)) {
    words.push_back(verb->LastWord());
  }
  return words;
}

// The sub-command elsewhere that ends in the word: `create` of `tpu create`.
std::string MeantElsewhere(const std::string& word) {
  std::vector<std::string> found;
  for (const Verb& verb : Verbs()) {
    if (!verb.hidden && !verb.path.empty() && verb.LastWord() == word) {
      found.push_back("`" + verb.Typed() + "`");
    }
  }
  return found.empty() ? "" : ", did you mean " + Join(found, " or ") + "?";
}

// What would have been said of a file, a program or a cause.
std::string MeantAsInput(const std::string& word) {
  if (word.ends_with(".py")) {
    return Meant("muster run -- python3 " + word);
  }
  if (word.ends_with(".log") || word.ends_with(".txt")) {
    return Meant("muster explain " + word);
  }
  std::vector<std::string> labels;
  for (const Cause cause : AllCauses()) {
    labels.emplace_back(Label(cause));
  }
  const auto causes = Nearest(word, labels);
  return causes.empty() ? "" : Meant("muster explain " + causes.front());
}

std::string MeantByVerb(const Verb& group, const std::string& word) {
  const auto known = LastWords(group);
  for (const OtherWord& one : kForeignVerbs) {
    if (one.word == word &&
        std::find(known.begin(), known.end(), one.meant) != known.end()) {
      return Meant(std::string(one.meant));
    }
  }
  std::string meant = MeantElsewhere(word);
  meant = meant.empty() ? MeantText(Lower(word), known) : meant;
  return meant.empty() && group.path.empty() ? MeantAsInput(word) : meant;
}

}  // namespace

std::optional<std::string> MeantByForeign(const Verb& verb,
                                          std::string_view flag) {
  const std::string dashed = Dashed(flag.substr(0, flag.find('=')));
  for (const OtherWord& one : kForeignFlags) {
    if (one.word == dashed && verb.Find(one.word) == nullptr &&
        verb.Find(one.meant.substr(0, one.meant.find(' '))) != nullptr) {
      return std::string(one.meant);
    }
  }
  return std::nullopt;
}

Error UnknownVerb(const Verb& group, std::span<const std::string> words) {
  const std::string word = Printable(words.front());
  const std::string typed = group.Typed() + " " + word;
  std::string meant = MeantByVerb(group, word);
  if (meant.empty()) {
    meant = ", expected one of " + Join(LastWords(group), ", ");
  }
  return Usage(group.path.empty()
                   ? "unknown sub-command `" + word + "`" + meant
                   : "`" + typed + "` is not a sub-command" + meant);
}

Error UnknownFlag(const Verb& verb, const std::string& flag) {
  const std::string name = Printable(flag);
  const bool is_group = verb.run == nullptr;
  std::string meant = MeantByFlag(verb, name);
  if (is_group && meant.starts_with(": it is")) {
    meant += ", and stands after the sub-command";
  }
  return Usage("unknown flag `" + name + "`" +
               (verb.path.empty() ? "" : " of `" + verb.Typed() + "`") + meant);
}

Error UnexpectedWord(const Verb& verb, std::span<const std::string> words,
                     const std::string& word) {
  if (verb.command == AfterDashes::kRequired) {
    const auto at =
        std::find_if(words.begin(), words.end(),
                     [&](const auto& one) { return &one == &word; });
    std::vector<std::string> before(words.begin(), at);
    const std::vector<std::string> command(at, words.end());
    std::string typed = verb.Typed();
    typed += before.empty() ? "" : " " + Printable(muster::CommandLine(before));
    return Usage("`" + Printable(word) +
                 "` is not a flag: put the command to run after `--`, as in `" +
                 typed + " -- " + (word.ends_with(".py") ? "python3 " : "") +
                 Printable(muster::CommandLine(command)) + "`");
  }
  const auto children = LastWords(verb);
  if (const auto meant = DidYouMean(word, children)) {
    return Usage("`" + verb.Typed() + " " + Printable(word) +
                 "` is not a sub-command" + Meant(*meant));
  }
  return Usage(
      "unexpected `" + Printable(word) + "` after `" + verb.Typed() +
      (verb.argument.name.empty() ? "`" : " " + verb.argument.name + "`"));
}

}  // namespace muster::cli
