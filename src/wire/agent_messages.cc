// SPDX-License-Identifier: Apache-2.0
#include "wire/agent_messages.h"

#include <utility>

#include "cluster/cluster_json.h"
#include "wire/json_codec.h"

namespace muster::wire {

template <typename Io>
void Fields(Io& io, RankProgress& p) {
  io("phase", p.phase);
  io("classes", p.classes);
  io("phase_since_ns", p.phase_since_ns);
  io("beat_ns", p.beat_ns);
  io("first_step_ns", p.first_step_ns);
  io("step", p.step);
  io("resumed_step", p.resumed_step);
  io("checkpoint_step", p.checkpoint_step);
  io("steps", p.steps);
  io("samples", p.samples);
  io("step_sum_ns", p.step_sum_ns);
  io("input_wait_sum_ns", p.input_wait_sum_ns);
  io("checkpoint_sum_ns", p.checkpoint_sum_ns);
  io("evaluate_sum_ns", p.evaluate_sum_ns);
  io("largest_step_ns", p.largest_step_ns);
  io("loss", p.loss);
  io("unchanged_steps", p.unchanged_steps);
}

template <typename Io>
void Fields(Io& io, Sourced<std::string>& sourced) {
  io("value", sourced.value);
  io("source", sourced.source);
}

template <typename Io>
void Fields(Io& io, RankPlan& plan) {
  io("rank", plan.rank);
  io("local_rank", plan.local_rank);
  io("local_size", plan.local_size);
  io("slot", plan.slot);
  io("argv", plan.argv);
  io("environment", plan.environment);
  io("unset", plan.unset);
  io("cores", plan.cores);
  io("directory", plan.directory);
  io("name", plan.name);
  io("registered", plan.registered);
}

template <typename Io>
void Fields(Io& io, LaunchPlan& plan) {
  io("run_id", plan.run_id);
  io("attempt", plan.attempt);
  io("world_size", plan.world_size);
  io("agents", plan.agents);
  io("ranks", plan.ranks);
  io("grace_ms", plan.grace_ms);
  io("digest", plan.digest);
}

template <typename Io>
void Fields(Io& io, RankStarted& started) {
  io("rank", started.rank);
  io("pid", started.pid);
  io("attempt", started.attempt);
  io("at", started.at);
}

template <typename Io>
void Fields(Io& io, RankExited& exited) {
  io("rank", exited.rank);
  io("pid", exited.pid);
  io("attempt", exited.attempt);
  io("wait_status", exited.wait_status);
  io("sent_signal", exited.sent_signal);
  io("could_not_start", exited.could_not_start);
  io("at", exited.at);
  io("progress", exited.progress);
  io("facts", exited.facts);
  io("error_cause", exited.error_cause);
  io("error_message", exited.error_message);
  io("last_lines", exited.last_lines);
}

template <typename Io>
void Fields(Io& io, RankSample& sample) {
  io("rank", sample.rank);
  io("progress", sample.progress);
  io("state", sample.state);
  io("wait_channel", sample.wait_channel);
  io("finalizing", sample.finalizing);
  io("output_held", sample.output_held);
}

template <typename Io>
void Fields(Io& io, Progress& progress) {
  io("attempt", progress.attempt);
  io("now_ns", progress.now_ns);
  io("ranks", progress.ranks);
}

template <typename Io>
void Fields(Io& io, StopRanks& stop) {
  io("attempt", stop.attempt);
  io("cause", stop.cause);
  io("now", stop.now);
}

template <typename Io>
void Fields(Io& io, Stopped& stopped) {
  io("attempt", stopped.attempt);
  io("leftovers", stopped.leftovers);
  io("logs", stopped.logs);
}

template <typename Io>
void Fields(Io& io, HelloRequest& request) {
  io("attempt", request.attempt);
}

template <typename Io>
void Fields(Io& io, PeerCheckResult& result) {
  io("attempt", result.attempt);
  io("row", result.row);
}

template <typename Io>
void Fields(Io& io, StoreRequest& request) {
  io("rank", request.rank);
  io("attempt", request.attempt);
  io("frame", request.frame);
}

template <typename Io>
void Fields(Io& io, StoreReply& reply) {
  io("rank", reply.rank);
  io("attempt", reply.attempt);
  io("frame", reply.frame);
}

template <typename Io>
void Fields(Io& io, Goodbye& goodbye) {
  io("exit_code", goodbye.exit_code);
  io("origin", goodbye.origin);
  io("summary", goodbye.summary);
}

namespace {

constexpr std::size_t kMaxRefusalFacts = 16;

template <typename T>
concept CarriesHello = requires(T& message) {
  message.hello;
};

template <typename T>
Json BodyOf(const T& message) {
  if constexpr (CarriesHello<T>) {
    return ToJson(message.hello);
  } else {
    T copy = message;
    JsonWriter writer;
    Fields(writer, copy);
    return writer.Take();
  }
}

Json BodyOf(const AgentFact& message) {
  return muster::ToJson(message.fact);
}

Json BodyOf(const PeerCheckRequest& request) {
  return {{"attempt", request.attempt},
          {"ports", muster::ToJson(request.ports)}};
}

Json BodyOf(const Refused& refused) {
  Json evidence = Json::array();
  for (const Fact& fact : refused.evidence) {
    if (evidence.size() < kMaxRefusalFacts) {
      evidence.push_back(muster::ToJson(fact));
    }
  }
  return {{"cause", refused.cause},
          {"message", refused.message},
          {"evidence", std::move(evidence)}};
}

template <typename T>
Status Read(const Json& json, T& message) {
  if constexpr (CarriesHello<T>) {
    MUSTER_ASSIGN(message.hello, HelloFromJson(json));
    return Ok();
  } else {
    JsonReader reader(json);
    Fields(reader, message);
    return reader.Finish();
  }
}

Status Read(const Json& json, AgentFact& message) {
  MUSTER_ASSIGN(message.fact, FactFromJson(json));
  return Ok();
}

Status Read(const Json& json, PeerCheckRequest& request) {
  JsonReader reader(json);
  reader("attempt", request.attempt);
  MUSTER_TRY(reader.Finish());
  MUSTER_ASSIGN(request.ports,
                ClusterFromJson(json.value("ports", Json()), "`peer-check`"));
  return Ok();
}

// As far as it says anything: an agent of any version may refuse.
Status Read(const Json& json, Refused& refused) {
  const auto text = [&](const char* name) {
    const auto at = json.is_object() ? json.find(name) : json.end();
    return at != json.end() && at->is_string() ? at->get<std::string>()
                                               : std::string();
  };
  refused.cause = text("cause");
  refused.message = text("message");
  const Json evidence =
      json.is_object() ? json.value("evidence", Json()) : Json();
  for (const Json& entry : evidence) {
    if (auto fact = FactFromJson(entry);
        fact && refused.evidence.size() < kMaxRefusalFacts) {
      refused.evidence.push_back(*std::move(fact));
    }
  }
  return Ok();
}

template <typename T>
Result<T> Decode(const Envelope& message) {
  MUSTER_ASSIGN(const Json json,
                ParseJson(message.body, Cause::kVerPeerMismatch,
                          "the body of a `" + message.kind + "`"));
  T read;
  if (auto status = Read(json, read); !status) {
    Error error = std::move(status).error();
    if (!CarriesHello<T> && error.cause() != Cause::kVerPeerMismatch) {
      error = Misfit(error.message());  // of a part that others read as well
    }
    return std::move(error).While("reading a `" + message.kind + "`");
  }
  return read;
}

// The one of the alternatives that has the message's kind.
template <typename Messages, std::size_t kIndex = 0>
Result<Messages> ParseAs(const Envelope& message, std::string_view receiver) {
  if constexpr (kIndex == std::variant_size_v<Messages>) {
    return Misfit("`" + Printable(message.kind) + "` is not a message to " +
                  std::string(receiver));
  } else {
    using T = std::variant_alternative_t<kIndex, Messages>;
    if (message.kind != T::kKind) {
      return ParseAs<Messages, kIndex + 1>(message, receiver);
    }
    MUSTER_ASSIGN(T read, Decode<T>(message));
    return Messages(std::in_place_type<T>, std::move(read));
  }
}

}  // namespace

template <typename T>
Envelope Encode(const T& message) {
  return {.kind = std::string(T::kKind), .body = Dump(BodyOf(message))};
}

#define MUSTER_MESSAGE(Type) template Envelope Encode(const Type& message)
MUSTER_MESSAGE(Identity);
MUSTER_MESSAGE(HelloReply);
MUSTER_MESSAGE(AgentFact);
MUSTER_MESSAGE(PeerCheckResult);
MUSTER_MESSAGE(RankStarted);
MUSTER_MESSAGE(Progress);
MUSTER_MESSAGE(RankExited);
MUSTER_MESSAGE(Stopped);
MUSTER_MESSAGE(StoreRequest);
MUSTER_MESSAGE(Welcome);
MUSTER_MESSAGE(Refused);
MUSTER_MESSAGE(HelloRequest);
MUSTER_MESSAGE(PeerCheckRequest);
MUSTER_MESSAGE(LaunchPlan);
MUSTER_MESSAGE(StopRanks);
MUSTER_MESSAGE(StoreReply);
MUSTER_MESSAGE(Goodbye);
#undef MUSTER_MESSAGE

Result<ToCoordinator> ParseToCoordinator(const Envelope& message) {
  return ParseAs<ToCoordinator>(message, "the coordinator");
}

Result<ToAgent> ParseToAgent(const Envelope& message) {
  return ParseAs<ToAgent>(message, "an agent");
}

Refused RefusedFor(const Error& error) {
  return {.cause = std::string(Label(error.cause())),
          .message = error.message(),
          .evidence = error.evidence()};
}

Error ErrorOf(const Refused& refused) {
  const auto cause = CauseFromLabel(refused.cause);
  const std::string message = Printable(refused.message);
  if (!cause || message.empty()) {
    return Error(
        Cause::kNetWrongEndpoint,
        "the coordinator rejected this member with an unknown cause: `" +
            Printable(refused.cause + ": " + refused.message).substr(0, 200) +
            "`");
  }
  Error error(*cause, message);
  for (const Fact& fact : refused.evidence) {
    Error more = std::move(error).With(fact);
    error = std::move(more);
  }
  return error;
}

}  // namespace muster::wire
