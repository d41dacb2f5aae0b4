#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`muster tpu doctor` against tests/fakes/tpu_api."""
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
from tpu_api.identity import PERMISSIONS  # noqa: E402


class Doctor(TpuCase):
    """`muster tpu doctor`: everything that can be asked before creating."""

    WANTED = ["--zone", "us-west4-a", "--type", "v5litepod-8"]
    METRIC = "TPUV5LITEPODPerProjectPerRegionForTPUAPI"

    def examine(self, code, *argv):
        done = self.muster("doctor", *(argv or self.WANTED), "--output",
                           "json")
        self.assertEqual(done.code, code, done.all)
        return {one["id"]: one for one in done.json["checks"]}

    def outcomes(self, checks):
        return {name: one["outcome"] for name, one in checks.items()}

    def check_one(self, name, cause, code=1, argv=()):
        """Only this one fails; its finding."""
        checks = self.examine(code, *argv)
        failed = [one for one in checks.values() if one["outcome"] == "fail"]
        self.assertEqual([one["id"] for one in failed], [name])
        self.assertEqual(failed[0]["finding"]["cause"], cause)
        return str(failed[0])

    def test_all_is_well(self):
        self.api.cloud.quota[self.METRIC, "us-west4"] = 16
        self.api.cloud.quota["TPUV5LITEPODPreemptiblePerProjectPerRegion"
                             "ForTPUAPI", "us-west4"] = 0
        checks = self.examine(0)
        self.assertEqual(set(self.outcomes(checks).values()), {"pass"})
        self.assertIn("on-demand 16", checks["quota"]["detail"])
        self.assertIn("spot 0", checks["quota"]["detail"])
        self.assertIn("v2-alpha-tpuv5-lite", checks["version"]["detail"])
        self.assertEqual(self.api.cloud.left_over(), [])

    def test_what_needs_a_zone_is_skipped_without_one(self):
        checks = self.examine(0, "--project", "p")
        for name in ("type", "version", "quota"):
            self.assertEqual(checks[name]["outcome"], "skip")
            self.assertIn("--zone and --type", checks[name]["detail"])

    def test_a_project_of_somebody_else_ends_it(self):
        checks = self.examine(1, "--project", "other")
        self.assertEqual(checks["project"]["outcome"], "fail")
        self.assertEqual(checks["billing"]["detail"],
                         "because project failed")

    def test_the_api_is_off(self):
        self.api.cloud.disabled.add("p")
        checks = self.examine(1)
        self.assertEqual(checks["api"]["outcome"], "fail")
        self.assertIn("gcloud services enable tpu.googleapis.com --project p",
                      str(checks["api"]["finding"]))
        self.assertIn("project=p", checks["api"]["link"])

    def test_billing_is_off(self):
        self.api.cloud.unbilled.add("p")
        checks = self.examine(1)
        self.assertEqual(checks["billing"]["outcome"], "fail")
        self.assertIn("gcloud billing projects link p",
                      str(checks["billing"]["finding"]))

    def test_rights_are_named_with_the_action_that_needs_them(self):
        self.api.identity.permissions["me@example.com"] = {
            "tpu.nodes.list", "tpu.nodes.get",
            "tpu.acceleratortypes.list", "tpu.runtimeversions.list"}
        text = self.check_one("permissions", "cloud-permission-denied")
        self.assertIn("tpu.nodes.create (for `create`)", text)
        self.assertIn("--role=roles/tpu.admin", text)
        self.assertNotIn("tpu.nodes.list (", text)

    def test_no_right_that_an_action_needs_is_forgotten(self):
        for right in ("tpu.operations.get", "tpu.acceleratortypes.list",
                      "tpu.runtimeversions.list", "tpu.locations.list"):
            self.api.identity.permissions["me@example.com"] = (
                PERMISSIONS - {right})
            text = self.check_one("permissions", "cloud-permission-denied")
            self.assertIn(f"lacks {right} (for `", text)

    def test_a_type_that_is_not_offered_lists_those_that_are(self):
        text = self.check_one(
            "type", "cloud-type-unsupported",
            argv=["--zone", "us-west4-a", "--type", "v6e-8"])
        self.assertIn("v5litepod-16", text)

    def test_a_version_of_another_generation_names_the_right_one(self):
        text = self.check_one("version", "usage-invalid", 2, argv=[
            *self.WANTED[:2], "--accelerator-type", "v5litepod-8",
            "--version", "tpu-ubuntu2204-base"])
        self.assertIn("v2-alpha-tpuv5-lite", text)

    def test_a_version_that_the_zone_does_not_have(self):
        self.check_one("version", "usage-invalid", 2,
                       argv=[*self.WANTED, "--version", "v2-nightly"])

    def test_no_quota_in_any_way(self):
        self.api.cloud.quota[self.METRIC, "us-west4"] = 0
        text = self.check_one("quota", "cloud-quota-exceeded", 75)
        self.assertIn(self.METRIC, text)

    def test_what_may_not_be_asked_is_skipped_with_the_reason(self):
        self.api.script("GET", "/billingInfo", Reply(
            answers.permission_denied("billing.x", "projects/p").body(), 403))
        checks = self.examine(0)
        self.assertEqual(checks["billing"]["outcome"], "skip")
        self.assertIn("lacks billing.x", checks["billing"]["detail"])

    def test_a_service_in_trouble_is_broken_not_passed(self):
        self.api.script("GET", "/services/", Reply(
            "", 500, headers={"Retry-After": "0"}), always=True)
        checks = self.examine(3)
        self.assertEqual(checks["api"]["outcome"], "broken")

    def test_without_credentials_the_rest_is_skipped(self):
        done = self.without_login("doctor", "--output", "json")
        self.assertEqual(done.code, 1, done.all)
        first, *rest = done.json["checks"]
        self.assertEqual(first["outcome"], "fail")
        self.assertEqual({one["outcome"] for one in rest}, {"skip"})

    def test_in_text(self):
        self.api.cloud.disabled.add("p")
        done = self.muster("doctor")
        self.assertRegex(done.out, r"(?m)^FAIL  api          "
                         r"cloud-api-disabled$")
        self.assertIn("see       https://console.cloud.google.com/apis",
                      done.out)


if __name__ == "__main__":
    unittest.main()
