// SPDX-License-Identifier: Apache-2.0
#include "channel/grpc/transport.h"

#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>

#include <map>
#include <set>
#include <utility>

#include "base/log.h"
#include "base/mutex.h"
#include "base/text.h"
#include "channel/evidence.h"
#include "channel/grpc/listener.h"
#include "channel/grpc/security.h"
#include "channel/grpc/stream.h"
#include "channel/tcp_probe.h"
#include "channel/worker_pool.h"
#include "sys/net/net.h"
#include "sys/net/socket_owner.h"

namespace muster::channel {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock::time_point;

constexpr std::size_t kMaxProbers = 32;
constexpr std::size_t kMaxWaiting = 1024;
// A look keeps so much of its time for finding out what else is there.
constexpr Duration kSecondProbe = milliseconds(400);
// And so much, where it is left, for trying with a token or without.
constexpr Duration kForTheOtherWay = milliseconds(400);

void LogOfGrpc(gpr_log_func_args* line) {
  MUSTER_LOG(kDebug, "grpc", {{"says", line->message}});
}

// An agent that is one of us says who it is by its certificate even where it
// does not answer the question.
Error WhyNotAnswered(const grpc::Status& status,
                     const std::optional<Subject>& who) {
  Error error = FromGrpc(status);
  if (who && error.cause() == Cause::kUsageInvalid) {
    return Error(Cause::kNetWrongEndpoint,
                 "the agent of " + Who(*who) + " responds at this address");
  }
  return error;
}

// The calls that pool threads wait in; they end when the transport does.
class Calls {
 public:
  // False when all is ending.
  bool Enter(grpc::ClientContext* context) {
    MutexLock lock(mutex_);
    if (!ending_) {
      live_.insert(context);
    }
    return !ending_;
  }
  void Leave(grpc::ClientContext* context) {
    MutexLock lock(mutex_);
    live_.erase(context);
  }
  void EndAll() {
    MutexLock lock(mutex_);
    ending_ = true;
    for (auto* context : live_) {
      context->TryCancel();
    }
  }

 private:
  Mutex mutex_;
  bool ending_ MUSTER_GUARDED_BY(mutex_) = false;
  std::set<grpc::ClientContext*> live_ MUSTER_GUARDED_BY(mutex_);
};

class GrpcTransport : public Transport {
 public:
  GrpcTransport(sys::Loop& loop, sys::Clock& clock,
                std::shared_ptr<CertificateStore> certificates)
      : loop_(loop),
        clock_(clock),
        certificates_(std::move(certificates)),
        pool_(kMaxProbers, kMaxWaiting) {}
  ~GrpcTransport() override;

  Result<std::unique_ptr<Listener>> Listen(const Address& address,
                                           wire::Hello identity,
                                           OnLink on_link) override;
  void Dial(const Address& address, Deadline deadline,
            std::function<void(Result<std::unique_ptr<Link>>)> done) override;
  void Identify(const Address& address, Deadline deadline,
                std::function<void(ProbeResult)> done) override;
  void BeginEpoch(int attempt) override {
    if (certificates_) {
      certificates_->BeginEpoch(attempt);
    }
  }

 private:
  struct Dialling {
    std::function<void(Result<std::unique_ptr<Link>>)> done;
    std::shared_ptr<ClientStream> stream;
    sys::Loop::Handle late;
  };

  // Pool threads.
  ProbeResult Look(const Address& address, Deadline deadline);
  Result<wire::Hello> Ask(const Address& address, Deadline deadline);
  Result<grpc::Status> Ask(const std::shared_ptr<grpc::Channel>& channel,
                           Deadline deadline, pb::Identity& identity);
  std::optional<Error> OneSidedToken(const Address& address, Deadline deadline);
  Status Join(const Address& address, Deadline deadline);
  Result<std::shared_ptr<grpc::Channel>> Open(
      const Address& address, CertificateStore::Expected expected,
      const std::shared_ptr<ServerSeen>& seen) const;
  // The listener is asked for, before and after the stream is open: accepted
  // connections have no owner until their process takes them.
  std::optional<Error> OtherUser(const Address& address) const {
    return certificates_
               ? std::nullopt
               : WhyNotOwnUser(address, sys::ListeningUser(address.port));
  }
  bool MaySpeakTo(const Address& address) const {
    return certificates_ != nullptr || address.IsLoopback();
  }

  // The loop.
  Error WhyNotListening(Error error, const Address& address,
                        const wire::Hello& identity);
  void Then(std::function<void()> task);
  void Connect(int id, const Address& at, const Address& address,
               Deadline deadline);
  void Dialled(int id, Result<std::unique_ptr<Link>> result);

  sys::Loop& loop_;
  sys::Clock& clock_;
  // Also of calls that end after it; null: clear text.
  const std::shared_ptr<CertificateStore> certificates_;
  const std::shared_ptr<Streams> streams_ = std::make_shared<Streams>();
  // Posted tasks ask whether the transport is still there. The loop's.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  const std::weak_ptr<bool> still_alive_ = alive_;
  // Callbacks stay on the loop; pool threads know their numbers only.
  int next_ = 0;
  std::map<int, std::function<void(ProbeResult)>> looks_;
  std::map<int, Dialling> dials_;
  Calls calls_;
  WorkerPool pool_;  // last: its threads use the rest
};

GrpcTransport::~GrpcTransport() {
  alive_.reset();
  calls_.EndAll();
  for (auto& [id, dial] : dials_) {
    if (dial.stream) {
      dial.stream->Abort();
    }
  }
  streams_->EndAll();
}

void GrpcTransport::Then(std::function<void()> task) {
  loop_.Post([alive = still_alive_, task = std::move(task)] {
    if (!alive.expired()) {
      task();
    }
  });
}

Result<std::unique_ptr<Listener>> GrpcTransport::Listen(const Address& address,
                                                        wire::Hello identity,
                                                        OnLink on_link) {
  if (!MaySpeakTo(address)) {
    return OnlyOnLoopback(address);
  }
  MUSTER_ASSIGN(const auto credentials, ToListen(certificates_));
  auto listening = sys::Listen(address);
  if (!listening) {
    return WhyNotListening(std::move(listening).error(), address, identity);
  }
  return ServeAgents({.loop = &loop_,
                      .clock = &clock_,
                      .certificates = certificates_,
                      .streams = streams_,
                      .listening = *std::move(listening),
                      .credentials = credentials,
                      .identity = std::move(identity),
                      .on_link = std::move(on_link)});
}

// A port that an agent holds tells more than the name of its process.
Error GrpcTransport::WhyNotListening(Error error, const Address& address,
                                     const wire::Hello& identity) {
  if (error.cause() != Cause::kNetPortInUse) {
    return error;
  }
  const auto until = Deadline::After(kSecondProbe);
  const auto reached = Reach(address, until);
  if (reached.nobody) {
    return error;
  }
  auto there = Ask(reached.at, until);
  return there ? WithFacts(TakenBy(*there, identity, address), error.evidence())
               : error;
}

void GrpcTransport::Identify(const Address& address, Deadline deadline,
                             std::function<void(ProbeResult)> done) {
  const int id = next_++;
  looks_[id] = std::move(done);
  const bool taken = pool_.Submit([this, id, address, deadline] {
    Then([this, id, seen = Look(address, deadline)] {
      const auto node = looks_.extract(id);
      node.mapped()(seen);
    });
  });
  if (!taken) {
    Then([this, id] {
      const auto node = looks_.extract(id);
      node.mapped()(Unlike(ProbeOutcome::kNoAnswer,
                           Error(Cause::kHostOverloaded,
                                 "too many addresses are being probed")));
    });
  }
}

ProbeResult GrpcTransport::Look(const Address& address, Deadline deadline) {
  const auto reached = Reach(address, deadline);
  if (reached.nobody) {
    return *reached.nobody;
  }
  if (!MaySpeakTo(address)) {
    return Unlike(ProbeOutcome::kClosed, OnlyOnLoopback(address));
  }
  if (auto other = OtherUser(reached.at)) {
    return Unlike(ProbeOutcome::kStranger, *std::move(other));
  }
  const auto closer = std::min(kSecondProbe, deadline.Remaining() / 2);
  auto hello = Ask(reached.at, Deadline::After(deadline.Remaining() - closer));
  if (hello) {
    return {.what = ProbeOutcome::kAgent,
            .agent = *std::move(hello),
            .error = std::nullopt};
  }
  switch (hello.error().cause()) {
    case Cause::kNetWrongEndpoint:
      return Unlike(ProbeOutcome::kForeign, std::move(hello).error());
    case Cause::kPeerDied:
    case Cause::kCancelled:
      break;
    default:
      return Unlike(ProbeOutcome::kStranger, std::move(hello).error());
  }
  if (deadline.Remaining() > closer + kForTheOtherWay) {
    if (auto why =
            OneSidedToken(reached.at, Deadline::After(kForTheOtherWay))) {
      return Unlike(ProbeOutcome::kStranger, *std::move(why));
    }
  }
  return ProbeAgain(address, deadline, clock_);
}

Result<std::shared_ptr<grpc::Channel>> GrpcTransport::Open(
    const Address& address, CertificateStore::Expected expected,
    const std::shared_ptr<ServerSeen>& seen) const {
  if (!certificates_) {
    return ChannelTo(address, grpc::InsecureChannelCredentials());
  }
  if (expected == CertificateStore::Expected::kAdmitter) {
    return ChannelTo(
        address, ToCall(certificates_, *certificates_->ForRendezvousClient(),
                        expected, seen));
  }
  MUSTER_ASSIGN(const Credential own, certificates_->ForCalling());
  return ChannelTo(address, ToCall(certificates_, own, expected, seen));
}

// net-wrong-endpoint: something that speaks gRPC is there, but no agent, or
// another one than its certificate is for. Else why one of us does not trust
// the other.
Result<wire::Hello> GrpcTransport::Ask(const Address& address,
                                       Deadline deadline) {
  const auto seen = std::make_shared<ServerSeen>();
  MUSTER_ASSIGN(const auto channel,
                Open(address, CertificateStore::Expected::kAnyone, seen));
  pb::Identity identity;
  MUSTER_ASSIGN(const auto status, Ask(channel, deadline, identity));
  if (auto why = seen->error()) {
    return *std::move(why);
  }
  if (!status.ok()) {
    return WhyNotAnswered(status, seen->subject());
  }
  return wire::ParseHello(identity.hello());
}

Result<grpc::Status> GrpcTransport::Ask(
    const std::shared_ptr<grpc::Channel>& channel, Deadline deadline,
    pb::Identity& identity) {
  grpc::ClientContext context;
  context.set_deadline(ForGrpc(deadline));
  if (certificates_) {
    SayWhere(context, *certificates_);
  }
  pb::IdentifyRequest request;
  request.set_protocol(wire::kProtocol);
  if (!calls_.Enter(&context)) {
    return Error(Cause::kCancelled, "the transport is shutting down");
  }
  const auto stub = pb::Agent::NewStub(channel);
  auto status = stub->Identify(&context, request, &identity);
  calls_.Leave(&context);
  return status;
}

// Where one of the two has a token and the other none, neither understands a
// word. Clear text is for the loopback interface here too.
std::optional<Error> GrpcTransport::OneSidedToken(const Address& address,
                                                  Deadline deadline) {
  if (!address.IsLoopback()) {
    return std::nullopt;
  }
  pb::Identity identity;
  const auto status =
      Ask(ChannelTo(address, certificates_ ? grpc::InsecureChannelCredentials()
                                           : ToBeRefused()),
          deadline, identity);
  if (certificates_ && status && status->ok()) {
    return Error(Cause::kVerPeerMismatch,
                 "the agent at this address has no token (`--token-file`), but "
                 "this one has");
  }
  if (!certificates_ && status && RefusalIn(*status)) {
    return Error(Cause::kVerPeerMismatch,
                 "the agent at this address has a token (`--token-file`), but "
                 "this one has none");
  }
  return std::nullopt;
}

// Asks the coordinator for the certificate of this member's slot. Errors as of
// Ask.
Status GrpcTransport::Join(const Address& address, Deadline deadline) {
  const auto seen = std::make_shared<ServerSeen>();
  MUSTER_ASSIGN(const auto channel,
                Open(address, CertificateStore::Expected::kCoordinator, seen));
  MUSTER_ASSIGN(CertificateRequest own, MakeRequest());
  grpc::ClientContext context;
  context.set_deadline(ForGrpc(deadline));
  pb::JoinRequest request;
  request.set_protocol(wire::kProtocol);
  request.set_request(own.request);
  pb::Admission admission;
  if (!calls_.Enter(&context)) {
    return Error(Cause::kCancelled, "the transport is shutting down");
  }
  const auto stub = pb::Agent::NewStub(channel);
  const auto status = stub->Join(&context, request, &admission);
  calls_.Leave(&context);
  if (auto why = seen->error()) {
    return *std::move(why);
  }
  if (!status.ok()) {
    return FromGrpc(status);
  }
  return certificates_->Join({.certificate = admission.certificate(),
                              .run = admission.run(),
                              .epoch = static_cast<int>(admission.epoch()),
                              .run_key = admission.run_key()},
                             std::move(own.key), seen->certificate());
}

void GrpcTransport::Dial(
    const Address& address, Deadline deadline,
    std::function<void(Result<std::unique_ptr<Link>>)> done) {
  const int id = next_++;
  dials_[id].done = std::move(done);
  if (!MaySpeakTo(address)) {
    Then([this, id, address] { Dialled(id, OnlyOnLoopback(address)); });
    return;
  }
  const bool taken = pool_.Submit([this, id, address, deadline] {
    const auto reached = Reach(address, deadline);
    std::optional<Error> failed;
    if (reached.nobody) {
      failed = reached.nobody->error;
    } else if (auto other = OtherUser(reached.at)) {
      failed = std::move(other);
    } else if (certificates_) {
      if (auto joined = Join(reached.at, deadline); !joined) {
        failed = std::move(joined).error();
      }
    }
    Then([this, id, at = reached.at, address, deadline, failed] {
      if (failed) {
        Dialled(id, *failed);
      } else {
        Connect(id, at, address, deadline);
      }
    });
  });
  if (!taken) {
    Then([this, id] {
      Dialled(id, Error(Cause::kHostOverloaded,
                        "too many connections are being opened"));
    });
  }
}

// `at`: where the address, which people know, was reached.
void GrpcTransport::Connect(int id, const Address& at, const Address& address,
                            Deadline deadline) {
  const auto channel = Open(at, CertificateStore::Expected::kAdmitter, nullptr);
  if (!channel) {
    Dialled(id, channel.error());
    return;
  }
  auto stream = std::make_shared<ClientStream>(loop_, clock_, streams_);
  Dialling& dial = dials_.at(id);
  dial.stream = stream;
  // The stream keeps the callback, so it must not keep the stream.
  stream->WhenOpen([this, alive = still_alive_, id, at,
                    address](std::optional<Error> failed) {
    if (alive.expired()) {
      return;
    }
    failed = failed ? std::move(failed) : OtherUser(at);
    if (failed) {
      Dialled(id, *std::move(failed));
      return;
    }
    Dialled(id, std::unique_ptr<Link>(std::make_unique<StreamLink>(
                    loop_, dials_.at(id).stream, muster::ToString(address))));
  });
  dial.late = loop_.After(deadline.Remaining(), [this, id, address] {
    const auto late = dials_.at(id).stream;
    late->WhenOpen(nullptr);
    late->Abort();
    Dialled(id, Error(Cause::kNetWrongEndpoint,
                      "`" + muster::ToString(address) +
                          "` accepts connections but does not respond like a "
                          "muster agent"));
  });
  stream->Start(*channel, certificates_.get());
}

void GrpcTransport::Dialled(int id, Result<std::unique_ptr<Link>> result) {
  const auto node = dials_.extract(id);
  node.mapped().done(std::move(result));
}

}  // namespace

Result<std::unique_ptr<Transport>> MakeGrpcTransport(
    sys::Loop& loop, sys::Clock& clock,
    std::shared_ptr<CertificateStore> certificates) {
  gpr_set_log_function(&LogOfGrpc);
  grpc::EnableDefaultHealthCheckService(true);
  return std::unique_ptr<Transport>(
      std::make_unique<GrpcTransport>(loop, clock, std::move(certificates)));
}

}  // namespace muster::channel
