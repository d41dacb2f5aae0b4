#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bench/peer_faults.py reads in the output of others."""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(os.environ["MUSTER_SOURCE"]) / "bench"))
from output_parser import (  # noqa: E402
    Line, Output, error_in, errors_in, ranks_named_in, records_in, shorten)

HOSTS = ["10.77.0.1", "10.77.0.2", "10.77.0.10"]
C10D = ("[{}1122 08:51:31.072399576 socket.cpp:818] [c10d] The client socket "
        "has failed to connect to any network address of (10.77.0.1, 8476).")
ABSL = "{}0000 00:00:1795337489.019415     326 rendezvous.cc:467] aborted"


def output(*texts):
    return Output([Line(0, 1.0, text) for text in texts], {0: None})


class Errors(unittest.TestCase):
    def test_are_known_by_their_level(self):
        self.assertEqual(error_in(C10D.format("E")),
                         "The client socket has failed to connect to any "
                         "network address of (10.77.0.1, 8476).")
        self.assertEqual(error_in(ABSL.format("E")), "aborted")
        self.assertIsNone(error_in(ABSL.format("I")))

    def test_are_warnings_only_where_something_fails(self):
        self.assertIsNotNone(error_in(C10D.format("W")))
        self.assertIsNone(error_in(ABSL.format("W")))

    def test_are_the_last_lines_of_tracebacks(self):
        for text in ("[rank0]: RuntimeError: a", "jax.errors.XError: a"):
            self.assertIsNotNone(error_in(text), text)
        for text in ("  raise RuntimeError(a)", "Exception raised from run",
                     "Traceback (most recent call last):"):
            self.assertIsNone(error_in(text), text)

    def test_are_not_what_healthy_hosts_print(self):
        usual, other = "ValueError: usual", "ValueError: other"
        found = errors_in(output(usual, other), output(usual))
        self.assertEqual([one.text for one in found], [other])


class Text(unittest.TestCase):
    def test_of_a_record_has_the_lines_below_it(self):
        info = "I0000 00:00:1.5 32109 service.cc:505] Example stragglers:"
        records = records_in(output(info, "/task:1", "anything", info))
        self.assertEqual([one.text for one in records],
                         ["Example stragglers: /task:1", "Example stragglers:"])
        self.assertEqual(records_in(output("anything")), [])

    def test_is_short_and_has_no_folders(self):
        self.assertEqual(shorten("in /a/b/c.cc:5  of http://a/b/c"),
                         "in …/c.cc:5 of http://a/b/c")
        self.assertLess(len(shorten("word " * 100)), 160)

    def test_names_hosts_by_address_name_and_number(self):
        self.assertEqual(ranks_named_in("to 10.77.0.10:8476", HOSTS), [2])
        self.assertEqual(ranks_named_in("w-0 and /job:worker/task:1", HOSTS),
                         [0, 1])
        self.assertEqual(ranks_named_in("local_rank: 0 (pid: 1)", HOSTS), [])


if __name__ == "__main__":
    unittest.main()
