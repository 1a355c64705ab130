#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Names and pages, and somebody who wants them.

    pages.py serve ADDRESS
    pages.py look-up ADDRESS FROM SECONDS SEED
    pages.py browse ADDRESS FROM SECONDS SEED

A look-up is a UDP request and its answer, from a port of its own as a resolver's. A page is a
look-up, a document, and then the parts of the page through six connections side by side, one after
the other on each. The next one begins some random time after the one before it. Both print [[began
at ns, seconds it took]]; null: not answered within a second.
"""

import json
import math
import queue
import random
import socket
import socketserver
import sys
import threading
import time

NAMES_PORT, PAGES_PORT = 5300, 8080
QUESTION_BYTES, ANSWER_BYTES = 45, 120  # of a name with few labels, and of its addresses
PATIENCE_S = 1
REQUEST_BYTES = 500  # of HTTP with its headers
DOCUMENT_BYTES = 30000
PARTS = 12
PART_BYTES, SIGMA, MOST_BYTES = 12000, 1.0, 200000  # log-normal: the median
CONNECTIONS = 6  # of a browser to one site
PAUSE_S = {"look-up": 0.2, "browse": 0.5}  # the mean


class Names(socketserver.BaseRequestHandler):
    def handle(self):
        data, answering = self.request
        answering.sendto(data[:2].ljust(ANSWER_BYTES, b"\0"), self.client_address)


class Pages(socketserver.StreamRequestHandler):
    """Each line asks for so many bytes."""

    def handle(self):
        for line in self.rfile:
            self.wfile.write(bytes(int(line)))


class PagesServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128


def look_up(address, source):
    """Seconds until the answer; None: there was none."""
    began = time.monotonic()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.bind((source, 0))
        asking.connect((address, NAMES_PORT))
        asking.settimeout(PATIENCE_S)
        asking.send(bytes(QUESTION_BYTES))
        try:
            asking.recv(2048)
        except TimeoutError:
            return None
    return time.monotonic() - began


def connected(address, source):
    return socket.create_connection((address, PAGES_PORT), source_address=(source, 0))


def fetch(connection, size):
    connection.sendall(b"%d\n".rjust(REQUEST_BYTES) % size)
    while size:
        part = connection.recv(size)
        if not part:
            raise SystemExit("pages.py: the server has gone")
        size -= len(part)


def parts_of(seed, number):
    """Their bytes: those of a page are the same for every queue."""
    dice = random.Random(f"{seed} {number}")
    return [min(MOST_BYTES, int(dice.lognormvariate(math.log(PART_BYTES), SIGMA)))
            for _ in range(PARTS)]


def load(address, source, parts):
    """Seconds until all of a page is there."""
    began = time.monotonic()
    while look_up(address, source) is None:
        pass
    missing = queue.SimpleQueue()
    for size in parts:
        missing.put(size)

    def rest(connection):
        with connection:
            try:
                while True:
                    fetch(connection, missing.get_nowait())
            except queue.Empty:
                pass

    first = connected(address, source)
    fetch(first, DOCUMENT_BYTES)
    threads = [threading.Thread(target=rest, args=(first,))]
    threads += [threading.Thread(target=lambda: rest(connected(address, source)))
                for _ in range(CONNECTIONS - 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - began


def again(what, seconds, seed):
    """Until the time is over. `what` is told how often it was done before."""
    dice = random.Random(seed)
    took = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(dice.expovariate(1 / PAUSE_S[sys.argv[1]]))
        began_ns = time.time_ns()
        took.append([began_ns, what(len(took))])
    return took


def serve(address):
    names = socketserver.UDPServer((address, NAMES_PORT), Names)
    threading.Thread(target=names.serve_forever, daemon=True).start()
    PagesServer((address, PAGES_PORT), Pages).serve_forever()


def main():
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
        return
    address, source, seconds, seed = sys.argv[2:]

    def once(number):
        if sys.argv[1] == "look-up":
            return look_up(address, source)
        return load(address, source, parts_of(seed, number))

    print(json.dumps(again(once, float(seconds), int(seed))))


if __name__ == "__main__":
    main()
