# SPDX-License-Identifier: Apache-2.0
"""What a test leaves running on its hosts."""
import namespaces
from muster_test import MusterTest, wait_until


class LeavesNothing(MusterTest):
    """`members`: the hosts; `servers`: the pids that may stay."""

    def left(self):
        return namespaces.pids_in(self.members) - self.servers

    def assert_nothing_is_left(self):
        wait_until(lambda: not self.left(), 60, "nothing left",
                   lambda: f"but {namespaces.described(self.left())}")
