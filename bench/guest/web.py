#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Short downloads as of a web site: their sizes, and how long each took.

    web.py serve ADDRESS
    web.py fetch ADDRESS FROM PER_SECOND SECONDS SEED

Downloads begin at random moments (a Poisson process), whether or not others have ended.
Their sizes are log-normal: half of them below 20 kB, one in a hundred above 200 kB. `fetch`
prints [[seconds since the beginning, bytes, seconds from connecting to the last byte]].
"""

import json
import math
import random
import socket
import socketserver
import sys
import threading
import time

PORT = 8080
MEDIAN_BYTES = 20000
SIGMA = 1.0
MOST_BYTES = 1000000
CHUNK = 1 << 16


class Handler(socketserver.StreamRequestHandler):
    """Sends as many bytes as the line asks for."""

    def handle(self):
        self.request.sendall(bytes(int(self.rfile.readline())))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128


def download(address, source, size):
    """Seconds from connecting to the last byte."""
    began = time.monotonic()
    with socket.create_connection((address, PORT), source_address=(source, 0)) as connection:
        connection.sendall(b"%d\n" % size)
        got = 0
        while part := connection.recv(CHUNK):
            got += len(part)
    if got != size:
        raise SystemExit(f"web.py: {got} of {size} bytes came")
    return time.monotonic() - began


def schedule(per_second, seconds, seed):
    """[(when it begins, bytes)]"""
    dice = random.Random(seed)
    when, planned = dice.expovariate(per_second), []
    while when < seconds:
        size = min(MOST_BYTES, int(dice.lognormvariate(math.log(MEDIAN_BYTES), SIGMA)))
        planned.append((when, size))
        when += dice.expovariate(per_second)
    return planned


def fetch(address, source, per_second, seconds, seed):
    took, threads = [], []

    def one(when, size):
        took.append([round(when, 3), size, round(download(address, source, size), 6)])

    began = time.monotonic()
    for when, size in schedule(per_second, seconds, seed):
        time.sleep(max(0.0, began + when - time.monotonic()))
        threads.append(threading.Thread(target=one, args=(when, size)))
        threads[-1].start()
    for thread in threads:
        thread.join()
    print(json.dumps(sorted(took)))


def main():
    if sys.argv[1] == "serve":
        with Server((sys.argv[2], PORT), Handler) as server:
            server.serve_forever()
    else:
        address, source, per_second, seconds, seed = sys.argv[2:]
        fetch(address, source, float(per_second), float(seconds), int(seed))


if __name__ == "__main__":
    main()
