#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing that a measurement starts outlives it, however it ends.

A program of bench/ ends by `sys.exit(processes.supervised(main))`. It then runs
as three processes:

- the one that the user started, which only waits
- its child, the supervisor: this file, in a session of its own
- its child, which calls main()

When the first or the last ends, also by SIGKILL, the supervisor ends all
descendants of the last, whatever session they are in: as a subreaper
(PR_SET_CHILD_SUBREAPER) it becomes the parent of those that lose theirs. When
the supervisor is killed, the last gets SIGTERM and does the same.
"""
import contextlib
import ctypes
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SUPERVISOR = "MUSTER_BENCH_SUPERVISOR"  # its process id

# Seconds between SIGTERM and SIGKILL: of the supervisor, and less in main()'s
# process, so that it has the rest to remove its folders.
GRACE = 3
OWN_GRACE = 1
# Seconds for the kernel to end what got SIGKILL: one in uninterruptible sleep
# never ends.
KILL_TIMEOUT = 10


def prctl(option, value):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0):
        raise OSError(ctypes.get_errno(), f"prctl({option})")


def parent_of(stat):
    """The parent's id in a /proc/PID/stat; the name before it may hold
    anything."""
    return int(stat.rpartition(b")")[2].split()[1])


def children():
    """Process ids of the children of this process."""
    own = os.getpid()
    found = set()
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if parent_of(stat.read_bytes()) == own:
                found.add(int(stat.parent.name))
    return found


def reap():
    """Takes the exit statuses of all children that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def end_children(grace):
    """Ends all children of this process, and theirs, which a subreaper gets
    when their parents end: by SIGTERM, after `grace` seconds by SIGKILL. Only
    children are killed: their ids are theirs until they are reaped."""
    kill_at = time.monotonic() + grace
    terminated = set()
    while True:
        reap()
        left = children()
        if not left:
            return
        late = time.monotonic() - kill_at
        if late > KILL_TIMEOUT:
            raise TimeoutError(f"processes {sorted(left)} are left "
                               f"{KILL_TIMEOUT} s after SIGKILL")
        for pid in left if late > 0 else left - terminated:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL if late > 0 else signal.SIGTERM)
        terminated |= left
        time.sleep(0.02)  # exits of grandchildren cannot be waited for


def catch(handler):
    """Calls handler(signal number) on the signals that end a program: also on
    SIGINT where a script's `&` ignores it, not on SIGHUP below nohup."""
    for number in SIGNALS:
        if number != signal.SIGHUP or \
                signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda number, _frame: handler(number))


def exit_code(status):
    """Of a returncode of subprocess, as a shell has it."""
    return 128 - status if status < 0 else status


def supervised(main):
    """Calls main() in a supervised process and returns its exit code when all
    that it started has ended. A signal ends it as a whole."""
    if os.environ.get(SUPERVISOR) == str(os.getppid()):
        return run(main)
    with subprocess.Popen([sys.executable, "-I", __file__],
                          stdin=subprocess.PIPE, text=True,
                          start_new_session=True) as supervisor:
        with contextlib.suppress(BrokenPipeError):
            # Not as arguments: a kill by name must not hit both.
            print(json.dumps([sys.executable, *sys.orig_argv[1:]]),
                  file=supervisor.stdin, flush=True)
        received = []

        def stop(number):
            received.append(number)
            supervisor.stdin.close()

        catch(stop)
        status = supervisor.wait()
    if received:  # make and shells distinguish a signal from an exit code
        signal.signal(received[0], signal.SIG_DFL)
        os.kill(os.getpid(), received[0])
    return exit_code(status)


def run(main):
    """main() in the process that the supervisor started."""
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    if os.environ.pop(SUPERVISOR) != str(os.getppid()):
        return 128 + signal.SIGTERM  # the supervisor died before prctl

    def stop(number):
        for ignored in SIGNALS:
            signal.signal(ignored, signal.SIG_IGN)
        # Before anything else: threads may wait for them.
        end_children(OWN_GRACE)
        sys.exit(128 + number)

    catch(stop)
    try:
        return main()
    finally:
        end_children(OWN_GRACE)


def supervise():
    """The supervisor. Its input is one line, the command to start, and ends
    when the process that the user started does."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    for number in SIGNALS:
        signal.signal(number, lambda number, _frame: sys.exit(128 + number))
    line = sys.stdin.readline()
    if not line:
        return 128 + signal.SIGTERM
    try:
        process = subprocess.Popen(
            json.loads(line), stdin=subprocess.DEVNULL,
            env={**os.environ, SUPERVISOR: str(os.getpid())})
        exited = os.pidfd_open(process.pid)
        ready, _, _ = select.select([sys.stdin, exited], [], [])
        return exit_code(process.wait()) if exited in ready else \
            128 + signal.SIGTERM
    finally:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        end_children(GRACE)


if __name__ == "__main__":
    sys.exit(supervise())
