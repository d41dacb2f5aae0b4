#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`muster run --tpu NAME --recreate`, with real sshd on hosts that are network
namespaces and stand for the workers of a TPU VM that is taken away."""
import json
import os
import pathlib
import signal
import sys
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "support"))
# pylint: disable=wrong-import-position
from tpu_vm_case import Tpu, namespaces, tpu_vm  # noqa: E402
from muster_test import wait_until  # noqa: E402


class Recreates(Tpu):
    """A TPU that is lost is made anew, where that was asked for."""
    accelerator, size = "v4-16", 2
    # What rank 0 of the first run leaves where it outlives the TPU.
    PROGRAM = """
        step=$(cat "$BUCKET/step" 2>/dev/null || echo 0)
        echo "rank $RANK goes on from step $step"
        test "$step" = 0 || exit 0
        test "$RANK" = 0 && echo 7 >"$BUCKET/step.new"
        echo $$ >"$HOME/pid"
        sleep 600 & wait
    """

    def setUp(self):
        super().setUp()
        self.cloud = self.api.cloud
        self.cloud.addresses["t"] = [host.address for host in self.workers]
        # Nobody here is asked for a second token, however late it is.
        self.api.identity.LIFE_S = 10 ** 9
        self.bucket = self.folder / "bucket"
        self.bucket.mkdir()
        self.journal = self.tpu.home / ".local/state/muster/tpu.jsonl"

    def begin_training(self, *flags):
        for worker in range(2):
            (self.home(worker) / "pid").unlink(missing_ok=True)
        running = self.begin(
            "run", "--tpu", "t", "--poll", "20ms", *flags, "--env",
            f"BUCKET={self.bucket}", "--", "sh", "-c", self.PROGRAM)
        self.await_sleepers(range(2))
        return running

    def save_checkpoint(self):
        (self.bucket / "step.new").rename(self.bucket / "step")

    def hurry(self):
        """Minutes of the cloud in a second."""
        self.api.clock.set_speed(600)

    def lose_hosts(self):
        for host in self.workers:
            self.ssh.stop(host)

    def made_again(self):
        return self.api.asked("/(nodes|queuedResources)[?]", "POST")

    def await_creation(self):
        wait_until(self.made_again, 120, "another TPU is asked for")

    def steps(self):
        return [json.loads(line)["step"]
                for line in self.journal.read_text().splitlines()]

    def assert_untouched(self):
        self.assertEqual(self.api.asked("", "DELETE") + self.made_again(), [])

    def settled(self):
        """What is there once the cloud has done all that it was told."""
        self.api.clock.advance(7200)
        return self.cloud.left_over()

    def train_through_preemption(self):
        running = self.begin_training("--recreate")
        self.save_checkpoint()
        self.hurry()
        self.tpu.preempt()
        self.await_creation()
        self.serve()
        done = running.wait()
        self.assertEqual(done.code, 0, done.err)
        return done

    def test_preempted_goes_on_from_the_checkpoint(self):
        self.tpu.node.spec["metadata"] = {"ssh-keys": "me:key"}
        self.serve()
        done = self.train_through_preemption()
        self.assertIn("error[preempted] the TPU `t` was preempted", done.err)
        for rank in range(2):
            self.assertIn(f"rank {rank} goes on from step 7", done.out)
        self.assertEqual(self.steps(),
                         ["removing", "gone", "asked", "made", "kept"])
        spec = json.loads(self.made_again()[0][3])
        self.assertEqual(
            (spec["acceleratorType"], spec["runtimeVersion"], spec["metadata"]),
            ("v4-16", "tpu-ubuntu2204-base", {"ssh-keys": "me:key"}))
        self.assertIn("Billed from creation", done.err)
        self.assertEqual(self.cloud.left_over(), [tpu_vm.NAME])
        self.assert_nothing_is_left()

    def test_nothing_is_made_that_nobody_asked_for(self):
        self.serve()
        running = self.begin_training()
        self.tpu.preempt()
        self.assertEqual(running.wait().code, 75)
        self.assert_untouched()

    def test_as_often_as_it_may(self):
        self.serve()
        running = self.begin_training("--recreate", "--max-recreates", "1")
        self.hurry()
        self.tpu.preempt()
        self.await_creation()
        for worker in range(2):
            (self.home(worker) / "pid").unlink()
        self.serve()
        self.await_sleepers(range(2))
        self.tpu.preempt()
        done = running.wait()
        self.assertEqual(done.code, 75, done.err)
        self.assertIn("recreated 1 times (flag --max-recreates)",
                      self.said(done))
        self.assertEqual(len(self.made_again()), 1)

    def test_no_longer_than_the_deadline(self):
        self.serve()
        running = self.begin_training("--recreate", "--deadline", "10s")
        self.cloud.capacity["us-central2-b", "v4-16"] = 0
        self.hurry()
        self.tpu.preempt()
        done = running.wait()
        self.assertEqual(done.code, 75, done.err)
        self.assertIn("error[cloud-no-capacity]", done.err)
        self.assertIn("nothing remains in the cloud", self.said(done))
        self.assertEqual(self.settled(), [])

    def test_unhealthy_is_asked_about(self):
        for flags in ((), ("--yes",)):
            with self.subTest(flags):
                self.serve()
                self.api.clock.set_speed(1)
                running = self.begin_training("--recreate", *flags)
                self.hurry()
                self.cloud.sick["t"] = "UNHEALTHY_MAINTENANCE"
                self.lose_hosts()
                if not flags:
                    done = running.wait()
                    self.assertEqual(done.code, 75, done.err)
                    self.assertIn("not recreated, because there is no "
                                  "terminal to ask", self.said(done))
                    self.assert_untouched()
                    del self.cloud.sick["t"]
                    (self.bucket / "step.new").unlink()
                    continue
                self.save_checkpoint()
                self.await_creation()
                del self.cloud.sick["t"]
                self.serve()
                self.assertEqual(running.wait().code, 0, running.text())

    def test_what_a_person_stopped_stays(self):
        self.serve()
        running = self.begin_training("--recreate", "--yes")
        self.tpu.node.timeline.set(0, (0, "STOPPED"))
        self.lose_hosts()
        done = running.wait()
        self.assertEqual(done.code, 75, done.err)
        self.assertIn("error[usage-invalid] TPU `t` of zone us-central2-b is "
                      "STOPPED", done.err)
        self.assert_untouched()

    def test_an_agent_that_is_killed_before_its_sshd(self):
        """ssh says nothing then, and the API is asked all the same."""
        self.serve()
        running = self.begin_training("--recreate", "--yes")
        self.tpu.node.timeline.set(0, (0, "STOPPED"))
        agents = [pid for pid, command
                  in namespaces.described(namespaces.pids_in(self.workers)).items()
                  if " --from-stdin" in command]
        self.assertGreaterEqual(len(agents), 2)
        for pid in agents:
            os.kill(pid, signal.SIGKILL)
        done = running.wait()
        self.assertEqual(done.code, 75, done.err)
        self.assertIn("which runs the coordinator, is gone", done.err)
        self.assertIn("is STOPPED", done.err)
        self.assert_untouched()
        self.lose_hosts()

    def test_one_that_was_preempted_before(self):
        self.tpu.node.timeline.set(0, (0, "PREEMPTED"))
        self.hurry()
        self.serve()
        done = self.play("run", "--tpu", "t", "--recreate", "--poll", "20ms",
                         "--", "hostname")
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(sorted(done.out.split()),
                         sorted("[rank 0] w-0 [rank 1] w-1".split()))

    def test_one_of_a_queue_is_queued_again(self):
        del self.cloud.nodes[tpu_vm.NAME]
        parent = "projects/p/locations/us-central2-b"
        self.cloud.create_queued(parent, "q", {
            "spot": {}, "tpu": {"nodeSpec": [{
                "parent": parent, "nodeId": "t", "node": {
                    "acceleratorType": "v4-16",
                    "runtimeVersion": "tpu-ubuntu2204-base"}}]}})
        self.api.clock.advance(7200)
        self.serve()
        done = self.train_through_preemption()
        self.assertIn("rank 1 goes on from step 7", done.out)
        self.assertEqual(len(self.api.asked("queuedResources/q[?]force=true",
                                            "DELETE")), 1)
        spec = json.loads(self.made_again()[0][3])
        self.assertEqual(spec["spot"], {})
        self.assertEqual(self.cloud.left_over(), [
            tpu_vm.NAME, f"{parent}/queuedResources/t"])

    def begin_creation(self):
        """It is being created, and the cloud stands still."""
        self.serve()
        running = self.begin_training("--recreate")
        self.api.clock.set_speed(0)
        self.tpu.preempt()
        # Asked for is not done: what comes after it counts from then.
        wait_until(lambda: self.tpu.node.timeline.state(
            self.api.clock.now()) == "DELETING", 120, "the deletion")
        self.api.clock.advance(600)
        self.await_creation()
        wait_until(lambda: "made" in self.steps(), 120, "the creation")
        return running

    def test_ctrl_c_says_what_goes_on(self):
        running = self.begin_creation()
        running.process.send_signal(signal.SIGINT)
        done = running.wait()
        self.assertEqual(done.code, 130, done.err)
        self.assertIn("TPU `t` of zone us-central2-b continues in the cloud",
                      self.said(done))
        self.assertIn("muster tpu reap", self.said(done))
        self.assertIn("muster tpu create t --zone us-central2-b --type v4-16",
                      self.said(done))
        self.assertEqual(self.settled(), [])

    def test_killed_leaves_what_reap_removes(self):
        running = self.begin_creation()
        running.process.kill()
        running.process.wait()
        self.api.clock.set_speed(600)
        done = self.play("tpu", "reap", "--yes", "--poll", "20ms")
        self.assertEqual(done.code, 0, done.err)
        self.assertIn("TPU `t` of zone us-central2-b is deleted", done.out)
        self.assertEqual(self.settled(), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
