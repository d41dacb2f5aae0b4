// SPDX-License-Identifier: Apache-2.0
#include "channel/grpc/listener.h"

#include <grpcpp/health_check_service_interface.h>

#include <optional>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "channel/grpc/security.h"
#include "channel/grpc/stream.h"
#include "sys/net/acceptor.h"
#include "sys/net/socket_owner.h"

namespace muster::channel {
namespace {

// Ends the call at once.
class Refusing : public grpc::ServerBidiReactor<pb::Envelope, pb::Envelope> {
 public:
  explicit Refusing(grpc::Status status) { Finish(std::move(status)); }
  void OnDone() override { delete this; }
};

// What a listener bears of anybody, before and after it knows who it is.
void SetLimits(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(kMaxWire);
  builder.SetMaxSendMessageSize(kMaxWire);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 5'000);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, 30'000);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 16);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, 16 << 10);
}

// The loop's side of a listener: where accepted links go.
struct Door {
  Transport::OnLink on_link;
};

class AgentService : public pb::Agent::CallbackService {
 public:
  AgentService(const Serving& serving, const std::shared_ptr<Door>& door)
      : loop_(*serving.loop),
        clock_(*serving.clock),
        streams_(serving.streams),
        certificates_(serving.certificates),
        hello_(Dump(ToJson(serving.identity))),
        takes_links_(static_cast<bool>(door->on_link)),
        door_(door) {}

  grpc::ServerUnaryReactor* Identify(grpc::CallbackServerContext* context,
                                     const pb::IdentifyRequest*,
                                     pb::Identity* identity) override {
    identity->set_protocol(wire::kProtocol);
    identity->set_hello(hello_);
    auto* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  // The gate has let the caller through.
  grpc::ServerUnaryReactor* Join(grpc::CallbackServerContext* context,
                                 const pb::JoinRequest* request,
                                 pb::Admission* admission) override {
    auto* reactor = context->DefaultReactor();
    if (!takes_links_ || !certificates_) {
      reactor->Finish(
          {grpc::StatusCode::FAILED_PRECONDITION, "not the coordinator"});
      return reactor;
    }
    const auto admitted = certificates_->Admit(
        CertificateOf(*context->auth_context()), request->request());
    if (!admitted) {
      reactor->Finish(admitted.error().cause() == Cause::kNetWrongEndpoint
                          ? grpc::Status(grpc::StatusCode::INVALID_ARGUMENT,
                                         admitted.error().message())
                          : ToStatus(admitted.error()));
      return reactor;
    }
    admission->set_protocol(wire::kProtocol);
    admission->set_certificate(admitted->certificate);
    admission->set_run(admitted->run);
    admission->set_epoch(static_cast<std::uint32_t>(admitted->epoch));
    admission->set_run_key(admitted->run_key);
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  grpc::ServerBidiReactor<pb::Envelope, pb::Envelope>* Attend(
      grpc::CallbackServerContext* context) override {
    if (!takes_links_) {
      return new Refusing(
          {grpc::StatusCode::FAILED_PRECONDITION, "not the coordinator"});
    }
    std::optional<int> rank;
    std::function<void()> leave;
    if (certificates_) {
      const std::string shown = CertificateOf(*context->auth_context());
      rank = certificates_->Attends(shown, 1);
      leave = [certificates = certificates_, shown] {
        certificates->Attends(shown, -1);
      };
    }
    auto stream =
        std::make_shared<ServerStream>(loop_, clock_, streams_, context);
    std::string peer = Printable(context->peer());
    peer.erase(0, peer.find(':') + 1);  // "ipv4:127.0.0.1:41234"
    stream->Start(std::move(leave));
    loop_.Post([&loop = loop_, weak = door_, stream, peer, rank] {
      if (const auto door = weak.lock()) {
        door->on_link(std::make_unique<StreamLink>(loop, stream, peer, rank));
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
  const std::shared_ptr<CertificateStore> certificates_;  // null: clear text
  const std::string hello_;
  const bool takes_links_;
  const std::weak_ptr<Door> door_;  // used and let go on the loop only
};

using Entrance = grpc::experimental::ExternalConnectionAcceptor;

// Accepts for gRPC, whose own listener would stop for good when there are no
// descriptors left.
class GrpcListener : public Listener {
 public:
  GrpcListener(sys::Listening listening, bool own_user_only,
               std::shared_ptr<Door> door,
               std::unique_ptr<AgentService> service,
               std::unique_ptr<Entrance> entrance,
               std::unique_ptr<grpc::Server> server)
      : own_user_only_(own_user_only),
        door_(std::move(door)),
        service_(std::move(service)),
        entrance_(std::move(entrance)),
        server_(std::move(server)),
        acceptor_(std::in_place, std::move(listening),
                  [this](sys::Fd fd) { Enter(std::move(fd)); }) {}
  // Streams that are closed may end; others are cut off.
  ~GrpcListener() override {
    acceptor_.reset();
    server_->Shutdown(ForGrpc(Deadline::After(kLinger)));
  }
  Address address() const override { return acceptor_->address(); }

 private:
  // The acceptor's thread, both.
  bool IsOwnUser(int fd) {
    const auto user = sys::PeerUser(fd);
    if (user == sys::OwnUser()) {
      return true;
    }
    // One without a name has closed the connection again: a probe.
    if (user && refused_.insert(*user).second) {
      const std::string other = std::to_string(*user);
      MUSTER_LOG(kWarn,
                 "refused connections of another user of this host, who needs "
                 "the same `--token-file`",
                 {{"user", other},
                  {"listens_at", muster::ToString(acceptor_->address())}});
    }
    return false;
  }
  void Enter(sys::Fd fd) {
    if (own_user_only_ && !IsOwnUser(fd.get())) {
      return;
    }
    Entrance::NewConnectionParameters connection;
    connection.fd = fd.Release();
    entrance_->HandleNewConnection(&connection);
  }

  const bool own_user_only_;
  std::set<unsigned> refused_;  // the acceptor's thread
  const std::shared_ptr<Door> door_;
  const std::unique_ptr<AgentService> service_;
  const std::unique_ptr<Entrance> entrance_;
  const std::unique_ptr<grpc::Server> server_;
  std::optional<sys::Acceptor> acceptor_;  // its thread uses the rest
};

}  // namespace

Result<std::unique_ptr<Listener>> ServeAgents(Serving serving) {
  auto door = std::make_shared<Door>(Door{std::move(serving.on_link)});
  auto service = std::make_unique<AgentService>(serving, door);
  grpc::ServerBuilder builder;
  SetLimits(builder);
  auto entrance = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      serving.credentials);
  builder.RegisterService(service.get());
  auto server = builder.BuildAndStart();
  if (!server) {
    return Error(Cause::kInternalError, "gRPC could not start a server");
  }
  server->GetHealthCheckService()->SetServingStatus(
      pb::Agent::service_full_name(), true);
  return std::unique_ptr<Listener>(std::make_unique<GrpcListener>(
      std::move(serving.listening), serving.certificates == nullptr,
      std::move(door), std::move(service), std::move(entrance),
      std::move(server)));
}

}  // namespace muster::channel
