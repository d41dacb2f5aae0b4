// SPDX-License-Identifier: Apache-2.0
#include "connect/grpc_transport.h"

#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>

#include <map>
#include <set>
#include <utility>

#include "base/log.h"
#include "base/mutex.h"
#include "base/text.h"
#include "connect/evidence.h"
#include "connect/greeting.h"
#include "connect/grpc_stream.h"
#include "connect/look.h"
#include "connect/worker_pool.h"
#include "sys/net.h"

namespace muster::connect {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock::time_point;

constexpr std::size_t kLookers = 32;
constexpr std::size_t kMostWaiting = 1024;
// A look keeps so much of its time for finding out what else is there.
constexpr Duration kForACloserLook = milliseconds(400);

std::chrono::system_clock::time_point ForGrpc(Deadline deadline) {
  return std::chrono::system_clock::now() +
         std::chrono::duration_cast<std::chrono::system_clock::duration>(
             deadline.Remaining());
}

Error OnlyOnLoopback(const Address& address) {
  return Error(Cause::kUsageInvalid,
               "`" + Printable(muster::ToText(address)) +
                   "` is not on the loopback interface (`localhost`, "
                   "127.0.0.0/8, `::1`): agents talk in clear text so far and "
                   "therefore only there; start all ranks on one host with "
                   "`-n N`, or wait for the secured channel of a later "
                   "version");
}

void LogOfGrpc(gpr_log_func_args* line) {
  MUSTER_LOG(kDebug, "grpc", {{"says", line->message}});
}

// Ends the call at once.
class Refusing : public grpc::ServerBidiReactor<pb::Envelope, pb::Envelope> {
 public:
  explicit Refusing(grpc::Status status) { Finish(std::move(status)); }
  void OnDone() override { delete this; }
};

// The loop's side of a listener: where accepted links go.
struct Door {
  Transport::OnLink on_link;
};

class AgentService : public pb::Agent::CallbackService {
 public:
  AgentService(sys::Loop& loop, sys::Clock& clock,
               std::shared_ptr<Streams> streams, const Hello& identity,
               const std::shared_ptr<Door>& door)
      : loop_(loop),
        clock_(clock),
        streams_(std::move(streams)),
        hello_(HelloMessage(kIdentity, identity).body),
        takes_links_(static_cast<bool>(door->on_link)),
        door_(door) {}

  grpc::ServerUnaryReactor* Identify(grpc::CallbackServerContext* context,
                                     const pb::IdentifyRequest*,
                                     pb::Identity* identity) override {
    identity->set_protocol(kProtocol);
    identity->set_hello(hello_);
    auto* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  grpc::ServerBidiReactor<pb::Envelope, pb::Envelope>* Attend(
      grpc::CallbackServerContext* context) override {
    if (!takes_links_) {
      return new Refusing(
          {grpc::StatusCode::FAILED_PRECONDITION, "not the coordinator"});
    }
    auto stream =
        std::make_shared<ServerStream>(loop_, clock_, streams_, context);
    std::string peer = Printable(context->peer());
    peer.erase(0, peer.find(':') + 1);  // "ipv4:127.0.0.1:41234"
    stream->Start();
    loop_.Post([&loop = loop_, weak = door_, stream, peer] {
      if (const auto door = weak.lock()) {
        door->on_link(std::make_unique<StreamLink>(loop, stream, peer));
      } else {
        stream->Abort();
      }
    });
    return stream.get();
  }

 private:
  sys::Loop& loop_;
  sys::Clock& clock_;
  const std::shared_ptr<Streams> streams_;
  const std::string hello_;
  const bool takes_links_;
  const std::weak_ptr<Door> door_;  // used and let go on the loop only
};

class GrpcListener : public Listener {
 public:
  GrpcListener(Address address, std::shared_ptr<Door> door,
               std::unique_ptr<AgentService> service,
               std::unique_ptr<grpc::Server> server)
      : address_(std::move(address)),
        door_(std::move(door)),
        service_(std::move(service)),
        server_(std::move(server)) {}
  // Streams that are closed may end; others are cut off.
  ~GrpcListener() override {
    server_->Shutdown(ForGrpc(Deadline::After(kLinger)));
  }
  Address address() const override { return address_; }

 private:
  const Address address_;
  const std::shared_ptr<Door> door_;
  const std::unique_ptr<AgentService> service_;
  const std::unique_ptr<grpc::Server> server_;
};

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
  GrpcTransport(sys::Loop& loop, sys::Clock& clock)
      : loop_(loop), clock_(clock), pool_(kLookers, kMostWaiting) {}
  ~GrpcTransport() override;

  Result<std::unique_ptr<Listener>> Listen(const Address& address,
                                           Hello identity,
                                           OnLink on_link) override;
  void Dial(const Address& address, Deadline deadline,
            std::function<void(Result<std::unique_ptr<Link>>)> done) override;
  void Identify(const Address& address, Deadline deadline,
                std::function<void(Sighting)> done) override;

 private:
  struct Dialling {
    std::function<void(Result<std::unique_ptr<Link>>)> done;
    std::shared_ptr<ClientStream> stream;
    sys::Loop::Handle late;
  };

  // Pool threads.
  Sighting Look(const Address& address, Deadline deadline);
  Result<Hello> Ask(const Address& address, Deadline deadline);

  // The loop.
  Error WhyNotListening(Error error, const Address& address,
                        const Hello& identity);
  void Then(std::function<void()> task);
  void Connect(int id, const Address& address, Deadline deadline);
  void Dialled(int id, Result<std::unique_ptr<Link>> result);

  sys::Loop& loop_;
  sys::Clock& clock_;
  const std::shared_ptr<Streams> streams_ = std::make_shared<Streams>();
  // Posted tasks ask whether the transport is still there. The loop's.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  const std::weak_ptr<bool> still_alive_ = alive_;
  // Callbacks stay on the loop; pool threads know their numbers only.
  int next_ = 0;
  std::map<int, std::function<void(Sighting)>> looks_;
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
                                                        Hello identity,
                                                        OnLink on_link) {
  if (!address.IsLoopback()) {
    return OnlyOnLoopback(address);
  }
  if (address.port != 0) {
    // gRPC says that it failed, not why: ask the kernel first. What it gave is
    // closed again before gRPC binds.
    if (auto free = sys::Listen(address); !free) {
      return WhyNotListening(std::move(free).error(), address, identity);
    }
  }
  auto door = std::make_shared<Door>(Door{std::move(on_link)});
  auto service =
      std::make_unique<AgentService>(loop_, clock_, streams_, identity, door);
  grpc::ServerBuilder builder;
  // Two agents at one address would share its connections.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxReceiveMessageSize(kMaxWire);
  builder.SetMaxSendMessageSize(kMaxWire);
  int port = 0;
  builder.AddListeningPort(muster::ToText(address),
                           grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(service.get());
  auto server = builder.BuildAndStart();
  if (!server || port == 0) {
    return WhyNotListening(Error(Cause::kNetPortInUse,
                                 "cannot listen at " + muster::ToText(address) +
                                     ": the port was taken in this moment"),
                           address, identity);
  }
  Address taken = address;
  taken.port = static_cast<std::uint16_t>(port);
  return std::unique_ptr<Listener>(
      std::make_unique<GrpcListener>(std::move(taken), std::move(door),
                                     std::move(service), std::move(server)));
}

// A port that an agent holds tells more than the name of its process.
Error GrpcTransport::WhyNotListening(Error error, const Address& address,
                                     const Hello& identity) {
  if (error.cause() != Cause::kNetPortInUse) {
    return error;
  }
  auto there = Ask(address, Deadline::After(kForACloserLook));
  return there ? WithFacts(TakenBy(*there, identity, address), error.evidence())
               : error;
}

void GrpcTransport::Identify(const Address& address, Deadline deadline,
                             std::function<void(Sighting)> done) {
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
      node.mapped()(Unlike(
          Sight::kNoAnswer,
          Error(Cause::kHostOverloaded, "too many addresses are looked at")));
    });
  }
}

Sighting GrpcTransport::Look(const Address& address, Deadline deadline) {
  if (auto nobody = Reach(address, deadline)) {
    return *std::move(nobody);
  }
  if (!address.IsLoopback()) {
    return Unlike(Sight::kClosed, OnlyOnLoopback(address));
  }
  const auto closer = std::min(kForACloserLook, deadline.Remaining() / 2);
  auto hello = Ask(address, Deadline::After(deadline.Remaining() - closer));
  if (hello) {
    return {.what = Sight::kAgent,
            .agent = *std::move(hello),
            .error = std::nullopt};
  }
  if (hello.error().cause() == Cause::kNetWrongEndpoint) {
    return Unlike(Sight::kForeign, std::move(hello).error());
  }
  return LookCloser(address, deadline, clock_);
}

// net-wrong-endpoint: something that speaks gRPC is there, but no agent.
Result<Hello> GrpcTransport::Ask(const Address& address, Deadline deadline) {
  grpc::ClientContext context;
  context.set_deadline(ForGrpc(deadline));
  pb::IdentifyRequest request;
  request.set_protocol(kProtocol);
  pb::Identity identity;
  if (!calls_.Enter(&context)) {
    return Error(Cause::kCancelled, "the transport ends");
  }
  const auto stub = pb::Agent::NewStub(ChannelTo(address));
  const auto status = stub->Identify(&context, request, &identity);
  calls_.Leave(&context);
  if (!status.ok()) {
    return FromGrpc(status);
  }
  return ParseHello(identity.hello());
}

void GrpcTransport::Dial(
    const Address& address, Deadline deadline,
    std::function<void(Result<std::unique_ptr<Link>>)> done) {
  const int id = next_++;
  dials_[id].done = std::move(done);
  if (!address.IsLoopback()) {
    Then([this, id, address] { Dialled(id, OnlyOnLoopback(address)); });
    return;
  }
  const bool taken = pool_.Submit([this, id, address, deadline] {
    Then([this, id, address, deadline, nobody = Reach(address, deadline)] {
      if (nobody) {
        Dialled(id, *nobody->error);
      } else {
        Connect(id, address, deadline);
      }
    });
  });
  if (!taken) {
    Then([this, id] {
      Dialled(id,
              Error(Cause::kHostOverloaded, "too many addresses are dialled"));
    });
  }
}

void GrpcTransport::Connect(int id, const Address& address, Deadline deadline) {
  auto stream = std::make_shared<ClientStream>(loop_, clock_, streams_);
  Dialling& dial = dials_.at(id);
  dial.stream = stream;
  // The stream keeps the callback, so it must not keep the stream.
  stream->WhenOpen(
      [this, alive = still_alive_, id, address](std::optional<Error> failed) {
        if (alive.expired()) {
          return;
        }
        if (failed) {
          Dialled(id, *std::move(failed));
          return;
        }
        Dialled(id, std::unique_ptr<Link>(std::make_unique<StreamLink>(
                        loop_, dials_.at(id).stream, muster::ToText(address))));
      });
  dial.late = loop_.After(deadline.Remaining(), [this, id, address] {
    const auto late = dials_.at(id).stream;
    late->WhenOpen(nullptr);
    late->Abort();
    Dialled(id, Error(Cause::kNetWrongEndpoint,
                      "`" + muster::ToText(address) +
                          "` takes connections and does not answer as an "
                          "agent does"));
  });
  stream->Start(address);
}

void GrpcTransport::Dialled(int id, Result<std::unique_ptr<Link>> result) {
  const auto node = dials_.extract(id);
  node.mapped().done(std::move(result));
}

}  // namespace

Result<std::unique_ptr<Transport>> MakeGrpcTransport(sys::Loop& loop,
                                                     sys::Clock& clock) {
  gpr_set_log_function(&LogOfGrpc);
  return std::unique_ptr<Transport>(
      std::make_unique<GrpcTransport>(loop, clock));
}

}  // namespace muster::connect
