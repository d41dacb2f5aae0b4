#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays the table of faults.py against muster check on hosts of a lab.

  run.py                 a part of the table: the test
  run.py --all           the whole table, faults alone and in pairs
  run.py --only WORD     rows whose name has the word, and what was said
  run.py --all --page docs/reference/lab.md   writes the page of the results

$MUSTER_BINARY is the program. Exit code 77: no lab can be made here. A row that
needs what this machine lacks is skipped and says so.
"""
import argparse
import concurrent.futures
import itertools
import pathlib
import signal
import statistics
import sys
import time

import faults
import namespaces
import pairs
import scene

# Every so many rows a healthy one.
HEALTHY_EVERY = 6
WORKERS = 4


def rows_of(kind):
    alone = [(one,) for one in faults.NETWORK + faults.HOST]
    together = list(pairs.of_seven())
    if kind == "part":
        alone, together = alone[::2], together[::6]
    rows = []
    healthy = itertools.cycle(faults.HEALTHY)
    for number, row in enumerate(alone + together):
        if number % HEALTHY_EVERY == 0:
            rows.append((next(healthy),))
        rows.append(row)
    return rows


def speed_rows(kind):
    """One after the other: two that measure at a time measure each other."""
    faults_of, healthy = faults.SPEEDS, faults.FAST
    if kind == "part":
        faults_of, healthy = faults_of[:1] + faults_of[3:4], healthy[::3]
    return [(one,) for one in healthy + faults_of]


def name_of(row):
    return " + ".join(
        fault.name if len(row) == 1 else f"{fault.name} ({fault.named[0]})"
        for fault in row)


def page(results):
    played = [one for one in results if one[0][0].cause]
    times = [one.seconds for row, one in played
             if row[0].group != scene.SPEED]
    controls = [one for one in results if not one[0][0].cause]
    right = sum(1 for _, one in played if not one.wrong)
    lines = [
        "# Faults that muster check was tried with", "",
        "Made by `tests/lab/run.py --all --page`: every row is played on hosts",
        "that are network namespaces on a bridge, `muster check` on all of",
        "them, `muster check network.speed` where a link is slow. Right means:",
        "the cause is the one named here, the finding names the host and nobody",
        "else but hosts that saw it where not all could, every host that takes",
        "part says so, and none finds another error.", "",
        f"- {right} of {len(played)} rows with faults right",
        f"- {sum(1 for _, one in controls if not one.wrong)} of "
        f"{len(controls)} "
        "healthy rows without a finding of severity error",
        f"- time to the verdict: median {statistics.median(times):.2f} s, "
        f"longest {max(times):.2f} s; rows about the speed of links take",
        "  as long as measuring takes", "",
        "| fault | cause | names rank | seconds | right |",
        "|---|---|---|---|---|"]
    for row, one in results:
        causes = ", ".join(fault.cause or "none" for fault in row)
        ranks = "; ".join(", ".join(map(str, named)) for named in one.said)
        lines.append(f"| {name_of(row)} | {causes} | {ranks} | "
                     f"{one.seconds:.2f} | {'no' if one.wrong else 'yes'} |")
    return "\n".join(lines) + "\n"


def tell(row, one):
    if one.lacking:
        print(f"skipped: {name_of(row)}: {one.lacking}", flush=True)
        return
    print(f"{'WRONG' if one.wrong else 'right':6}{one.seconds:6.2f} s  "
          f"{name_of(row)}", flush=True)
    for what in one.wrong:
        print(f"       {what}", flush=True)


def end(signum, _frame):
    raise SystemExit(128 + signum)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--workers", type=int, default=WORKERS)
    options = parser.parse_args()
    reason = namespaces.why_not()
    if reason:
        print(f"skipped: {reason}")
        return 77
    # So that hosts are removed whatever ends this.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    namespaces.sweep()
    rows = rows_of("all" if options.all or options.only else "part")
    speeds = speed_rows("all" if options.all or options.only else "part")
    if options.only:
        rows = [row for row in rows if options.only in name_of(row)]
        speeds = [row for row in speeds if options.only in name_of(row)]
    began = time.monotonic()
    results = []
    lacking = 0
    pool = concurrent.futures.ThreadPoolExecutor(options.workers)
    try:
        futures = [(row, pool.submit(scene.play, number, row))
                   for number, row in enumerate(rows)]
        played = itertools.chain(
            ((row, future.result()) for row, future in futures),
            ((row, scene.play(len(rows) + number, row))
             for number, row in enumerate(speeds)))
        for row, one in played:
            tell(row, one)
            if one.lacking:
                lacking += 1
            else:
                results.append((row, one))
    finally:
        # Rows that run end by themselves; those that wait are not begun.
        pool.shutdown(wait=True, cancel_futures=True)
        namespaces.sweep()
    bad = sum(1 for _, one in results if one.wrong)
    print(f"{len(results) - bad} of {len(results)} rows right in "
          f"{time.monotonic() - began:.0f} s")
    if options.page and lacking:
        print(f"{options.page} is not written: it holds every row")
        return 1
    if options.page:
        options.page.write_text(page(results))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
