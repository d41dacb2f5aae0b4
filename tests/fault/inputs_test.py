#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wrong inputs: each ends with its cause and its code, and none hangs."""
import gzip
import json
import os
import pathlib
import shutil
import socket
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from muster_test import BUILD, MusterTest, free_port  # noqa: E402

TRAIN = BUILD / "fashion_mnist"
DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")


class Description(MusterTest):
    """Of the cluster: exit code 2, before anything is started."""

    def refuse(self, cause, *argv, code=2, **environment):
        done = self.muster("run", *argv, "--", "/bin/true", seconds=30,
                           **environment)
        self.assertEqual(done.code, code, done.err)
        self.assertIn(f"[{cause}]", done.err)
        return done.err

    def test_a_malformed_tf_config_is_named_with_its_position(self):
        text = self.refuse("cluster-spec-invalid", TF_CONFIG='{"cluster": [}')
        self.assertIn("TF_CONFIG", text)
        self.assertIn("column", text)

    def test_a_world_size_without_a_rank_names_both(self):
        text = self.refuse("launch-env-missing", WORLD_SIZE="2")
        self.assertIn("WORLD_SIZE", text)
        self.assertIn("RANK", text)

    def test_a_rank_outside_of_the_world(self):
        self.refuse("rank-world-mismatch", WORLD_SIZE="2", RANK="2",
                    MASTER_ADDR="127.0.0.1", MASTER_PORT="29500")

    def test_two_members_with_one_address(self):
        text = self.refuse("duplicate-identity", "--hosts",
                           "127.0.0.1:7001,127.0.0.1:7001", "--rank", "0")
        self.assertIn("127.0.0.1:7001", text)

    def test_an_unknown_flag_suggests_the_nearest(self):
        text = self.refuse("usage-invalid", "--max-restart", "1")
        self.assertIn("--max-restarts", text)

    def test_no_command_is_said(self):
        done = self.muster("run", "-n", "2", seconds=30)
        self.assertEqual(done.code, 2, done.err)
        self.assertIn("usage-invalid", done.err)


class Members(MusterTest):
    """Of the roll call: exit code 125, named within the deadline."""

    def gather(self, hosts, rank=0):
        done = self.muster("run", "--hosts", ",".join(hosts), "--rank", rank,
                           "--gather-timeout", "2s", "--", "/bin/true",
                           seconds=30)
        self.assertEqual(done.code, 125, done.err)
        return done

    def test_an_address_that_refuses(self):
        port = free_port()
        done = self.gather([f"127.0.0.1:{free_port()}", f"127.0.0.1:{port}"])
        self.assertIn("rendezvous-timeout", done.err)
        self.assertIn("rank 1", done.err)
        self.assertIn(f"127.0.0.1:{port}", done.err)
        self.assertIn("refused", done.err)

    def test_an_address_that_accepts_and_never_answers(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            port = silent.getsockname()[1]
            done = self.gather([f"127.0.0.1:{free_port()}",
                                f"127.0.0.1:{port}"])
        self.assertIn("rank 1", done.err)
        self.assertIn("sends nothing", done.err)

    def test_a_name_that_does_not_resolve(self):
        done = self.gather([f"127.0.0.1:{free_port()}",
                            "no-such-host.invalid:7001"])
        self.assertIn("net-name-resolution", done.err)
        self.assertIn("no-such-host.invalid", done.err)

    def test_two_processes_that_claim_one_rank(self):
        hosts = [f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"]
        flags = ("run", "--hosts", ",".join(hosts), "--gather-timeout", "10s")
        first = self.start(*flags, "--rank", 0, "--", "/bin/true",
                           folder=self.folder / "first")
        second = self.start(*flags, "--rank", 0, "--", "/bin/true",
                            folder=self.folder / "second")
        codes = [first.process, second.process]
        for process in codes:
            process.wait(30)
        texts = first.wait().err + second.wait().err
        self.assertIn("duplicate-identity", texts)
        self.assertIn("rank 0", texts)


class Files(MusterTest):
    """Of the program: data and checkpoints."""

    def train(self, *flags, name="run", **options):
        return self.muster("run", "-n", "2", "--", TRAIN, "--epochs", "1",
                           *flags, folder=self.folder / name, **options)

    def refuse(self, cause, *flags, **options):
        done = self.train(*flags, **options)
        self.assertNotEqual(done.code, 0, done.err)
        finding = self.assert_finding(done, cause)
        self.assertEqual(len(done.report["attempts"]), 1)
        return str(finding)

    def copy_data(self):
        folder = self.folder / "data"
        shutil.copytree(DATA, folder)
        return folder

    def test_a_missing_data_file(self):
        data = self.copy_data()
        (data / "train-images-idx3-ubyte.gz").unlink()
        self.assertIn("train-images-idx3-ubyte",
                      self.refuse("file-missing", "--data", data))

    def test_a_truncated_data_file(self):
        data = self.copy_data()
        raw = gzip.decompress(
            (data / "train-images-idx3-ubyte.gz").read_bytes())
        (data / "train-images-idx3-ubyte.gz").unlink()
        (data / "train-images-idx3-ubyte").write_bytes(raw[:-1000])
        self.assertIn("train-images-idx3-ubyte",
                      self.refuse("file-corrupt", "--data", data))

    def test_a_checkpoint_directory_that_cannot_be_made(self):
        (self.folder / "file").write_text("in the way")
        text = self.refuse_any(("file-permission", "file-missing"),
                               "--checkpoints", self.folder / "file" / "c")
        self.assertIn("file", text)

    def refuse_any(self, causes, *flags):
        done = self.train(*flags)
        self.assertNotEqual(done.code, 0, done.err)
        finding = done.report["findings"][0]
        self.assertIn(finding["cause"], causes, done.err)
        return str(finding)

    def test_a_corrupt_newest_checkpoint_gives_way_to_the_one_before(self):
        checkpoints = self.folder / "checkpoints"
        flags = ("--checkpoints", checkpoints, "--every", "100")
        self.assertEqual(self.train(*flags, name="first").code, 0)
        newest = sorted(checkpoints.glob("*/manifest.json"))[-1].parent
        weights = next(newest.glob("*.safetensors"))
        raw = bytearray(weights.read_bytes())
        raw[-5] ^= 0xFF
        weights.write_bytes(raw)
        done = self.train(*flags, name="second")
        self.assertEqual(done.code, 0, done.err)
        said = done.err + json.dumps(done.events)
        self.assertIn("file-corrupt", said)
        self.assertIn(newest.name, said)

    @unittest.skipUnless(os.geteuid() == 0, "needs root to mount a small disk")
    def test_a_full_disk(self):
        small = self.folder / "small"
        small.mkdir()
        if os.system(f"mount -t tmpfs -o size=300k none {small}") != 0:
            self.skipTest("cannot mount a small disk here")
        self.addCleanup(os.system, f"umount {small}")
        text = self.refuse("disk-full", "--checkpoints", small / "c",
                           "--every", "50")
        self.assertIn(str(small), text)


if __name__ == "__main__":
    unittest.main(verbosity=2)  # says why a test is skipped
