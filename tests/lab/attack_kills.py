# SPDX-License-Identifier: Apache-2.0
"""kill -9 at random moments: of a rank, of muster, of its guardian."""
import collections
import concurrent.futures
import itertools
import random
import signal
import statistics
import time

import victim

# Ranks that do all to stay: deaf to signals, out of the session, without
# descriptors, and with a grandchild that is another process every 20 ms.
STUBBORN = """
import os, signal, sys, time
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
def out():
    os.setsid()
    for fd in range(64):
        try: os.close(fd)
        except OSError: pass
def leave(body):
    if os.fork() == 0:
        out()
        if os.fork() == 0:
            body()
            time.sleep(600)
        os._exit(0)
def again():
    while True:
        time.sleep(0.02)
        if os.fork(): os._exit(0)
leave(lambda: None)
leave(again)
if os.fork() == 0: time.sleep(600)
time.sleep(float(sys.argv[1]))
os._exit(0)
"""
STUBBORN_SECONDS = 2.0
VICTIMS = ("rank", "agent", "guardian", "both")
RANKS = ("trainer", "stubborn")
# Kills of one run; more would need more restarts than are allowed.
MOST_KILLS = 3


class Trial:
    """What one kill, or three of ranks, led to."""

    def __init__(self, lab, number, who, ranks):
        # Each trial is the same whatever the others did.
        self.random = random.Random(f"{lab.seed} {number}")
        self.lab, self.number = lab, number
        self.who, self.ranks = who, ranks
        self.wrong = []
        self.seconds = self.gone = 0.0
        self.missed = False
        self.code = None

    @property
    def kind(self):
        return f"{self.who}, {self.ranks}"

    def start(self, folder):
        if self.ranks == "trainer":
            return victim.train(self.lab.program, self.lab.trainer, folder,
                                folder / "checkpoints")
        return victim.Victim(
            [self.lab.program, "run", "-n", "2", "--check", "off", "--grace",
             "1s", "--", "python3", "-c", STUBBORN, str(STUBBORN_SECONDS)],
            folder)

    def play(self):
        """Once more, and earlier, as long as the run ends before the kill."""
        most = self.lab.calm[self.ranks]
        for _ in range(6):
            self.missed = False
            self.play_once(most)
            if self.wrong or not self.missed:
                break
            most *= 0.6
        return self

    def play_once(self, most):
        with victim.folder_of("kill") as folder:
            with self.start(folder) as run:
                self.attack(run, most)
                self.judge(run)
                self.seconds = run.seconds
            if self.ranks == "trainer":
                self.judge_checkpoints(folder)

    def sleep(self, run, most):
        """Waits for a random moment; False: the run has ended before."""
        return run.wait(self.random.uniform(0.0, most)) is None

    def attack(self, run, most):
        if self.who == "rank":
            kills = self.random.choice((1, 1, MOST_KILLS))
            self.missed = sum(self.kill_rank(run, most)
                              for _ in range(kills)) == 0
            return
        guardian = run.guardian()
        if guardian is None or not self.sleep(run, most):
            self.missed = True
            return
        if self.who in ("guardian", "both"):
            victim.kill(guardian)
        if self.who in ("agent", "both"):
            victim.kill(run.pid)

    def kill_rank(self, run, most):
        if not self.sleep(run, most):
            return False
        ranks = victim.until(run.ranks, 2)
        if not ranks or run.process.returncode is not None:
            return False
        victim.kill(self.random.choice(ranks))
        return True

    def judge(self, run):
        self.code = code = run.wait()
        if code is None:
            self.wrong.append(f"still runs after {run.seconds:.0f} s")
            return
        self.gone = run.gone()
        if self.gone is None:
            self.wrong.append(run.left_text())
        self.judge_code(run, code)

    def judge_code(self, run, code):
        if self.who in ("agent", "both") and not self.missed:
            if code != -signal.SIGKILL:
                self.wrong.append(f"code {code} of a killed program")
        elif code != 0 and (self.who == "rank" or self.missed):
            self.wrong.append(f"code {code}: {run.last()}")
        elif code != 0 and (code in (2, 125, 126, 127) or run.cause() in
                            (None, "internal-error", "usage-invalid")):
            self.wrong.append(f"code {code}, no true cause: {run.last()}")

    def judge_checkpoints(self, folder):
        """Those of a run that has ended, or of one that resumes after it."""
        if self.code != 0:
            with self.start(folder) as run:
                if (code := run.wait()) != 0:
                    self.wrong.append(f"code {code} of the run that resumes")
        if victim.digests(folder / "checkpoints") != self.lab.digests:
            self.wrong.append("checkpoints are not those of a calm run")


def measure(lab):
    """How long a calm run takes, and what it writes."""
    with victim.folder_of("calm") as folder:
        with victim.train(lab.program, lab.trainer, folder,
                          folder / "checkpoints") as run:
            if run.wait() != 0:
                raise SystemExit(f"a calm run fails: {run.err()}")
            calm = run.seconds
        lab.digests = victim.digests(folder / "checkpoints")
    lab.calm = {"trainer": calm, "stubborn": STUBBORN_SECONDS}


def play(lab, trials, workers):
    measure(lab)
    print(f"calm run: {lab.calm['trainer']:.1f} s", flush=True)
    before = victim.shared_memory()
    kinds = itertools.cycle(itertools.product(VICTIMS, RANKS))
    results = collections.defaultdict(list)
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(Trial(lab, number, *kind).play)
                   for number, kind in zip(range(trials), kinds)]
        for future in concurrent.futures.as_completed(futures):
            trial = future.result()
            results[trial.kind].append(trial)
            for what in trial.wrong:
                print(f"trial {trial.number} ({trial.kind}): {what}",
                      flush=True)
    time.sleep(1)
    summarize(results)
    if new := victim.shared_memory() - before:
        print(f"new in /dev/shm: {sorted(new)}")
    return sum(bool(one.wrong) for all_of in results.values()
               for one in all_of) + len(new)


def summarize(results):
    print("| killed, ranks | trials | failures | run had ended | s, mean | "
          "s, most | s until nothing is left, most |")
    print("|---|---|---|---|---|---|---|")
    for kind, trials in sorted(results.items()):
        times = [one.seconds for one in trials]
        gone = max((one.gone for one in trials if one.gone is not None),
                   default=0)
        print(f"| {kind} | {len(trials)} | "
              f"{sum(bool(one.wrong) for one in trials)} | "
              f"{sum(one.missed for one in trials)} | "
              f"{statistics.mean(times):.1f} | {max(times):.1f} | "
              f"{gone:.2f} |")
