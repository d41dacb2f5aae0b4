# SPDX-License-Identifier: Apache-2.0
"""The state behind the API: nodes, queued resources, operations, quota and
capacity. What time does to them is worked out when somebody looks."""
import re
import threading
import uuid
import zlib

from . import answers
from .catalogue import Catalogue
from .virtual_clock import timestamp

NODE_ID = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
CREATE_S, DELETE_S, START_S, STOP_S = 180, 60, 60, 45
QUEUE_S = 600  # how long a queued resource waits before it is served
# States in which a queued resource can be deleted without force.
REMOVABLE = {"ACCEPTED", "WAITING_FOR_RESOURCES", "FAILED", "SUSPENDED"}


class Timeline:
    """States, each from a moment on."""

    def __init__(self, *steps):
        self.steps = list(steps)  # (second, state)

    def state(self, now):
        return [state for at, state in self.steps if at <= now][-1]

    def set(self, now, *steps):
        """From now on; what was planned is forgotten."""
        self.steps = [step for step in self.steps if step[0] <= now]
        self.steps += steps


class Node:
    def __init__(self, name, spec, timeline, born):
        self.name = name  # projects/P/locations/Z/nodes/N
        self.spec = spec
        self.timeline = timeline
        self.born = born
        self.health = "HEALTHY"
        self.symptoms = []
        self.queued = None


class Queued:
    def __init__(self, name, spec, timeline, born):
        self.name = name
        self.spec = spec
        self.timeline = timeline
        self.born = born
        self.nodes = []  # (project's parent, id, spec)
        self.error = None


class Operation:
    def __init__(self, name, target, verb, born, done_at, error=None,
                 response=None):
        self.name, self.target, self.verb = name, target, verb
        self.born, self.done_at = born, done_at
        self.error, self.response = error, response
        self.cancelled = False


class Cloud:
    """One project per name, all with the same catalogue. Any thread."""

    def __init__(self, clock):
        self.clock = clock
        self.catalogue = Catalogue()
        self.lock = threading.RLock()
        self.nodes = {}
        self.queued = {}
        self.operations = {}
        self.by_request = {}  # requestId -> operation's name
        self.projects = {"p": "123456789012"}  # id -> number
        self.disabled = set()  # projects where the API is off
        self.unbilled = set()
        self.unreachable = set()  # zones
        self.capacity = {}  # (zone, type) -> how many; absent: enough
        self.quota = {}  # (metric, region) -> limit; absent: enough
        self.half_finished = set()  # ids whose creation fails and leaves them
        self.sick = {}  # id -> health once READY
        self.addresses = {}  # id -> those of its hosts, inside and outside
        self.busy = set()  # ids that cannot be deleted while CREATING
        self.doomed = {}  # id -> seconds after READY until it is preempted
        self.made = []  # names of all nodes that were ever created

    # What tests arrange.

    def add_node(self, zone, node_id, accelerator, project="p", **changes):
        """A node that has been READY for an hour; state=… for another."""
        spec = {"acceleratorType": accelerator,
                "runtimeVersion": "tpu-ubuntu2204-base"}
        state = changes.pop("state", "READY")
        health = changes.pop("health", "HEALTHY")
        spec.update(changes)
        name = f"projects/{project}/locations/{zone}/nodes/{node_id}"
        born = self.clock.now() - 3600
        node = Node(name, spec, Timeline((born, state)), born)
        node.health = health
        self.nodes[name] = node
        return node

    def preempt(self, name):
        with self.lock:
            node = self.nodes[name]
            now = self.clock.now()
            node.timeline.set(now, (now, "PREEMPTED"))
            if node.queued:
                node.queued.timeline.set(now, (now, "SUSPENDING"),
                                         (now + 30, "SUSPENDED"))

    def restock(self, zone, accelerator, count):
        """So many more from now on: those that wait there get them first."""
        with self.lock:
            self.settle()
            self.capacity[zone, accelerator] += count
            self.serve(zone, accelerator)

    # What the API does.

    def check_project(self, project):
        if project not in self.projects:
            raise answers.Refusal(
                7, f"Read access to project '{project}' was denied")
        if project in self.disabled:
            raise answers.service_disabled(self.projects[project])
        if project in self.unbilled:
            raise answers.billing_disabled(self.projects[project])

    def check_zone(self, project, zone):
        if zone not in self.catalogue.zones:
            raise answers.Refusal(
                7, f"Permission denied on 'locations/{zone}' (or it may not "
                "exist).", answers.error_info("IAM_PERMISSION_DENIED",
                                              "iam.googleapis.com"))
        if zone in self.unreachable:
            raise answers.unavailable()

    def settle(self):
        """What has happened by itself since somebody last looked."""
        now = self.clock.now()
        for name, queued in list(self.queued.items()):
            state = queued.timeline.state(now)
            if state == "ACTIVE" and queued.nodes:
                for parent, node_id, spec in queued.nodes:
                    full = f"{parent}/nodes/{node_id}"
                    node = Node(full, spec, Timeline((now, "READY")), now)
                    node.queued = queued
                    self.nodes[full] = node
                    self.made.append(full)
                queued.nodes = []
            if state == "GONE":
                del self.queued[name]
        for name, node in list(self.nodes.items()):
            if node.timeline.state(now) == "GONE":
                del self.nodes[name]

    def serve(self, zone, accelerator):
        """Those that wait there get what there is, in turn."""
        now = self.clock.now()
        for queued in self.queued.values():
            if (queued.timeline.state(now) == "WAITING_FOR_RESOURCES" and
                    queued.name.split("/")[3] == zone and queued.nodes and
                    queued.nodes[0][2]["acceleratorType"] == accelerator and
                    self.capacity[zone, accelerator] > 0):
                self.capacity[zone, accelerator] -= 1
                queued.timeline.set(now, (now, "PROVISIONING"),
                                    (now + CREATE_S, "ACTIVE"))

    def node_json(self, node):
        now = self.clock.now()
        state = node.timeline.state(now)
        accelerator = node.spec["acceleratorType"]
        json = {"name": node.name, "state": state, **node.spec,
                "id": str(zlib.crc32(node.name.encode())),
                "apiVersion": "V2", "createTime": timestamp(node.born),
                "acceleratorConfig": {
                    "type": self.catalogue.kind(accelerator),
                    "topology": self.catalogue.topology(accelerator)}}
        json.setdefault("networkConfig", {
            "network": "projects/p/global/networks/default",
            "enableExternalIps": True})
        if node.symptoms:
            json["symptoms"] = node.symptoms
        if node.queued:
            json["queuedResource"] = node.queued.name
        if state in ("READY", "PREEMPTED", "RESTARTING", "REPAIRING"):
            json["health"] = self.sick.get(node.name.split("/")[-1],
                                           node.health)
            hosts = range(2, self.catalogue.hosts(accelerator) + 2)
            pairs = [(one, one) for one in self.addresses.get(
                node.name.split("/")[-1], [])] or [
                    (f"10.164.0.{i}", f"198.51.100.{i}") for i in hosts]
            json["networkEndpoints"] = node.spec.get("networkEndpoints") or [
                {"ipAddress": inside, "port": 8470,
                 "accessConfig": {"externalIp": outside}}
                for inside, outside in pairs]
        return json

    def queued_json(self, queued):
        now = self.clock.now()
        state = queued.timeline.state(now)
        json = {"name": queued.name, **queued.spec,
                "createTime": timestamp(queued.born),
                "state": {"state": state, "stateInitiator": "SERVICE"}}
        if state == "FAILED" and queued.error:
            json["state"]["failedData"] = {"error": queued.error.status()}
        return json

    def operation_json(self, operation):
        now = self.clock.now()
        done = operation.cancelled or now >= operation.done_at
        json = {"name": operation.name, "done": done,
                "metadata": {
                    "@type": "type.googleapis.com/google.cloud.tpu.v2"
                             ".OperationMetadata",
                    "createTime": timestamp(operation.born),
                    "target": operation.target, "verb": operation.verb,
                    "apiVersion": "v2",
                    "cancelRequested": operation.cancelled}}
        if not done:
            return json
        json["metadata"]["endTime"] = timestamp(operation.done_at)
        if operation.cancelled:
            json["error"] = {"code": 1, "message": "the operation was "
                                                   "cancelled"}
        elif operation.error:
            json["error"] = operation.error.status()
        else:
            json["response"] = operation.response()
        return json

    def start_operation(self, target, verb, seconds, error=None,
                        response=None):
        now = self.clock.now()
        base = "/".join(target.split("/")[:4])
        name = f"{base}/operations/operation-{uuid.uuid4().hex[:12]}"
        empty = {"@type": "type.googleapis.com/google.protobuf.Empty"}
        operation = Operation(name, target, verb, now, now + seconds, error,
                              response or (lambda: empty))
        self.operations[name] = operation
        return operation

    def find(self, kind, name):
        self.settle()
        if name not in kind:
            raise answers.not_found(name)
        return kind[name]

    def check_spec(self, parent, node_id, spec):
        zone = parent.split("/")[3]
        accelerator = spec.get("acceleratorType", "")
        if not NODE_ID.fullmatch(node_id):
            raise answers.Refusal(
                3, f'Invalid resource field value "{node_id}" in the request.',
                {"@type": answers.TYPES + "BadRequest", "fieldViolations": [
                    {"field": "nodeId", "description": "invalid resource id"}]})
        if not self.catalogue.offers(zone, accelerator):
            raise answers.type_not_found(accelerator, zone)
        if spec.get("runtimeVersion") not in self.catalogue.version_names(
                zone):
            raise answers.version_not_found(spec.get("runtimeVersion"))
        region = zone.rsplit("-", 1)[0]
        metric = self.metric(spec)
        limit = self.quota.get((metric, region))
        if limit is not None and self.used(metric, region) >= limit:
            raise answers.no_quota(metric, limit, region)

    def metric(self, spec):
        kind = spec["acceleratorType"].split("-")[0].upper()
        scheduling = spec.get("schedulingConfig", {})
        spot = scheduling.get("spot") or scheduling.get("preemptible")
        return (f"TPU{kind}{'Preemptible' if spot else ''}"
                "PerProjectPerRegionForTPUAPI")

    def used(self, metric, region):
        # What was preempted still counts.
        return sum(1 for node in self.nodes.values()
                   if self.metric(node.spec) == metric and
                   node.name.split("/")[3].rsplit("-", 1)[0] == region)

    def take_capacity(self, zone, spec):
        """None, or why there is none."""
        key = (zone, spec["acceleratorType"])
        if spec.get("schedulingConfig", {}).get("reserved"):
            return answers.no_reservation()
        if key not in self.capacity:
            return None
        if self.capacity[key] <= 0:
            return answers.stock_out(zone)
        self.capacity[key] -= 1
        return None

    def create_node(self, parent, node_id, spec, request_id=""):
        self.settle()
        if request_id and request_id in self.by_request:
            return self.operation_json(
                self.operations[self.by_request[request_id]])
        self.check_spec(parent, node_id, spec)
        name = f"{parent}/nodes/{node_id}"
        if name in self.nodes:
            raise answers.already_exists(name)
        now = self.clock.now()
        error = self.take_capacity(parent.split("/")[3], spec)
        steps = [(now, "CREATING"), (now + CREATE_S, "READY")]
        if node_id in self.half_finished:
            error = error or answers.Refusal(
                13, "Internal error while creating the node " + answers.EID)
            steps = [(now, "CREATING")]
        elif error:
            steps = [(now, "CREATING"), (now + CREATE_S, "GONE")]
        elif node_id in self.doomed:
            steps.append((now + CREATE_S + self.doomed[node_id], "PREEMPTED"))
        node = Node(name, spec, Timeline(*steps), now)
        self.nodes[name] = node
        self.made.append(name)
        kind = "type.googleapis.com/google.cloud.tpu.v2.Node"
        operation = self.start_operation(
            name, "create", CREATE_S, error,
            lambda: {"@type": kind, **self.node_json(node)})
        if request_id:
            self.by_request[request_id] = operation.name
        return self.operation_json(operation)

    def delete_node(self, name):
        node = self.find(self.nodes, name)
        if node.queued:
            raise answers.Refusal(
                9, f"Node {name} is managed by the queued resource "
                f"{node.queued.name} and cannot be deleted by itself.")
        now = self.clock.now()
        state = node.timeline.state(now)
        if state == "CREATING" and name.split("/")[-1] in self.busy:
            raise answers.Refusal(
                9, f"Cannot delete node {name} in state {state}.")
        node.timeline.set(now, (now, "DELETING"), (now + DELETE_S, "GONE"))
        return self.operation_json(
            self.start_operation(name, "delete", DELETE_S))

    def change_node(self, name, verb):
        node = self.find(self.nodes, name)
        now = self.clock.now()
        needed, going, end, seconds = {
            "stop": ("READY", "STOPPING", "STOPPED", STOP_S),
            "start": ("STOPPED", "STARTING", "READY", START_S)}[verb]
        state = node.timeline.state(now)
        if self.catalogue.hosts(node.spec["acceleratorType"]) > 1:
            raise answers.Refusal(
                9, f"Cannot {verb} a TPU with more than one host.")
        if state != needed:
            raise answers.Refusal(
                9, f"Cannot {verb} node {name} in state {state}.")
        node.timeline.set(now, (now, going), (now + seconds, end))
        kind = "type.googleapis.com/google.cloud.tpu.v2.Node"
        return self.operation_json(self.start_operation(
            name, verb, seconds, None,
            lambda: {"@type": kind, **self.node_json(node)}))

    def create_queued(self, parent, queued_id, spec, request_id=""):
        self.settle()
        if request_id and request_id in self.by_request:
            return self.operation_json(
                self.operations[self.by_request[request_id]])
        name = f"{parent}/queuedResources/{queued_id}"
        if name in self.queued:
            raise answers.already_exists(name)
        now = self.clock.now()
        queued = Queued(name, spec, Timeline((now, "CREATING")), now)
        zone = parent.split("/")[3]
        for one in spec["tpu"]["nodeSpec"]:
            self.check_spec(parent, one["nodeId"], one["node"])
            node = dict(one["node"])
            if "spot" in spec:
                node["schedulingConfig"] = {"spot": True}
            queued.nodes.append((parent, one["nodeId"], node))
        key = (zone, queued.nodes[0][2]["acceleratorType"])
        waiting = (now + 5, "WAITING_FOR_RESOURCES")
        if self.capacity.get(key, 1) > 0:
            queued.timeline.set(now, waiting,
                                (now + QUEUE_S, "PROVISIONING"),
                                (now + QUEUE_S + CREATE_S, "ACTIVE"))
        else:
            queued.timeline.set(now, waiting)
            valid = spec.get("queueingPolicy", {}).get("validUntilDuration")
            if valid:
                queued.error = answers.stock_out(zone)
                queued.timeline.set(
                    now, waiting, (now + float(valid.rstrip("s")), "FAILED"))
        self.queued[name] = queued
        kind = "type.googleapis.com/google.cloud.tpu.v2.QueuedResource"
        operation = self.start_operation(
            name, "create", 5, None,
            lambda: {"@type": kind, **self.queued_json(queued)})
        if request_id:
            self.by_request[request_id] = operation.name
        return self.operation_json(operation)

    def delete_queued(self, name, force):
        queued = self.find(self.queued, name)
        now = self.clock.now()
        state = queued.timeline.state(now)
        if state not in REMOVABLE and not force:
            raise answers.Refusal(
                9, f"Queued resource {name} in state {state} cannot be "
                "deleted. Delete its nodes first, or use force.")
        queued.nodes = []
        queued.timeline.set(now, (now, "DELETING"), (now + DELETE_S, "GONE"))
        for node in self.nodes.values():
            if node.queued is queued:
                node.timeline.set(now, (now, "DELETING"),
                                  (now + DELETE_S, "GONE"))
        return self.operation_json(
            self.start_operation(name, "delete", DELETE_S))

    def left_over(self):
        """Names of all that would still cost."""
        with self.lock:
            self.settle()
            return sorted([*self.nodes, *self.queued])
