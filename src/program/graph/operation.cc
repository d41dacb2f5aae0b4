// SPDX-License-Identifier: Apache-2.0
#include "program/graph/operation.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace muster::program::graph {
namespace {

// By number, as in tensorflow/core/framework/types.proto.
constexpr std::array<std::string_view, 33> kTypes{"?",
                                                  "float",
                                                  "double",
                                                  "int32",
                                                  "uint8",
                                                  "int16",
                                                  "int8",
                                                  "string",
                                                  "complex64",
                                                  "int64",
                                                  "bool",
                                                  "qint8",
                                                  "quint8",
                                                  "qint32",
                                                  "bfloat16",
                                                  "qint16",
                                                  "quint16",
                                                  "uint16",
                                                  "complex128",
                                                  "half",
                                                  "resource",
                                                  "variant",
                                                  "uint32",
                                                  "uint64",
                                                  "float8_e5m2",
                                                  "float8_e4m3fn",
                                                  "float8_e4m3fnuz",
                                                  "float8_e4m3b11fnuz",
                                                  "float8_e5m2fnuz",
                                                  "int4",
                                                  "uint4",
                                                  "int2",
                                                  "uint2"};

// Where the name of an operation begins like this.
struct Remedy {
  std::string_view begins, text;
};
constexpr std::string_view kInPipeline =
    "move it to the input pipeline (Dataset.map), which runs on the host";
constexpr std::string_view kUnmanagedSummary =
    "write summaries of the returned values outside the step";
constexpr std::string_view kPython =
    "write it with TensorFlow operations, or move it to the input pipeline "
    "(Dataset.map), which runs on the host";
constexpr std::string_view kPrint =
    "print the returned values outside the step";
constexpr std::string_view kResource =
    "use TensorFlow 2's tf.Variable, or get_variable(use_resource=True): only "
    "resource variables compile";
constexpr auto kAdvice = std::to_array<Remedy>({
    {"EagerPyFunc", kPython},
    {"PyFunc", kPython},
    {"PrintV2", kPrint},
    {"Print", kPrint},
    {"StringFormat", kPrint},
    {"SegmentMax", "tf.math.unsorted_segment_max with num_segments"},
    {"SegmentMean", "tf.math.unsorted_segment_mean with num_segments"},
    {"SegmentMin", "tf.math.unsorted_segment_min with num_segments"},
    {"SegmentProd", "tf.math.unsorted_segment_prod with num_segments"},
    {"SegmentSum", "tf.math.unsorted_segment_sum with num_segments"},
    {"Write", kUnmanagedSummary},
    {"ScalarSummary", kUnmanagedSummary},
    {"HistogramSummary", kUnmanagedSummary},
    {"ImageSummary", kUnmanagedSummary},
    {"AudioSummary", kUnmanagedSummary},
    {"TensorSummary", kUnmanagedSummary},
    {"MergeSummary", kUnmanagedSummary},
    {"Decode", kInPipeline},
    {"Encode", kInPipeline},
    {"Parse", kInPipeline},
    {"ReadFile", kInPipeline},
    {"LookupTable", kInPipeline},
    {"HashTable", kInPipeline},
    {"MutableHashTable", kInPipeline},
    {"String", kInPipeline},
    {"AsString", kInPipeline},
    {"Regex", kInPipeline},
    {"StaticRegex", kInPipeline},
    {"Substr", kInPipeline},
    {"Ragged",
     "dense tensors: RaggedTensor.to_tensor(shape=…) in the input "
     "pipeline"},
    {"Sparse", "dense tensors, or tf.gather with tf.math.unsorted_segment_sum"},
    {"UniqueWithCounts", "tf.unique, and tf.math.unsorted_segment_sum of ones"},
    {"Eig", "tf.linalg.eigh, if the matrix is symmetric"},
    {"Lu", "tf.linalg.cholesky or tf.linalg.qr"},
    {"Timestamp", "measure the time outside the step"},
    {"VariableV2", kResource},
    {"Variable", kResource},
    {"TemporaryVariable", kResource},
    {"Assign", kResource},
});

}  // namespace

bool Operation::Is(std::string_view flag) const {
  const auto words = Split(flags, ',');
  return std::find(words.begin(), words.end(), flag) != words.end();
}

const Operation* FindOperation(std::string_view name) {
  const auto all = AllOperations();
  const auto* at =
      std::lower_bound(all.data(), all.data() + all.size(), name,
                       [](const Operation& one, std::string_view sought) {
                         return one.name < sought;
                       });
  return at != all.data() + all.size() && at->name == name ? at : nullptr;
}

std::vector<ConstantInput> ConstantInputs(const Operation& operation) {
  std::vector<ConstantInput> inputs;
  std::string_view rest = operation.constants;
  while (!rest.empty() && rest != "-") {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const auto colon = one.find(':');
    if (colon != std::string_view::npos) {
      inputs.push_back({.name = one.substr(0, colon),
                        .place = static_cast<int>(
                            ParseInt(one.substr(colon + 1)).value_or(0))});
    }
  }
  return inputs;
}

std::vector<std::string_view> TypesOf(const Operation& operation,
                                      std::string_view attribute) {
  std::vector<std::string_view> types;
  std::string_view rest = operation.types;
  while (!rest.empty()) {
    std::string_view one = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    if (!one.starts_with(attribute) || one.size() <= attribute.size() ||
        one[attribute.size()] != '=') {
      continue;
    }
    one.remove_prefix(attribute.size() + 1);
    while (!one.empty()) {
      types.push_back(one.substr(0, one.find('|')));
      one.remove_prefix(std::min(one.size(), types.back().size() + 1));
    }
  }
  return types;
}

std::string_view NameOf(DataType type) {
  const auto number = static_cast<std::size_t>(type);
  return number < kTypes.size() ? kTypes[number] : kTypes[0];
}

std::optional<DataType> DataTypeOf(std::string_view name) {
  const auto* at = std::find(kTypes.begin() + 1, kTypes.end(), name);
  return at == kTypes.end()
             ? std::nullopt
             : std::optional(static_cast<DataType>(at - kTypes.begin()));
}

std::string_view Instead(std::string_view operation) {
  const auto* at = std::find_if(
      kAdvice.begin(), kAdvice.end(),
      [&](const Remedy& one) { return operation.starts_with(one.begins); });
  return at == kAdvice.end() ? std::string_view() : at->text;
}

bool CallsPython(std::string_view operation) {
  return operation == "PyFunc" || operation == "EagerPyFunc" ||
         operation == "PyFuncStateless";
}

bool IsOfPipeline(std::string_view operation) {
  constexpr std::array<std::string_view, 7> kWords{
      "Dataset",          "Iterator",         "OptionalFromValue",
      "OptionalGetValue", "OptionalHasValue", "OptionalNone",
      "DataService"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return operation.find(word) != std::string_view::npos;
  });
}

bool IsOfCheckpoint(std::string_view operation) {
  constexpr std::array<std::string_view, 9> kNames{"MergeV2Checkpoints",
                                                   "Restore",
                                                   "RestoreSlice",
                                                   "RestoreV2",
                                                   "Save",
                                                   "SaveSlices",
                                                   "SaveV2",
                                                   "ShardedFilename",
                                                   "ShardedFilespec"};
  return std::find(kNames.begin(), kNames.end(), operation) != kNames.end();
}

bool IsRandom(const Operation& operation) {
  return operation.HasKernel() && operation.Is("stateful") &&
         (operation.name.starts_with("Random") ||
          operation.name == "TruncatedNormal" ||
          operation.name == "Multinomial");
}

}  // namespace muster::program::graph
