# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a segment of a GSO packet costs its sender, from the call to the device.

One call hands 40 segments of 1448 bytes to the kernel. On a device that takes GSO packets
they leave whole unless the qdisc splits them; on one that does not, the kernel splits
them in front of the device, behind the qdisc. Beside it the same bytes sent as 40 packets,
as a sender does that makes no GSO packets (gso_max_segs 1).
"""

import contextlib
import json
import socket
import statistics
import struct
import time
from pathlib import Path

from guest import (
    LOADER,
    PEER,
    SINK,
    SO_SNDBUFFORCE,
    STATS,
    add_device,
    be_quiet,
    delete_device,
    has_native,
    run,
)
from rtnetlink import Qdiscs, attribute

SEGMENTS = 40
SEGMENT = 1448  # bytes of payload: a full frame with TCP's timestamps
CALLS, ROUNDS = 20, 15
PORT = 9  # discard
MOST_SEGMENTS = 65535  # what a dummy starts with
OFFLOADS = ("tso", "tx-udp-segmentation", "tx-gso-list")

UDP_SEGMENT = 103  # include/uapi/linux/udp.h
# include/uapi/linux/tcp.h, include/net/tcp.h
TCP_REPAIR, TCP_REPAIR_OPTIONS, TCP_REPAIR_WINDOW = 19, 22, 29
TCP_REPAIR_ON, TCP_REPAIR_OFF_NO_PROBE = 1, -1
TCPOPT_WINDOW, TCPOPT_TIMESTAMP = 3, 8
MTU, IPV4_LEN, TCP_LEN = 1500, 20, 20

TCA_DUALPI2_SPLIT_GSO = 15  # include/uapi/linux/pkt_sched.h


# ---- senders ------------------------------------------------------------------------


def limit_segments(count):
    run("ip", "link", "set", SINK, "gso_max_segs", count)


class UdpSender:
    """UDP_SEGMENT: one call, one GSO packet."""

    def __init__(self):
        self.gso = self.connected()
        self.gso.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, SEGMENT)
        self.plain = self.connected()

    @staticmethod
    def connected():
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.connect((PEER, PORT))
        return made

    def send_gso(self, data=bytes(SEGMENTS * SEGMENT)):
        self.gso.send(data)

    def send_single(self, data=bytes(SEGMENT)):
        for _ in range(SEGMENTS):
            self.plain.send(data)

    def renew(self):
        """Nothing is left behind."""

    def close(self):
        self.gso.close()
        self.plain.close()


class TcpSender:
    """TCP with a connection that only this end knows (TCP_REPAIR, as restored from a
    checkpoint): all that TCP does to send, and no receiver whose work would be counted, too.
    Windows are so large that each call sends all of its bytes at once."""

    WINDOW = 1 << 29
    WINDOW_SCALE = 14
    BUFFER = 1 << 29  # nothing is ever acknowledged

    def __init__(self):
        run("ip", "route", "replace", PEER, "dev", SINK, "initcwnd", 10000)
        self.connect()

    def connect(self):
        self.gso = self.connected()
        limit_segments(1)
        self.plain = self.connected()
        limit_segments(MOST_SEGMENTS)

    def renew(self):
        """Gives back the memory of what was sent."""
        self.close()
        be_quiet()
        self.connect()

    def connected(self):
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, self.BUFFER)
        made.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, TCP_REPAIR_ON)
        # What the other end would have said in its SYN.
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, MTU - IPV4_LEN - TCP_LEN)
        made.connect((PEER, PORT))
        for option in ((TCPOPT_WINDOW, self.WINDOW_SCALE | self.WINDOW_SCALE << 16),
                       (TCPOPT_TIMESTAMP, 0)):
            made.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR_OPTIONS, struct.pack("=II", *option))
        window = bytearray(made.getsockopt(socket.IPPROTO_TCP, TCP_REPAIR_WINDOW, 20))
        struct.pack_into("=II", window, 4, self.WINDOW, self.WINDOW)  # snd_wnd, max_window
        made.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR_WINDOW, bytes(window))
        made.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, TCP_REPAIR_OFF_NO_PROBE)
        return made

    def send_gso(self, data=bytes(SEGMENTS * SEGMENT)):
        self.gso.send(data)

    def send_single(self, data=bytes(SEGMENTS * SEGMENT)):
        self.plain.send(data)

    def close(self):
        for made in (self.gso, self.plain):
            # Nobody is there to say goodbye to.
            made.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, TCP_REPAIR_ON)
            made.close()


SENDERS = {"UDP": UdpSender, "TCP": TcpSender}


# ---- qdiscs -------------------------------------------------------------------------


@contextlib.contextmanager
def noqueue():
    yield


@contextlib.contextmanager
def bpf_dualpi2(*options):
    run(LOADER, SINK, *options)
    yield
    run(LOADER, SINK, "--unload")


@contextlib.contextmanager
def sch_dualpi2(split):
    qdiscs = Qdiscs()
    qdiscs.add(SINK, "dualpi2", attribute(TCA_DUALPI2_SPLIT_GSO, struct.pack("=B", split)),
               handle=0x10000)
    yield
    qdiscs.delete(SINK)


@contextlib.contextmanager
def by_tc(*words):
    run("tc", "qdisc", "add", "dev", SINK, "root", *words)
    yield
    run("tc", "qdisc", "del", "dev", SINK, "root")


def counters():
    """How bpf_dualpi2 counts GSO packets: split, whole."""
    shown = json.loads(run(STATS, SINK, "--json", check=False).stdout or "[]")
    return shown[0]["gso"] if shown else {}


# Qdisc, and whether it splits.
QDISCS = {
    "noqueue": (noqueue, False),
    "bpf_dualpi2": (bpf_dualpi2, True),
    "bpf_dualpi2 --no-split-gso": (lambda: bpf_dualpi2("--no-split-gso"), False),
    "sch_dualpi2 (split_gso)": (lambda: sch_dualpi2(1), True),
    "sch_dualpi2 no_split_gso": (lambda: sch_dualpi2(0), False),
    "cake (split-gso)": (lambda: by_tc("cake", "split-gso"), True),
    "cake no-split-gso": (lambda: by_tc("cake", "no-split-gso"), False),
    "fq_codel": (lambda: by_tc("fq_codel"), False),
}


# ---- cases --------------------------------------------------------------------------


def take_gso(taken):
    """Does the device take GSO packets? (Its checksum offload stays: a card without TSO has
    that, too.)"""
    state = "on" if taken else "off"
    run("ethtool", "-K", SINK, *(word for name in OFFLOADS for word in (name, state)))


def packets_sent():
    """Packets that have reached the device; a GSO packet is one."""
    return int(Path(f"/sys/class/net/{SINK}/statistics/tx_packets").read_text())


def instructions(action, count, before=lambda: None):
    """Instructions for one call of `action`: the mean of some rounds of `count` calls, with
    `before()` before each round."""
    def one_round(_):
        before()
        began = time.monotonic_ns()
        for _ in range(count):
            action()
        return time.monotonic_ns() - began

    one_round(0)  # what is done once only: caches of the kernel, of Python
    return statistics.fmean(map(one_round, range(ROUNDS))) / count


def measure_case(sender, splits, taken):
    """Instructions a segment: sent in GSO packets, and one by one."""
    found = {}
    for way, send, packets in (("gso", sender.send_gso, SEGMENTS if splits or not taken else 1),
                               ("single", sender.send_single, SEGMENTS)):
        before = packets_sent()
        found[way] = instructions(send, CALLS, sender.renew) / SEGMENTS
        sent, expected = packets_sent() - before, packets * CALLS * (1 + ROUNDS)
        assert sent == expected, f"{way}: {sent} packets at the device, not {expected}"
    return found


def measure():
    """Rows: sender, qdisc, device, instructions a segment."""
    rows, missing = [], []
    for protocol, make in SENDERS.items():
        for name, (qdisc, splits) in QDISCS.items():
            if name.startswith("sch_") and not has_native():
                missing.append(name)
                continue
            for taken in (True, False):
                add_device(SINK, "dummy")
                take_gso(taken)
                with qdisc():
                    be_quiet()
                    sender = make()
                    row = {"sender": protocol, "qdisc": name, "device takes GSO": taken}
                    row |= measure_case(sender, splits, taken) | counters()
                    rows.append(row)
                    print(row, flush=True)
                    sender.close()
                delete_device(SINK)
    return {"rows": rows, "missing": list(dict.fromkeys(missing))}
