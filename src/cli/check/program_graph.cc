// SPDX-License-Identifier: Apache-2.0
#include "cli/check/program_graph.h"

#include "base/json.h"
#include "base/text.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

constexpr std::string_view kExport =
    "tf.function(step, jit_compile=True).experimental_get_compiler_ir(*args)"
    "(stage=\"stablehlo\")";

std::string GraphLine(std::string_view head, const std::string& text) {
  std::string line(head);
  line.resize(16, ' ');
  return line + text + "\n";
}

std::string JudgedText(const program::graph::Judged& judged) {
  return judged.name + ": " +
         Count(static_cast<std::int64_t>(judged.operations), "operation") +
         " in " + Count(static_cast<std::int64_t>(judged.functions), "graph") +
         (judged.marked ? ", marked by the TPU rewrite" : "");
}

// Nothing of TensorFlow is run here: that would take seconds, and its word is
// that of its own devices.
std::string ExactText(const Sourced<std::string>& tensorflow) {
  return (tensorflow.value.empty()
              ? std::string("on a machine with TensorFlow")
              : "with " + tensorflow.value + " (" + tensorflow.source + ")") +
         ", write this to step.mlir and check that file:";
}

}  // namespace

std::string GraphText(const program::ProgramRequest& request,
                      const program::GraphAnswer& answer,
                      const Sourced<std::string>& tensorflow) {
  std::string text = GraphLine(
      "program",
      answer.form + (answer.tensorflow.empty()
                         ? ""
                         : " of TensorFlow " + Printable(answer.tensorflow)));
  text += GraphLine(
      "for", request.on + ": by a table of operations, without a compiler");
  for (const program::graph::Judged& one : answer.judged) {
    text += GraphLine("judged", JudgedText(one));
  }
  for (const std::string& note : answer.notes) {
    text += GraphLine("note", note);
  }
  text += GraphLine("exact verdict", ExactText(tensorflow));
  return text + GraphLine("", std::string(kExport));
}

Json GraphJson(const program::ProgramRequest& request,
               const program::GraphAnswer& answer,
               const Sourced<std::string>& tensorflow) {
  Json json{{"form", answer.form},
            {"by", "table of operations"},
            {"judged", Json::array()},
            {"notes", answer.notes},
            {"exact", std::string(kExport)}};
  if (!request.signature.empty()) {
    json["signature"] = request.signature;
  }
  if (!answer.tensorflow.empty()) {
    json["tensorflow"] = Printable(answer.tensorflow);
  }
  if (!tensorflow.value.empty()) {
    json["installed"] = {{"package", tensorflow.value},
                         {"source", tensorflow.source}};
  }
  for (const program::graph::Judged& one : answer.judged) {
    json["judged"].push_back({{"name", one.name},
                              {"operations", one.operations},
                              {"graphs", one.functions},
                              {"marked", one.marked}});
  }
  return json;
}

}  // namespace muster::cli
