// SPDX-License-Identifier: Apache-2.0
#include "wire/agent_messages.h"

#include <limits>
#include <type_traits>
#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace muster::wire {
namespace {

// Every message is described once, by a Fields() that names its members; Writer
// and Reader walk the same description, so that the two cannot differ.
class Writer;
class Reader;

template <typename Io, typename T>
concept FieldsFor = requires(Io& io, T& value) {
  Fields(io, value);
};

Error Misfit(const std::string& what) {
  return Error(Cause::kVerPeerMismatch,
               "a message is not one of this version: " + what);
}

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

// The bytes of a frame, as hexadecimal: JSON holds text, a frame need not be.
struct Bytes {
  std::string& raw;
};

template <typename Io>
void Fields(Io& io, StoreRequest& request) {
  io("rank", request.rank);
  io("attempt", request.attempt);
  Bytes frame{request.frame};
  io("frame", frame);
}

template <typename Io>
void Fields(Io& io, Goodbye& goodbye) {
  io("exit_code", goodbye.exit_code);
  io("origin", goodbye.origin);
  io("summary", goodbye.summary);
}

constexpr std::string_view kHexDigits = "0123456789abcdef";

class Writer {
 public:
  template <typename T>
  void operator()(const char* name, T& value) {
    json_[name] = Value(value);
  }
  Json Take() { return std::move(json_); }

 private:
  template <typename T>
  static Json Value(T& value) {
    if constexpr (FieldsFor<Writer, T>) {
      Writer inner;
      Fields(inner, value);
      return inner.Take();
    } else if constexpr (std::is_same_v<T, Phase>) {
      return static_cast<std::uint32_t>(value);
    } else if constexpr (std::is_same_v<T, char>) {
      return std::string(1, value);
    } else if constexpr (std::is_same_v<T, WallTime>) {
      return muster::ToText(value);
    } else if constexpr (std::is_same_v<T, Fact>) {
      return muster::ToJson(value);
    } else {
      return value;
    }
  }
  static Json Value(Bytes& bytes) {
    std::string text;
    text.reserve(2 * bytes.raw.size());
    for (const char c : bytes.raw) {
      const auto byte = static_cast<unsigned char>(c);
      text += kHexDigits[byte >> 4U];
      text += kHexDigits[byte & 15U];
    }
    return text;
  }
  template <typename T>
  static Json Value(std::vector<T>& list) {
    Json json = Json::array();
    for (T& item : list) {
      json.push_back(Value(item));
    }
    return json;
  }
  template <typename T>
  static Json Value(std::map<std::string, T>& map) {
    Json json = Json::object();
    for (auto& [key, item] : map) {
      json[key] = Value(item);
    }
    return json;
  }

  Json json_ = Json::object();
};

// Keeps the first misfit and ignores what comes after it. Unknown keys are
// ignored too: a later minor version may add some.
class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {
    if (!json.is_object()) {
      error_ = Misfit("not an object");
    }
  }
  template <typename T>
  void operator()(const char* name, T& value) {
    if (error_) {
      return;
    }
    const auto found = json_.find(name);
    if (found == json_.end()) {
      error_ = Misfit(std::string("`") + name + "` is missing");
    } else if (auto status = Read(*found, value); !status) {
      error_ = std::move(status).error().While(std::string("reading `") + name +
                                               "`");
    }
  }
  Status Finish() {
    if (error_) {
      return *std::move(error_);
    }
    return Ok();
  }

 private:
  template <typename T>
  static Status Read(const Json& json, T& value) {
    if constexpr (FieldsFor<Reader, T>) {
      Reader inner(json);
      Fields(inner, value);
      return inner.Finish();
    } else if constexpr (std::is_same_v<T, bool>) {
      return ReadAs(json, json.is_boolean(), value);
    } else if constexpr (std::is_same_v<T, double>) {
      // JSON has no NaN; the writer makes it null.
      if (json.is_null()) {
        value = std::numeric_limits<double>::quiet_NaN();
        return Ok();
      }
      return ReadAs(json, json.is_number(), value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      return ReadAs(json, json.is_string(), value);
    } else {
      return ReadInteger(json, value);
    }
  }
  template <typename T>
  static Status ReadAs(const Json& json, bool fits, T& value) {
    if (!fits) {
      return Misfit(std::string("a ") + json.type_name() + " does not fit");
    }
    value = json.get<T>();
    return Ok();
  }
  template <typename T>
  static Status ReadInteger(const Json& json, T& value) {
    if (!json.is_number_integer()) {
      return Misfit(std::string("a ") + json.type_name() + " does not fit");
    }
    const bool fits = json.is_number_unsigned()
                          ? std::in_range<T>(json.get<std::uint64_t>())
                          : std::in_range<T>(json.get<std::int64_t>());
    if (!fits) {
      return Misfit(json.dump() + " is out of range");
    }
    value = json.get<T>();
    return Ok();
  }
  static Status Read(const Json& json, Phase& phase) {
    std::uint32_t number = 0;
    MUSTER_TRY(ReadInteger(json, number));
    if (number > static_cast<std::uint32_t>(Phase::kFinished)) {
      return Misfit("phase " + std::to_string(number) + " is not known");
    }
    phase = static_cast<Phase>(number);
    return Ok();
  }
  static Status Read(const Json& json, char& letter) {
    std::string text;
    MUSTER_TRY(Read(json, text));
    if (text.size() != 1) {
      return Misfit("`" + Printable(text) + "` is not one letter");
    }
    letter = text[0];
    return Ok();
  }
  static Status Read(const Json& json, WallTime& time) {
    std::string text;
    MUSTER_TRY(Read(json, text));
    MUSTER_ASSIGN(time, ParseWallTime(text));
    return Ok();
  }
  static Status Read(const Json& json, Fact& fact) {
    MUSTER_ASSIGN(fact, FactFromJson(json));
    return Ok();
  }
  static Status Read(const Json& json, Bytes& bytes) {
    std::string text;
    MUSTER_TRY(Read(json, text));
    if (text.size() % 2 != 0) {
      return Misfit("an odd number of hexadecimal digits");
    }
    for (std::size_t i = 0; i < text.size(); i += 2) {
      const auto high = kHexDigits.find(text[i]);
      const auto low = kHexDigits.find(text[i + 1]);
      if (high == kHexDigits.npos || low == kHexDigits.npos) {
        return Misfit("no hexadecimal digits");
      }
      bytes.raw += static_cast<char>(high << 4U | low);
    }
    return Ok();
  }
  template <typename T>
  static Status Read(const Json& json, std::vector<T>& list) {
    if (!json.is_array()) {
      return Misfit("not a list");
    }
    for (const Json& item : json) {
      MUSTER_TRY(Read(item, list.emplace_back()));
    }
    return Ok();
  }
  template <typename T>
  static Status Read(const Json& json, std::map<std::string, T>& map) {
    if (!json.is_object()) {
      return Misfit("not an object");
    }
    for (const auto& [key, item] : json.items()) {
      MUSTER_TRY(Read(item, map[key]));
    }
    return Ok();
  }

  const Json& json_;
  std::optional<Error> error_;
};

template <typename T>
Json Write(T message) {
  Writer writer;
  Fields(writer, message);
  return writer.Take();
}

template <typename T>
Result<T> ReadMessage(const Json& json, const char* kind) {
  T message;
  Reader reader(json);
  Fields(reader, message);
  if (auto status = reader.Finish(); !status) {
    return std::move(status).error().While(std::string("reading a `") + kind +
                                           "`");
  }
  return message;
}

}  // namespace

#define MUSTER_RUN_MESSAGE(Type, kind)            \
  Json ToJson(const Type& message) {              \
    return Write<Type>(message);                  \
  }                                               \
  Result<Type> Type##FromJson(const Json& json) { \
    return ReadMessage<Type>(json, kind);         \
  }
MUSTER_RUN_MESSAGE(LaunchPlan, "launch")
MUSTER_RUN_MESSAGE(RankStarted, "started")
MUSTER_RUN_MESSAGE(RankExited, "exited")
MUSTER_RUN_MESSAGE(Progress, "progress")
MUSTER_RUN_MESSAGE(StopRanks, "stop")
MUSTER_RUN_MESSAGE(Stopped, "stopped")
MUSTER_RUN_MESSAGE(StoreRequest, "store")
MUSTER_RUN_MESSAGE(Goodbye, "goodbye")
#undef MUSTER_RUN_MESSAGE

}  // namespace muster::wire
