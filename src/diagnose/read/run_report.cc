// SPDX-License-Identifier: Apache-2.0
#include "diagnose/read/run_report.h"

#include "base/json.h"
#include "base/json_fields.h"
#include "diagnose/match/log_scanner.h"

namespace muster::diagnose {
namespace {

constexpr std::size_t kMaxReport = std::size_t{16} << 20;

class RunReport : public ByteSink {
 public:
  RunReport(std::string name, const Unpacking& unpacking)
      : name_(std::move(name)), unpacking_(unpacking) {}

  void Feed(std::string_view bytes) override {
    text_.append(bytes.substr(0, kMaxReport - text_.size()));
  }

  void End() override {
    const auto report =
        ParseJson(text_, Cause::kFileCorrupt, "the report of a run");
    if (!report || !At(*report, {"findings"}).is_array()) {
      Note(unpacking_, name_ + ": an unreadable run report");
      return;
    }
    CountRead(unpacking_, text_.size());
    for (const Json& one : ListOf(*report, "findings")) {
      if (auto finding = FindingFromJson(one)) {
        unpacking_.reported->push_back(*std::move(finding));
      }
    }
    TakeEnd(At(*report, {"exit"}));
  }

 private:
  // {"code": 0, "origin": "program"}: what muster ended itself has a code of
  // muster. The run's logs lie in the same folder.
  void TakeEnd(const Json& exit) {
    const auto code = IntegerOf(At(exit, {"code"}));
    if (unpacking_.ends == nullptr || !code ||
        TextOf(exit, "origin") != "program") {
      return;
    }
    Fact end = ExitFact(std::to_string(*code), name_);
    const auto folder = name_.substr(0, name_.find_last_of("/:") + 1);
    end.fields["below"] = folder.empty() ? "./" : folder;
    unpacking_.ends->push_back(std::move(end));
  }

  std::string name_;
  Unpacking unpacking_;
  std::string text_;
};

}  // namespace

std::unique_ptr<ByteSink> MakeRunReport(std::string name,
                                        const Unpacking& unpacking) {
  return std::make_unique<RunReport>(std::move(name), unpacking);
}

}  // namespace muster::diagnose
