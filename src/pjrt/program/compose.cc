// SPDX-License-Identifier: Apache-2.0
#include "pjrt/program/compose.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace muster::pjrt {
namespace {

std::string_view ElementOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "f32";
    case DType::kFloat64:
      return "f64";
    case DType::kBFloat16:
      return "bf16";
    case DType::kFloat16:
      return "f16";
    case DType::kInt8:
      return "i8";
    case DType::kInt32:
      return "i32";
    case DType::kInt64:
      return "i64";
    case DType::kUInt8:
      return "ui8";
    case DType::kBool:
      return "i1";
  }
  return "?";
}

Error CannotJoin(std::string_view name, const std::string& why) {
  return Error(Cause::kUsageInvalid,
               "the program `" + std::string(name) +
                   "` cannot be joined with another: " + why);
}

bool IsSymbolByte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         c == '$' || c == '.' || c == '-';
}

// Where the string that begins at `at` ends: behind its closing quote.
std::size_t EndOfString(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    at += text[at] == '\\' ? 1U : 0U;
  }
  return std::min(at + 1, text.size());
}

// What stands between the braces of the one module of a text.
Result<std::string_view> BodyOf(std::string_view name, std::string_view text) {
  text = Trim(text);
  if (!text.starts_with("module")) {
    return CannotJoin(name, "it is not text that begins with `module`");
  }
  // The last brace of the head opens the body: attributes may come before it.
  const std::size_t line = text.find('\n');
  if (line == std::string_view::npos || text.back() != '}') {
    return CannotJoin(name, "its module does not end with `}`");
  }
  const auto head = Trim(text.substr(0, line));
  if (!head.ends_with('{')) {
    return CannotJoin(name, "the header of its module is not on one line");
  }
  return text.substr(line + 1, text.size() - line - 2);
}

// The functions of a module under other names: `prefix` before each symbol.
Result<std::string> Renamed(std::string_view name, std::string_view text,
                            std::string_view prefix) {
  MUSTER_ASSIGN(const std::string_view body, BodyOf(name, text));
  constexpr std::string_view kPublic = "func.func public @";
  std::string renamed;
  bool has_main = false;
  for (std::size_t at = 0; at < body.size();) {
    if (body[at] == '"') {
      const std::size_t end = EndOfString(body, at);
      renamed += body.substr(at, end - at);
      at = end;
    } else if (body.substr(at).starts_with(kPublic)) {
      renamed += "func.func private ";
      at += kPublic.size() - 1;
    } else if (body[at] == '@' && at + 1 < body.size() && body[at + 1] == '"') {
      return CannotJoin(name, "a symbol has quotes");
    } else if (body[at] == '@') {
      std::size_t end = at + 1;
      while (end < body.size() && IsSymbolByte(body[end])) {
        ++end;
      }
      const auto symbol = body.substr(at + 1, end - at - 1);
      has_main = has_main || symbol == "main";
      renamed += "@" + std::string(prefix) + std::string(symbol);
      at = end;
    } else {
      renamed += body[at++];
    }
  }
  if (!has_main) {
    return CannotJoin(name, "it has no function @main");
  }
  return renamed;
}

std::string Types(const std::vector<TensorSpec>& specs) {
  std::vector<std::string> types;
  types.reserve(specs.size());
  for (const TensorSpec& spec : specs) {
    types.push_back(TypeOf(spec));
  }
  return Join(types, ", ");
}

// "%s0, %s1, …" up to `end`.
std::string Numbered(std::string_view letter, std::size_t begin,
                     std::size_t end) {
  std::vector<std::string> names;
  for (std::size_t i = begin; i < end; ++i) {
    names.push_back("%" + std::string(letter) + std::to_string(i));
  }
  return Join(names, ", ");
}

std::string Groups(int replicas) {
  std::vector<std::string> ids;
  ids.reserve(static_cast<std::size_t>(replicas));
  for (int i = 0; i < replicas; ++i) {
    ids.push_back(std::to_string(i));
  }
  return "dense<[[" + Join(ids, ", ") + "]]> : tensor<1x" +
         std::to_string(replicas) + "xi64>";
}

// Results of the gradient of one element type: %a<i> is the mean of %g#<i> over
// the replicas, of all of them in one all-reduce.
std::string Means(DType dtype, const std::vector<std::size_t>& indices,
                  const std::vector<TensorSpec>& results, int replicas) {
  std::vector<std::string> operands, types;
  for (const std::size_t i : indices) {
    operands.push_back("%g#" + std::to_string(i));
    types.push_back(TypeOf(results[i]));
  }
  const std::string name = "%r" + std::to_string(static_cast<int>(dtype));
  const std::string scalar = TypeOf({.name = "", .dtype = dtype, .shape = {}});
  const std::string list = "(" + Join(types, ", ") + ")";
  std::string text = "    " + name + ":" + std::to_string(indices.size()) +
                     " = \"stablehlo.all_reduce\"(" + Join(operands, ", ") +
                     ") ({\n    ^bb0(%x: " + scalar + ", %y: " + scalar +
                     "):\n      %z = stablehlo.add %x, %y : " + scalar +
                     "\n      stablehlo.return %z : " + scalar +
                     "\n    }) {replica_groups = " + Groups(replicas) +
                     "} : " + list + " -> " + list + "\n";
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::string n = std::to_string(indices[i]);
    const std::string of_type = " : " + types[i] + "\n";
    text.append("    %c").append(n).append(" = stablehlo.constant dense<");
    text.append(std::to_string(replicas)).append(".0>").append(of_type);
    text.append("    %a").append(n).append(" = stablehlo.divide ");
    text.append(name).append("#").append(std::to_string(i));
    text.append(", %c").append(n).append(of_type);
  }
  return text;
}

std::string Both(const std::string& first, const std::string& second) {
  return first + ", " + second;
}

// "    %g:3 = call @gradient_main(%s0, …) : (…) -> (…)". Always written as
// several results, so that #0 names the only one as well.
std::string Call(std::string_view result, std::string_view function,
                 const std::string& operands, const std::string& from,
                 const std::vector<TensorSpec>& to) {
  return "    %" + std::string(result) + ":" + std::to_string(to.size()) +
         " = call @" + std::string(function) + "(" + operands + ") : (" + from +
         ") -> (" + Types(to) + ")\n";
}

std::string Main(const StepProgram& program, int replicas) {
  const std::size_t states = program.state.size();
  const std::size_t metrics = program.metrics.size();
  const std::vector<TensorSpec> parameters(
      program.state.begin(),
      program.state.begin() + static_cast<std::ptrdiff_t>(program.parameters));
  std::vector<TensorSpec> results(metrics);  // of the gradient: scalars first
  results.insert(results.end(), parameters.begin(), parameters.end());
  std::vector<TensorSpec> outputs = program.state;
  outputs.resize(states + metrics);

  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < states; ++i) {
    arguments.push_back(
        "%s" + std::to_string(i) + ": " + TypeOf(program.state[i]) +
        " {tf.aliasing_output = " + std::to_string(i) + " : i32}");
  }
  for (std::size_t i = 0; i < program.batch.size(); ++i) {
    arguments.push_back("%b" + std::to_string(i) + ": " +
                        TypeOf(program.batch[i]));
  }
  std::string text = "  func.func public @main(" + Join(arguments, ", ") +
                     ") -> (" + Types(outputs) + ") {\n";
  text += Call("g", "gradient_main",
               Both(Numbered("s", 0, parameters.size()),
                    Numbered("b", 0, program.batch.size())),
               Both(Types(parameters), Types(program.batch)), results);
  std::map<DType, std::vector<std::size_t>> by_type;
  for (std::size_t i = 0; i < results.size(); ++i) {
    by_type[results[i].dtype].push_back(i);
  }
  std::string_view letter = "g#";
  if (replicas > 1) {
    letter = "a";
    for (const auto& [dtype, indices] : by_type) {
      text += Means(dtype, indices, results, replicas);
    }
  }
  text += Call(
      "u", "update_main",
      Both(Numbered("s", 0, states), Numbered(letter, metrics, results.size())),
      Both(Types(program.state), Types(parameters)), program.state);
  return text + "    return " +
         Both(Numbered("u#", 0, states), Numbered(letter, 0, metrics)) + " : " +
         Types(outputs) + "\n  }\n";
}

}  // namespace

std::string TypeOf(const TensorSpec& spec) {
  std::string text = "tensor<";
  for (const std::int64_t side : spec.shape) {
    text += std::to_string(side) + "x";
  }
  return text + std::string(ElementOf(spec.dtype)) + ">";
}

Result<std::string> Compose(const StepProgram& program, int replicas) {
  MUSTER_ASSIGN(const std::string gradient,
                Renamed("gradient", program.gradient, "gradient_"));
  MUSTER_ASSIGN(const std::string update,
                Renamed("update", program.update, "update_"));
  return "module @muster_step attributes {mhlo.num_partitions = 1 : i32, "
         "mhlo.num_replicas = " +
         std::to_string(replicas) + " : i32} {\n" + Main(program, replicas) +
         gradient + "\n" + update + "}\n";
}

}  // namespace muster::pjrt
