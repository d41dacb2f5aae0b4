#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two clients of one of torch's TCPStores that count together.

    store_program.py PORT BACKEND FILE

Serves the store and counts with two threads until FILE is there; BACKEND is
libuv or poll.
"""
import datetime
import os
import sys
import threading

from torch.distributed import TCPStore

LIMIT = datetime.timedelta(seconds=60)


def main():
    port, backend, end = sys.argv[1:]
    uv = backend == "libuv"
    server = TCPStore("127.0.0.1", int(port), 1, True, LIMIT, use_libuv=uv)
    counted = []

    def count():
        client = TCPStore("127.0.0.1", int(port), None, False, LIMIT)
        mine = 0
        while not os.path.exists(end):
            client.add("count", 1)
            client.set("last", str(mine))
            client.get("last")
            mine += 1
        counted.append(mine)

    clients = [threading.Thread(target=count) for _ in range(2)]
    for client in clients:
        client.start()
    print("counts", flush=True)
    for client in clients:
        client.join()
    assert server.add("count", 0) == sum(counted), counted
    print(f"finished with {server.num_keys()} keys, {min(counted)} rounds each",
          flush=True)


if __name__ == "__main__":
    main()
