#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""muster run on hosts of a lab: what is wrong between them is said before a rank
starts. Exit code 77: no lab can be made here."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
import namespaces  # noqa: E402

MUSTER = os.environ["MUSTER_BINARY"]
PORT = 8476
# Hung, not slow: members that are not well are tried for 6 s.
HUNG = 60
RANGE = "20000-29999"


class BeforeRun(unittest.TestCase):
    def run_on(self, lab):
        """Exit codes by rank, what rank 0 has written, and the ranks that
        started."""
        token = pathlib.Path(lab.folder, "token")
        token.write_text("correct horse battery staple")
        token.chmod(0o600)
        hosts = ",".join(f"{host.address}:{PORT}" for host in lab.hosts)
        processes = []
        for host in lab.hosts:
            processes.append(host.start(
                [MUSTER, "run", "--hosts", hosts, "--token-file", str(token),
                 "--runs-dir", str(host.folder / "runs"), "--max-restarts", "0",
                 "--", "touch", "started"],
                env={**os.environ, "NO_GCE_CHECK": "true"},
                cwd=host.folder, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        outputs = [process.communicate(timeout=HUNG)[0]
                   for process in processes]
        codes = [process.returncode for process in processes]
        started = [host.rank for host in lab.hosts
                   if (host.folder / "started").exists()]
        report = lab.hosts[0].folder / "runs/latest/report.json"
        return codes, json.loads(report.read_text()), started, outputs[0]

    def assert_stopped(self, lab, cause, *named):
        codes, report, started, output = self.run_on(lab)
        self.assertEqual(codes, [125] * len(codes), output)
        self.assertEqual(started, [], output)
        errors = [one for one in report["findings"]
                  if one["severity"] == "error"]
        self.assertEqual([one["cause"] for one in errors], [cause], output)
        self.assertEqual(sorted(errors[0]["subjects"]),
                         [f"rank {rank}" for rank in named], output)

    def test_starts_where_all_is_well(self):
        with namespaces.Lab(900, 3) as lab:
            codes, report, started, output = self.run_on(lab)
        self.assertEqual(codes, [0, 0, 0], output)
        self.assertEqual(started, [0, 1, 2], output)
        self.assertEqual(report["findings"], [], output)

    def test_stops_at_a_direction_that_is_filtered(self):
        with namespaces.Lab(901, 3) as lab:
            lab.hosts[2].filter("input", f"ip saddr {lab.hosts[1].address} "
                                f"tcp dport {RANGE} drop")
            self.assert_stopped(lab, "net-timeout-filtered", 1, 2)

    def test_stops_at_a_host_whose_ports_are_filtered(self):
        with namespaces.Lab(902, 3) as lab:
            lab.hosts[1].filter("input", f"tcp dport {RANGE} drop")
            self.assert_stopped(lab, "net-timeout-filtered", 1)

    def test_stops_where_large_packets_are_lost(self):
        with namespaces.Lab(903, 3) as lab:
            lab.hosts[2].filter(
                "input", f"tcp dport {RANGE} meta length > 1000 drop")
            self.assert_stopped(lab, "net-mtu", 2)


def end(signum, _frame):
    raise SystemExit(128 + signum)


if __name__ == "__main__":
    reason = namespaces.why_not()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    namespaces.sweep()
    unittest.main()
