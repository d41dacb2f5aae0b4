#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each answer of the Cloud TPU API means to each action of `muster tpu`:
(answer, action) -> cause, repeated or not, exit code, what is named. Every row
is a test."""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(os.environ["MUSTER_SOURCE"], "tests",
                                    "support")))
# pylint: disable=wrong-import-position
from tpu_case import TpuCase  # noqa: E402
from tpu_api import Reply, answers  # noqa: E402

ZONE = ["--zone", "us-west4-a"]
NEW = ["t", "--type", "v5litepod-8", *ZONE, "--reach", "none"]
CHANGE = ["--yes", "--poll", "1ms"]
SOON = [*CHANGE, "--deadline", "1s"]
# Each action with the path that it asks, and how where it is not GET.
ACTIONS = {
    "list": (["list", "--zone", "us-west4-a"], "us-west4-a/nodes"),
    "everywhere": (["list", "--all-zones"], "/-/nodes"),
    "describe": (["describe", "t", "--zone", "us-west4-a"],
                 "us-west4-a/nodes/t"),
    "types": (["types", "--zone", "us-west4-a"], "/acceleratorTypes"),
    "versions": (["versions", "--zone", "us-west4-a"], "/runtimeVersions"),
    "queued": (["queued", "list", "--zone", "us-west4-a"],
               "/queuedResources"),
    "queued_one": (["queued", "describe", "q", "--zone", "us-west4-a"],
                   "/queuedResources/q"),
    "region": (["list", "--zone", "us-west4"], "/locations"),
    "create": (["create", *NEW, *CHANGE], "us-west4-a/nodes", "POST"),
    "create_queued": (["create", *NEW, "--queued", *CHANGE],
                      "/queuedResources", "POST"),
    "wait": (["wait", "t", *ZONE], "us-west4-a/nodes/t"),
    "ssh": (["ssh", "t", *ZONE], "us-west4-a/nodes/t"),
    "notebook": (["notebook", "t", *ZONE], "us-west4-a/nodes/t"),
    "reap": (["reap", *SOON], "us-west4-a/nodes/lost"),
    "reap_removing": (["reap", *SOON], "us-west4-a/nodes/lost", "DELETE"),
    "start": (["start", "off", *ZONE, *CHANGE], "/nodes/off:start", "POST"),
    "stop": (["stop", "on", *ZONE, *CHANGE], "/nodes/on:stop", "POST"),
    "delete": (["delete", "on", *ZONE, *SOON], "/nodes/on", "DELETE"),
    "queued_delete": (["queued", "delete", "there", *ZONE, *SOON],
                      "/queuedResources/there", "DELETE"),
    "created": (["create", *NEW, "--wait", *CHANGE], "/operations/[^/]+"),
    "enable": (["doctor", "--enable", "--yes"], "/services/.*:enable", "POST"),
}
CHANGING = {"create", "create_queued", "start", "stop", "delete",
            "queued_delete", "reap_removing", "created", "enable"}
AT_ONCE = {"Retry-After": "0"}
PAGE = "<!DOCTYPE html><html>log in</html>"
QUOTA = "TPUV6EPreemptiblePerProjectPerRegionForTPUAPI"


def of(refusal, **headers):
    return Reply(refusal.body(), refusal.http_status, headers=headers)


def plain(code, message, *details):
    return of(answers.Refusal(code, message, *details))


def reason(code, name, **metadata):
    return plain(code, "refused", answers.error_info(name, **metadata))


def soon(code, message):
    return plain(code, message, answers.retry_info(0.001))


# name: (reply, cause, repeated, exit code, what is named)
ANSWERS = {
    "api_off": (of(answers.service_disabled("123456789012")),
                "cloud-api-disabled", False, 1,
                ["123456789012", "gcloud services enable tpu.googleapis.com "
                 "--project p"]),
    "api_off_of_gcloud_itself": (
        of(answers.service_disabled("764086051850")), "cloud-api-disabled",
        False, 1, ["764086051850", "set-quota-project p"]),
    "api_off_in_words": (
        plain(7, "Cloud TPU API has not been used in project 42 before or it "
              "is disabled. Enable it by visiting …"),
        "cloud-api-disabled", False, 1, ["project 42"]),
    "billing_off": (of(answers.billing_disabled("77")),
                    "cloud-permission-denied", False, 1,
                    ["billing is not enabled", "gcloud billing projects link "
                     "p"]),
    "free_trial": (
        plain(7, "cannot create a TPU Node on a project linked to a "
              "free-trial billing account"),
        "cloud-permission-denied", False, 1, ["billing is not enabled"]),
    "permission": (
        of(answers.permission_denied("tpu.x.list", "projects/p/locations/z")),
        "cloud-permission-denied", False, 1,
        ["lacks tpu.x.list on projects/p/locations/z", "roles/tpu.viewer"]),
    "permission_in_words": (
        plain(7, "Permission 'tpu.nodes.get' denied on 'projects/p/x'"),
        "cloud-permission-denied", False, 1,
        ["lacks tpu.nodes.get on projects/p/x"]),
    "wrong_project": (plain(7, "Read access to project 'pp' was denied"),
                      "cloud-permission-denied", False, 1, ["'pp'"]),
    "no_such_zone": (
        plain(7, "Permission denied on 'locations/us-west9-a' (or it may not "
              "exist).", answers.error_info("IAM_PERMISSION_DENIED")),
        "cloud-permission-denied", False, 1, ["zone us-west9-a"]),
    "scope": (of(answers.scope_insufficient()), "cloud-permission-denied",
              False, 1, ["scope cloud-platform", "--scopes=cloud-platform"]),
    "scope_in_words": (
        plain(7, "Request had insufficient authentication scopes."),
        "cloud-permission-denied", False, 1, ["scope cloud-platform"]),
    "consumer_invalid": (
        reason(7, "CONSUMER_INVALID", consumer="projects/nope"),
        "cloud-permission-denied", False, 1, ["no valid project nope"]),
    "quota_project": (
        reason(7, "USER_PROJECT_DENIED", consumer="projects/other"),
        "cloud-permission-denied", False, 1,
        ["quota project other", "serviceusage.services.use"]),
    "token_expired": (of(answers.unauthenticated()), "cloud-auth-missing",
                      False, 1, ["ACCESS_TOKEN_EXPIRED"]),
    "anonymous": (of(answers.anonymous()), "cloud-auth-missing", False, 1,
                  ["CREDENTIALS_MISSING"]),
    "unauthenticated_in_words": (
        plain(16, "Request had invalid authentication credentials."),
        "cloud-auth-missing", False, 1, ["401 UNAUTHENTICATED"]),
    "api_key": (reason(3, "API_KEY_INVALID"), "cloud-auth-missing", False, 1,
                ["API_KEY_INVALID"]),
    "account_disabled": (reason(16, "ACCOUNT_STATE_INVALID"),
                         "cloud-auth-missing", False, 1,
                         ["ACCOUNT_STATE_INVALID"]),
    "type_not_offered": (
        of(answers.type_not_found("v4-128", "us-west4-a")),
        "cloud-type-unsupported", False, 1,
        ["zone us-west4-a does not offer v4-128", "muster tpu types"]),
    "not_found": (of(answers.not_found("projects/p/locations/z/nodes/t")),
                  "tpu-not-found", False, 1,
                  ["project p", "muster tpu list --all-zones"]),
    "version": (of(answers.version_not_found("2.4")), "usage-invalid", False,
                2, ["field `RuntimeVersion`", "2.4"]),
    "field": (
        plain(3, "Invalid value.", {
            "@type": answers.TYPES + "BadRequest",
            "fieldViolations": [{"field": "pageToken"}]}),
        "usage-invalid", False, 2, ["field `pageToken`"]),
    "there_already": (of(answers.already_exists("projects/p/x")),
                      "usage-invalid", False, 2, ["already exists"]),
    "precondition": (plain(9, "Cannot stop a TPU with more than one host."),
                     "usage-invalid", False, 2, ["more than one host"]),
    "aborted": (plain(10, "conflict"), "usage-invalid", False, 2,
                ["409 ABORTED"]),
    "unimplemented": (plain(12, "not here"), "usage-invalid", False, 2,
                      ["501 UNIMPLEMENTED"]),
    "quota": (of(answers.no_quota(QUOTA, 0, "us-east5")),
              "cloud-quota-exceeded", False, 75,
              [f"`{QUOTA}`", "us-east5", " is 0", "iam-admin/quotas"]),
    "quota_in_words": (
        plain(8, f"Quota limit '{QUOTA}' has been exceeded. Limit: 4 in "
              "region us-east5."),
        "cloud-quota-exceeded", False, 75, [QUOTA, "us-east5", " is 4"]),
    "quota_of_pods": (
        plain(8, "Quota 'TPUV4sPreemptiblePodPerProjectPerRegionForTPUAPI' "
              "exhausted. Limit 0 in region us-central2."),
        "cloud-quota-exceeded", False, 75,
        ["TPUV4sPreemptiblePodPerProjectPerRegionForTPUAPI"]),
    "quota_failure": (
        plain(8, "no", answers.quota_failure("projects/p", "TPUS of r")),
        "cloud-quota-exceeded", False, 75, ["TPUS of r"]),
    "rate": (of(answers.rate_limit(0.001)), "cloud-quota-exceeded", True, 75,
             ["too many requests"]),
    "rate_of_http": (Reply("slow down", 429, headers=AT_ONCE),
                     "cloud-quota-exceeded", True, 75,
                     ["too many requests"]),
    "stock_out": (of(answers.stock_out("us-west4-a")), "cloud-no-capacity",
                  False, 75, ["zone us-west4-a has no capacity",
                              "--any-zone us-west4-a,ZONE"]),
    "no_reservation": (of(answers.no_reservation()), "cloud-no-capacity",
                       False, 75, ["Insufficient reserved capacity"]),
    "unavailable": (soon(14, "The service is currently unavailable."),
                    "net-wrong-endpoint", True, 3, ["503 UNAVAILABLE"]),
    "internal": (soon(13, "Internal error [EID: 0x1]"), "net-wrong-endpoint",
                 True, 3, ["500 INTERNAL", "EID: 0x1"]),
    "too_slow": (soon(4, "Deadline expired"), "deadline-exceeded", True, 3,
                 ["504 DEADLINE_EXCEEDED"]),
    "cancelled": (plain(1, "cancelled"), "cancelled", False, 130,
                  ["499 CANCELLED"]),
    "http_500": (Reply("", 500, headers=AT_ONCE), "net-wrong-endpoint", True,
                 3, ["(500)"]),
    "http_502_page": (Reply(PAGE, 502, headers=AT_ONCE), "net-wrong-endpoint",
                      True, 3, ["(502)"]),
    "http_503": (Reply("", 503, headers=AT_ONCE), "net-wrong-endpoint", True,
                 3, ["(503)"]),
    "http_504": (Reply("", 504, headers=AT_ONCE), "net-wrong-endpoint", True,
                 3, ["(504)"]),
    "http_408": (Reply("", 408, headers=AT_ONCE), "net-timeout-filtered", True,
                 3, ["(408)"]),
    "http_418": (Reply("", 418), "net-wrong-endpoint", False, 3, ["(418)"]),
    "portal_403": (Reply(PAGE, 403), "net-wrong-endpoint", False, 3,
                   ["(403)"]),
    "portal_200": (Reply(PAGE), "net-wrong-endpoint", False, 3,
                   ["received a web page"]),
    "portal_302": (Reply("", 302, headers={"Location": "https://login.x/"}),
                   "net-wrong-endpoint", False, 3, ["https://login.x/"]),
    "proxy_407": (Reply("", 407), "net-proxy", False, 3,
                  ["user and password"]),
    "truncated_json": (Reply('{"nodes": [{"name": '), "net-wrong-endpoint",
                       False, 3, ["not a JSON object"]),
    "json_of_another_kind": (Reply("[1, 2]"), "net-wrong-endpoint", False, 3,
                             ["not a JSON object"]),
    "pages_without_end": (Reply({"nextPageToken": "x"}), "net-wrong-endpoint",
                          False, 3, ["the response has too many pages"]),
}
# What one node or one queued resource cannot be answered with.
ONLY_LISTS = {"pages_without_end"}
LISTS = ["list", "types"]
# They ask three times before they believe a network that fails.
WATCHING = {"created", "delete", "queued_delete", "reap_removing"}
# What may be removed later is.
ASKED_AGAIN = {action: {"precondition", "aborted"}
               for action in ("delete", "queued_delete", "reap_removing")}
# What is no refusal there: the operation or the thing is gone.
GONE = {("not_found", action)
        for action in ("created", "delete", "queued_delete", "reap",
                       "reap_removing")}


def rows():
    """Every answer to two actions that look and one that changes, in turn, so
    that each action meets many."""
    changes = [name for name in ACTIONS if name in CHANGING]
    looks = [name for name in ACTIONS if name not in CHANGING]
    for number, answer in enumerate(ANSWERS):
        chosen = [looks[(number + step) % len(looks)] for step in (0, 3)]
        chosen.append(changes[number % len(changes)])
        if answer in ONLY_LISTS:
            chosen = LISTS
        for action in chosen:
            if (answer, action) not in GONE:
                yield answer, action


class Answers(TpuCase):
    def arrange(self):
        """What the changes need to find."""
        cloud = self.api.cloud
        cloud.add_node("us-west4-a", "on", "v5litepod-8")
        cloud.add_node("us-west4-a", "off", "v5litepod-8", state="STOPPED")
        parent = "projects/p/locations/us-west4-a"
        cloud.create_queued(parent, "there", {"tpu": {"nodeSpec": [
            {"parent": parent, "nodeId": "n", "node": {
                "acceleratorType": "v5litepod-8",
                "runtimeVersion": "v2-alpha-tpuv5-lite"}}]}})

    def check(self, answer, action):
        reply, cause, repeated, code, named = ANSWERS[answer]
        argv, path, method = (*ACTIONS[action], "GET")[:3]
        if action in CHANGING:
            self.arrange()
        state = self.folder / answer / action
        if action.startswith("reap"):
            self.leave(state)
        if action == "enable":
            self.api.script("GET", "/services/", Reply({"state": "DISABLED"}),
                            always=True)
        self.api.script(method, path + r"(\?|$)", reply, always=True)
        done = self.muster(*argv, "--output", "json",
                           XDG_STATE_HOME=str(state))
        finding = self.finding(done, cause, code)
        text = str(finding)
        for one in named:
            self.assertIn(one, text)
        asked = self.api.asked(path + r"(\?|$)", method)
        if repeated or answer in ASKED_AGAIN.get(action, ()):
            self.assertGreater(len(asked), 2)
        elif answer != "pages_without_end" and not (
                action in WATCHING and code == 3):
            self.assertEqual(len(asked), 1)


def add(answer, action):
    setattr(Answers, f"test_{answer}_to_{action}",
            lambda self: self.check(answer, action))


for one_row in rows():
    add(*one_row)


if __name__ == "__main__":
    unittest.main()
