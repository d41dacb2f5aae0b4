#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes that JAX joins and that meet again and again, by barriers and keys
of its coordination service.

    jax_program.py COORDINATOR PROCESSES PROCESS ROUNDS
"""
import sys

import jax
from jax._src import distributed


def main():
    coordinator, processes, process, rounds = sys.argv[1:]
    jax.distributed.initialize(coordinator, int(processes), int(process))
    client = distributed.global_state.client
    total = 0
    for step in range(int(rounds)):
        client.key_value_set(f"value/{step}/{process}", str(step))
        client.wait_at_barrier(f"step/{step}", 120_000)
        total += sum(
            int(client.blocking_key_value_get(f"value/{step}/{other}", 120_000))
            for other in range(int(processes)))
    jax.distributed.shutdown()
    print(f"finished {rounds} rounds, total {total}", flush=True)


if __name__ == "__main__":
    main()
