#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the lab takes for a right answer, and for a row that has none here."""
import os
import pathlib
import sys
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(os.environ["MUSTER_SOURCE"])
                       / "tests" / "lab"))
import namespaces  # noqa: E402
import scene  # noqa: E402


def fault(named, cause="net-mtu", **more):
    return scene.Fault("a fault", cause, named, lambda scene: None, **more)


def said(*ranks, cause="net-mtu"):
    """Three hosts that all say the same of these ranks."""
    finding = {"cause": cause, "severity": "error", "what": "", "evidence": [
        {"what": ""}], "subjects": [f"rank {rank}" for rank in ranks]}
    return {rank: {"findings": [finding]} for rank in range(3)}


class Judging(unittest.TestCase):
    def test_takes_who_has_to_be_named(self):
        self.assertEqual(scene.judge([fault((1,))], said(1)), [])

    def test_refuses_that_everybody_is_named(self):
        self.assertEqual(len(scene.judge([fault((1,))], said(0, 1, 2))), 1)

    def test_refuses_that_one_is_left_out(self):
        self.assertEqual(len(scene.judge([fault((0, 1))], said(1))), 1)

    def test_takes_who_may_be_named_beside(self):
        self.assertEqual(scene.judge([fault((1,), also=(0, 2))], said(0, 1)), [])

    def test_takes_two_faults_of_a_cause_in_one_finding(self):
        both = [fault((1,)), fault((2,))]
        self.assertEqual(scene.judge(both, said(1, 2)), [])

    def test_tells_whom_the_findings_name(self):
        self.assertEqual(scene.said_of(fault((1,)), said(2, 1)), [1, 2])
        self.assertEqual(scene.said_of(fault((), cause=""), said(1)), [])


class Playing(unittest.TestCase):
    def play(self, error):
        def does(_scene):
            raise error

        row = scene.Fault("a fault", "net-mtu", (1,), does)
        lab = mock.Mock(hosts=[])
        with mock.patch.object(namespaces, "Lab") as labs:
            labs.return_value.__enter__.return_value = lab
            labs.return_value.__exit__.return_value = False
            return scene.play(0, (row,))

    def test_a_row_that_this_machine_cannot_play_is_not_wrong(self):
        played = self.play(namespaces.CannotBePlayed("no IPv6 here"))
        self.assertEqual(played, scene.Played([], lacking="no IPv6 here"))

    def test_a_row_that_fails_for_another_reason_is_wrong(self):
        played = self.play(OSError("no such file"))
        self.assertFalse(played.lacking)
        self.assertEqual(len(played.wrong), 1)

    def cgroup_of(self, controller, controllers):
        """On a machine whose one mount of cgroup2 has these controllers."""
        mounts = "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
        with mock.patch.object(pathlib.Path, "read_text", autospec=True,
                               side_effect=lambda path: {
                                   "mountinfo": mounts,
                                   "cgroup.subtree_control": controllers,
                               }[path.name]):
            return namespaces.cgroup_of(controller)

    def test_a_controller_is_there_by_its_whole_name(self):
        self.assertEqual(self.cgroup_of("cpu", "cpuset cpu pids\n"),
                         (pathlib.Path("/sys/fs/cgroup"), 2))
        for controllers in ("", "cpuset pids\n"):
            with self.assertRaises(namespaces.CannotBePlayed):
                self.cgroup_of("cpu", controllers)

    def test_only_what_a_lab_has_left_is_swept(self):
        nobody = 2**22  # no process has a number so large
        self.assertTrue(namespaces.is_left(f"mulab-{nobody}-3-x7"))
        self.assertTrue(namespaces.is_left(f"mulab-{nobody}-br"))
        for name in (f"mulab-{os.getpid()}-3-x7", "mulab-", "mulab-x-y",
                     f"mulab-{nobody}", f"other-{nobody}-1", ""):
            self.assertFalse(namespaces.is_left(name), name)


if __name__ == "__main__":
    unittest.main()
