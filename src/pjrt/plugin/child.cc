// SPDX-License-Identifier: Apache-2.0
#include "pjrt/plugin/child.h"

#include <array>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "sys/process/process.h"

namespace muster::pjrt {
namespace {

constexpr char kFailed[] = "failed";

// How often it is seen what memory the child has.
constexpr std::chrono::milliseconds kProbeEvery{50};

// What a child may take, and what was when it began.
struct Bound {
  std::uint64_t memory = 0;
  std::string of;  // why it is that much
  std::optional<std::uint64_t> killed;
};

Result<Bound> BoundOf(const ChildQuestion& question) {
  Bound bound{.killed = sys::OomKills(0)};
  if (question.memory) {
    bound.memory = *question.memory;
    return bound;
  }
  MUSTER_ASSIGN(const sys::HostMemory host, sys::ReadHostMemory());
  bound.memory = host.available / 4 * 3;
  bound.of = ", three quarters of the memory that was available on this host";
  return bound;
}

std::string Work(const ChildQuestion& question,
                 const sys::ChildWork::Say& say) {
  const auto answer = question.ask(say);
  const Json json =
      answer ? *answer : Json{{kFailed, ErrorToJson(answer.error())}};
  return Dump(json);
}

std::string Named(const ChildQuestion& question) {
  return "the plug-in `" + Printable(question.plugin) + "`";
}

std::string While(const sys::ChildWork& work) {
  return work.said().empty() ? "" : " while " + Printable(work.said());
}

Error Ended(const sys::ChildWork& work, const ChildQuestion& question,
            const Bound& bound, const Error& how) {
  if (bound.killed && sys::OomKills(0) > bound.killed) {
    return Error(Cause::kOomHost,
                 Named(question) + " was killed by the kernel" + While(work) +
                     ": this host or container is out of memory");
  }
  return Error(Cause::kFrameworkBug, Named(question) +
                                         " terminated its process" +
                                         While(work) + ": " + how.message());
}

Error TookTooMuch(const sys::ChildWork& work, const ChildQuestion& question,
                  const Bound& bound, std::uint64_t taken) {
  return Error(Cause::kOomHost, Named(question) + " was killed" + While(work) +
                                    ": it used " + BytesText(taken) +
                                    " of memory, and the limit is " +
                                    BytesText(bound.memory) + bound.of);
}

Result<std::string> Await(sys::ChildWork& work, const ChildQuestion& question,
                          const Bound& bound, Deadline deadline) {
  const std::array<const sys::ChildWork*, 1> one{&work};
  std::string heard;
  while (true) {
    // Before what it says: that is then no older.
    const std::uint64_t memory = sys::OwnMemoryOf(work.pid()).value_or(0);
    auto taken = work.Take();
    if (question.hear && work.said() != heard) {
      heard = work.said();
      question.hear(heard);
    }
    if (taken) {
      if (*taken) {
        return *std::move(taken);
      }
      return Ended(work, question, bound, taken->error());
    }
    if (memory > bound.memory) {
      return TookTooMuch(work, question, bound, memory);
    }
    if (deadline.Expired()) {
      return Error(Cause::kDeadlineExceeded,
                   Named(question) + " did not respond in time" + While(work));
    }
    sys::AwaitAny(one, deadline.Sooner(Deadline::After(kProbeEvery)));
  }
}

}  // namespace

Json ErrorToJson(const Error& error) {
  Json facts = Json::array();
  for (const Fact& fact : error.evidence()) {
    facts.push_back(muster::ToJson(fact));
  }
  return {{"cause", std::string(Label(error.cause()))},
          {"message", error.message()},
          {"facts", std::move(facts)}};
}

Error ErrorFromJson(const Json& json) {
  const auto cause = CauseFromLabel(json.value("cause", std::string()));
  Error error(cause.value_or(Cause::kInternalError),
              json.value("message", std::string()));
  for (const Json& one : json.value("facts", Json::array())) {
    if (auto fact = FactFromJson(one)) {
      Error with = std::move(error).With(*std::move(fact));
      error = std::move(with);
    }
  }
  return error;
}

Result<Json> AskInChild(const ChildQuestion& question, Deadline deadline) {
  MUSTER_ASSIGN(const Bound bound, BoundOf(question));
  sys::ChildSurroundings surroundings = question.surroundings;
  surroundings.expendable = true;
  MUSTER_ASSIGN(sys::ChildWork work, sys::ChildWork::Start(
                                         [&](const sys::ChildWork::Say& say) {
                                           return Work(question, say);
                                         },
                                         surroundings));
  MUSTER_ASSIGN(const std::string text, Await(work, question, bound, deadline));
  MUSTER_ASSIGN(Json json,
                ParseJson(text, Cause::kFrameworkBug,
                          "the output of the plug-in's child process"));
  if (json.contains(kFailed)) {
    return ErrorFromJson(json[kFailed]);
  }
  return json;
}

}  // namespace muster::pjrt
