#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`muster tpu start`, `stop`, `delete` and `reap` against tests/fakes/tpu_api:
whatever happens, the user is told what the TPU is afterwards."""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(os.environ["MUSTER_SOURCE"], "tests",
                                    "support")))
# pylint: disable=wrong-import-position
from tpu_change_case import ChangeCase, FAST, TYPE, WEST  # noqa: E402
from tpu_api import Reply, answers  # noqa: E402


class Change(ChangeCase):
    def change(self, verb, *argv, name="t"):
        return self.muster(*verb.split(), name, "--zone", WEST, "--yes", *FAST,
                           *argv)

    def test_stops_starts_and_deletes(self):
        self.cloud.add_node(WEST, "t", TYPE)
        for verb, out in (("stop", "stopped"), ("start", "started"),
                          ("delete", "deleted")):
            done = self.change(verb)
            self.assertEqual(done.code, 0, done.all)
            self.assertIn(f"TPU `t` of zone us-west4-a is {out}", done.out)
        self.assertEqual(self.cloud.left_over(), [])
        self.assertEqual(self.steps(), ["changing", "changed", "changing",
                                        "changed", "removing", "gone"])

    def test_an_answer_that_was_lost_is_looked_for(self):
        self.cloud.add_node(WEST, "t", TYPE)
        # At 20 the repeat meets what is on its way, at 2000 what is done.
        for speed in (20, 2000):
            for verb, out in (("stop", "stopped"), ("start", "started")):
                self.api.clock.set_speed(speed)
                self.api.script("POST", f"/nodes/t:{verb}",
                                Reply(fault="lost"))
                done = self.change(verb)
                self.assertEqual(done.code, 0, done.all)
                self.assertIn(f"is {out}", done.out)
                self.assertEqual(self.lines()[-1]["what"], out)

    def test_a_change_that_never_came_through_is_told(self):
        self.cloud.add_node(WEST, "t", TYPE)
        self.api.script("POST", "/nodes/t:stop", Reply(fault="reset"),
                        always=True)
        done = self.change("stop", "--output", "json")
        self.found(done, "net-wrong-endpoint", 3)
        self.assertEqual(self.steps(), ["changing", "changed"])

    def test_asks_and_says_what_is_lost(self):
        self.cloud.add_node(WEST, "t", TYPE)
        for verb, lost in (("stop", "all programs on it end"),
                           ("start", "it is billed"),
                           ("delete", "all data on its disk is lost")):
            done = self.muster(verb, "t", "--zone", WEST, "--output", "json")
            self.assertIn(lost, self.found(done, "usage-invalid", 2))
        self.assertEqual(self.api.asked("/nodes", "POST"), [])
        self.assertEqual(self.api.asked("/nodes", "DELETE"), [])

    def test_several_hosts_cannot_be_stopped(self):
        self.cloud.add_node(WEST, "t", "v5litepod-16")
        done = self.change("stop", "--output", "json")
        self.assertIn("4 hosts", self.found(done, "usage-invalid", 2))

    def queue(self):
        self.create("--queued")
        self.api.clock.advance(3600)
        self.cloud.settle()

    def test_a_node_of_the_queue_goes_with_it(self):
        self.queue()
        done = self.change("delete")
        self.assertEqual(done.code, 0, done.all)
        self.assertEqual(self.settled(), [])

    def test_a_queued_resource(self):
        self.queue()
        done = self.change("queued delete", "--output", "json")
        self.assertEqual((done.code, done.json["done"]), (0, "deleted"),
                         done.all)
        self.assertEqual(self.settled(), [])

    def test_a_deletion_that_was_taken_on_and_not_answered(self):
        self.cloud.add_node(WEST, "t", TYPE)
        self.api.script("DELETE", "/nodes/t", Reply(fault="lost"))
        self.assertEqual(self.change("delete").code, 0)

    def test_the_api_is_enabled_when_asked(self):
        self.cloud.disabled.add("p")
        done = self.muster("doctor", "--enable", "--output", "json")
        self.found(done, "usage-invalid", 2)
        self.assertIn("p", self.cloud.disabled)
        done = self.muster("doctor", "--enable", "--yes", *FAST)
        self.assertEqual((done.code, self.cloud.disabled), (0, set()),
                         done.all)
        self.assertRegex(done.out, r"(?m)^ok +api ")

    def test_a_person_may_think_longer_than_the_patience(self):
        self.cloud.disabled.add("p")
        process, _ = self.ask("doctor", "--enable", "--timeout", "1s", *FAST,
                              answer="y\n", after=1.1)
        self.assertEqual((process.returncode, self.cloud.disabled), (0, set()))


class Reap(ChangeCase):
    def test_what_was_removed_is_told_beside_what_is_left(self):
        for name in ("a", "b"):
            self.leave(self.folder / ".local/state", name)
        self.api.script("DELETE", "/nodes/b", Reply(answers.permission_denied(
            "tpu.nodes.delete", "b").body(), 403), always=True)
        done = self.muster("reap", "--yes", *FAST, "--output", "json")
        self.assertEqual(done.code, 1, done.all)
        told = done.json
        self.assertEqual(told["schema"], "muster.tpu.reap/1")
        self.assertEqual([one["name"] for one in told["removed"]], ["a"])
        self.assertEqual([(one["name"], one["finding"]["cause"])
                          for one in told["left"]],
                         [("b", "cloud-permission-denied")])


if __name__ == "__main__":
    unittest.main(verbosity=2)  # says why a test is skipped
