#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds tests/fakes/tpu_api to the truth: google-cloud-tpu over REST and
google-auth, unchanged, find there what they expect of Google."""
import json
import os
import subprocess
import unittest
from unittest import mock

import google.auth
import google.auth.exceptions
import google.auth.transport.requests
import requests
from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import tpu_v2
from google.oauth2.credentials import Credentials as UserCredentials

from fake_google import HANGS, WithFake

# pylint: disable=wrong-import-order
from tpu_api import Reply, answers
from tpu_api.identity import SCOPE

PLACE = "projects/p/locations/us-west4-a"


class OfGoogle(WithFake):
    def setUp(self):
        super().setUp()
        os.environ.update(REQUESTS_CA_BUNDLE=self.api.ca,
                          GOOGLE_CLOUD_PROJECT="p")


class Client(OfGoogle):
    """google-cloud-tpu, REST, v2."""

    def setUp(self):
        super().setUp()
        self.api.identity.LIFE_S = 10 ** 6  # s; some tests take hours of it
        self.client = tpu_v2.TpuClient(
            credentials=UserCredentials(self.api.token()), transport="rest",
            client_options={"api_endpoint": self.api.url})

    def test_lists_all_pages_of_a_zone(self):
        for i in range(5):
            self.api.cloud.add_node("us-west4-a", f"t{i}", "v5litepod-8")
        names = [node.name for node in self.client.list_nodes(parent=PLACE)]
        self.assertEqual(names, [f"{PLACE}/nodes/t{i}" for i in range(5)])
        self.assertEqual(len(self.api.asked("/nodes")), 3)

    def test_reads_state_health_and_endpoints(self):
        self.api.cloud.add_node("us-west4-a", "t", "v5litepod-16")
        node = self.client.get_node(name=f"{PLACE}/nodes/t")
        self.assertEqual(node.state, tpu_v2.Node.State.READY)
        self.assertEqual(node.health, tpu_v2.Node.Health.HEALTHY)
        self.assertEqual(len(node.network_endpoints), 4)
        self.assertEqual(node.network_endpoints[3].port, 8470)
        self.assertEqual(node.accelerator_config.topology, "4x4")
        self.assertEqual(node.accelerator_config.type_,
                         tpu_v2.AcceleratorConfig.Type.V5LITE_POD)

    def test_names_zones_out_of_reach(self):
        self.api.cloud.add_node("us-west4-a", "t", "v5litepod-8")
        self.api.cloud.unreachable.add("us-east5-a")
        pages = self.client.list_nodes(parent="projects/p/locations/-")
        self.assertEqual([node.name for node in pages], [f"{PLACE}/nodes/t"])
        self.assertIn("us-east5-a", list(pages.unreachable)[0])

    def end(self, operation):
        """Its result, after ten minutes."""
        self.api.clock.advance(600)
        return operation.result(timeout=HANGS)

    def create(self, name="t", **changes):
        node = tpu_v2.Node(accelerator_type="v5litepod-8",
                           runtime_version="v2-alpha-tpuv5-lite", **changes)
        return self.client.create_node(parent=PLACE, node_id=name, node=node)

    def test_creates_waits_and_deletes(self):
        operation = self.create()
        self.assertEqual(
            self.client.get_node(name=f"{PLACE}/nodes/t").state,
            tpu_v2.Node.State.CREATING)
        # Three minutes, while the client looks again and again.
        self.api.clock.set_speed(300)
        node = operation.result(timeout=HANGS)
        self.assertEqual(node.state, tpu_v2.Node.State.READY)
        self.assertEqual(operation.metadata.verb, "create")
        self.end(self.client.delete_node(name=node.name))
        self.assertEqual(self.api.cloud.left_over(), [])

    def test_stops_and_starts(self):
        self.api.cloud.add_node("us-west4-a", "t", "v5litepod-8")
        name = f"{PLACE}/nodes/t"
        stopped = self.end(self.client.stop_node(request={"name": name}))
        self.assertEqual(stopped.state, tpu_v2.Node.State.STOPPED)
        started = self.end(self.client.start_node(request={"name": name}))
        self.assertEqual(started.state, tpu_v2.Node.State.READY)

    def test_finds_a_stock_out_in_the_operation(self):
        self.api.cloud.capacity["us-west4-a", "v5litepod-8"] = 0
        with self.assertRaises(exceptions.GoogleAPICallError) as caught:
            self.end(self.create())
        self.assertIn("no more capacity in the zone", str(caught.exception))
        self.api.clock.advance(600)
        self.assertEqual(self.api.cloud.left_over(), [])

    def test_a_half_finished_creation_is_left_behind(self):
        self.api.cloud.half_finished.add("t")
        with self.assertRaises(exceptions.GoogleAPICallError):
            self.end(self.create())
        self.assertEqual(self.api.cloud.left_over(), [f"{PLACE}/nodes/t"])

    def test_what_is_busy_is_deleted_later(self):
        self.api.cloud.busy.add("t")
        creation = self.create(labels={"muster-request": "1"})
        name = f"{PLACE}/nodes/t"
        error = self.refusal(lambda: self.client.delete_node(name=name))
        self.assertIsInstance(error, exceptions.BadRequest)
        self.assertEqual(self.end(creation).labels, {"muster-request": "1"})
        self.end(self.client.delete_node(name=name))
        self.assertEqual(self.api.cloud.left_over(), [])

    def test_an_answer_that_was_lost_was_done(self):
        self.api.script("POST", "/nodes", Reply(fault="lost"))
        with self.assertRaises(requests.exceptions.ConnectionError):
            self.create()
        self.assertEqual(self.api.cloud.left_over(), [f"{PLACE}/nodes/t"])

    def test_is_preempted_some_time_after_it_was_ready(self):
        self.api.cloud.doomed["t"] = 3600
        self.end(self.create())
        self.api.clock.advance(3600)
        self.assertEqual(self.client.get_node(name=f"{PLACE}/nodes/t").state,
                         tpu_v2.Node.State.PREEMPTED)

    def test_a_preempted_one_keeps_its_name(self):
        self.api.cloud.add_node("us-west4-a", "t", "v5litepod-8")
        self.api.cloud.preempt(f"{PLACE}/nodes/t")
        self.assertEqual(self.client.get_node(name=f"{PLACE}/nodes/t").state,
                         tpu_v2.Node.State.PREEMPTED)
        with self.assertRaises(exceptions.Conflict):
            self.create()

    def refusal(self, call):
        with self.assertRaises(exceptions.GoogleAPICallError) as caught:
            call()
        return caught.exception

    def test_reads_the_reason_of_a_refusal(self):
        self.api.identity.permissions["me@example.com"] = {"tpu.nodes.get"}
        error = self.refusal(lambda: self.client.list_nodes(parent=PLACE))
        self.assertIsInstance(error, exceptions.Forbidden)
        self.assertEqual(error.reason, "IAM_PERMISSION_DENIED")
        self.assertEqual(error.details[0]["metadata"]["permission"],
                         "tpu.nodes.list")

    def test_reads_that_the_api_is_off(self):
        self.api.cloud.disabled.add("p")
        error = self.refusal(lambda: self.client.list_nodes(parent=PLACE))
        self.assertEqual(error.reason, "SERVICE_DISABLED")

    def test_reads_which_quota_is_used_up(self):
        metric = "TPUV5LITEPODPerProjectPerRegionForTPUAPI"
        self.api.cloud.quota[metric, "us-west4"] = 0
        error = self.refusal(self.create)
        self.assertIsInstance(error, exceptions.TooManyRequests)
        self.assertIn(metric, str(error))

    def test_reads_a_rate_limit_with_its_delay(self):
        refusal = answers.rate_limit(7)
        self.api.script("GET", "/nodes", Reply(refusal.body(), 429))
        error = self.refusal(lambda: self.client.list_nodes(parent=PLACE))
        self.assertEqual(error.reason, "RATE_LIMIT_EXCEEDED")
        self.assertEqual(error.details[1]["retryDelay"], "7s")

    def test_reads_what_is_not_there(self):
        error = self.refusal(
            lambda: self.client.get_node(name=f"{PLACE}/nodes/none"))
        self.assertIsInstance(error, exceptions.NotFound)

    def test_reads_a_field_that_is_wrong(self):
        error = self.refusal(lambda: self.create("No_Name"))
        self.assertIsInstance(error, exceptions.BadRequest)
        self.assertEqual(
            error.details[0]["fieldViolations"][0]["field"], "nodeId")

    def test_lists_types_versions_and_places(self):
        types = [one.type_ for one in
                 self.client.list_accelerator_types(parent=PLACE)]
        self.assertIn("v5litepod-16", types)
        versions = [one.version for one in
                    self.client.list_runtime_versions(parent=PLACE)]
        self.assertIn("v2-alpha-tpuv5-lite", versions)

    def test_lists_pages_of_places(self):
        names, token = [], ""
        while not names or token:
            page = self.client.list_locations(
                {"name": "projects/p", "page_token": token})
            names += [one.name for one in page.locations]
            token = page.next_page_token
        self.assertIn(PLACE, names)
        self.assertEqual(len(names), len(self.api.cloud.catalogue.zones))


class QueuedResources(Client):
    """The life of a queued resource, seen by google-cloud-tpu."""

    def queue(self, **more):
        node = tpu_v2.Node(accelerator_type="v5litepod-8",
                           runtime_version="v2-alpha-tpuv5-lite")
        spec = tpu_v2.QueuedResource.Tpu.NodeSpec(parent=PLACE, node_id="t",
                                                  node=node)
        resource = tpu_v2.QueuedResource(
            tpu=tpu_v2.QueuedResource.Tpu(node_spec=[spec]), **more)
        operation = self.client.create_queued_resource(
            parent=PLACE, queued_resource_id="q", queued_resource=resource)
        self.api.clock.advance(10)
        return operation.result(timeout=HANGS)

    def state(self):
        name = f"{PLACE}/queuedResources/q"
        queued = self.client.get_queued_resource(name=name)
        return queued.state.state.name

    def test_waits_is_served_and_is_deleted_with_its_node(self):
        self.queue()
        self.assertEqual(self.state(), "WAITING_FOR_RESOURCES")
        self.api.clock.advance(900)
        self.assertEqual(self.state(), "ACTIVE")
        node = self.client.get_node(name=f"{PLACE}/nodes/t")
        self.assertEqual(node.queued_resource, f"{PLACE}/queuedResources/q")
        name = f"{PLACE}/queuedResources/q"
        error = self.refusal(
            lambda: self.client.delete_queued_resource(name=name))
        self.assertIsInstance(error, exceptions.BadRequest)
        self.end(self.client.delete_queued_resource(
            request={"name": name, "force": True}))
        self.assertEqual(self.api.cloud.left_over(), [])

    def test_is_served_when_there_is_capacity_again(self):
        self.api.cloud.capacity["us-west4-a", "v5litepod-8"] = 0
        self.queue()
        self.api.clock.advance(900)
        self.assertEqual(self.state(), "WAITING_FOR_RESOURCES")
        self.api.cloud.restock("us-west4-a", "v5litepod-8", 1)
        self.assertEqual(self.state(), "PROVISIONING")
        self.api.clock.advance(900)
        self.assertEqual(self.state(), "ACTIVE")

    def test_is_suspended_when_its_node_is_preempted(self):
        self.queue(spot=tpu_v2.QueuedResource.Spot())
        self.api.clock.advance(900)
        self.assertEqual(self.state(), "ACTIVE")
        self.api.cloud.preempt(f"{PLACE}/nodes/t")
        self.assertEqual(self.state(), "SUSPENDING")
        self.api.clock.advance(60)
        self.assertEqual(self.state(), "SUSPENDED")


class Sent(Client):
    """What `muster tpu` sends is what google-cloud-tpu has as messages: no
    field is unknown to it, and it finds and deletes what muster made."""

    def muster(self, *argv):
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder),
                       "NO_GCE_CHECK": "true", **self.api.environment(),
                       "CLOUDSDK_AUTH_ACCESS_TOKEN": self.api.token()}
        done = subprocess.run(
            [os.environ["MUSTER_BINARY"], "tpu", *argv, "--zone", "us-west4-a",
             "--yes"], env=environment, capture_output=True, text=True,
            timeout=HANGS, check=False, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)

    def sent(self, kind, message):
        body = self.api.asked(f"/{kind}\\?", "POST")[0][3]
        return message.from_json(body, ignore_unknown_fields=False)

    def test_a_node(self):
        self.muster("create", "t", "--type", "v5litepod-8", "--spot")
        node = self.sent("nodes", tpu_v2.Node)
        self.assertEqual(node.accelerator_type, "v5litepod-8")
        self.assertTrue(node.scheduling_config.spot)
        self.assertIn("muster-request", node.labels)
        self.api.clock.advance(600)
        found = self.client.get_node(name=f"{PLACE}/nodes/t")
        self.assertEqual(found.state, tpu_v2.Node.State.READY)
        self.assertEqual(found.labels, node.labels)
        self.end(self.client.delete_node(name=found.name))
        self.muster("create", "t", "--type", "v5litepod-8", "--reserved")

    def test_a_queued_resource(self):
        self.muster("create", "t", "--type", "v5litepod-8", "--queued",
                    "--spot")
        queued = self.sent("queuedResources", tpu_v2.QueuedResource)
        spec = queued.tpu.node_spec[0]
        self.assertEqual((spec.parent, spec.node_id), (PLACE, "t"))
        self.assertIn("spot", queued)
        self.assertEqual(spec.node.runtime_version, "v2-alpha-tpuv5-lite")
        self.api.clock.advance(3600)
        self.assertEqual(self.client.get_queued_resource(
            name=f"{PLACE}/queuedResources/t").state.state.name, "ACTIVE")

    def test_what_google_made_is_deleted(self):
        self.end(self.create())
        self.api.clock.set_speed(600)
        self.muster("delete", "t", "--poll", "20ms")
        self.assertEqual(self.api.cloud.left_over(), [])


# Inherited tests run once, in Client.
for heir in (QueuedResources, Sent):
    for inherited in [name for name in dir(Client)
                      if name.startswith("test_")]:
        if inherited not in vars(heir):
            setattr(heir, inherited, None)
del heir


class Auth(OfGoogle):
    """google-auth, for each kind of credentials."""

    def default(self, file, **variables):
        path = self.api.identity.write(self.folder, file)
        with mock.patch.dict(os.environ, GOOGLE_APPLICATION_CREDENTIALS=path,
                             **variables):
            credentials, _ = google.auth.default([SCOPE])
            self.ask(credentials)
        return credentials

    def ask(self, credentials):
        session = google.auth.transport.requests.AuthorizedSession(credentials)
        answer = session.get(f"{self.api.url}/v2/{PLACE}/nodes")
        self.assertEqual(answer.status_code, 200, answer.text)
        return answer

    def reason_of_401(self, credentials):
        session = google.auth.transport.requests.AuthorizedSession(
            credentials, max_refresh_attempts=0)
        error = exceptions.from_http_response(
            session.get(f"{self.api.url}/v2/{PLACE}/nodes"))
        self.assertIsInstance(error, exceptions.Unauthorized)
        return error.reason

    def test_a_token_that_expired_is_refused(self):
        token = self.api.token()
        self.api.identity.expire_all()
        self.assertEqual(self.reason_of_401(UserCredentials(token)),
                         "ACCESS_TOKEN_EXPIRED")

    def test_nobody_is_refused(self):
        self.assertEqual(self.reason_of_401(AnonymousCredentials()),
                         "CREDENTIALS_MISSING")

    def principals(self):
        return [one.principal for one in self.api.identity.tokens.values()]

    def test_user(self):
        self.default(self.api.identity.user())
        self.assertEqual(self.principals(), ["me@example.com"])
        asked = self.api.asked("/nodes")[-1]
        self.assertEqual(asked[2].get("x-goog-user-project"), "p")

    def test_user_whose_grant_was_revoked(self):
        file = self.api.identity.user()
        self.api.identity.revoked.add(file["refresh_token"])
        with self.assertRaisesRegex(google.auth.exceptions.RefreshError,
                                    "invalid_grant"):
            self.default(file)

    def test_service_account(self):
        file = self.api.identity.service_account()
        self.default(file)
        self.assertEqual(self.principals(), [file["client_email"]])

    def test_service_account_that_signs_its_own_token(self):
        file = self.api.identity.service_account()
        credentials = google.oauth2.service_account.Credentials \
            .from_service_account_info(file, scopes=[SCOPE],
                                       always_use_jwt_access=True)
        self.ask(credentials)
        self.assertEqual(self.api.identity.given, 0)

    def test_impersonated(self):
        source = self.api.identity.user()
        self.default(self.api.identity.impersonated(source, "me@example.com"))
        self.assertEqual(self.principals()[-1],
                         "target@p.iam.gserviceaccount.com")

    def test_external_account_from_a_file(self):
        subject = self.folder / "subject"
        subject.write_text(self.api.identity.subject_token())
        self.default(self.api.identity.external({"file": str(subject)}))
        self.assertEqual(self.principals(), ["principal://pool/subject"])

    def test_external_account_from_a_url_impersonates(self):
        source = {"url": self.api.url + "/subject",
                  "format": {"type": "json",
                             "subject_token_field_name": "id_token"}}
        self.default(self.api.identity.external(
            source, "target@p.iam.gserviceaccount.com"))
        self.assertEqual(self.principals()[-1],
                         "target@p.iam.gserviceaccount.com")

    def test_external_account_from_a_program(self):
        program = self.folder / "subject.sh"
        answer = {"version": 1, "success": True,
                  "token_type": "urn:ietf:params:oauth:token-type:jwt",
                  "id_token": self.api.identity.subject_token(),
                  "expiration_time": 4102444800}
        program.write_text(f"#!/bin/sh\necho '{json.dumps(answer)}'\n")
        program.chmod(0o755)
        source = {"executable": {"command": str(program),
                                 "timeout_millis": 30000}}
        self.default(self.api.identity.external(source),
                     GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES="1")
        self.assertEqual(self.principals(), ["principal://pool/subject"])

    def test_external_user(self):
        self.default(self.api.identity.external_user())
        self.assertEqual(self.principals(), ["workforce@example.com"])

    def test_machine(self):
        variables = {"GCE_METADATA_HOST": self.api.metadata_host,
                     "GCE_METADATA_IP": self.api.metadata_host,
                     "NO_GCE_CHECK": ""}
        with mock.patch.dict(os.environ, variables):
            # The module reads its variables when it is imported.
            from google.auth.compute_engine import _metadata
            base = f"http://{self.api.metadata_host}"
            with mock.patch.multiple(
                    _metadata, _GCE_METADATA_HOST=self.api.metadata_host,
                    _GCE_DEFAULT_MDS_IP=self.api.metadata_host,
                    _METADATA_ROOT=base + "/computeMetadata/v1/",
                    _METADATA_IP_ROOT=base, create=True):
                credentials, project = google.auth.default([SCOPE])
                self.ask(credentials)
        self.assertEqual(project, "p")
        self.assertEqual(self.principals(), [self.api.identity.machine])

    def test_an_expired_token_is_replaced_once(self):
        credentials = self.default(self.api.identity.user())
        self.api.identity.expire_all()
        self.ask(credentials)
        self.assertEqual(self.api.identity.given, 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
