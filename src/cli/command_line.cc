// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <algorithm>
#include <span>

#include "base/text.h"
#include "base/words/suggest.h"
#include "cli/line/wrong_form.h"

namespace muster::cli {
namespace {

using Words = std::span<const std::string>;

bool IsFlagLike(std::string_view word) {
  return word.size() > 1 && word[0] == '-';
}

// Goes down the tree of sub-commands as far as words name one; the words that
// it took are taken off.
const Verb& Descend(Words& words) {
  const Verb* verb = &Verbs().front();
  while (!words.empty()) {
    const Verb* next = FindVerb(
        verb->path.empty() ? words.front() : verb->path + " " + words.front());
    if (next == nullptr || next == &Verbs().front()) {
      break;
    }
    verb = next;
    words = words.subspan(1);
  }
  return *verb;
}

// Reads the words after a sub-command into the line.
class Reader {
 public:
  Reader(const Verb& verb, Words words, CommandLine& line)
      : verb_(verb), words_(words), line_(line) {}

  // The first error is kept while the rest is read: --help may follow.
  Status Read() {
    Status first = Ok();
    while (at_ < words_.size()) {
      Status read = IsFlagLike(words_[at_]) ? ReadFlag() : ReadArgument();
      if (!read && first) {
        first = std::move(read);
      }
    }
    return line_.help ? Ok() : first;
  }

 private:
  Status ReadFlag() {
    const std::string word = words_[at_++];
    const bool is_long = word.starts_with("--");
    const auto equals = word.find('=');
    if (!is_long && word.size() > 2 && MeantByForeign(verb_, word)) {
      return UnknownFlag(verb_, word);
    }
    const std::string name =
        is_long ? word.substr(0, equals) : word.substr(0, 2);
    const Flag* flag = verb_.Find(name);
    if (flag == nullptr) {
      return UnknownFlag(verb_, word.substr(0, equals));
    }
    std::optional<std::string> value;
    if (is_long && equals != std::string::npos) {
      value = word.substr(equals + 1);
    } else if (!is_long && word.size() > 2) {
      value = word.substr(word[2] == '=' && !flag->value.empty() ? 3 : 2);
    }
    if (flag->value.empty()) {
      return ReadSwitch(*flag, name, value, is_long);
    }
    if (!value) {
      MUSTER_ASSIGN(value, NextValue(*flag));
    }
    return TakeValue(*flag, *value);
  }

  // "-yq" are two switches.
  Status ReadSwitch(const Flag& flag, const std::string& name,
                    const std::optional<std::string>& value, bool is_long) {
    if (value && (is_long || value->starts_with('='))) {
      return Usage("flag " + name + " takes no value");
    }
    std::vector<const Flag*> switches{&flag};
    for (const char letter : value.value_or("")) {
      const Flag* next = verb_.Find(std::string("-") + letter);
      if (next == nullptr || !next->value.empty()) {
        return UnknownFlag(verb_, name + *value);
      }
      switches.push_back(next);
    }
    for (const Flag* one : switches) {
      MUSTER_TRY(TakeValue(*one, ""));
    }
    return Ok();
  }

  Result<std::string> NextValue(const Flag& flag) {
    const bool is_there =
        at_ < words_.size() &&
        (!words_[at_].starts_with("--") ||
         verb_.Find(words_[at_].substr(0, words_[at_].find('='))) == nullptr);
    if (!is_there) {
      return Usage("flag " + flag.name() + " requires a value: " + flag.name() +
                   " " + flag.value);
    }
    return words_[at_++];
  }

  Status TakeValue(const Flag& flag, const std::string& text) {
    const bool first = line_.given.insert(flag.name()).second;
    if (!first && !flag.repeats && !flag.value.empty()) {
      return Usage("flag " + flag.name() + " is given more than once");
    }
    MUSTER_ASSIGN(const std::string value,
                  Chosen("flag " + flag.name(), flag.choices, text));
    return flag.take(line_, flag, value);
  }

  Status ReadArgument() {
    const std::string& word = words_[at_++];
    const Argument& argument = verb_.argument;
    if (argument.name.empty() || (arguments_ > 0 && !argument.repeats)) {
      at_ = words_.size();
      return UnexpectedWord(verb_, Words(words_), word);
    }
    ++arguments_;
    MUSTER_ASSIGN(const std::string value,
                  Chosen(argument.name, argument.choices, word));
    const Flag named{.names = argument.name,
                     .value = argument.name,
                     .help = "",
                     .take = argument.take};
    return argument.take(line_, named, value);
  }

  // The choice that is meant, in any case of letters.
  static Result<std::string> Chosen(const std::string& what,
                                    const std::vector<std::string>& choices,
                                    const std::string& text) {
    const std::string lower = Lower(text);
    if (choices.empty()) {
      return text;
    }
    if (std::find(choices.begin(), choices.end(), lower) != choices.end()) {
      return lower;
    }
    return Usage(what + " is `" + Printable(text) + "`, expected one of " +
                 Join(choices, ", ") + MeantText(lower, choices));
  }

 public:
  bool has_argument() const { return arguments_ > 0; }

 private:
  const Verb& verb_;
  const Words words_;
  CommandLine& line_;
  std::size_t at_ = 0;
  int arguments_ = 0;
};

// The words after the first `--` are the command's, whatever they are.
std::vector<std::string> SplitCommand(std::vector<std::string>& args) {
  const auto dashes = std::find(args.begin(), args.end(), "--");
  std::vector<std::string> command;
  if (dashes != args.end()) {
    command.assign(dashes + 1, args.end());
    args.erase(dashes, args.end());
  }
  return command;
}

Status CheckCommand(const Verb& verb, const CommandLine& line,
                    bool has_dashes) {
  if (verb.command == AfterDashes::kRequired && line.command.empty()) {
    return Usage("no command to run: put it after `--`, as in `" +
                 verb.examples.front().command + "`");
  }
  if (verb.command == AfterDashes::kNone && has_dashes) {
    std::vector<std::string> with;
    for (const Verb& one : Verbs()) {
      if (one.command != AfterDashes::kNone && !one.hidden) {
        with.push_back("`" + one.Typed() + "`");
      }
    }
    return Usage("only " + Join(with, ", ") + " accept a command after `--`");
  }
  if (has_dashes && line.command.empty()) {
    return Usage("no command after `--`");
  }
  return Ok();
}

Status CheckLine(const Verb& verb, CommandLine& line, bool has_argument,
                 bool has_dashes) {
  if (line.help || line.version) {
    return Ok();
  }
  if (verb.argument.required && !has_argument) {
    return Usage("`" + verb.Typed() + "` requires " + verb.argument.name +
                 ", as in `" + verb.examples.front().command + "`");
  }
  MUSTER_TRY(CheckCommand(verb, line, has_dashes));
  return verb.check ? verb.check(line) : Ok();
}

// All that follows the name of the sub-command, as it is.
Result<CommandLine> PassWords(const Verb& verb,
                              const std::vector<std::string>& args,
                              CommandLine line) {
  line.inputs.assign(args.begin() + 1, args.end());
  line.command.clear();
  if (!line.inputs.empty() &&
      (line.inputs.front() == "--help" || line.inputs.front() == "-h")) {
    line.help = true;
    return line;
  }
  MUSTER_TRY(verb.check(line));
  return line;
}

}  // namespace

const Verb& VerbOf(const std::vector<std::string>& args) {
  const auto dashes = std::find(args.begin(), args.end(), "--");
  Words words(args.begin(), dashes);
  if (!words.empty() && words.front() == "help") {
    words = words.subspan(1);
  }
  return Descend(words);
}

Result<CommandLine> ParseCommandLine(const std::vector<std::string>& args) {
  CommandLine line;
  std::vector<std::string> head = args;
  line.command = SplitCommand(head);
  const bool has_dashes = head.size() != args.size();
  Words words(head);
  if (!words.empty() && words.front() == "help") {
    line.help = true;
    words = words.subspan(1);
  }
  const Verb& verb = Descend(words);
  line.verb = &verb;
  if (verb.passes && !line.help) {
    return PassWords(verb, args, std::move(line));
  }
  const bool is_group = verb.run == nullptr;
  if (is_group && !words.empty() && !IsFlagLike(words.front())) {
    return UnknownVerb(verb, words);
  }
  Reader reader(verb, words, line);
  MUSTER_TRY(reader.Read());
  MUSTER_TRY(CheckLine(verb, line, reader.has_argument(), has_dashes));
  return line;
}

}  // namespace muster::cli
