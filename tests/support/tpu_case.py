# SPDX-License-Identifier: Apache-2.0
"""What tests of `muster tpu` share: a fake of the API and the program led to
it, which never prints a secret."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["MUSTER_SOURCE"])
sys.path.insert(0, str(SOURCE / "tests" / "fakes"))
# pylint: disable=wrong-import-position
from muster_test import MUSTER, Said  # noqa: E402
from tpu_api import TpuApi  # noqa: E402

HANGS = 120  # s; far above what any run may take


class TpuCase(unittest.TestCase):
    """One fake for the class; each test begins with an empty project."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.TemporaryDirectory(prefix="muster-tpu-")
        cls.addClassCleanup(cls.made.cleanup)
        cls.folder = pathlib.Path(cls.made.name)
        cls.api = cls.enterClassContext(TpuApi(cls.made.name))

    def setUp(self):
        self.api.reset()

    def muster(self, *argv, **variables):
        """`muster tpu ARGV` as a user who is logged in by a token."""
        return self.without_login(
            *argv, **{"CLOUDSDK_AUTH_ACCESS_TOKEN": self.api.token(),
                      **variables})

    def without_login(self, *argv, **variables):
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder),
                       "NO_GCE_CHECK": "true", **self.api.environment(),
                       **variables}
        environment = {name: value for name, value in environment.items()
                       if value}
        ended = subprocess.run(
            [MUSTER, "tpu", *argv], env=environment, text=True,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=HANGS,
            check=False)
        done = Said(ended.returncode, ended.stdout, ended.stderr)
        # Every secret of the fake has this word in it.
        self.assertNotIn("canary", done.all)
        return done

    def with_file(self, credentials, *argv, **variables):
        path = self.api.identity.write(self.folder, credentials)
        return self.without_login(
            *argv, **{"GOOGLE_APPLICATION_CREDENTIALS": path, **variables})

    def leave(self, state, name="lost"):
        """A TPU that a program made which did not end well: the cloud has it,
        and the journal of the folder `state` says so."""
        self.api.cloud.add_node("us-west4-a", name, "v5litepod-8",
                                labels={"muster-request": "r-" + name})
        path = pathlib.Path(state, "muster", "tpu.jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as journal:
            print(json.dumps({
                "step": "asked", "kind": "node", "project": "p", "name": name,
                "zone": "us-west4-a", "type": "v5litepod-8",
                "request": "r-" + name, "at": "2026-01-01T00:00:00Z", "pid": 1,
                "host": "elsewhere"}), file=journal)

    def finding(self, done, cause, code):
        """The finding that was printed as JSON."""
        self.assertTrue(done.out, done.err)
        finding = done.json
        self.assertEqual(finding.get("cause"), cause, done.all)
        self.assertEqual(done.code, code, done.all)
        return finding
