// SPDX-License-Identifier: Apache-2.0
// The one description of the command line: what each sub-command is called,
// takes, means and does. Words are read by it (command_line.h), and the help,
// the man pages, the completions and docs/reference/cli.md are made from it.
// A sub-command is one function Describe… and its line in verb_list.cc.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "muster/error.h"
#include "settings/settings.h"
#include "sys/host.h"

namespace muster::cli {

struct CommandLine;
struct Flag;

// Puts a value of the flag where it belongs; of a switch the text is empty.
// usage-invalid names the flag, the value and what would be right.
using Take =
    std::function<Status(CommandLine&, const Flag&, const std::string& text)>;

// What a word may be, for completions: a sum of these.
enum Values : unsigned {
  kNothing = 0,
  kFiles = 1,
  kFolders = 2,
  kCauses = 4,
  kChecks = 8,
  kRuns = 16,
  kVerbs = 32,
};

struct Flag {
  std::string names;  // "-y, --yes", "--hosts": errors name it by the last
  std::string value;  // what the help calls its value; empty: a switch
  std::string help;   // a sentence; empty: understood, but not shown
  Take take;
  std::vector<std::string> choices = {};  // nothing else is valid
  bool repeats = false;
  std::string also = {};  // another spelling: "--preemptible"

  std::string name() const;
  bool Is(std::string_view spelling) const;
  // Of a value that is named FILE, DIR and the like.
  unsigned values() const;
};

struct FlagGroup {
  std::string title;  // "Flags"
  std::vector<Flag> flags;
};

// The words that are no flags.
struct Argument {
  std::string name = {};  // "NAME", "FILE"; empty: there is none
  bool required = false;
  bool repeats = false;
  unsigned values = kNothing;
  Take take = {};
  std::vector<std::string> choices = {};
};

// Whether a command may follow after `--`.
enum class AfterDashes { kNone, kOptional, kRequired };

struct Example {
  std::string command;
  std::string note = {};
};

struct ExitMeaning {
  std::string code;
  std::string meaning;
};

struct Verb {
  std::string path;     // "run", "tpu create"; of the program itself empty
  std::string summary;  // a line of the overview
  std::string about;    // paragraphs, separated by empty lines
  std::vector<Example> examples = {};
  std::vector<ExitMeaning> exits = {};
  Argument argument = {};
  AfterDashes command = AfterDashes::kNone;
  std::vector<FlagGroup> groups = {};
  // Whether what was given goes together; may be empty.
  std::function<Status(CommandLine&)> check = {};
  // The exit code; an Error is for main to print. Empty: this is a group of
  // sub-commands, and its overview is printed.
  Result<int> (*run)(const CommandLine&, const settings::Settings&,
                     const sys::Host&) = nullptr;
  bool hidden = false;
  bool has_settings = true;  // the flags of settings.def, too
  bool passes = false;       // its words are another program's command line

  // "muster tpu create".
  std::string Typed() const;
  // "create".
  std::string LastWord() const;
  bool IsBelow(const Verb& group) const;  // directly
  const Flag* Find(std::string_view spelling) const;
};

// All of them; the first is the program itself, groups stand before theirs.
const std::vector<Verb>& Verbs();
const Verb* FindVerb(std::string_view path);
// The sub-commands directly below it that are not hidden.
std::vector<const Verb*> Below(const Verb& group);

// usage-invalid, of the command line.
Error Usage(const std::string& message);

// A whole number, 0 to a million.
Result<int> WholeNumber(const Flag& flag, const std::string& text);

// How a value becomes that of a member.
inline Status Store(bool& place, const Flag&, const std::string&) {
  place = true;
  return Ok();
}
template <typename T>
requires std::is_assignable_v<T&, const std::string&> Status
Store(T& place, const Flag&, const std::string& text) {
  place = text;
  return Ok();
}
inline Status Store(std::vector<std::string>& place, const Flag&,
                    const std::string& text) {
  place.push_back(text);
  return Ok();
}
inline Status Store(std::optional<int>& place, const Flag& flag,
                    const std::string& text) {
  MUSTER_ASSIGN(place, WholeNumber(flag, text));
  return Ok();
}

template <typename Object, typename Member, typename... Rest>
auto& MemberOf(Object& object, Member member, Rest... rest) {
  if constexpr (sizeof...(rest) == 0) {
    return object.*member;
  } else {
    return MemberOf(object.*member, rest...);
  }
}

// Into the member that the path leads to from CommandLine:
// To(&CommandLine::tpu, &TpuFlags::yes).
template <typename... Members>
Take To(Members... path) {
  return
      [path...](CommandLine& line, const Flag& flag, const std::string& text) {
        return Store(MemberOf(line, path...), flag, text);
      };
}

// The same of a number that is at least 1.
template <typename... Members>
Take ToPositive(Members... path) {
  return [path...](CommandLine& line, const Flag& flag,
                   const std::string& text) -> Status {
    MUSTER_ASSIGN(const int number, WholeNumber(flag, text));
    if (number == 0) {
      return Usage("flag " + flag.name() + " must be at least 1");
    }
    MemberOf(line, path...) = number;
    return Ok();
  };
}

}  // namespace muster::cli
