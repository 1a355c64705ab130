#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Requests of one size over one connection, and how long each took.

    rpc.py serve ADDRESS
    rpc.py ask ADDRESS FROM SIZE SECONDS

The answer to a request is a byte, and the next request follows it at once. `ask` prints
[[seconds since the beginning, seconds until the answer]].
"""

import json
import socket
import socketserver
import sys
import time

PORT = 8081
CHUNK = 1 << 16


class Handler(socketserver.StreamRequestHandler):
    """The first line says how long a request is."""

    def handle(self):
        size = missing = int(self.rfile.readline())
        while part := self.rfile.read1(min(missing, CHUNK)):
            missing -= len(part)
            if not missing:
                self.request.sendall(b".")
                missing = size


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


def ask(address, source, size, seconds):
    request, took = bytes(size), []
    with socket.create_connection((address, PORT), source_address=(source, 0)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(b"%d\n" % size)
        began = last = time.monotonic()
        while last < began + seconds:
            connection.sendall(request)
            if not connection.recv(1):
                raise SystemExit("rpc.py: the server has gone")
            now = time.monotonic()
            took.append([round(last - began, 6), round(now - last, 6)])
            last = now
    print(json.dumps(took))


def main():
    if sys.argv[1] == "serve":
        with Server((sys.argv[2], PORT), Handler) as server:
            server.serve_forever()
    else:
        address, source, size, seconds = sys.argv[2:]
        ask(address, source, int(size), float(seconds))


if __name__ == "__main__":
    main()
