#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bench holds against its goals."""
import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(os.environ["MUSTER_SOURCE"]) / "bench"))
import lifetime  # noqa: E402


class Recovery(unittest.TestCase):
    def ratios(self, ours, others=(5.0,) * 5):
        return lifetime.make_ratios("recovery", {
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


if __name__ == "__main__":
    unittest.main()
