// SPDX-License-Identifier: Apache-2.0
// step.json: docs/reference/step-format.md.
#include <algorithm>
#include <set>
#include <string_view>

#include "base/json.h"
#include "base/text.h"
#include "muster/pjrt.h"
#include "sys/file/fs.h"

namespace muster {
namespace {

constexpr std::string_view kSchema = "muster.step/1";
constexpr std::size_t kDescriptionLimit = std::size_t{1} << 20;
constexpr std::size_t kProgramLimit = std::size_t{512} << 20;
constexpr std::uint64_t kMaxSamples = 1 << 24;

// Reads keys; errors name the file and the key.
class Reader {
 public:
  Reader(const std::string& path, const Json& json)
      : path_(path), json_(json) {}

  Error Wrong(std::string_view key, const std::string& expected) const {
    return Error(Cause::kUsageInvalid, "`" + Printable(path_) + "`: `" +
                                           std::string(key) + "` must be " +
                                           expected);
  }

  Result<std::string> Text(std::string_view key) const {
    const auto found = json_.find(key);
    if (found == json_.end() || !found->is_string()) {
      return Wrong(key, "a string");
    }
    return found->get<std::string>();
  }

  Result<std::uint64_t> Count(std::string_view key, std::uint64_t most) const {
    const auto found = json_.find(key);
    if (found == json_.end() || !found->is_number_unsigned() ||
        found->get<std::uint64_t>() < 1 || found->get<std::uint64_t>() > most) {
      return Wrong(key, "a number from 1 to " + std::to_string(most));
    }
    return found->get<std::uint64_t>();
  }

  Result<std::vector<std::string>> Texts(std::string_view key) const {
    std::vector<std::string> texts;
    const auto found = json_.find(key);
    const bool list = found != json_.end() && found->is_array();
    for (std::size_t i = 0; list && i < found->size(); ++i) {
      if ((*found)[i].is_string()) {
        texts.push_back((*found)[i].get<std::string>());
      }
    }
    if (!list || texts.size() != found->size()) {
      return Wrong(key, "a list of strings");
    }
    return texts;
  }

  Result<std::vector<TensorSpec>> Tensors(std::string_view key) const {
    const auto found = json_.find(key);
    if (found == json_.end() || !found->is_array() || found->empty()) {
      return Wrong(key, "a list of tensors");
    }
    std::vector<TensorSpec> specs;
    for (std::size_t i = 0; i < found->size(); ++i) {
      auto spec = Tensor((*found)[i]);
      if (!spec) {
        return Wrong(std::string(key) + "[" + std::to_string(i) + "]",
                     "{\"name\": …, \"dtype\": \"F32\", \"shape\": […]}");
      }
      specs.push_back(*std::move(spec));
    }
    return specs;
  }

 private:
  static std::optional<TensorSpec> Tensor(const Json& json) {
    if (!json.is_object() || !json.contains("name") ||
        !json["name"].is_string() || !json.contains("dtype") ||
        !json["dtype"].is_string() || !json.contains("shape") ||
        !json["shape"].is_array()) {
      return std::nullopt;
    }
    const auto dtype = DTypeFromText(json["dtype"].get<std::string>());
    TensorSpec spec{.name = json["name"].get<std::string>(),
                    .dtype = dtype.value_or(DType::kFloat32),
                    .shape = {}};
    for (const Json& side : json["shape"]) {
      if (!side.is_number_unsigned()) {
        return std::nullopt;
      }
      spec.shape.push_back(side.get<std::int64_t>());
    }
    return dtype && BytesOf(spec) ? std::optional(std::move(spec))
                                  : std::nullopt;
  }

  const std::string& path_;
  const Json& json_;
};

std::string FolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

Result<std::string> ReadProgram(const std::string& path, const Reader& programs,
                                std::string_view key) {
  MUSTER_ASSIGN(const std::string name, programs.Text(key));
  if (name.empty() || name.find('/') != std::string::npos) {
    return programs.Wrong(key, "the name of a file in the same folder");
  }
  return sys::RealFs{}.Read(FolderOf(path) + "/" + name, kProgramLimit);
}

// A checkpoint holds the state by its names (docs/reference/step-format.md).
Status CheckStateNames(const Reader& reader, const StepProgram& program) {
  std::set<std::string_view> names;
  for (const TensorSpec& spec : program.state) {
    if (spec.name == "__metadata__") {
      return reader.Wrong("state",
                          "of tensors with names other than `__metadata__`, "
                          "which checkpoints reserve");
    }
    if (!names.insert(spec.name).second) {
      return reader.Wrong("state", "of tensors with different names; `" +
                                       Printable(spec.name) + "` occurs twice");
    }
  }
  return Ok();
}

// What must hold between the keys.
Status CheckWhole(const Reader& reader, const StepProgram& program) {
  for (const TensorSpec& spec : program.batch) {
    if (spec.shape.empty() ||
        spec.shape[0] != static_cast<std::int64_t>(program.local_batch)) {
      return reader.Wrong("batch",
                          "of tensors whose first dimension is "
                          "`local_batch`, " +
                              std::to_string(program.local_batch) + "; " +
                              ToString(spec) + " is not");
    }
  }
  if (program.metrics.empty()) {
    return reader.Wrong("metrics", "a list of at least one string");
  }
  return CheckStateNames(reader, program);
}

Status ReadPrograms(const std::string& path, const Json& json,
                    StepProgram& program) {
  const auto found = json.find("programs");
  if (found == json.end() || !found->is_object()) {
    return Reader(path, json).Wrong("programs", "an object of file names");
  }
  const Reader programs(path, *found);
  MUSTER_ASSIGN(program.initialize, ReadProgram(path, programs, "initialize"));
  if (found->contains("evaluate")) {
    MUSTER_ASSIGN(program.evaluate, ReadProgram(path, programs, "evaluate"));
  }
  if (program.form == StepForm::kSpmd) {
    MUSTER_ASSIGN(program.step, ReadProgram(path, programs, "step"));
    return Ok();
  }
  MUSTER_ASSIGN(program.gradient, ReadProgram(path, programs, "gradient"));
  MUSTER_ASSIGN(program.update, ReadProgram(path, programs, "update"));
  return Ok();
}

}  // namespace

Result<StepProgram> StepProgram::Open(const std::string& path) {
  MUSTER_ASSIGN(const std::string text,
                sys::RealFs{}.Read(path, kDescriptionLimit));
  MUSTER_ASSIGN(const Json json, ParseJson(text, Cause::kUsageInvalid, path));
  const Reader reader(path, json);
  MUSTER_ASSIGN(const std::string schema, reader.Text("schema"));
  if (schema != kSchema) {
    return reader.Wrong("schema", "`" + std::string(kSchema) + "`");
  }
  MUSTER_ASSIGN(const std::string form, reader.Text("form"));
  StepProgram program;
  if (form == "spmd") {
    program.form = StepForm::kSpmd;
    MUSTER_ASSIGN(const auto devices, reader.Count("devices", 1 << 16));
    program.devices = static_cast<int>(devices);
  } else if (form != "compose") {
    return reader.Wrong("form", "`compose` or `spmd`");
  }
  MUSTER_ASSIGN(program.local_batch, reader.Count("local_batch", kMaxSamples));
  MUSTER_ASSIGN(program.state, reader.Tensors("state"));
  MUSTER_ASSIGN(program.parameters,
                reader.Count("parameters", program.state.size()));
  MUSTER_ASSIGN(program.batch, reader.Tensors("batch"));
  MUSTER_ASSIGN(program.metrics, reader.Texts("metrics"));
  if (json.contains("scores")) {
    MUSTER_ASSIGN(program.scores, reader.Texts("scores"));
  }
  MUSTER_TRY(CheckWhole(reader, program));
  MUSTER_TRY(ReadPrograms(path, json, program));
  return program;
}

}  // namespace muster
