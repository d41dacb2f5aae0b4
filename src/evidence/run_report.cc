// SPDX-License-Identifier: Apache-2.0
// What a run has judged itself: the findings of its report.json.
#include "base/json.h"
#include "evidence/byte_sink.h"

namespace muster::evidence {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20;

class RunReport : public ByteSink {
 public:
  RunReport(std::string name, const Unpacking& unpacking)
      : name_(std::move(name)), unpacking_(unpacking) {}

  void Feed(std::string_view bytes) override {
    text_.append(bytes.substr(0, kMostBytes - text_.size()));
  }

  void End() override {
    const Json report = Json::parse(text_, nullptr, false);
    if (!report.is_object() || !report.contains("findings") ||
        !report["findings"].is_array()) {
      Note(unpacking_, name_ + ": a run's report that cannot be read");
      return;
    }
    CountRead(unpacking_, text_.size());
    for (const Json& one : report["findings"]) {
      if (auto finding = FindingFromJson(one)) {
        unpacking_.reported->push_back(*std::move(finding));
      }
    }
  }

 private:
  std::string name_;
  Unpacking unpacking_;
  std::string text_;
};

}  // namespace

std::unique_ptr<ByteSink> MakeRunReport(std::string name,
                                        const Unpacking& unpacking) {
  return std::make_unique<RunReport>(std::move(name), unpacking);
}

}  // namespace muster::evidence
