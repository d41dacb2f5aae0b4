// SPDX-License-Identifier: Apache-2.0
#include "pjrt/child.h"

#include <array>
#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace muster::pjrt {
namespace {

constexpr char kFailed[] = "failed";

std::string Work(const ChildQuestion& question,
                 const sys::ChildWork::Say& say) {
  const auto answer = question.ask(say);
  const Json json =
      answer ? *answer : Json{{kFailed, ErrorToJson(answer.error())}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Named(const ChildQuestion& question) {
  return "the plug-in `" + Printable(question.plugin) + "`";
}

std::string While(const sys::ChildWork& work) {
  return work.said().empty() ? "" : " while " + Printable(work.said());
}

Result<std::string> Await(sys::ChildWork& work, const ChildQuestion& question,
                          Deadline deadline) {
  const std::array<const sys::ChildWork*, 1> one{&work};
  std::string heard;
  while (true) {
    auto taken = work.Take();
    if (question.hear && work.said() != heard) {
      heard = work.said();
      question.hear(heard);
    }
    if (taken) {
      if (*taken) {
        return *std::move(taken);
      }
      return Error(Cause::kFrameworkBug,
                   Named(question) + " ended its process" + While(work) + ": " +
                       taken->error().message());
    }
    if (deadline.Expired()) {
      return Error(Cause::kDeadlineExceeded,
                   Named(question) + " gave no answer in time" + While(work));
    }
    sys::AwaitAny(one, deadline);
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
  MUSTER_ASSIGN(sys::ChildWork work, sys::ChildWork::Start(
                                         [&](const sys::ChildWork::Say& say) {
                                           return Work(question, say);
                                         },
                                         question.surroundings));
  MUSTER_ASSIGN(const std::string text, Await(work, question, deadline));
  MUSTER_ASSIGN(Json json, ParseJson(text, Cause::kFrameworkBug,
                                     "what the child of a plug-in says"));
  if (json.contains(kFailed)) {
    return ErrorFromJson(json[kFailed]);
  }
  return json;
}

}  // namespace muster::pjrt
