// SPDX-License-Identifier: Apache-2.0
#include "check/runner.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "base/words/suggest.h"
#include "check/outcome_json.h"
#include "sys/process/child_work.h"

namespace muster::check {
namespace {

constexpr std::chrono::milliseconds kBeat{100};

std::vector<std::string> NeedsOf(const Check& check) {
  std::vector<std::string> needs;
  for (const std::string& one : Split(check.needs, ',')) {
    needs.emplace_back(Trim(one));
  }
  return needs;
}

const Check* Find(std::span<const Check* const> all, std::string_view id) {
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const Check* one) { return one->id == id; });
  return found == all.end() ? nullptr : *found;
}

Error UnknownWord(std::span<const Check* const> all, const std::string& word) {
  std::vector<std::string> known;
  for (const Check* one : all) {
    known.emplace_back(one->id);
    known.emplace_back(one->group());
  }
  const auto meant = DidYouMean(word, known);
  return Error(Cause::kUsageInvalid,
               "no check or group `" + Printable(word) + "`" +
                   (meant ? ", did you mean `" + *meant + "`?"
                          : ": `muster check --list` lists all"));
}

// Adds a check behind those that it needs.
void Add(std::span<const Check* const> all, const Check* check,
         std::vector<const Check*>& chosen) {
  if (std::find(chosen.begin(), chosen.end(), check) != chosen.end()) {
    return;
  }
  for (const std::string& need : NeedsOf(*check)) {
    if (const Check* needed = Find(all, need)) {
      Add(all, needed, chosen);
    }
  }
  chosen.push_back(check);
}

// The way out of the check stands first, no finding is worse than the check may
// find, and one that names nobody is about this host.
Outcome Complete(const Check& check, const std::string& host, Outcome outcome) {
  if (outcome.findings.empty()) {
    return outcome;
  }
  for (Finding& finding : outcome.findings) {
    if (!check.fix.text.empty()) {
      finding.fixes.insert(
          finding.fixes.begin(),
          Fix{std::string(check.fix.text), std::string(check.fix.command),
              check.fix.safety});
    }
    if (finding.subjects.empty()) {
      finding.subjects.push_back(host);
    }
    if (check.severity == Severity::kWarning &&
        finding.severity == Severity::kError) {
      finding.severity = Severity::kWarning;
    }
  }
  Outcome judged = Judge(std::move(outcome.findings), "");
  judged.detail = std::move(outcome.detail);
  judged.lines = std::move(outcome.lines);
  judged.data = std::move(outcome.data);
  return judged;
}

// One check on its way to an answer.
struct Slot {
  Answer answer;
  bool known = false;
  std::optional<sys::ChildWork> child;
  Deadline::Clock::time_point began;
};

// The answer is there; a child that is still at work is ended.
void Know(const Context& context, Slot& slot, Outcome outcome) {
  slot.answer.outcome = Complete(
      *slot.answer.check, context.host.env.Hostname(), std::move(outcome));
  slot.answer.took = slot.began == Deadline::Clock::time_point{}
                         ? Duration::zero()
                         : Deadline::Clock::now() - slot.began;
  slot.known = true;
  slot.child.reset();
}

void Start(const Context& context, Slot& slot) {
  slot.began = Deadline::Clock::now();
  const Check& check = *slot.answer.check;
  if (!check.may_wait) {
    Know(context, slot, check.run(context));
    return;
  }
  auto child = sys::ChildWork::Start([&](const sys::ChildWork::Say& say) {
    Context inside = context;
    inside.say = say;
    return Encode(check.run(inside));
  });
  if (!child) {
    Know(context, slot, Broken(child.error().ToString()));
    return;
  }
  slot.child.emplace(*std::move(child));
}

void Look(const Context& context, Slot& slot) {
  const Check& check = *slot.answer.check;
  if (auto text = slot.child->Take()) {
    auto outcome = *text ? Decode(**text) : Result<Outcome>(text->error());
    Know(context, slot,
         outcome ? *std::move(outcome) : Broken(outcome.error().message()));
  } else if (Deadline::Clock::now() - slot.began >= check.deadline) {
    Know(context, slot, Broken("no result within " + ToString(check.deadline)));
  }
}

class Round {
 public:
  Round(std::span<const Check* const> checks, const Context& context,
        const Observer& observer)
      : context_(context), observer_(observer) {
    for (const Check* check : checks) {
      slots_.emplace_back();
      slots_.back().answer.check = check;
    }
  }

  std::vector<Answer> Run() {
    while (true) {
      StartWhatCan();
      Tell();
      if (told_ == slots_.size()) {
        break;
      }
      Await();
    }
    std::vector<Answer> answers;
    for (Slot& slot : slots_) {
      answers.push_back(std::move(slot.answer));
    }
    return answers;
  }

 private:
  const Slot* SlotOf(std::string_view id) const {
    const auto found = std::find_if(
        slots_.begin(), slots_.end(),
        [&](const Slot& one) { return one.answer.check->id == id; });
    return found == slots_.end() ? nullptr : &*found;
  }

  // The first need that is not known yet or did not hold.
  const Slot* OpenNeed(const Check& check) const {
    for (const std::string& id : NeedsOf(check)) {
      const Slot* need = SlotOf(id);
      if (need != nullptr &&
          (!need->known ||
           (need->answer.outcome.state != OutcomeState::kPass &&
            need->answer.outcome.state != OutcomeState::kWarn))) {
        return need;
      }
    }
    return nullptr;
  }

  // Answers of quick checks may let others start, so until nothing changes.
  void StartWhatCan() {
    for (bool changed = true; changed;) {
      changed = false;
      for (Slot& slot : slots_) {
        if (slot.known || slot.child) {
          continue;
        }
        const Slot* need = OpenNeed(*slot.answer.check);
        if (need == nullptr) {
          Start(context_, slot);
          changed = true;
        } else if (need->known) {
          Know(context_, slot,
               Skip("needs `" + std::string(need->answer.check->id) +
                    "`: " + std::string(ToString(need->answer.outcome.state))));
          changed = true;
        }
      }
    }
  }

  void Tell() {
    while (told_ < slots_.size() && slots_[told_].known) {
      if (observer_.answered) {
        observer_.answered(slots_[told_].answer);
      }
      ++told_;
    }
  }

  void Await() {
    std::vector<const sys::ChildWork*> children;
    for (const Slot& slot : slots_) {
      if (slot.child) {
        children.push_back(&*slot.child);
      }
    }
    sys::AwaitAny(children, Deadline::After(kBeat));
    for (Slot& slot : slots_) {
      if (slot.child) {
        Look(context_, slot);
      }
    }
    const Slot& first = slots_[told_];
    if (observer_.waiting && !first.known) {
      observer_.waiting(*first.answer.check,
                        {.since = Deadline::Clock::now() - first.began,
                         .said = first.child ? first.child->said() : ""});
    }
  }

  const Context& context_;
  const Observer& observer_;
  std::vector<Slot> slots_;
  std::size_t told_ = 0;
};

}  // namespace

Result<std::vector<const Check*>> Select(std::span<const Check* const> all,
                                         std::span<const std::string> words) {
  std::vector<const Check*> chosen;
  for (const Check* check : all) {
    if (words.empty() && !check->on_request) {
      Add(all, check, chosen);
    }
  }
  for (const std::string& word : words) {
    bool known = false;
    for (const Check* check : all) {
      if (check->id == word || check->group() == word) {
        Add(all, check, chosen);
        known = true;
      }
    }
    if (!known) {
      return UnknownWord(all, word);
    }
  }
  return chosen;
}

std::vector<Answer> RunChecks(std::span<const Check* const> checks,
                              const Context& context,
                              const Observer& observer) {
  return Round(checks, context, observer).Run();
}

}  // namespace muster::check
