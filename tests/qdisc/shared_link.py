# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A device whose queues share one rate (--mq --rate): packets for a queue of our choice, and when
they leave."""

import contextlib
import itertools
import json
import socket
import struct
import time

from bpfcall import lookup, opened, run_program
from conftest import BIN, PIN_DIR, check_law
from frames import NOT_ECT, ipv4_frame, parse, received
from iproute import root_statistics
from netns import run, wait_until
from test_mq import FLOWS, QUEUES, Multiqueue, add_cable, from_flow

STATS = BIN / "dualpi2-stats"
KIND = "bpf_dualpi2_mq"
CALM = ("--target", "4000s", "--step-thresh", "4000s")
FRAME = 1514
# What the receiver's clock and a late timer add, in virtual time...
SLACK_NS = 150_000
# ... and what is caught up after a timer that had to wait for other work of the guest's one CPU.
CAUGHT_UP_NS = 1_000_000  # SHARE_SLACK_NS of include/share.h


class Shared(Multiqueue):
    """Packets for a queue of our choice: flows that the kernel's hash sends there."""

    # One for each queue, by its number. The hash stays as it is until the next boot.
    flow_of = {}

    def __init__(self, space, dev, peer):
        super().__init__(space, dev, peer)
        self.serials = itertools.count(1)
        self.sent = 0
        self.arrived = []

    def probe(self, flow):
        self.sender.send(from_flow(ipv4_frame(next(self.serials), NOT_ECT, 60), flow))
        self.sent += 1

    def find_flows(self):
        for flow in range(FLOWS):
            before = self.counts()
            self.probe(flow)
            [queue] = [queue for queue, count in enumerate(self.counts())
                       if count > before[queue]]
            self.flow_of.setdefault(queue, flow)
            if len(self.flow_of) == QUEUES:
                return

    def counts(self):
        return [child["packets"] for _, child in sorted(self.shown()[1].items())]

    def start(self, *options, calm=CALM):
        if len(self.flow_of) < QUEUES:  # none is to wait while they are looked for
            self.load("--mq", "--rate", "1gbit", *CALM)
            self.find_flows()
            self.receive()
        self.load("--mq", *calm, *options)

    def send(self, frame):
        self.sent += 1
        with contextlib.suppress(OSError):  # ENOBUFS: it was dropped at once
            self.sender.send(frame)

    def burst(self, queues, ecn, count, length=FRAME):
        """In turn to these queues; their serials."""
        serials = list(itertools.islice(self.serials, count))
        for serial, queue in zip(serials, itertools.cycle(queues), strict=False):
            self.send(from_flow(ipv4_frame(serial, ecn, length), self.flow_of[queue]))
        return serials

    def receive(self):
        new = [parse(*arrival) for arrival in received(self.receiver)]
        self.arrived += new
        return new

    def n_arrived(self):
        return len(self.arrived)

    def totals(self):
        """Of all queues, as the kernel counts."""
        return root_statistics(self.space, self.dev)

    def backlog(self):
        return self.totals()["qlen"]

    def drain(self, seconds=60):
        """Wait until the queues are empty; what has arrived since the last look."""
        seen = len(self.arrived)
        wait_until(lambda: self.backlog() == 0, "the queues are empty", seconds)
        forwarded = self.totals()["packets"]
        wait_until(lambda: self.receive() or self.n_arrived() >= forwarded, "all has arrived")
        return self.arrived[seen:]

    def stats(self, *options):
        return self.space.run(STATS, self.dev, *options).stdout

    def finish(self):
        """The law for each queue, and for all of them from end to end."""
        if self.backlog():
            self.load("--rate", 0)
            self.drain()
        children = self.shown()[1]
        _, queues = self.all_stats()
        assert [queue["kind"] for queue in queues] == [KIND] * len(queues)
        for queue in queues:
            check_law(queue, children[queue["parent"]])
        halves = [queue[half] for queue in queues for half in ("l-queue", "c-queue")]
        assert sum(half["packets-in"] for half in halves) == self.sent
        self.receive()
        assert sum(half["packets-out"] for half in halves) == self.n_arrived()


def shared_link(new_space, kind=Shared):
    """Yields one, for a test."""
    space = new_space("shared")
    device = kind(space, *add_cable(space))
    yield device
    device.load("--unload", "--if-attached")
    device.close()


class RateChange:
    """Sets the rate as dualpi2-load does, in a fraction of the time that the tool takes to
    start. `made`: (when it was certainly in force, the rate)."""

    def __init__(self, link, rate):
        """`rate`: bit/s, in force."""
        pins = PIN_DIR / "pi2-mq"
        conf = json.loads(run("bpftool", "-j", "map", "show", "pinned",
                              pins / "dualpi2_conf").stdout)
        self.stack = contextlib.ExitStack()
        self.program = self.stack.enter_context(opened(pins / "dualpi2_change"))
        with link.space.entered():
            index = socket.if_nametoindex(link.dev)
        cookie = link.space.cookie()
        handle = int(link.shown()[0]["handle"].rstrip(":"), 16)
        self.keys = [struct.pack("=QII", cookie, index, handle << 16 | queue + 1)  # dualpi2_key
                     for queue in range(QUEUES)]
        with opened(pins / "dualpi2_conf") as conf_map:
            params = lookup(conf_map, struct.pack("=QII", cookie, index, 0), conf["bytes_value"])
        self.before, self.after = params.split(struct.pack("=Q", rate // 8))  # in it once
        self.made = [(now_ns(), rate)]

    def to(self, rate):
        for key in self.keys:
            run_program(self.program, key + self.before + struct.pack("=Q", rate // 8) + self.after)
        self.made.append((now_ns(), rate))

    def close(self):
        self.stack.close()


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_REALTIME)


def frame_ns(bit_per_s, length=FRAME):
    return length * 8 * 10**9 / bit_per_s


def most_bytes_ahead(packets, bit_per_s):
    """By which the link was ever ahead of an exact one, in any interval. `packets`: (when it left
    in ns, its bytes)."""
    level, most, before = 0, 0, 0
    for time_ns, length in packets:
        level = max(level - (time_ns - before) * bit_per_s / 8e9, 0) + length
        most, before = max(most, level), time_ns
    return most


def most_ahead(packets, bit_per_s):
    """The same in frames, of those that have arrived."""
    return most_bytes_ahead([(packet.time_ns, len(packet.data)) for packet in packets],
                            bit_per_s) / FRAME
