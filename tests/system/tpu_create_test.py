#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`muster tpu create`, `wait` and `reap` against tests/fakes/tpu_api: whatever
happens, what is there afterwards is what the user was told, and never more."""
import json
import os
import pathlib
import pty
import resource
import signal
import socket
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(os.environ["MUSTER_SOURCE"], "tests",
                                    "support")))
# pylint: disable=wrong-import-position
from tpu_change_case import (ChangeCase, EUROPE, FAST, TYPE,  # noqa: E402
                             WEST, node, queued)
from tpu_api import Reply, answers  # noqa: E402


class Core(ChangeCase):
    """Tokens and keys are in no core file either."""

    def leaves_a_core(self, process):
        process.send_signal(signal.SIGSEGV)
        _, status = os.waitpid(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return os.WCOREDUMP(status)

    def test_none_is_left(self):
        def unlimited():
            hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
            resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))

        options = {"preexec_fn": unlimited, "cwd": self.folder}
        control = subprocess.Popen(["sleep", "60"], **options)
        if not self.leaves_a_core(control):
            self.skipTest("this machine writes no core of anything")
        self.api.script("GET", "/nodes", Reply(fault="hang"), always=True)
        process = self.begin("list", "--zone", WEST, **options)
        self.until(lambda: self.api.asked("/nodes"), "it asks")
        self.assertFalse(self.leaves_a_core(process))


class Create(ChangeCase):
    def test_waits_until_it_can_be_used(self):
        done = self.create("--wait")
        self.assertEqual(done.code, 0, done.all)
        self.assertIn("TPU `t` is ready: v5litepod-8 (1 host, on-demand) with "
                      "v2-alpha-tpuv5-lite in zone us-west4-a", done.out)
        self.assertIn("muster tpu delete t --zone us-west4-a", done.out)
        self.assertIn("`t` is CREATING; usually READY within", done.err)
        self.assertIn("Billed from creation", done.err)
        self.assertEqual(self.cloud.left_over(), [node()])
        self.assertEqual(self.steps(), ["asked", "made", "kept"])

    def test_what_is_asked_for_was_written_down_before(self):
        self.create()
        body = json.loads(self.posts()[0][3])
        self.assertEqual(body["labels"]["muster-request"],
                         self.lines()[0]["request"])
        self.assertEqual(self.lines()[0]["step"], "asked")

    def test_without_wait_it_ends_once_the_cloud_took_it_on(self):
        done = self.create("--output", "json")
        self.assertEqual((done.code, done.json["name"]), (0, "t"), done.all)
        self.assertEqual(len(self.posts()), 1)
        self.assertEqual(self.steps(), ["asked", "made", "kept"])

    def test_what_would_be_created_is_shown_and_not_created(self):
        done = self.create("--dry-run", "--output", "json")
        self.assertIn("create TPU `t` in zone us-west4-a", done.json["would"])
        self.assertEqual(self.posts(), [])

    def test_gclouds_names_of_flags(self):
        done = self.muster("create", "t", "--accelerator-type", TYPE, "--zone",
                           WEST, "--version", "v2-alpha-tpuv5-lite", "--spot",
                           "--yes")
        self.assertEqual(done.code, 0, done.all)
        body = json.loads(self.posts()[0][3])
        self.assertEqual(body["schedulingConfig"], {"spot": True})
        self.assertEqual(body["runtimeVersion"], "v2-alpha-tpuv5-lite")

    def test_without_a_terminal_and_yes_nothing_is_created(self):
        done = self.muster("create", "t", "--type", TYPE, "--zone", WEST,
                           "--output", "json")
        what = self.found(done, "usage-invalid", 2)
        self.assertIn("--yes is not set: create TPU `t` in zone us-west4-a "
                      "(on-demand), v5litepod-8 of 1 host", what)
        self.assertIn("tpu/pricing", what)
        self.assertEqual(self.posts(), [])

    def answer(self, text):
        """What a person at a terminal who answers so gets."""
        process, shown = self.ask("create", "t", "--type", TYPE, "--zone", WEST,
                                  answer=text)
        return process.returncode, shown

    def test_a_person_is_asked(self):
        code, shown = self.answer("n\n")
        self.assertIn("create TPU `t` in zone us-west4-a", shown)
        self.assertEqual((code, self.posts()), (130, []))
        self.assertEqual(self.answer("y\n")[0], 0)
        self.assertEqual(len(self.posts()), 1)

    def test_an_answer_that_was_lost_makes_no_second(self):
        self.api.script("POST", "/nodes", Reply(fault="lost"))
        done = self.create("--wait")
        self.assertEqual(done.code, 0, done.all)
        self.assertEqual(self.cloud.made, [node()])

    def test_an_answer_that_was_lost_makes_no_second_in_the_queue(self):
        self.api.script("POST", "/queuedResources", Reply(fault="lost"))
        done = self.create("--queued", "--wait")
        self.assertEqual(done.code, 0, done.all)
        self.assertEqual(self.cloud.made, [node()])

    def test_a_half_finished_creation_is_removed(self):
        self.cloud.half_finished.add("t")
        done = self.create("--wait", "--output", "json")
        self.assertIn("Internal error while creating",
                      self.found(done, "net-wrong-endpoint", 3))
        self.assertEqual(self.cloud.left_over(), [])

    def test_a_stock_out_is_told_with_the_zone(self):
        self.cloud.capacity[WEST, TYPE] = 0
        done = self.create("--wait", "--output", "json")
        self.assertIn("zone us-west4-a has no capacity",
                      self.found(done, "cloud-no-capacity", 75))
        self.assertEqual(self.settled(), [])

    def test_no_quota_is_told_and_never_tried_again(self):
        metric = "TPUV5LITEPODPerProjectPerRegionForTPUAPI"
        self.cloud.quota[metric, "us-west4"] = 0
        done = self.create("--wait", "--output", "json")
        self.assertIn(metric, self.found(done, "cloud-quota-exceeded", 75))
        self.assertEqual(len(self.posts()), 1)
        self.assertEqual(self.steps(), ["asked", "refused"])

    def test_a_name_that_is_taken(self):
        self.cloud.add_node(WEST, "t", TYPE)
        done = self.create("--output", "json")
        self.assertIn("already exists (v5litepod-8, READY)",
                      self.found(done, "usage-invalid", 2))
        self.assertEqual(self.cloud.left_over(), [node()])
        reaped = self.muster("reap", "--yes")
        self.assertIn("no leftover resources that were created from here", reaped.out)

    def test_the_time_is_up(self):
        self.api.clock.set_speed(0)
        done = self.create("--wait", "--deadline", "2s", "--output", "json")
        self.assertIn("it is CREATING",
                      self.found(done, "deadline-exceeded", 3))
        self.assertIn("continues in the cloud", done.err)
        self.assertIn("muster tpu reap", done.err)
        self.muster("reap", "--yes", *FAST, "--deadline", "1s")
        self.assertEqual(self.settled(), [])


class WrongPairs(ChangeCase):
    """Refused before anything is asked to be created, with the right one."""

    def refused(self, cause, code, named, *argv, name="t", **variables):
        done = self.muster("create", name, "--yes", "--output", "json", *argv,
                           **variables)
        self.assertIn(named, self.found(done, cause, code))
        self.assertEqual(self.posts(), [])

    def test_pairs(self):
        west = ["--zone", WEST]
        of_type = ["--type", TYPE]
        rows = [
            ("usage-invalid", 2, "--type v5litepod-8 --zone", west),
            ("usage-invalid", 2, "v5litepod-8 is offered in europe-west4-b, "
             "us-west4-a", of_type),
            ("usage-invalid", 2, "is a region, but a TPU needs a zone: us-west4-a",
             [*of_type, "--zone", "us-west4"]),
            ("usage-invalid", 2, "is a region", [*of_type, "--any-zone",
                                                 "us-west4-a,us-east5"]),
            ("cloud-type-unsupported", 1, "v6e-8 is offered in us-east5-a",
             ["--type", "v6e-8", *west]),
            ("usage-invalid", 2, "use `v2-alpha-tpuv5-lite`",
             [*of_type, *west, "--version", "tpu-ubuntu2204-base"]),
            ("usage-invalid", 2, "use `tpu-vm-tf-2.17.0-pod-pjrt`",
             ["--type", "v5litepod-16", *west, "--version",
              "tpu-vm-tf-2.17.0-pjrt"]),
            ("usage-invalid", 2, "for v5litepod-8 it has v2-alpha-tpuv5-lite",
             [*of_type, *west, "--version", "tpu-vm-tf-2.99.0-pjrt"]),
            ("usage-invalid", 2, "Compute Engine instances",
             ["--type", "tpu7x-8", *west]),
            ("usage-invalid", 2, "set --version", ["--type", "v9-8", *west]),
            ("usage-invalid", 2, "expected ssh, agent, a port, or none",
             [*of_type, *west, "--reach", "telnet"]),
            ("usage-invalid", 2, "mutually exclusive",
             [*of_type, *west, "--any-zone", WEST]),
        ]
        for cause, code, named, argv in rows:
            with self.subTest(named):
                self.refused(cause, code, named, *argv)

    def test_a_name_that_none_may_have(self):
        self.refused("usage-invalid", 2, "did you mean `my-tpu`?", "--type",
                     TYPE, "--zone", WEST, name="My_TPU")

    def test_a_tensorflow_here_of_another_version(self):
        packages = self.folder / "venv/lib/python3.11/site-packages"
        (packages / "tensorflow-2.16.1.dist-info").mkdir(parents=True,
                                                         exist_ok=True)
        (packages / "tensorflow-2.16.1.dist-info/METADATA").write_text(
            "Metadata-Version: 2.1\nName: tensorflow\nVersion: 2.16.1\n")
        self.refused("ver-client-runtime", 1,
                     "use --version tpu-vm-tf-2.16.1-pjrt", "--type", TYPE,
                     "--zone", WEST, "--version", "tpu-vm-tf-2.17.0-pjrt",
                     VIRTUAL_ENV=str(self.folder / "venv"))


class Interrupted(ChangeCase):
    """Ctrl-C and kill -9 in the middle of one creation."""

    def killed(self, *argv, count=1):
        process = self.begin_create(*argv)
        self.until(lambda: len(self.posts()) >= count and
                   self.steps().count("made") >= count, "created")
        process.kill()
        self.finish(process)
        self.api.clock.set_speed(2000)

    def test_ctrl_c_says_what_goes_on_and_how_to_stop_it(self):
        process = self.begin_create("--zone", WEST)
        self.until(lambda: self.api.asked("/operations/"), "waits")
        process.send_signal(signal.SIGINT)
        err = self.finish(process)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("TPU `t` of zone us-west4-a continues in the cloud, and "
                      "is billed when it exists. To stop it: muster tpu reap",
                      err)
        self.assertIn("muster tpu delete t --zone us-west4-a", err)
        self.assertEqual(self.cloud.left_over(), [node()])

    def test_killed_and_found_again(self):
        self.killed("--zone", WEST)
        done = self.create("--wait")
        self.assertEqual(done.code, 0, done.all)
        self.assertIn("was requested before", done.err)
        self.assertEqual(self.cloud.made, [node()])
        self.assertIn("no leftover resources that were created", self.muster("reap").out)

    def test_killed_before_the_request_was_sent(self):
        self.killed("--zone", WEST)
        path = self.folder / ".local/state/muster/tpu.jsonl"
        path.write_text(path.read_text().splitlines()[0] + '\n{"schema": "mus')
        self.cloud.nodes.clear()
        done = self.create("--wait")
        self.assertEqual(done.code, 0, done.all)
        self.assertEqual(self.cloud.left_over(), [node()])

    def test_killed_and_reaped(self):
        self.cloud.add_node(WEST, "mine", TYPE)
        self.killed("--zone", WEST)
        shown = self.muster("reap", "--dry-run")
        self.assertRegex(shown.out, r"node  t     us-west4-a  v5litepod-8  ")
        self.assertIn(node(), self.cloud.left_over())
        refused = self.muster("reap", "--output", "json")
        self.found(refused, "usage-invalid", 2)
        done = self.muster("reap", "--yes", *FAST, "--output", "json")
        self.assertEqual([one["name"] for one in done.json["removed"]], ["t"])
        self.assertEqual(self.cloud.left_over(), [node("mine")])

    def test_what_took_the_name_since_is_not_reaped(self):
        self.killed("--zone", WEST)
        self.cloud.nodes.clear()
        self.cloud.add_node(WEST, "t", TYPE)
        done = self.muster("reap", "--yes", *FAST)
        self.assertIn("no leftover resources that were created from here", done.out)
        self.assertEqual(self.cloud.left_over(), [node()])

    def test_waited_for_is_kept(self):
        self.killed("--zone", WEST)
        done = self.muster("wait", "t", "--zone", WEST, "--reach", "none",
                           *FAST)
        self.assertEqual(done.code, 0, done.all)
        self.assertIn("no leftover resources that were created", self.muster("reap").out)

    def test_what_another_process_is_at_is_left_to_it(self):
        process = self.begin_create("--zone", WEST)
        self.until(lambda: self.posts() and "made" in self.steps(), "created")
        done = self.muster("reap", "--yes")
        self.assertIn(f"is kept: process {process.pid}", done.err)
        self.assertEqual(self.cloud.left_over(), [node()])

    def test_what_another_process_is_at_is_not_joined(self):
        process = self.begin_create("--zone", WEST)
        self.until(lambda: self.posts() and "made" in self.steps(), "created")
        done = self.create("--output", "json")
        what = self.found(done, "usage-invalid", 2)
        self.assertIn(f"process {process.pid} on ", what)
        self.assertIn("is still running", what)
        self.assertNotIn("to stop it", done.err.lower())
        self.assertEqual(len(self.posts()), 1)

    def test_what_another_host_may_be_at_is_left_to_it_for_a_day(self):
        self.killed("--zone", WEST)
        path = self.folder / ".local/state/muster/tpu.jsonl"
        lines = [{**line, "host": "another"} for line in self.lines()]

        def reap():
            path.write_text("".join(json.dumps(line) + "\n"
                                    for line in lines))
            return self.muster("reap", "--yes", *FAST)
        done = reap()
        self.assertIn("on another, which is not visible from here", done.err)
        self.assertIn("muster tpu delete t --zone us-west4-a", done.err)
        self.assertEqual(self.api.asked("", "DELETE"), [])
        for line in lines:
            line["at"] = "2020-01-01T00:00:00Z"
        self.assertIn("is deleted", reap().out)


class Search(ChangeCase):
    """Several zones at once: one is kept, all others go."""

    ANY = ("--any-zone", f"{WEST},{EUROPE}")

    def search(self, *argv):
        return self.create(*argv, zone=self.ANY)

    def begin_search(self, *argv):
        return self.begin("create", "t", "--type", TYPE, *self.ANY, "--reach",
                          "none", "--yes", *FAST, *argv)

    def test_the_one_with_capacity_is_kept(self):
        self.cloud.capacity[WEST, TYPE] = 0
        done = self.search()
        self.assertEqual(done.code, 0, done.all)
        self.assertIn("in zone europe-west4-b", done.out)
        self.assertEqual(self.settled(), [node(zone=EUROPE)])

    def test_of_two_one_is_kept(self):
        done = self.search("--output", "json")
        self.assertEqual(done.code, 0, done.all)
        kept = done.json["tpu"]
        self.assertEqual(self.cloud.left_over(),
                         [node(kept["name"], kept["zone"])])
        self.assertEqual(len(self.cloud.made), 2)
        self.assertEqual(self.steps().count("kept"), 1)

    def test_one_that_cannot_be_deleted_yet_is_deleted_later(self):
        self.cloud.busy.add("t")
        done = self.search()
        self.assertEqual(done.code, 0, done.all)
        self.assertEqual(len(self.settled()), 1)

    def test_capacity_that_comes_later_is_found(self):
        self.cloud.capacity[WEST, TYPE] = 0
        self.cloud.capacity[EUROPE, TYPE] = 0
        process = self.begin_search()
        self.until(lambda: len(self.posts()) > 2, "tries again")
        self.cloud.restock(EUROPE, TYPE, 1)
        self.finish(process)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.settled(), [node(zone=EUROPE)])

    def test_the_queue_is_served_when_capacity_comes(self):
        self.cloud.capacity[WEST, TYPE] = 0
        self.cloud.capacity[EUROPE, TYPE] = 0
        self.api.clock.set_speed(1)
        process = self.begin_search("--queued", "--deadline", "1h")
        self.until(lambda: len(self.posts()) == 2, "queues")
        self.api.clock.advance(10)
        self.cloud.restock(EUROPE, TYPE, 1)
        self.api.clock.advance(600)
        self.until(lambda: "kept" in self.steps(), "ends")
        self.api.clock.advance(600)
        self.finish(process)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.settled(), [node(zone=EUROPE),
                                          queued(zone=EUROPE)])

    def test_none_until_the_deadline(self):
        self.cloud.capacity[WEST, TYPE] = 0
        self.cloud.capacity[EUROPE, TYPE] = 0
        done = self.search("--deadline", "2s", "--output", "json")
        what = self.found(done, "cloud-no-capacity", 75)
        self.assertIn("none of 2 places provided a TPU", what)
        self.assertIn(WEST, what)
        self.assertIn(EUROPE, what)
        self.assertEqual(self.settled(), [])
        self.assertIn("no leftover resources that were created", self.muster("reap").out)

    def test_still_being_created_at_the_deadline_is_removed(self):
        self.api.clock.set_speed(0)
        process = self.begin_search("--deadline", "2s")
        self.until(lambda: self.api.asked("/nodes/t", "DELETE"), "removes")
        self.api.clock.set_speed(2000)
        self.finish(process)
        self.assertEqual(process.returncode, 3)
        self.assertEqual(self.cloud.left_over(), [])

    def test_a_refusal_for_good_ends_that_zone_alone(self):
        self.api.script("POST", WEST, Reply(answers.permission_denied(
            "tpu.nodes.create", WEST).body(), 403), always=True)
        done = self.search()
        self.assertEqual(done.code, 0, done.all)
        self.assertEqual(len(self.api.asked(WEST + "/nodes", "POST")), 1)

    def test_one_that_is_preempted_at_once_is_replaced(self):
        self.cloud.capacity[EUROPE, TYPE] = 0
        parent = f"projects/p/locations/{WEST}"
        self.cloud.sick["t"] = "UNHEALTHY_MAINTENANCE"
        process = self.begin_search()
        self.until(lambda: self.api.asked("/nodes/t", "DELETE"), "removes")
        self.cloud.sick.clear()
        self.finish(process)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.settled(), [f"{parent}/nodes/t"])

    def test_ways_are_tried_side_by_side(self):
        self.cloud.capacity[WEST, TYPE] = 1
        done = self.create("--on-demand", "--spot", "--output", "json")
        self.assertEqual(done.code, 0, done.all)
        bodies = [json.loads(one[3]) for one in self.posts()]
        self.assertIn({"spot": True},
                      [one.get("schedulingConfig") for one in bodies])
        self.assertEqual(len(self.settled()), 1)

    def in_both(self, *argv):
        process = self.begin_create(*self.ANY, *argv)
        self.until(lambda: len(self.posts()) == 2 and
                   self.steps().count("made") == 2, "both")
        return process

    def test_ctrl_c_removes_all(self):
        process = self.in_both()
        process.send_signal(signal.SIGINT)
        err = self.finish(process)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(self.settled(), [])

    def test_killed_and_reaped(self):
        process = self.in_both()
        process.kill()
        self.finish(process)
        self.api.clock.set_speed(2000)
        done = self.muster("reap", "--yes", *FAST)
        self.assertEqual(done.code, 0, done.all)
        self.assertEqual(self.cloud.left_over(), [])

    def test_killed_and_resumed(self):
        process = self.in_both()
        process.kill()
        self.finish(process)
        self.api.clock.set_speed(2000)
        done = self.search()
        self.assertEqual(done.code, 0, done.all)
        self.assertEqual(len(self.cloud.made), 2)
        self.assertEqual(len(self.settled()), 1)

    def test_killed_in_the_queue_and_reaped(self):
        process = self.in_both("--queued")
        process.kill()
        self.finish(process)
        self.api.clock.set_speed(2000)
        done = self.muster("reap", "--yes", *FAST)
        self.assertEqual(done.code, 0, done.all)
        self.assertEqual(self.settled(), [])

    def test_a_silence_at_the_end_does_not_hide_why_there_was_none(self):
        self.cloud.capacity[WEST, TYPE] = 0
        # The second try comes 3 s after the first.
        process = self.begin("create", "t", "--type", TYPE, "--any-zone", WEST,
                             "--reach", "none", "--yes", "--poll", "200ms",
                             "--deadline", "12s")
        self.until(self.posts, "the first try")
        self.api.script("POST", "/nodes", Reply(fault="hang"), always=True)
        err = self.finish(process)
        self.assertEqual(process.returncode, 75, err)
        self.assertIn("error[cloud-no-capacity]", err)

    def test_queued_in_two_zones(self):
        self.cloud.capacity[WEST, TYPE] = 0
        done = self.search("--queued")
        self.assertEqual(done.code, 0, done.all)
        self.assertEqual(self.settled(), [node(zone=EUROPE),
                                          queued(zone=EUROPE)])
        body = json.loads(self.posts()[0][3])
        self.assertEqual(body["queueingPolicy"],
                         {"validUntilDuration": "1800s"})

    def test_queued_without_capacity_leaves_nothing(self):
        self.cloud.capacity[WEST, TYPE] = 0
        done = self.create("--queued", "--wait", "--deadline", "3s",
                           "--output", "json")
        self.assertIn("never queued again",
                      self.found(done, "cloud-no-capacity", 75))
        self.assertEqual(self.settled(), [])

    def test_queued_without_wait_stays_in_the_queue(self):
        done = self.create("--queued")
        self.assertEqual(done.code, 0, done.all)
        self.assertIn("queued resource `t` is queued", done.out)
        waited = self.muster("wait", "t", "--zone", WEST, "--reach", "none",
                             *FAST)
        self.assertEqual(waited.code, 0, waited.all)


class Wait(ChangeCase):
    def wait(self, *argv, name="t", reach="none"):
        return self.muster("wait", name, "--zone", WEST, "--reach", reach,
                           *FAST, "--output", "json", *argv)

    def add(self, **changes):
        return self.cloud.add_node(WEST, "t", TYPE, **changes)

    def test_usable(self):
        self.add()
        done = self.wait()
        self.assertEqual((done.code, done.json["tpu"]["state"]), (0, "READY"))

    def test_what_is_lost_names_its_cause_and_what_to_delete(self):
        for state, cause, code, named in (
                ("PREEMPTED", "preempted", 1, "muster tpu delete t"),
                ("TERMINATED", "preempted", 1, "muster tpu delete t"),
                ("STOPPED", "usage-invalid", 2, "muster tpu start t"),
                ("DELETING", "tpu-not-found", 1, "does not recover")):
            with self.subTest(state):
                self.cloud.nodes.clear()
                self.add(state=state)
                self.assertIn(named, self.found(self.wait(), cause, code))

    def test_ready_but_sick(self):
        self.add(health="UNHEALTHY_MAINTENANCE")
        self.assertIn("UNHEALTHY_MAINTENANCE",
                      self.found(self.wait(), "tpu-unhealthy", 1))

    def test_addresses_that_are_missing(self):
        self.cloud.add_node(WEST, "t", "v5litepod-16")
        self.cloud.addresses["t"] = ["127.0.0.1"]
        done = self.wait("--deadline", "2s")
        self.assertIn("READY with 1 of 4 addresses",
                      self.found(done, "deadline-exceeded", 3))

    def test_reached_on_the_port(self):
        self.add()
        self.cloud.addresses["t"] = ["127.0.0.1"]
        with socket.create_server(("127.0.0.1", 0)) as server:
            done = self.wait(reach=str(server.getsockname()[1]))
        self.assertEqual(done.code, 0, done.all)

    def test_not_reached_on_the_port(self):
        self.add()
        self.cloud.addresses["t"] = ["127.0.0.1"]
        done = self.wait("--deadline", "2s", reach="1")
        self.assertIn("port 1 of worker 0 is not reachable",
                      self.found(done, "net-wrong-endpoint", 3))

    def queue(self, **policy):
        parent = f"projects/p/locations/{WEST}"
        self.cloud.create_queued(parent, "q", {
            "queueingPolicy": policy,
            "tpu": {"nodeSpec": [{"parent": parent, "nodeId": "t", "node": {
                "acceleratorType": TYPE,
                "runtimeVersion": "v2-alpha-tpuv5-lite"}}]}})

    def test_queued_and_then_ready(self):
        self.queue()
        done = self.wait(name="q")
        self.assertEqual((done.code, done.json["tpu"]["name"]), (0, "t"),
                         done.all)

    def test_queued_and_failed(self):
        self.cloud.capacity[WEST, TYPE] = 0
        self.queue(validUntilDuration="60s")
        what = self.found(self.wait(name="q"), "cloud-no-capacity", 75)
        self.assertIn("never queued again", what)
        self.assertIn("muster tpu queued delete q", what)

    def test_queued_and_suspended(self):
        self.queue()
        self.api.clock.advance(3600)
        self.cloud.settle()
        self.cloud.preempt(node())
        self.api.clock.advance(60)
        self.cloud.nodes.clear()
        self.found(self.wait(name="q"), "preempted", 1)

    def test_none_of_that_name(self):
        self.found(self.wait(name="none"), "tpu-not-found", 1)

if __name__ == "__main__":
    unittest.main(verbosity=2)  # says why a test is skipped
