// SPDX-License-Identifier: Apache-2.0
#include "cli/page/completion.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "check/check.h"
#include "cli/command_line.h"
#include "cli/runs/run_folders.h"
#include "cli/verbs.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

constexpr std::string_view kBash = R"sh(# muster: completion for bash.
_muster() {
  local cur="${COMP_WORDS[COMP_CWORD]}" word note line
  COMPREPLY=()
  while IFS=$'\t' read -r word note; do
    case $word in
      :files)
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done \
          < <(compgen -f -- "$cur")
        ;;
      :folders)
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done \
          < <(compgen -d -- "$cur")
        ;;
      *) COMPREPLY+=("$word") ;;
    esac
  done < <("${COMP_WORDS[0]}" completion --words -- \
    "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _muster muster
)sh";

constexpr std::string_view kZsh = R"sh(#compdef muster
# muster: completion for zsh.
_muster() {
  local word note
  local -a found
  while IFS=$'\t' read -r word note; do
    case $word in
      :files) _files ;;
      :folders) _files -/ ;;
      *) found+=("${word//:/\\:}${note:+:$note}") ;;
    esac
  done < <("${words[1]}" completion --words -- "${(@)words[2,CURRENT]}" \
    2>/dev/null)
  (( ${#found} )) && _describe -V muster found
}
if [ "$funcstack[1]" = _muster ]; then
  _muster "$@"
else
  compdef _muster muster
fi
)sh";

constexpr std::string_view kFish = R"sh(# muster: completion for fish.
function __muster_complete
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    for line in ($typed[1] completion --words -- $typed[2..-1] "$current" \
            2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path "$current"
            case ':folders'
                __fish_complete_directories "$current"
            case '*'
                echo $line
        end
    end
end
complete -c muster -f -k -a '(__muster_complete)'
)sh";

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kScripts{
    {{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}}};

// The words of a command line, on the way to the place that is asked about.
class Completer {
 public:
  Completer(std::vector<std::string> words,
            const std::vector<std::string>& runs)
      : words_(std::move(words)), runs_(runs) {
    if (words_.empty()) {
      words_.emplace_back();
    }
    current_ = words_.back();
    words_.pop_back();
  }

  Candidates Find() {
    if (std::find(words_.begin(), words_.end(), "--") != words_.end()) {
      return {.words = {}, .paths = kFiles};
    }
    if (!words_.empty() && words_.front() == "help") {
      words_.erase(words_.begin());
      is_help_ = true;
    }
    verb_ = &VerbOf(words_);
    if (const Flag* flag = FlagOfValue()) {
      AddValues(*flag);
    } else if (current_.starts_with("-")) {
      AddFlags();
    } else {
      AddSubCommands();
      if (!is_help_) {
        AddKnown(verb_->argument.choices, verb_->argument.values);
      }
    }
    return std::move(found_);
  }

 private:
  void Add(const std::string& word, const std::string& note = "") {
    if (word.starts_with(current_)) {
      found_.words.push_back({before_ + word, note});
    }
  }

  // The flag whose value is typed: "--output", then "js"; or "--output=js",
  // which bash cuts into three words.
  const Flag* FlagOfValue() {
    const auto equals = current_.find('=');
    if (current_.starts_with("--") && equals != std::string::npos) {
      const Flag* flag = verb_->Find(current_.substr(0, equals));
      before_ = current_.substr(0, equals + 1);
      current_.erase(0, equals + 1);
      return flag;
    }
    if (current_ == "=") {
      current_.clear();
      words_.emplace_back("=");
    }
    if (!words_.empty() && words_.back() == "=") {
      words_.pop_back();
    }
    const Flag* flag = words_.empty() ? nullptr : verb_->Find(words_.back());
    return flag == nullptr || flag->value.empty() ? nullptr : flag;
  }

  void AddValues(const Flag& flag) { AddKnown(flag.choices, flag.values()); }

  void AddKnown(const std::vector<std::string>& choices, unsigned values) {
    for (const std::string& choice : choices) {
      Add(choice);
    }
    if ((values & kCauses) != 0) {
      for (const Cause cause : AllCauses()) {
        Add(std::string(Label(cause)), std::string(Title(cause)));
      }
    }
    if ((values & kChecks) != 0) {
      AddChecks();
    }
    if ((values & kRuns) != 0) {
      for (const std::string& run : runs_) {
        Add(run);
      }
    }
    found_.paths |= values & (kFiles | kFolders);
  }

  void AddChecks() {
    std::set<std::string> groups;
    for (const check::Check* one : check::AllChecks()) {
      const std::string group(one->id.substr(0, one->id.find('.')));
      if (groups.insert(group).second) {
        Add(group, "all checks of this group");
      }
      Add(std::string(one->id), std::string(one->title));
    }
  }

  void AddFlags() {
    for (const FlagGroup& group : verb_->groups) {
      for (const Flag& flag : group.flags) {
        const bool given = std::find(words_.begin(), words_.end(),
                                     flag.name()) != words_.end();
        if (!flag.help.empty() && (flag.repeats || !given)) {
          Add(flag.name(), flag.help);
        }
      }
    }
  }

  void AddSubCommands() {
    for (const Verb* verb : Below(*verb_)) {
      Add(verb->LastWord(), verb->summary);
    }
    if (verb_->path.empty() && !is_help_) {
      Add("help", "the help of a sub-command");
    }
  }

  std::vector<std::string> words_;
  const std::vector<std::string>& runs_;
  std::string current_;
  std::string before_;  // stands before what is typed, in the same word
  const Verb* verb_ = nullptr;
  bool is_help_ = false;
  Candidates found_;
};

Result<int> CompletionVerb(const CommandLine& line, const settings::Settings&,
                           const sys::Host& host) {
  sys::PrintResult(line.words
                       ? CandidatesText(Complete(line.command, RunNames(host)))
                       : CompletionScript(line.inputs.front()));
  return 0;
}

Status CheckCompletion(CommandLine& line) {
  return line.words || line.inputs.size() == 1
             ? Ok()
             : Usage(
                   "which shell? `muster completion bash`, `muster completion "
                   "zsh` or `muster completion fish`");
}

}  // namespace

Candidates Complete(std::vector<std::string> words,
                    const std::vector<std::string>& runs) {
  return Completer(std::move(words), runs).Find();
}

std::string CandidatesText(const Candidates& candidates) {
  std::string text;
  for (const Candidate& one : candidates.words) {
    text += Printable(one.word) +
            (one.note.empty() ? "" : "\t" + Printable(one.note)) + "\n";
  }
  text += (candidates.paths & kFiles) != 0     ? ":files\n"
          : (candidates.paths & kFolders) != 0 ? ":folders\n"
                                               : "";
  return text;
}

std::string CompletionScript(std::string_view shell) {
  for (const auto& [name, script] : kScripts) {
    if (name == shell) {
      return std::string(script);
    }
  }
  return "";
}

Verb DescribeCompletion() {
  std::vector<std::string> shells;
  shells.reserve(kScripts.size());
  for (const auto& [name, script] : kScripts) {
    shells.emplace_back(name);
  }
  return {
      .path = "completion",
      .summary = "print the completion script of a shell",
      .about =
          "Print the script by which a shell completes sub-commands, flags, "
          "causes, checks and runs. The packages install it; without one, add "
          "the line of your shell to its start-up file.",
      .examples = {{R"(source <(muster completion bash))", "~/.bashrc"},
                   {R"(source <(muster completion zsh))",
                    "~/.zshrc, after compinit"},
                   {R"(muster completion fish | source)",
                    "~/.config/fish/config.fish"}},
      .argument = {.name = "SHELL",
                   .take = To(&CommandLine::inputs),
                   .choices = std::move(shells)},
      .command = AfterDashes::kOptional,
      .groups = {{"Flags",
                  // What the scripts call.
                  {{"--words", "", "", To(&CommandLine::words)}}}},
      .check = CheckCompletion,
      .run = CompletionVerb,
      .has_settings = false};
}

}  // namespace muster::cli
