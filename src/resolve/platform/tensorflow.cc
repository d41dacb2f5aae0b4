// SPDX-License-Identifier: Apache-2.0
#include "resolve/platform/tensorflow.h"

namespace muster::resolve {
namespace {

constexpr const char* kRequest = "request";

Status TakeMaster(const Request& request, const MasterRules& rules,
                  Claim& claim) {
  if (claim.master) {
    return Ok();  // told by the source itself
  }
  if (!claim.tasks || (rules.one_task_is_local && claim.tasks->IsOneTask())) {
    claim.master = Sourced<std::string>{"", "one task"};
    return Ok();
  }
  const MasterRequest& asked = request.master;
  std::optional<std::string> type = asked.task_type;
  std::optional<int> index = asked.task_id;
  if (!type && claim.task_type) {
    type = claim.task_type->value;
  }
  if (!index && claim.task_id) {
    index = claim.task_id->value;
  }
  if (!type || !index) {
    claim.master = Sourced<std::string>{"", "no task is told"};
    return Ok();
  }
  MUSTER_ASSIGN(const auto address, claim.tasks->AddressOf(*type, *index));
  const std::string layer =
      asked.rpc_layer.value_or(claim.rpc_layer ? claim.rpc_layer->value : "");
  claim.master = Sourced<std::string>{
      MasterUrl(address, layer),
      "address of " + *type + " " + std::to_string(*index)};
  return Ok();
}

}  // namespace

Status ApplyTensorflow(const Request& request, const MasterRules& rules,
                       Claim& claim) {
  if (request.task_type) {
    claim.task_type = Sourced<std::string>{*request.task_type, kRequest};
  }
  if (request.task_id) {
    claim.task_id = Sourced<int>{*request.task_id, kRequest};
  }
  if (request.rpc_layer) {
    claim.rpc_layer = Sourced<std::string>{*request.rpc_layer, kRequest};
  }
  if (rules.default_type != nullptr && !claim.task_type) {
    claim.task_type = Sourced<std::string>{rules.default_type, "default of tf"};
  }
  if (rules.default_type != nullptr && !claim.task_id) {
    claim.task_id = Sourced<int>{0, "default of tf"};
  }
  return TakeMaster(request, rules, claim);
}

}  // namespace muster::resolve
