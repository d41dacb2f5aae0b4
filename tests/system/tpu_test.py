#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`muster tpu` against tests/fakes/tpu_api: credentials of every kind, lists,
descriptions, and a network that fails in every way."""
import concurrent.futures
import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(os.environ["MUSTER_SOURCE"], "tests",
                                    "support")))
# pylint: disable=wrong-import-position
from tpu_case import TpuCase  # noqa: E402
from tpu_api import Reply, answers  # noqa: E402
from tpu_api.authority import make_authority  # noqa: E402
from tpu_api.server import Server  # noqa: E402

READS = {"list": ["list", "--zone", "us-west4-a"],
         "describe": ["describe", "t", "--zone", "us-west4-a"],
         "types": ["types", "--zone", "us-west4-a"],
         "versions": ["versions", "--zone", "us-west4-a"],
         "queued": ["queued", "list", "--zone", "us-west4-a"],
         "queued_one": ["queued", "describe", "q", "--zone", "us-west4-a"],
         "everywhere": ["list", "--all-zones"],
         "region": ["list", "--zone", "us-west4"],
         "ssh": ["ssh", "t", "--zone", "us-west4-a"],
         "notebook": ["notebook", "t", "--zone", "us-west4-a"],
         "reap": ["reap", "--yes"],
         "wait": ["wait", "t", "--zone", "us-west4-a"]}
OF_NEW = ["--type", "v5litepod-8", "--zone", "us-west4-a", "--yes"]
CHANGES = {"create": ["create", "t", *OF_NEW],
           "create_wait": ["create", "w", "--wait", *OF_NEW],
           "create_queued": ["create", "u", "--queued", *OF_NEW],
           "start": ["start", "off", "--zone", "us-west4-a", "--yes"],
           "stop": ["stop", "there", "--zone", "us-west4-a", "--yes"],
           "delete": ["delete", "there", "--zone", "us-west4-a", "--yes",
                      "--poll", "1ms"],
           "queued_delete": ["queued", "delete", "q", "--zone", "us-west4-a",
                             "--yes", "--poll", "1ms"],
           "reap_removing": ["reap", "--yes", "--poll", "1ms"]}
REMOVING = {"delete", "queued_delete", "reap_removing"}


class WithQueue(TpuCase):
    def queue(self):
        parent = "projects/p/locations/us-west4-a"
        self.api.cloud.capacity["us-west4-a", "v5litepod-8"] = 0
        self.api.cloud.create_queued(parent, "q", {
            "spot": {}, "queueingPolicy": {"validUntilDuration": "3600s"},
            "tpu": {"nodeSpec": [{"parent": parent, "nodeId": "t", "node": {
                "acceleratorType": "v5litepod-8",
                "runtimeVersion": "v2-alpha-tpuv5-lite"}}]}})


class Auth(TpuCase):
    """`muster tpu auth`, and that the token which it got is good."""

    def check(self, file, account, **variables):
        done = self.with_file(file, "auth", "--output", "json", **variables)
        self.assertEqual(done.code, 0, done.all)
        self.assertEqual(done.json["account"], account)
        self.assertEqual(done.json["kind"], file["type"])
        self.assertIn("GOOGLE_APPLICATION_CREDENTIALS", done.json["source"])
        self.assertTrue(done.json["until"])
        listed = self.with_file(file, "list", "--zone", "us-west4-a",
                                "--log-level", "trace", **variables)
        self.assertEqual(listed.code, 0, listed.all)
        return done.json

    def test_user(self):
        told = self.check(self.api.identity.user(), "me@example.com")
        self.assertEqual(told["project"],
                         {"value": "p", "source": "env GOOGLE_CLOUD_PROJECT"})
        self.assertEqual(told["quota_project"],
                         {"value": "p", "source": "the file"})
        self.assertEqual(
            self.api.asked("/nodes")[0][2]["x-goog-user-project"], "p")

    def test_user_in_text(self):
        done = self.with_file(self.api.identity.user(), "auth")
        self.assertEqual(done.code, 0, done.all)
        for line in (r"account        me@example.com\n",
                     r"kind           authorized_user\n",
                     r"project        p \(env GOOGLE_CLOUD_PROJECT\)\n",
                     r"quota project  p \(the file\)\n",
                     r"scopes         cloud-platform, openid, "
                     r"userinfo.email\n",
                     r"until          .*Z, in \d+ min"):
            self.assertRegex(done.out, line)

    def test_user_whose_grant_was_revoked(self):
        file = self.api.identity.user()
        self.api.identity.revoked.add(file["refresh_token"])
        done = self.with_file(file, "auth", "--output", "json")
        finding = self.finding(done, "cloud-auth-missing", 1)
        self.assertIn("invalid_grant", finding["what"])
        self.assertIn("application-default login", finding["what"])

    def test_service_account_signs_its_own_and_exchanges(self):
        file = self.api.identity.service_account()
        self.check(file, file["client_email"])
        # `auth` had one of the endpoint; `list` signed its own.
        self.assertEqual(self.api.identity.given, 1)

    def test_service_account_whose_key_was_deleted(self):
        file = self.api.identity.service_account()
        self.api.identity.accounts.clear()
        done = self.with_file(file, "list", "--zone", "us-west4-a",
                              "--output", "json")
        finding = self.finding(done, "cloud-auth-missing", 1)
        self.assertIn("account not found", finding["what"])

    def test_a_clock_that_is_off_is_named(self):
        file = self.api.identity.service_account()
        self.api.clock.advance(7200)
        for argv in (["auth"], ["list", "--zone", "us-west4-a"]):
            done = self.with_file(file, *argv, "--output", "json")
            finding = self.finding(done, "clock-skew", 1)
            self.assertRegex(finding["what"], "clock is .* behind that of 127")

    def test_impersonated(self):
        source = self.api.identity.user()
        file = self.api.identity.impersonated(source, "me@example.com")
        self.check(file, "target@p.iam.gserviceaccount.com, impersonated by "
                   "me@example.com")

    def test_impersonation_that_is_not_allowed(self):
        file = self.api.identity.impersonated(self.api.identity.user(), "x")
        done = self.with_file(file, "auth", "--output", "json")
        self.finding(done, "cloud-permission-denied", 1)
        self.assertIn("iam.serviceAccounts.getAccessToken", done.out)

    def test_external_account_from_a_file(self):
        subject = self.folder / "subject"
        subject.write_text(self.api.identity.subject_token() + "\n")
        told = self.check(self.api.identity.external({"file": str(subject)}),
                          "the identity of `provider` (`" +
                          str(self.folder / "credentials.json") + "`)")
        self.assertTrue(told["scopes"][0].endswith("cloud-platform"))

    def test_external_account_from_a_url_impersonates(self):
        source = {"url": self.api.url + "/subject",
                  "headers": {"x-asked": "yes"},
                  "format": {"type": "json",
                             "subject_token_field_name": "id_token"}}
        file = self.api.identity.external(source,
                                          "target@p.iam.gserviceaccount.com")
        done = self.with_file(file, "auth", "--output", "json")
        self.assertEqual(done.code, 0, done.all)
        self.assertTrue(done.json["account"].startswith("target@p."))
        self.assertEqual(self.api.asked("/subject")[0][2]["x-asked"], "yes")

    def program(self, body):
        path = self.folder / "subject.sh"
        path.write_text("#!/bin/sh\n" + body)
        path.chmod(0o755)
        return self.api.identity.external(
            {"executable": {"command": f"'{path}' a", "timeout_millis": 30000}})

    def test_external_account_from_a_program(self):
        answer = {"version": 1, "success": True,
                  "id_token": self.api.identity.subject_token()}
        file = self.program(f"echo '{json.dumps(answer)}'\n")
        allowed = {"GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES": "1"}
        done = self.with_file(file, "auth", **allowed)
        self.assertEqual(done.code, 0, done.all)
        done = self.with_file(file, "auth", "--output", "json")
        self.finding(done, "cloud-auth-missing", 1)

    def test_a_program_that_fails_shows_nothing_of_its_output(self):
        file = self.program("echo canary; exit 7\n")
        done = self.with_file(file, "auth", "--output", "json",
                              GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES="1")
        finding = self.finding(done, "cloud-auth-missing", 1)
        self.assertIn("status 7", finding["what"])

    def test_external_user(self):
        done = self.with_file(self.api.identity.external_user(), "auth",
                              "--output", "json")
        self.assertEqual(done.code, 0, done.all)
        self.assertEqual(done.json["kind"], "external_account_authorized_user")

    def test_machine(self):
        on_google = {"GCE_METADATA_HOST": self.api.metadata_host,
                     "NO_GCE_CHECK": "", "GOOGLE_CLOUD_PROJECT": ""}
        done = self.without_login("auth", "--output", "json", **on_google)
        self.assertEqual(done.code, 0, done.all)
        self.assertIn(self.api.identity.machine, done.json["account"])
        listed = self.without_login("list", "--all-zones", "--output", "json",
                                    **on_google)
        self.assertEqual(listed.json["project"],
                         {"value": "p",
                          "source": "metadata project/project-id"})

    def test_a_machine_without_the_scope_is_told_how_to_get_it(self):
        self.api.identity.machine_scopes = ["https://www.googleapis.com/auth/"
                                            "cloud-platform.read-only"]
        done = self.without_login(
            "list", "--all-zones", "--output", "json",
            GCE_METADATA_HOST=self.api.metadata_host, NO_GCE_CHECK="")
        self.finding(done, "cloud-permission-denied", 1)
        self.assertIn("--scopes=cloud-platform", done.out)

    def test_an_expired_token_is_replaced_once(self):
        self.api.script("GET", "/nodes",
                        Reply(answers.unauthenticated().body(), 401))
        done = self.with_file(self.api.identity.user(), "list", "--zone",
                              "us-west4-a")
        self.assertEqual(done.code, 0, done.all)
        self.assertEqual(self.api.identity.given, 2)

    def test_without_any_the_catalogue_says_how_to_log_in(self):
        done = self.without_login("auth", "--output", "json")
        finding = self.finding(done, "cloud-auth-missing", 1)
        self.assertIn("gcloud auth application-default login",
                      str(finding["fixes"]))

    def test_without_any_a_notebook_gets_three_ways(self):
        for variable, word in (("COLAB_RELEASE_TAG", "google.colab"),
                               ("KAGGLE_KERNEL_RUN_TYPE", "kaggle_secrets"),
                               ("JPY_PARENT_PID", "--no-launch-browser")):
            done = self.without_login("auth", "--output", "json",
                                      **{variable: "1"})
            finding = self.finding(done, "cloud-auth-missing", 1)
            self.assertEqual(len(finding["fixes"]), 3)
            self.assertTrue(all(fix["command"] for fix in finding["fixes"]))
            self.assertIn(word, str(finding["fixes"]))


class Reading(WithQueue):
    def add(self, count):
        for i in range(count):
            self.api.cloud.add_node("us-west4-a", f"t{i}", "v5litepod-8")

    def test_lists_all_pages(self):
        self.add(5)
        done = self.muster("list", "--zone", "us-west4-a", "--quiet")
        self.assertEqual(done.out.split(), ["t0", "t1", "t2", "t3", "t4"])
        self.assertEqual(len(self.api.asked("/nodes")), 3)

    def test_one_page_is_one_request(self):
        self.add(1)
        done = self.muster("list", "--zone", "us-west4-a")
        self.assertEqual(done.out.splitlines(), [
            "NAME  ZONE        TYPE         STATE  HEALTH   HOSTS  VERSION"
            "              SCHEDULING",
            "t0    us-west4-a  v5litepod-8  READY  HEALTHY  1      "
            "tpu-ubuntu2204-base  on-demand"])
        self.assertEqual(len(self.api.requests), 1)

    def test_says_that_there_is_none(self):
        done = self.muster("list", "--zone", "us-west4-a")
        self.assertEqual(done.out, "no TPUs in zone us-west4-a (flag --zone) "
                         "of project p (env GOOGLE_CLOUD_PROJECT)\n")

    def test_names_zones_out_of_reach(self):
        self.add(1)
        self.api.cloud.unreachable.add("us-east5-a")
        done = self.muster("list", "--all-zones")
        self.assertEqual(done.code, 0)
        self.assertIn("t0", done.out)
        self.assertIn("did not respond", done.err)
        self.assertIn("us-east5-a", done.err)
        told = self.muster("list", "--all-zones", "--output", "json").json
        self.assertEqual(told["unreachable"], ["us-east5-a"])

    def test_what_may_be_in_a_zone_out_of_reach_is_not_said_to_be_none(self):
        self.api.cloud.unreachable.add("us-east5-a")
        done = self.muster("describe", "t", "--output", "json")
        finding = self.finding(done, "tpu-not-found", 3)
        self.assertEqual(finding["confidence"], "possible")
        self.assertIn("us-east5-a", finding["what"])
        self.assertIn("muster tpu list --zone us-east5-a",
                      finding["fixes"][0]["command"])

    def test_a_region_lists_its_zones(self):
        done = self.muster("list", "--zone", "us-west4", "--output", "json")
        finding = self.finding(done, "usage-invalid", 2)
        self.assertIn("is a region", finding["what"])
        self.assertIn("us-west4-a", finding["what"])

    def test_describes_by_name_in_any_zone(self):
        self.api.cloud.add_node("us-central2-b", "big", "v4-32")
        done = self.muster("describe", "big")
        self.assertEqual(done.code, 0, done.all)
        self.assertIn("worker 3    10.164.0.5:8470, outside 198.51.100.5",
                      done.out)

    def test_a_wrong_zone_is_told_the_right_one(self):
        self.api.cloud.add_node("us-central2-b", "big", "v4-32")
        done = self.muster("describe", "big", "--zone", "us-west4-a",
                           "--output", "json")
        finding = self.finding(done, "tpu-not-found", 1)
        self.assertIn("it is in zone us-central2-b", finding["what"])

    def test_a_name_that_several_zones_have_asks_which(self):
        self.api.cloud.add_node("us-west4-a", "t", "v5litepod-8")
        self.api.cloud.add_node("europe-west4-b", "t", "v5litepod-8")
        done = self.muster("describe", "t", "--output", "json")
        finding = self.finding(done, "usage-invalid", 2)
        self.assertIn("europe-west4-b, us-west4-a", finding["what"])

    def test_an_unknown_name_lists_those_that_there_are(self):
        self.add(1)
        done = self.muster("describe", "none", "--output", "json")
        finding = self.finding(done, "tpu-not-found", 1)
        self.assertIn("t0 (us-west4-a)", finding["what"])

    def test_preempted_says_what_that_means(self):
        self.add(1)
        self.api.cloud.preempt("projects/p/locations/us-west4-a/nodes/t0")
        done = self.muster("describe", "t0", "--zone", "us-west4-a")
        self.assertIn("state       PREEMPTED", done.out)
        self.assertIn("delete it", done.out)

    def test_ready_but_sick_is_not_usable(self):
        self.add(1)
        self.api.cloud.sick["t0"] = "UNHEALTHY_MAINTENANCE"
        done = self.muster("describe", "t0", "--zone", "us-west4-a")
        self.assertIn("READY, but not usable", done.out)

    def test_types_and_versions_of_a_zone(self):
        done = self.muster("types", "--zone", "us-west4-a", "--quiet")
        self.assertEqual(done.out.split(), [
            "v5litepod-1", "v5litepod-4", "v5litepod-8", "v5litepod-16"])
        done = self.muster("versions", "--zone", "us-west4-a", "--output",
                           "json")
        self.assertIn({"name": "v2-alpha-tpuv5-lite", "zone": "us-west4-a"},
                      done.json["versions"])

    def test_queued_resources(self):
        self.queue()
        self.api.clock.advance(60)
        done = self.muster("queued", "list", "--zone", "us-west4-a")
        self.assertIn("WAITING_FOR_RESOURCES  t      spot", done.out)
        self.api.clock.advance(4000)
        done = self.muster("queued", "describe", "q")
        self.assertIn("state       FAILED", done.out)
        self.assertIn("no more capacity in the zone", done.out)
        self.assertIn("never queued again", done.out)

    def test_without_a_project_says_how_to_tell_it(self):
        done = self.muster("list", "--output", "json", GOOGLE_CLOUD_PROJECT="")
        finding = self.finding(done, "launch-env-missing", 2)
        self.assertIn("--project", finding["what"])

    def test_gclouds_configuration_tells_project_and_zone(self):
        config = self.folder / "gcloud"
        (config / "configurations").mkdir(parents=True, exist_ok=True)
        (config / "configurations" / "config_default").write_text(
            "[core]\nproject = p\n[compute]\nzone = us-west4-a\n")
        self.add(1)
        told = self.muster("list", "--output", "json", GOOGLE_CLOUD_PROJECT="",
                           CLOUDSDK_CONFIG=str(config)).json
        self.assertEqual(told["zone"]["source"],
                         "gcloud's configuration `default`")
        self.assertEqual(told["tpus"][0]["name"], "t0")


class Faults(WithQueue):
    """Every action under a network that fails: named, never silent."""

    # Room for one repeat, none for the second.
    SHORT = ["--timeout", "2s", "--output", "json"]

    def every(self, cause, code=3, **variables):
        """Those that look, when nothing can be read; those that change, when
        what they ask for is not answered."""
        self.queue()
        self.api.cloud.add_node("us-west4-a", "there", "v5litepod-8")
        self.api.cloud.add_node("us-west4-a", "off", "v5litepod-8",
                                state="STOPPED")
        self.ended(READS, cause, code, variables)
        self.ended_doctor(cause, code, variables)
        for method in ("POST", "DELETE"):
            for script in self.api.scripts:
                script.method = method
            self.ended({name: argv for name, argv in CHANGES.items()
                        if (name in REMOVING) == (method == "DELETE")},
                       cause, code, variables)

    def ended(self, actions, cause, code, variables):
        def ask(name):
            return self.muster(*actions[name], *self.SHORT, **{
                "XDG_STATE_HOME": str(self.folder / name), **variables})

        for name in actions:
            if name.startswith("reap"):
                self.leave(self.folder / name)
        # Most of them wait, for which no core is needed.
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            done = dict(zip(actions, pool.map(ask, actions)))
        for name, one in done.items():
            with self.subTest(name):
                self.finding(one, cause, code)

    def ended_doctor(self, cause, code, variables):
        """One that tells of each question what came of it."""
        done = self.muster("doctor", "--zone", "us-west4-a", "--type",
                           "v5litepod-8", *self.SHORT, **variables)
        told = {one["finding"]["cause"] for one in done.json["checks"]
                if one["outcome"] == "broken"}
        # Later questions may find no time left.
        self.assertEqual((done.code, cause in told), (code, True), done.all)

    def script(self, reply):
        self.api.script("GET", "/v2/", reply, always=True)

    def test_name_that_does_not_resolve(self):
        self.every("net-name-resolution", CLOUDSDK_API_ENDPOINT_OVERRIDES_TPU=
                   "https://no-such-host.invalid/")

    def test_refused(self):
        # Nothing listens on a port that nobody may use.
        self.every("net-wrong-endpoint", CLOUDSDK_API_ENDPOINT_OVERRIDES_TPU=
                   "https://127.0.0.1:1/")

    def test_authority_that_is_not_trusted(self):
        self.every("net-wrong-endpoint",
                   CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE="")
        self.assertEqual(self.api.asked("/v2/"), [])

    def test_hang(self):
        self.script(Reply(fault="hang"))
        self.every("net-timeout-filtered")

    def test_reset(self):
        self.script(Reply(fault="reset"))
        self.every("net-wrong-endpoint")

    def test_end_in_the_body(self):
        self.script(Reply('{"nodes": []}', fault="half"))
        self.every("net-wrong-endpoint")

    def test_truncated_json(self):
        self.script(Reply('{"nodes": ['))
        self.every("net-wrong-endpoint")

    def test_page(self):
        self.script(Reply("<html>hotel</html>"))
        self.every("net-wrong-endpoint")

    def test_redirection(self):
        self.script(Reply("", 301, headers={"Location": "http://x/"}))
        self.every("net-wrong-endpoint")

    def test_ten_mebibytes(self):
        self.script(Reply('{"nodes": ["' + "x" * (10 << 20) + '"]}'))
        self.every("file-corrupt")

    def test_certificate_of_another_name(self):
        folder = self.folder / "other"
        folder.mkdir(exist_ok=True)
        ca, cert, key = make_authority(folder, "DNS:elsewhere.example")
        import ssl
        import threading
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(cert, key)
        server = Server(self.api, tls)
        threading.Thread(target=server.serve_forever, args=(0.02,),
                         daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.every("net-wrong-endpoint", CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE=ca,
                   CLOUDSDK_API_ENDPOINT_OVERRIDES_TPU=
                   f"https://127.0.0.1:{server.server_port}/")
        self.assertEqual(self.api.asked("/v2/"), [])

    def test_token_endpoint_that_hangs(self):
        self.api.script("POST", "/token", Reply(fault="hang"), always=True)
        done = self.with_file(self.api.identity.user(), "auth", *self.SHORT)
        self.finding(done, "net-timeout-filtered", 3)

    def test_trouble_that_passes_is_waited_out(self):
        self.api.cloud.add_node("us-west4-a", "t", "v5litepod-8")
        self.api.script("GET", "/nodes",
                        Reply("", 503, headers={"Retry-After": "0"}),
                        Reply(answers.rate_limit(0.001).body(), 429))
        done = self.muster("list", "--zone", "us-west4-a", "--quiet")
        self.assertEqual((done.code, done.out), (0, "t\n"), done.all)
        self.assertEqual(len(self.api.asked("/nodes")), 3)


if __name__ == "__main__":
    unittest.main()
