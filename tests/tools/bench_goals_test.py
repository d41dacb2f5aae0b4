#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bench holds against its goals, and how often it measures."""
import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(os.environ["MUSTER_SOURCE"]) / "bench"))
import launch_times  # noqa: E402
import repetition  # noqa: E402


class Recovery(unittest.TestCase):
    def ratios(self, ours, others=(5.0,) * 5):
        return launch_times.make_ratios("recovery", {
            "ours": ours, "torchrun": others, "new store": others})

    def test_that_mostly_fails_is_missed(self):
        for ratio in self.ratios([1.0, None, None, None, None]):
            self.assertIs(ratio.met, False, ratio.text)
            self.assertIsNone(json.loads(json.dumps(ratio.as_json()))["median"])

    def test_is_met_by_the_median_of_all_rounds(self):
        for ratio in self.ratios([1.0, 1.1, 1.2, None, None]):
            self.assertIs(ratio.met, True, ratio.text)

    def test_has_no_ratio_to_who_never_came_back(self):
        for ratio in self.ratios([1.0] * 5, [None] * 5)[1:]:
            self.assertIsNone(ratio.met, ratio.text)


class Rounds(unittest.TestCase):
    def made(self, wanted, seconds, takes):
        """Rounds that are made where round N takes takes[N] seconds."""
        time = [0]
        numbers = []
        rounds = repetition.Rounds(wanted, seconds)
        for number in rounds.numbers(now=lambda: time[0]):
            numbers.append(number)
            time[0] += takes[number]
        return numbers

    def test_are_as_many_as_wanted_where_there_is_time(self):
        self.assertEqual(self.made(3, 30, [10] * 3), [0, 1, 2])

    def test_are_fewer_where_the_longest_one_would_not_end_in_time(self):
        self.assertEqual(self.made(5, 30, [12, 5, 5, 5, 5]), [0, 1, 2])

    def test_are_at_least_one(self):
        self.assertEqual(self.made(3, 0, [10]), [0])

    def test_are_counted_in_the_table(self):
        self.assertEqual(repetition.text(3, 3), "3 rounds")
        self.assertEqual(repetition.text(1, 3),
                         "1 of 3 rounds (no time for more)")

    def test_measure_all_sides_and_turn_their_order(self):
        order = []
        sides = {key: repetition.Side(key, lambda key=key: order.append(key))
                 for key in "ab"}
        values = repetition.measure("", sides, repetition.Rounds(2),
                                    lambda _: None)
        self.assertEqual("".join(order), "abba")
        self.assertEqual(values, {"a": [None] * 2, "b": [None] * 2})


if __name__ == "__main__":
    unittest.main()
