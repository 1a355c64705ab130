# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A sender for tcp-prague and a receiver, and what is on the wire between them."""

import contextlib
import json
import os
import re
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from cgroups import CGROUPS, clear
from conftest import BIN
from netns import Namespace, run, veth, wait_until

TOOL = BIN / "tcp-prague"
PINS = Path("/sys/fs/bpf/tcp-prague")
PORT = 5201
LEFT, RIGHT = "10.9.0.1", "10.9.0.2"
LEFT6, RIGHT6 = "fd00::1", "fd00::2"
KERNEL = tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2])
needs_accecn = pytest.mark.skipif(KERNEL < (6, 18), reason="Accurate ECN is of Linux 6.18")
# 16 Mbit/s: a cable takes so much that there would be little time for anything else.
SENDS = """
    try:
        while True:
            sock.send(bytes(10000))
            time.sleep(0.005)
    except OSError:
        pass
"""
SENDS_BY_LINES = """
    block = bytes(1 << 20)
    for line in sys.stdin:
        for begin in range(0, int(line), len(block)):
            sock.sendall(block[:int(line) - begin])
"""


def client(*before, made_by="socket.create_connection(peer)", then=SENDS):
    """A program for Pair.send(): what it does to its socket before it is connected, and then."""
    steps = "\n    ".join([*before, 'print("connected", flush=True)'])
    return ("import socket, sys, time\npeer = sys.argv[1], int(sys.argv[2])\n"
            f"with {made_by} as sock:\n    {steps}\n{then}")


UNPRIVILEGED = "setpriv", "--reuid", "65534", "--clear-groups", "--bounding-set=-all"
# Sends until it is ended, as a download does; sends as many bytes as each line says.
CLIENT, UPLOAD = client(), client(then=SENDS_BY_LINES)


def programs():
    """What is loaded and ours: its number and name."""
    return set(re.findall(r"^(\d+): .* name (prague_\w+)", run("bpftool", "prog").stdout,
                          re.MULTILINE))


class Wire:
    """Counts the ECN fields of what arrives at a device, by source and destination port. SYNs are
    left out: they are never ECT."""

    def __init__(self, space, dev):
        self.counts = {}
        self.seq = None  # of the last packet to the receiver
        # Without the link's header: tunnels have none.
        self.sock = space.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
        self.sock.bind((dev, 0))
        self.sock.settimeout(0.2)
        self.ended = False
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def look(self):
        while not self.ended:
            with contextlib.suppress(TimeoutError):
                packet, (_, _, kind, *_) = self.sock.recvfrom(200)
                if kind != socket.PACKET_OUTGOING:
                    self.count(packet)

    def count(self, packet):
        if packet[0] >> 4 == 4:
            protocol, ecn, above = packet[9], packet[1] & 3, packet[(packet[0] & 15) * 4:]
        else:
            protocol, ecn, above = packet[6], packet[1] >> 4 & 3, packet[40:]
        if protocol == 6 and not above[13] & 2:
            *ports, seq = struct.unpack("!HHI", above[:8])
            key = (protocol, *ports, ecn)
            if ports[1] == PORT:
                self.seq = seq
        else:
            key = (protocol, 0, 0, ecn)
        self.counts[key] = self.counts.get(key, 0) + 1

    def of(self, port, protocol=6):
        """ECN field -> packets, to this port; port 0: all that are no TCP of ours."""
        counts = {}
        for (protocol_, _, to, ecn), count in list(self.counts.items()):
            if protocol_ == protocol and (to == port or not port):
                counts[ecn] = counts.get(ecn, 0) + count
        return counts

    def wait_for(self, packets):
        """More than so many of TCP, to the receiver."""
        wait_until(lambda: sum(self.of(PORT).values()) > packets, f"{packets} packets have come")

    def reset(self):
        self.counts = {}

    def next_fields(self):
        """ECN fields of the next packets to the receiver."""
        self.reset()
        self.wait_for(300)
        return set(self.of(PORT))

    def close(self):
        self.ended = True
        self.thread.join()
        self.sock.close()


class Pair:
    """A sender and a receiver on a cable; the receiver throws away what comes."""

    def __init__(self):
        # Of an earlier test a socket may still live, that nobody can reach, with its programs.
        self.before = programs()
        self.connect()
        self.wire = Wire(self.right, "c0")
        self.children = []
        self.sinks = []
        self.received = 0  # bytes, of all connections

    def connect(self):
        """Make both ends, and what is between them."""
        self.left, self.right = Namespace("left"), Namespace("right")
        veth(self.left, "s0", self.right, "c0")
        self.left.ip(f"addr add {LEFT}/24 dev s0")
        self.right.ip(f"addr add {RIGHT}/24 dev c0")

    def add_ipv6(self):
        for space, address, dev in ((self.left, LEFT6, "s0"), (self.right, RIGHT6, "c0")):
            space.sysctl(f"net.ipv6.conf.{dev}.disable_ipv6", 0)
            space.ip(f"addr add {address}/64 dev {dev} nodad")

    def accept(self, ecn=3, address=RIGHT, room=None, protocol=0, fast_open=False):
        """Take connections, with ECN as net.ipv4.tcp_ecn says. Before 7.0 a listener has Accurate
        ECN if its congestion control has. `room`: for so many bytes in a window."""
        accurate = ecn == 3
        if accurate and KERNEL < (7, 0):
            self.tool("on", "--netns", self.right.name)
            self.before = programs()
        else:
            self.right.sysctl("net.ipv4.tcp_ecn", ecn)
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        listener = self.right.socket(family, socket.SOCK_STREAM, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if room:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        if fast_open:
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 5)
        listener.bind((address, PORT))
        listener.listen()
        self.sinks.append(listener)
        threading.Thread(target=self.take, args=(listener,), daemon=True).start()

    def take(self, listener):
        room = bytearray(1 << 20)

        def receive(sock):
            with contextlib.suppress(OSError), sock:
                # MSG_TRUNC: TCP counts the bytes and copies none (tcp(7)).
                while count := sock.recv_into(room, 0, socket.MSG_TRUNC):
                    self.received += count

        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=receive, args=(listener.accept()[0],),
                                 daemon=True).start()

    def tool(self, *arguments, check=True, tool=TOOL):
        return self.left.run(tool, *arguments, check=check)

    def send(self, *under, to=RIGHT, client=CLIENT):
        """A program that sends, under another one; it is connected."""
        child = self.left.popen(*under, sys.executable, "-c", client, to, str(PORT),
                                stdin=subprocess.PIPE)
        self.children.append(child)
        assert child.stdout.readline() == "connected\n"
        return child

    def begin(self, *options, mode="prague", client=CLIENT):
        """A connection between a peer that accepts, and a namespace where it is on with these
        options, when it has this mode."""
        self.accept()
        self.tool("on", "--netns", "left", *options)
        child = self.send(client=client)
        self.wait_for_mode(mode)
        return child

    def upload(self, children, size):
        """By programs with UPLOAD, until all has been received."""
        goal = self.received + size * len(children)
        for child in children:
            child.stdin.write(f"{size}\n")
            child.stdin.flush()
        wait_until(lambda: self.received == goal, f"{goal} bytes have come", 120)

    def end(self, child):
        child.terminate()
        child.communicate()

    def programs(self):
        """Names of what has been loaded since."""
        return [name for _, name in programs() - self.before]

    def remember(self, network, times, age_s=0):
        """That a Classic queue was seen so often on the way to this /24, so long ago."""
        # A guest runs for less than a day: before it began, the clock went round.
        seen_s = (int(time.clock_gettime(time.CLOCK_BOOTTIME)) - age_s) % 2**64
        run("bpftool", "map", "update", "pinned", PINS / "prague/prague_classic",
            "key", *socket.inet_aton(network), *bytes(8),
            "value", *struct.pack("=QII", seen_s, times, 0))

    def sockets(self):
        """Those that Prague knows, of the sender."""
        shown = json.loads(self.tool("status", "--json").stdout)
        return [one for one in shown["sockets"] if one["netns"] == self.left.cookie()
                and one["delivered"] > 1]

    def mode(self):
        modes = {one["mode"] for one in self.sockets()}
        return modes.pop() if len(modes) == 1 else modes

    def wait_for_mode(self, mode):
        wait_until(lambda: self.mode() == mode, f"the sockets are {mode}")

    def congestion(self):
        """Of the connections that send."""
        shown = self.left.run("ss", "-tinH", "dport", f"= :{PORT}").stdout
        return set(re.findall(r"(cubic|reno|prague[.0-9a-f]*) wscale", shown))

    def close(self):
        for child in self.children:
            if child.poll() is None:
                self.end(child)
        for listener in self.sinks:
            listener.close()
        run(TOOL, "off", "--if-on")
        self.wire.close()
        # What is in flight would be sent again for minutes, from a namespace without a name.
        self.left.run("ss", "-K", "-t")
        self.left.delete()
        self.right.delete()


def prague_pair(kind=Pair):
    """Yields a Pair; nothing of it stays."""
    made = kind()
    yield made
    made.close()
    left = list(CGROUPS.rglob("tcp-prague-*"))
    for group in left:  # not to be found again by the next test
        clear(group)
    assert not left and not PINS.exists()
