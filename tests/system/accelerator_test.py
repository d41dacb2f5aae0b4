#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`muster check accelerator` and `check tpu --open`, with chips that are plain
files and plug-ins that are ours or PyPI's (MUSTER_PJRT_CPU)."""
import json
import os
import pty
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../support"))
# pylint: disable=wrong-import-position
import device_root  # noqa: E402
from muster_test import BUILD, MUSTER, MusterTest  # noqa: E402
from muster_test import clean_environment  # noqa: E402

FAKE = str(BUILD / "muster_fake_pjrt.so")
CPU = os.environ.get("MUSTER_PJRT_CPU", "")


class Accelerator(MusterTest):
    def check(self, *argv, chips=None, code=0, **variables):
        """The document of a check; its exit code is as expected. `chips` are
        those of a /dev of our own, None is the machine's."""
        before = [] if chips is None else self.root(chips)
        done = subprocess.run(
            [*before, MUSTER, "check", *argv, "--output", "json"],
            cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=600,
            env=clean_environment(NO_GCE_CHECK="true", **variables))
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(done.stdout)

    @staticmethod
    def answer(document, check):
        return next(one for one in document["checks"] if one["id"] == check)

    def open(self, behaviour, *argv, code=0):
        document = self.check(
            "accelerator", "--open", "--yes", "--plugin", FAKE, *argv,
            code=code, MUSTER_FAKE_PJRT=behaviour)
        return self.answer(document, "accelerator.opened")

    def without_gpu(self):
        if os.path.exists("/proc/driver/nvidia"):
            self.skipTest("this host has a GPU, which is no file of /dev only")

    def test_no_size_is_compared_with_one_that_is_not_here(self):
        self.without_gpu()
        document = self.check("fit", "--params", "1B", "--activations", "1GB",
                              "--on", "here", chips=0, code=3)
        self.assertEqual(
            (document["verdict"], document["detail"]),
            ("skip", "flag --on is `here`, but no accelerator is visible"))

    def test_skips_every_check_where_there_is_none(self):
        self.without_gpu()
        document = self.check("accelerator", "--open", "--yes", chips=0)
        self.assertEqual({one["outcome"] for one in document["checks"]},
                         {"skip"})
        self.assertTrue(all(one["detail"] for one in document["checks"]))

    def test_shows_chips_driver_plugin_and_lock_without_opening_any(self):
        document = self.check("accelerator", chips=4, TPU_LIBRARY_PATH=FAKE)
        shown = self.answer(document, "accelerator.devices")["data"]
        self.assertEqual(
            [(one["path"], one["kind"], one["driver"], one["holders"])
             for one in shown["devices"]],
            [(f"/dev/accel{i}", "TPU v4", "gasket", []) for i in range(4)])
        self.assertIn("lock", shown)
        self.assertIn("env TPU_LIBRARY_PATH",
                      self.answer(document, "accelerator.plugin")["detail"])
        opened = self.answer(document, "accelerator.opened")
        self.assertEqual(opened["outcome"], "skip")

    def test_names_who_holds_a_chip_and_does_not_open_it(self):
        holder = [sys.executable, "-c",
                  "import subprocess, sys; held = open('/dev/accel1');"
                  "sys.exit(subprocess.run(sys.argv[1:]).returncode)"]
        done = subprocess.run(
            [*self.root(2), *holder, MUSTER, "check", "accelerator", "--open",
             "--yes", "--plugin", FAKE, "--output", "json"],
            cwd=self.folder, capture_output=True, text=True, timeout=120,
            stdin=subprocess.DEVNULL,
            env=clean_environment(NO_GCE_CHECK="true"))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(
            self.answer(document, "accelerator.free")["causes"],
            ["device-busy"])
        chips = self.answer(document, "accelerator.devices")["data"]["devices"]
        self.assertEqual([len(one["holders"]) for one in chips], [0, 1])
        opened = self.answer(document, "accelerator.opened")
        self.assertEqual(opened["outcome"], "skip")
        self.assertIn("uses the chips", opened["detail"])

    def test_who_holds_a_chip_of_another_machine_is_no_holder(self):
        """Two containers may each have a /dev/accel0."""
        other = self.folder / "other"
        other.mkdir()
        holder = subprocess.Popen(
            [*self.root(1, other), sys.executable, "-c",
             "import sys; held = open('/dev/accel0');"
             "print('held', flush=True); sys.stdin.read()"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        with holder:
            self.assertEqual(holder.stdout.readline(), "held\n")
            document = self.check("accelerator", chips=1, TPU_LIBRARY_PATH=FAKE)
            holder.stdin.close()
        chips = self.answer(document, "accelerator.devices")["data"]["devices"]
        self.assertEqual([one["holders"] for one in chips], [[]])

    def root(self, chips, folder=None):
        if device_root.why_not():
            self.skipTest(device_root.why_not())
        return device_root.prefix(folder or self.folder, chips)

    def test_opens_counts_and_adds(self):
        opened = self.open("", "--replicas", "8")
        self.assertEqual(opened["outcome"], "pass")
        self.assertIn("8 devices of `cpu`", opened["detail"])
        self.assertIn("8 expected (flag --replicas)", opened["detail"])

    def test_is_ended_where_the_plugin_hangs(self):
        opened = self.open("stuck", "--timeout", "500ms", code=1)
        self.assertEqual(opened["causes"], ["deadline-exceeded"])

    def test_says_what_the_plugin_says(self):
        for behaviour, cause in (("version", "ver-plugin-mismatch"),
                                 ("lost", "device-hardware-fault"),
                                 ("diverge", "replica-divergence"),
                                 ("null", "ver-plugin-mismatch")):
            with self.subTest(behaviour):
                self.assertEqual(self.open(behaviour, code=1)["causes"],
                                 [cause])

    def test_adds_over_eight_devices_of_a_real_plugin(self):
        if not CPU:
            self.skipTest("MUSTER_PJRT_CPU names no plug-in (xla-cpu-pjrt)")
        document = self.check("accelerator", "--open", "--yes", "--plugin",
                              CPU, "--replicas", "8")
        opened = self.answer(document, "accelerator.opened")
        self.assertEqual(len(opened["data"]["kinds"]), 8)
        self.assertEqual(opened["outcome"], "pass")

    def test_finds_the_plugin_of_a_platform_that_is_named(self):
        document = self.check(
            "accelerator", "--open", "--yes", "--plugin", "cpu",
            PJRT_NAMES_AND_LIBRARY_PATHS=f"tpu:/none,cpu:{FAKE}")
        data = self.answer(document, "accelerator.opened")["data"]
        self.assertEqual((data["plugin"], data["source"]),
                         (FAKE, "env PJRT_NAMES_AND_LIBRARY_PATHS"))

    def test_asks_before_it_opens(self):
        self.check("accelerator", "--open", "--plugin", FAKE, code=2)
        for answer, seen in ((b"n\n", "skip    accelerator.opened"),
                             (b"y\n", "ok      accelerator.opened")):
            master, slave = pty.openpty()
            os.write(master, answer)
            done = subprocess.run(
                [MUSTER, "check", "accelerator.opened", "--open", "--plugin",
                 FAKE], stdin=slave, stderr=slave, stdout=subprocess.PIPE,
                timeout=120, cwd=self.folder, text=True,
                env=clean_environment(NO_GCE_CHECK="true"))
            os.close(slave)
            os.close(master)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertTrue(re.search(seen, done.stdout), done.stdout)

    def test_is_a_step_of_the_start_on_a_tpu(self):
        for behaviour, code, verdicts in (
                ("", 0, ["pass", "pass", "pass"]),
                ("create", 1, ["pass", "fail", "skip"])):
            with self.subTest(behaviour):
                document = self.check(
                    "tpu", "--open", "--yes", chips=4, code=code,
                    TPU_LIBRARY_PATH=FAKE, MUSTER_FAKE_PJRT=behaviour)
                self.assertEqual(
                    [self.answer(document, f"tpu.{step}")["outcome"]
                     for step in ("connected", "initialized", "replicas")],
                    verdicts)


if __name__ == "__main__":
    unittest.main(verbosity=2)  # says why a test is skipped
