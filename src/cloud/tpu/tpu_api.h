// SPDX-License-Identifier: Apache-2.0
// The Cloud TPU API, v2: what it answers as values, what it refuses as causes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cloud/api/request_error.h"
#include "cloud/auth/credentials.h"
#include "cloud/tpu/tpu_node.h"
#include "muster/cluster.h"

namespace muster::cloud {

// All pages of a list; zones that did not answer are named.
template <typename T>
struct Listing {
  std::vector<T> items;
  std::vector<std::string> unreachable;
};

struct AcceleratorType {
  std::string name, zone;               // "v5litepod-8"
  std::vector<std::string> topologies;  // "2x4"
};
struct RuntimeVersion {
  std::string name, zone;
};

// What is asked for, as one node or as a queued resource with one.
struct NewTpu {
  std::string zone, name, type, version;
  std::string scheduling;  // "on-demand", "spot", "reserved"
  std::string request;     // its own id, which becomes a label
  // Of a queued resource: how long it may wait; zero: for ever.
  Duration valid{};
  std::string like;  // TpuNode::chosen of another; empty: as is usual
};

// Something that the cloud is doing.
struct Operation {
  std::string name;  // "projects/p/locations/z/operations/o"
  bool done = false;
  std::optional<Error> error;  // why it was done in vain
};

// One project. Zone "-" is all zones. Errors: what cloud/refused.h makes of a
// refusal (401 after one renewal of the token), what credentials and sys::Http
// say, net-wrong-endpoint for an answer that is no answer of the API. One
// thread at a time.
class TpuApi {
 public:
  TpuApi(const sys::Host& host, Credentials credentials,
         Sourced<std::string> project, Patience patience);

  Result<Listing<TpuNode>> Nodes(const std::string& zone);
  Result<TpuNode> Node(const std::string& zone, const std::string& name);
  Result<Listing<QueuedResource>> QueuedResources(const std::string& zone);
  Result<QueuedResource> QueuedResourceOf(const std::string& zone,
                                          const std::string& name);
  Result<Listing<AcceleratorType>> Types(const std::string& zone);
  Result<Listing<RuntimeVersion>> Versions(const std::string& zone);
  Result<std::vector<std::string>> Zones();

  // Each may be sent again after a failure: a name is taken once, an end is
  // an end. usage-invalid with the fact's status ALREADY_EXISTS: something has
  // the name.
  Result<Operation> CreateNode(const NewTpu& tpu);
  Result<Operation> CreateQueued(const NewTpu& tpu);
  Result<Operation> DeleteNode(const std::string& zone,
                               const std::string& name);
  // Its nodes, too.
  Result<Operation> DeleteQueued(const std::string& zone,
                                 const std::string& name);
  // `verb` is start or stop.
  Result<Operation> ChangeNode(const std::string& zone, const std::string& name,
                               const std::string& verb);
  // How an operation is getting on; `what` is what it is for, `type` the
  // accelerator's.
  Result<Operation> OperationOf(const std::string& operation,
                                const std::string& what,
                                const std::string& type = "");

  // One question to this or another of Google's services, with the same
  // credentials.
  Result<Json> Send(sys::HttpRequest request, Repeat repeat,
                    const Question& question);

  const Sourced<std::string>& project() const { return project_; }
  Credentials& credentials() { return credentials_; }
  Sender& sender() { return sender_; }
  const Sender& sender() const { return sender_; }

 private:
  // Every page of `kind` below `base`, in order.
  Result<Listing<Json>> All(const std::string& base, const std::string& kind,
                            const Question& question);
  Operation ToOperation(const Json& json, const Question& question);
  Result<Operation> Change(sys::HttpRequest request, const Question& question);
  Question Ask(std::string what, std::string permission,
               const std::string& zone) const;
  std::string Url(const std::string& zone) const;

  Credentials credentials_;
  Sourced<std::string> project_;
  Sender sender_;
};

}  // namespace muster::cloud
