#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds tests/fakes/tpu_api to the truth: TensorFlow's TPUClusterResolver,
unchanged, finds a TPU there by its name, and `muster resolve` the same."""
import json
import os
import subprocess
import unittest
from unittest import mock

from fake_google import HANGS, WithFake

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402  pylint: disable=wrong-import-position

ZONE = "us-central2-b"


class Resolver(WithFake):
    """Its own client, its own credentials, the fake where Google would be."""

    def setUp(self):
        super().setUp()
        self.enterContext(mock.patch("httplib2.CA_CERTS", self.api.ca))
        os.environ["GOOGLE_APPLICATION_CREDENTIALS"] = (
            self.api.identity.write(self.folder, self.api.identity.user()))

    def resolver(self, name="t"):
        return tf.distribute.cluster_resolver.TPUClusterResolver(
            name, zone=ZONE, project="p")

    def muster(self):
        done = subprocess.run(
            [os.environ["MUSTER_BINARY"], "resolve", "--output", "json"],
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder),
                 "TPU_NAME": "t", "CLOUDSDK_CORE_PROJECT": "p",
                 "CLOUDSDK_COMPUTE_ZONE": ZONE, "NO_GCE_CHECK": "true",
                 **self.api.environment(),
                 "CLOUDSDK_AUTH_ACCESS_TOKEN": self.api.token()},
            capture_output=True, text=True, timeout=HANGS, check=False,
            stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [one["address"]["value"] for one in json.loads(done.stdout)["members"]]

    def test_finds_all_workers_by_the_name(self):
        self.api.cloud.add_node(ZONE, "t", "v4-32")
        resolver = self.resolver()
        workers = resolver.cluster_spec().as_dict()["worker"]
        self.assertEqual(workers, [f"10.164.0.{i}:8470" for i in range(2, 6)])
        self.assertEqual(resolver.master(), "grpc://10.164.0.2:8470")
        self.assertEqual(self.muster(), workers)

    def test_says_that_it_is_not_ready(self):
        self.api.cloud.add_node(ZONE, "t", "v4-8", state="CREATING")
        with self.assertRaisesRegex(RuntimeError, 'state: "CREATING"'):
            self.resolver().cluster_spec()

    def test_does_not_find_what_is_not_there(self):
        with self.assertRaisesRegex(ValueError, "Could not lookup TPU metadata"):
            self.resolver("other").cluster_spec()


if __name__ == "__main__":
    unittest.main(verbosity=2)
