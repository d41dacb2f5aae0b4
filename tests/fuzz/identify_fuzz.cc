// SPDX-License-Identifier: Apache-2.0
// Servers of others, whatever they answer: the bytes are their answers in
// turn. Each begins with a byte (its length and whether it then closes) and,
// of a call, with another, its status.
#include <string>
#include <string_view>

#include "base/json.h"
#include "identify/service_probe.h"
#include "identify/target.h"
#include "identify/target_findings.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace muster::identify;  // NOLINT(google-build-using-namespace)

class Server : public ProbeConnection {
 public:
  explicit Server(std::string_view answers) : rest_(answers) {}

  ProbeReply Greeting() override { return Next(); }
  ProbeReply Say(std::string_view, std::size_t) override { return Next(); }
  std::optional<muster::channel::CallReply> Call(const std::string&,
                                                 const std::string&) override {
    constexpr int kStatuses = 18;  // one more than gRPC has
    if (rest_.empty()) {
      return std::nullopt;
    }
    const int code = static_cast<unsigned char>(rest_[0]) % kStatuses;
    rest_.remove_prefix(1);
    std::string bytes = Next().bytes;
    return muster::channel::CallReply{
        .code = code, .message = bytes, .body = bytes};
  }
  bool Later() override { return !rest_.empty(); }

 private:
  ProbeReply Next() {
    if (rest_.empty()) {
      return {.closed = true};
    }
    const auto first = static_cast<unsigned char>(rest_[0]);
    const std::string_view bytes = rest_.substr(1, first >> 1U);
    rest_.remove_prefix(1 + bytes.size());
    return {.bytes = std::string(bytes), .closed = (first & 1U) != 0};
  }

  std::string_view rest_;
};

}  // namespace

void Fuzz(const std::string& bytes) {
  if (bytes.empty()) {
    return;
  }
  constexpr const char* kExpected[] = {"", "tf", "jax", "grpc", "tcpstore"};
  const auto first = static_cast<unsigned char>(bytes[0]);
  TargetReply reply{.target = {.text = "10.0.0.2:8470",
                               .address = {.host = "10.0.0.2", .port = 8470},
                               .protocol = kExpected[first % 5],
                               .task = ServedTask{.job = "worker"}}};
  Server server(std::string_view(bytes).substr(1));
  reply.server = Recognize(server, reply.target.protocol);
  MUSTER_CHECK(!reply.server.protocol.empty());
  MUSTER_CHECK(!reply.server.text.empty());
  MUSTER_CHECK(reply.server.text.size() <= 4096);
  const std::vector<TargetReply> all{reply, reply};
  for (const muster::Finding& finding : JudgeTargets(all, 2, {})) {
    CheckPrintable(RenderText(finding, {}));
  }
  for (const std::string& line : LinesOf(all)) {
    CheckPrintable(line);
  }
  static_cast<void>(ToJson(reply).dump());
}
