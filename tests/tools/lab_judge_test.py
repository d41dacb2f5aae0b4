#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the lab takes for a right answer."""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(os.environ["MUSTER_SOURCE"])
                       / "tests" / "lab"))
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


if __name__ == "__main__":
    unittest.main()
