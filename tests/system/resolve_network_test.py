#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`muster resolve` against servers on real sockets that fail in every way."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(os.environ["MUSTER_SOURCE"], "tests")
sys.path[:0] = [str(TESTS / "fakes"), str(TESTS / "support")]
# pylint: disable=wrong-import-position
from http_fakes import (METADATA, Answer, Fake, certificate,  # noqa: E402
                        service_account, tpu_vm)
from muster_test import MUSTER, Said  # noqa: E402

# Four times the limit of a resolve: what takes longer hangs. bench/ measures.
HANGS = 20  # s


def resolve(*argv, **variables):
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
    environment.update(variables)
    done = subprocess.run([MUSTER, "resolve", *argv], env=environment,
                          capture_output=True, text=True, timeout=HANGS)
    return Said(done.returncode, done.stdout, done.stderr)


class MetadataServer(unittest.TestCase):
    def test_tells_the_slice(self):
        with Fake(tpu_vm(worker=1)) as fake:
            done = resolve("--output", "json", GCE_METADATA_HOST=fake.address)
        self.assertEqual(done.code, 0, done.err)
        document = json.loads(done.out)
        self.assertEqual(document["size"]["value"], 2)
        self.assertEqual(document["self"]["value"], 1)
        self.assertEqual(document["coordinator"]["value"], "10.0.0.1:8482")
        for _, _, headers in fake.requests:
            self.assertEqual(headers["Metadata-Flavor"], "Google")
        paths = [target for _, target, _ in fake.requests]
        self.assertEqual(len(paths), len(set(paths)), "each is asked once")

    def test_is_never_asked_through_a_proxy(self):
        with Fake(tpu_vm()) as fake, Fake({}) as proxy:
            done = resolve(GCE_METADATA_HOST=fake.address,
                           http_proxy=f"http://{proxy.address}",
                           all_proxy=f"http://{proxy.address}")
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(proxy.requests, [])

    def test_is_not_asked_where_variables_suffice(self):
        with Fake(tpu_vm()) as fake:
            done = resolve(GCE_METADATA_HOST=fake.address, RANK="0",
                           WORLD_SIZE="2", MASTER_ADDR="10.0.0.1",
                           MASTER_PORT="29500")
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(fake.requests, [])

    def check_one_host(self, answers, reason, flavor=True):
        with Fake(answers, flavor=flavor) as fake:
            done = resolve(GCE_METADATA_HOST=fake.address)
        self.assertEqual(done.code, 0, done.err)
        self.assertIn("default: no source describes a cluster", done.out)
        self.assertIn(reason, done.out)
        return done

    def test_that_hangs_is_given_up(self):
        self.check_one_host(
            tpu_vm(agent_worker_number=Answer(fault="hang")), "not reachable")

    def test_that_resets_is_given_up(self):
        self.check_one_host(tpu_vm(agent_worker_number=Answer(fault="reset")),
                            "not reachable")

    def test_that_is_another_server_is_not_believed(self):
        self.check_one_host(tpu_vm(), "Metadata-Flavor", flavor=False)
        self.check_one_host(
            tpu_vm(agent_worker_number=Answer("0", fault="wrong_header")),
            "Metadata-Flavor")

    def test_that_answers_a_page_gives_no_value(self):
        self.check_one_host(
            tpu_vm(agent_worker_number=Answer("<html>0</html>")),
            "not a TPU VM")

    def test_that_gives_half_a_body_is_not_believed(self):
        self.check_one_host(
            tpu_vm(agent_worker_number=Answer("0" * 64, fault="half")),
            "not reachable")

    def test_is_asked_once_more_after_503(self):
        with Fake(tpu_vm(agent_worker_number=Answer(
                "1", fault="once_503"))) as fake:
            done = resolve("--spec", GCE_METADATA_HOST=fake.address)
        self.assertEqual(done.code, 0, done.err)

    def test_that_nobody_runs_is_given_up(self):
        done = resolve(GCE_METADATA_HOST="127.0.0.1:1")
        self.assertEqual(done.code, 0)
        self.assertIn("default: no source describes a cluster", done.out)


def node(**changes):
    fields = {"state": "READY", "health": "HEALTHY", "acceleratorType": "v3-8",
              "networkEndpoints": [{"ipAddress": "10.0.0.9", "port": 8470}]}
    fields.update(changes)
    return fields


PROJECT = "/v2/projects/p/locations/"


class CloudTpu(unittest.TestCase):
    def ask(self, answers, *argv, name="t"):
        with Fake(answers, flavor=False) as fake:
            done = resolve(
                "--tpu", name, "--project", "p", "--zone", "z", *argv,
                CLOUDSDK_API_ENDPOINT_OVERRIDES_TPU=f"http://{fake.address}/",
                CLOUDSDK_AUTH_ACCESS_TOKEN="secret-token", NO_GCE_CHECK="true")
        self.assertNotIn("secret-token", done.all)
        self.requests = fake.requests
        return done

    def test_by_name_is_found(self):
        done = self.ask({PROJECT + "z/nodes/t": Answer(node())}, "--spec")
        self.assertEqual(done.out, "{'worker': ['10.0.0.9:8470']}\n", done.err)
        self.assertEqual(self.requests[0][2]["Authorization"],
                         "Bearer secret-token")

    def test_that_is_not_there_lists_the_others(self):
        done = self.ask({
            PROJECT + "z/nodes": Answer({"nodes": [
                {"name": "projects/p/locations/z/nodes/other"}]}),
            PROJECT + "-/nodes": Answer({"nodes": [
                {"name": "projects/p/locations/y/nodes/t"}]})})
        self.assertIn("tpu-not-found", done.err)
        self.assertIn("existing: other", done.err)
        self.assertIn("it is in: y", done.err)

    def test_that_may_not_be_seen_names_the_right(self):
        done = self.ask({PROJECT + "z/nodes/t": Answer(
            {"error": {"message": "Permission denied \x1b[31m"}}, 403)})
        self.assertIn("cloud-permission-denied", done.err)
        self.assertIn("tpu.nodes.get", done.err)
        self.assertNotIn("\x1b[31m", done.err)

    def test_refusals_have_their_own_causes(self):
        for status, cause in ((401, "cloud-auth-missing"),
                              (429, "cloud-quota-exceeded"),
                              (500, "net-wrong-endpoint")):
            done = self.ask({PROJECT + "z/nodes/t": Answer("{}", status)})
            self.assertIn(cause, done.err)

    def test_that_is_not_ready_is_named(self):
        done = self.ask({PROJECT + "z/nodes/t": Answer(node(state="CREATING"))})
        self.assertIn("CREATING", done.err)
        self.assertNotEqual(done.code, 0)

    def test_faults_of_the_api_are_named(self):
        for fault in ("hang", "reset", "half"):
            done = self.ask({PROJECT + "z/nodes/t": Answer(node(),
                                                           fault=fault)})
            self.assertNotEqual(done.code, 0, fault)
            self.assertIn("net-", done.err, fault)

    def test_a_page_is_no_answer(self):
        done = self.ask({PROJECT + "z/nodes/t": Answer("<html>login</html>")})
        self.assertIn("is not JSON", done.err)


class CloudTpuThroughAProxy(unittest.TestCase):
    """The API at a name that only the proxy knows, as behind a company's."""
    NODE = "http://tpu.test" + PROJECT + "z/nodes/t"

    def ask(self, api="http://tpu.test/", **variables):
        done = resolve("--tpu", "t", "--project", "p", "--zone", "z", "--spec",
                       CLOUDSDK_API_ENDPOINT_OVERRIDES_TPU=api,
                       CLOUDSDK_AUTH_ACCESS_TOKEN="secret-token",
                       NO_GCE_CHECK="true", **variables)
        self.assertNotIn("secret", done.all)
        return done

    def test_is_asked_through_it(self):
        with Fake({self.NODE: Answer(node())}, flavor=False) as proxy:
            done = self.ask(
                http_proxy=f"http://me:secret@{proxy.address}")
        self.assertEqual(done.out, "{'worker': ['10.0.0.9:8470']}\n", done.err)
        self.assertEqual([request[1] for request in proxy.requests],
                         [self.NODE])
        self.assertIn("Proxy-Authorization", proxy.requests[0][2])

    def test_is_asked_directly_where_no_proxy_names_it(self):
        for exception in ("127.0.0.0/8", "a, 127.0.0.1", "*"):
            with Fake({PROJECT + "z/nodes/t": Answer(node())},
                      flavor=False) as api, Fake({}) as proxy:
                done = self.ask(f"http://{api.address}/",
                                http_proxy=f"http://{proxy.address}",
                                no_proxy=exception)
            self.assertEqual(done.code, 0, done.err)
            self.assertEqual(proxy.requests, [])

    def test_that_refuses_a_tunnel_is_named(self):
        with Fake({"tpu.test:443": Answer("no", 403)}, flavor=False) as proxy:
            done = self.ask("https://tpu.test/",
                            HTTPS_PROXY=f"me:secret@{proxy.address}")
        self.assertIn("error[net-proxy]", done.err)
        self.assertIn(f"through the proxy `{proxy.address}`", done.err)
        self.assertIn("returned 403 to CONNECT", done.err)
        self.assertIn("HTTPS_PROXY", done.err)

    def test_that_is_not_there_is_named(self):
        done = self.ask("https://tpu.test/",
                        https_proxy="http://me:secret@127.0.0.1:1")
        self.assertIn("error[net-proxy]", done.err)
        self.assertIn("ECONNREFUSED", done.err)
        done = self.ask("https://tpu.test/", all_proxy="socks5://127.0.0.1:1")
        self.assertIn("not an HTTP proxy", done.err)

    def test_that_wants_a_password_is_named(self):
        with Fake({self.NODE: Answer("", 407)}, flavor=False) as proxy:
            done = self.ask(http_proxy=f"http://{proxy.address}")
        self.assertIn("error[net-proxy]", done.err)
        self.assertIn("407", done.err)


class KubernetesApi(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.tls = certificate(self.folder.name)
        service_account(self.folder.name)
        self.proxies = {}

    def ask(self, answers):
        with Fake(answers, flavor=False, tls=self.tls) as fake:
            done = resolve("--output", "json", KUBERNETES_SERVICE_HOST="127.0.0.1",
                           KUBERNETES_SERVICE_PORT=str(fake.port),
                           MUSTER_SERVICE_ACCOUNT=self.folder.name,
                           HOSTNAME="train-1-x", JOB_COMPLETION_INDEX="1",
                           NO_GCE_CHECK="true", **self.proxies)
        self.assertNotIn("secret-token", done.all)
        return done

    POD = {"metadata": {"name": "train-1-x", "ownerReferences": [
        {"kind": "Job", "name": "train", "controller": True}]},
        "spec": {"subdomain": "svc"}}
    JOB = {"spec": {"parallelism": 2, "completionMode": "Indexed"}}
    POD_PATH = "/api/v1/namespaces/team/pods/train-1-x"
    JOB_PATH = "/apis/batch/v1/namespaces/team/jobs/train"

    def test_tells_the_job(self):
        done = self.ask({self.POD_PATH: Answer(self.POD),
                         self.JOB_PATH: Answer(self.JOB)})
        self.assertEqual(done.code, 0, done.all)
        document = json.loads(done.out)
        self.assertEqual(document["coordinator"]["value"],
                         "train-0.svc:55527")
        self.assertEqual(document["self"]["value"], 1)

    def test_is_never_asked_through_a_proxy(self):
        with Fake({}) as proxy:
            self.proxies = {
                name: f"http://{proxy.address}"
                for name in ("https_proxy", "HTTPS_PROXY", "all_proxy")}
            done = self.ask({self.POD_PATH: Answer(self.POD),
                             self.JOB_PATH: Answer(self.JOB)})
        self.assertEqual(done.code, 0, done.all)
        self.assertEqual(proxy.requests, [])

    def test_that_refuses_prints_the_role(self):
        done = self.ask({self.POD_PATH: Answer({"message": "no"}, 403)})
        self.assertIn("cloud-permission-denied", done.all)
        self.assertIn("kubectl create role", done.all)

    def test_is_not_believed_with_another_certificate(self):
        with tempfile.TemporaryDirectory() as other:
            self.tls = certificate(other)
            done = self.ask({self.POD_PATH: Answer(self.POD)})
        self.assertNotEqual(done.code, 0)


class Everything(unittest.TestCase):
    def test_hanging_ends(self):
        with Fake({METADATA + "instance/attributes/agent-worker-number":
                   Answer(fault="hang")}) as fake:
            done = resolve("-v", GCE_METADATA_HOST=fake.address,
                           KUBERNETES_SERVICE_HOST="127.0.0.1",
                           KUBERNETES_SERVICE_PORT="1")
        self.assertEqual(done.code, 0)
        self.assertIn("default: no source describes a cluster", done.out)

    def test_says_something_at_once_while_a_source_hangs(self):
        with Fake({METADATA + "instance/attributes/agent-worker-number":
                   Answer(fault="hang")}) as fake:
            with subprocess.Popen(
                    [MUSTER, "resolve"], stderr=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    env={"GCE_METADATA_HOST": fake.address}) as process:
                first = process.stderr.readline()
                still_asking = process.poll() is None
                process.wait(HANGS)
        self.assertIn(b"asking 127.0.0.1", first)
        self.assertTrue(still_asking)


if __name__ == "__main__":
    unittest.main()
