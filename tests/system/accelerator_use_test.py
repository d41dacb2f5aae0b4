#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks that leave the accelerators of their host alone, with chips that are
plain files."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../support"))
# pylint: disable=wrong-import-position
import device_root  # noqa: E402
from muster_test import BUILD, MusterTest, Running  # noqa: E402
from muster_test import clean_environment, wait_until  # noqa: E402

CAUSE = "accelerator-unused"
FAKE = str(BUILD / "muster_fake_pjrt.so")


class AcceleratorUse(MusterTest):
    def start_with(self, chips, *argv, **variables):
        if device_root.why_not():
            self.skipTest(device_root.why_not())
        return Running(
            self, ["run", "-n", "2", "--check", "off", *argv], self.folder,
            clean_environment(NO_GCE_CHECK="true", **variables),
            device_root.prefix(self.folder, chips))

    def warned(self, *argv, **variables):
        """The finding of ranks that end when they were warned."""
        running = self.start_with(
            4, "--accelerator-wait", "500ms", *argv, "--", "sh", "-c",
            "until [ -e enough ]; do sleep 0.1; done", **variables)
        wait_until(lambda: CAUSE in running.text(), 60, "the warning")
        (self.folder / "enough").touch()
        done = running.wait()
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(done.err.count(f"[{CAUSE}]"), 1, done.err)
        finding = self.assert_finding(done, CAUSE)
        self.assertEqual(finding["severity"], "warning")
        self.assertIn("run on the CPU: the host has 4 x TPU v4",
                      finding["what"])
        return finding

    def quiet(self, chips, wait, command):
        done = self.start_with(chips, "--accelerator-wait", wait, "--", "sh",
                               "-c", command).wait()
        self.assertEqual(done.code, 0, done.err)
        self.assertNotIn(CAUSE, done.err)
        self.assertEqual(done.report["findings"], [])

    def test_says_that_a_variable_hides_them(self):
        finding = self.warned(JAX_PLATFORMS="cpu", TPU_LIBRARY_PATH=FAKE)
        self.assertIn("`JAX_PLATFORMS=cpu` hides it", finding["what"])

    def test_says_that_a_variable_of_the_run_hides_them(self):
        finding = self.warned("--env", "PJRT_DEVICE=CPU")
        self.assertIn("`PJRT_DEVICE=CPU` hides it", finding["what"])

    def test_says_that_the_plugin_is_not_installed(self):
        finding = self.warned(PATH="/bin:/usr/bin/none", VIRTUAL_ENV=str(
            self.folder))
        self.assertIn("libtpu is not installed", finding["what"])

    def test_says_that_the_program_does_not_ask(self):
        finding = self.warned(TPU_LIBRARY_PATH=FAKE)
        self.assertIn("the program does not use it", finding["what"])

    def test_is_silent_where_a_process_of_a_rank_has_one_open(self):
        # 4 s for a shell to open a file.
        self.quiet(4, "4s", "( exec 3</dev/accel2; sleep 6 ) & wait")

    def test_is_silent_where_one_rank_uses_them(self):
        self.quiet(4, "4s", "[ $RANK = 1 ] || exec 3</dev/accel0; sleep 6")

    def test_is_silent_on_a_host_without_any(self):
        self.quiet(0, "100ms", "sleep 1")

    def test_is_silent_when_it_is_not_wanted(self):
        self.quiet(4, "none", "sleep 1")


if __name__ == "__main__":
    unittest.main(verbosity=2)  # says why a test is skipped
