// SPDX-License-Identifier: Apache-2.0
#include "cli/page/help.h"

#include <algorithm>

#include "base/text.h"

namespace muster::cli {
namespace {

constexpr std::size_t kColumn = 25;  // where descriptions begin
constexpr std::size_t kWidth = 80;

// "  HEAD   text", the text wrapped beside or below it.
std::string HelpRow(const std::string& head, const std::string& text,
                    std::size_t column) {
  const std::string below = "\n" + std::string(column, ' ');
  const bool fits = head.size() + 4 <= column;
  return "  " + head +
         (fits ? std::string(column - 2 - head.size(), ' ') : below) +
         Join(Wrap(text, kWidth - column), below) + "\n";
}

std::string Paragraphs(const std::string& about) {
  std::string text;
  for (const std::string& line : Split(about, '\n')) {
    const bool as_it_is = line.empty() || line.starts_with("  ");
    text += (as_it_is ? line : Join(Wrap(line, kWidth), "\n")) + "\n";
  }
  return text;
}

// Notes stand in one column, which a longer command does not move.
std::string ExamplesText(const std::vector<Example>& examples) {
  constexpr std::size_t kMaxColumn = 48;
  std::size_t column = 0;
  for (const Example& example : examples) {
    const std::size_t end = example.command.size() + 4;
    if (!example.note.empty() && end <= kMaxColumn) {
      column = std::max(column, end);
    }
  }
  column = column == 0 ? kMaxColumn : column;
  std::string text = "\nExamples:\n";
  for (const Example& example : examples) {
    const bool fits = example.command.size() + 4 <= column;
    text += example.note.empty() ? "  " + example.command + "\n"
            : fits ? HelpRow(example.command, example.note, column)
                   : "  " + example.command + "\n      " + example.note + "\n";
  }
  return text;
}

std::string SubCommands(const std::vector<const Verb*>& verbs) {
  std::size_t column = 0;
  for (const Verb* verb : verbs) {
    column = std::max(column, verb->LastWord().size() + 4);
  }
  std::string text = "\nSub-commands:\n";
  for (const Verb* verb : verbs) {
    text += HelpRow(verb->LastWord(), verb->summary, column);
  }
  return text;
}

std::string FlagsText(const FlagGroup& group) {
  std::string text = "\n" + group.title + ":\n";
  for (const Flag& flag : group.flags) {
    if (!flag.help.empty()) {
      text += HelpRow(flag.names + (flag.value.empty() ? "" : " " + flag.value),
                      flag.help, kColumn);
    }
  }
  return text;
}

std::string ExitsText(const std::vector<ExitMeaning>& exits) {
  constexpr std::size_t kExitColumn = 9;
  std::string text = "\nExit codes:\n";
  for (const ExitMeaning& exit : exits) {
    text += HelpRow(exit.code, exit.meaning, kExitColumn);
  }
  return text;
}

}  // namespace

std::string UsageLine(const Verb& verb) {
  std::string text = verb.Typed();
  if (verb.run == nullptr) {
    return text + " SUB-COMMAND [flags]";
  }
  if (!verb.argument.name.empty()) {
    const std::string name =
        verb.argument.name + (verb.argument.repeats ? "..." : "");
    text += verb.argument.required ? " " + name : " [" + name + "]";
  }
  text += " [flags]";
  return text + (verb.command == AfterDashes::kRequired   ? " -- CMD..."
                 : verb.command == AfterDashes::kOptional ? " [-- CMD...]"
                                                          : "");
}

std::string HelpText(const Verb& verb) {
  std::string text =
      Paragraphs(verb.about) + "\nUsage:\n  " + UsageLine(verb) + "\n";
  if (!verb.examples.empty()) {
    text += ExamplesText(verb.examples);
  }
  if (const auto below = Below(verb); !below.empty()) {
    text += SubCommands(below);
    text += "\n`" + verb.Typed() + " SUB-COMMAND --help` shows one of them.\n";
  }
  for (const FlagGroup& group : verb.groups) {
    text += FlagsText(group);
  }
  return verb.exits.empty() ? text : text + ExitsText(verb.exits);
}

}  // namespace muster::cli
