#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What is left for others beside an unresponsive flood, in the lab's guest, as root.

A flood (pktgen) and two victims of 0.5 Mbit/s each, one in L and one in C, through 10 Mbit/s.
Neither listens to marks or drops. Prints, for the victims and the flood, what part of what they
sent has got through, and how long it took. `make bench-overload`
"""

import argparse
import errno
import os
import socket
import struct
import sys
import time
from pathlib import Path

SRC = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SRC / "tests" / part) for part in (".", "traffic", "compare", "qdisc")]
from contenders import BIN, CONTENDERS, MissingError  # noqa: E402
from counter import Counter, attach_filter  # noqa: E402
from flood import Flood  # noqa: E402
from frames import (  # noqa: E402
    ECN_NAMES,
    ECT_0,
    ECT_1,
    ETH_P_IP,
    NOT_ECT,
    SERIAL_LEN,
    ipv4_frame,
    received,
    stamp_arrivals,
)
from netns import Namespace, run, veth, wait_until  # noqa: E402

LINK = 10_000_000  # bit/s
VICTIM = 500_000
SETTLE_SECONDS, SECONDS = 2, 4
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33
VICTIMS = {ECT_1: 253, NOT_ECT: 254}  # the IP protocols that tell them apart
UDP = socket.IPPROTO_UDP
PROTECTION = ("--classic-protection", "50%")
FLOODS = (ECT_1, ECT_0, NOT_ECT)
TIMES = (1, 2, 10)
LENGTHS = (1514, 64)  # of the frame; the first is 1500 bytes of IP
NATIVE = ((1514, 1), (1514, 10), (64, 10))  # length, times
# What one might try, against ten times the link. (Without --limit what passes with --overflow
# waits for longer than this measures.)
REMEDIES = (("--overflow", "--limit", 100), ("--drop-enqueue",), ("--p-cmax", "100%"),
            ("--no-l4s",))
OTHERS = ("htb+fq_codel", "cake")
POLICED = LINK // 2
POLICER = f"""table netdev police {{
    chain out {{
        type filter hook egress device "d0" priority 0; policy accept;
        ip protocol udp limit rate over {POLICED // 8 // 1000} kbytes/second drop
    }}
}}
"""


class Victim:
    """Paced frames; a frame's serial is the time when it was sent."""

    def __init__(self, tx, rx, ecn, length):
        protocol = VICTIMS[ecn]
        self.length = length
        self.template = ipv4_frame(0, ecn, length, protocol=protocol)[:-SERIAL_LEN]
        self.sender = tx.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.sender.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 30)
        self.sender.bind(("d0", 0))
        self.receiver = rx.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.receiver.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 30)
        attach_filter(self.receiver, protocol)
        stamp_arrivals(self.receiver)
        self.receiver.bind(("p0", ETH_P_IP))
        self.due = 0
        self.sent, self.delays = [], {}

    def send_due(self, elapsed):
        while self.due < VICTIM * elapsed / 8 / self.length:
            self.due += 1
            self.sent.append(time.time_ns())
            try:
                self.sender.send(self.template + struct.pack("!Q", self.sent[-1]))
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise

    def receive(self):
        for data, arrived_ns in received(self.receiver):
            sent_ns, = struct.unpack("!Q", data[-SERIAL_LEN:])
            self.delays[sent_ns] = (arrived_ns - sent_ns) / 1e6

    def figures(self, begin, end):
        """The part of what was sent in between that arrived, and the delay of 99 % of it, ms."""
        sent = [when for when in self.sent if begin <= when / 1e9 < end]
        delays = sorted(self.delays[when] for when in sent if when in self.delays)
        return len(delays) / len(sent), delays[int(len(delays) * 0.99)] if delays else None

    def close(self):
        self.sender.close()
        self.receiver.close()


class Link:
    """A cable with a contender at 10 Mbit/s on it."""

    def __init__(self):
        self.tx, self.rx = Namespace("tx"), Namespace("rx")
        veth(self.tx, "d0", self.rx, "p0")
        self.flood = Flood(self.tx, "d0")
        # Keeps the kind registered while qdiscs come and go.
        self.tx.ip("link add anchor type dummy")
        self.tx.run(BIN / "dualpi2-load", "anchor")

    def measure(self, ecn, length, factor, contender="bpf_dualpi2", options=()):
        """(part, P99) of each victim and the part of the flood."""
        CONTENDERS[contender](self.tx, "d0", options).attach(f"{LINK}bit")
        victims = {kind: Victim(self.tx, self.rx, kind, length) for kind in VICTIMS}
        counter = Counter(self.rx, "p0", UDP)
        self.flood.start(length, factor * LINK, "dst 10.0.0.2", "dst_mac 02:00:00:00:00:02",
                         f"tos {ecn:02x}")
        wait_until(self.flood.sent, "the flood flows")
        began = time.time()
        before = None
        while (elapsed := time.time() - began) < SETTLE_SECONDS + SECONDS:
            if not before and elapsed >= SETTLE_SECONDS:
                before = self.flood.sent(), counter.read()
            for victim in victims.values():
                victim.send_due(elapsed)
                victim.receive()
            time.sleep(0.001)
        sent, arrived = self.flood.sent() - before[0], counter.read() - before[1]
        self.flood.stop()
        self.tx.run("tc", "qdisc", "del", "dev", "d0", "root")
        for victim in victims.values():
            victim.receive()
            victim.close()
        counter.close()
        # The end is left out: what was waiting then has gone with the qdisc.
        span = began + SETTLE_SECONDS, began + SETTLE_SECONDS + SECONDS - 0.5
        return ({kind: victim.figures(*span) for kind, victim in victims.items()},
                arrived / sent, sent * length * 8 / SECONDS / LINK)


def head(section):
    print(f"## {section}\n"
          f"{'':26} {'flood':18}  {'victim in L':16}  {'victim in C':16}  flood\n"
          f"{'':26} {'':8} rate bytes  {'through  P99 ms':16}  {'through  P99 ms':16}  "
          "through  offered", flush=True)


def show(title, ecn, length, factor, found):
    """One row; the flood's rate is the one that was measured."""
    victims, flood, offered = found
    cells = []
    for kind in (ECT_1, NOT_ECT):
        part, delay = victims[kind]
        cells.append(f"{part:7.1%} {f'{delay:8.1f}' if delay is not None else '       -'}")
    print(f"{title:26} {ECN_NAMES[ecn]:8} {factor:3}x {length:5}  {'  '.join(cells)}  "
          f"{flood:7.1%}  {offered:6.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--part", choices=("floods", "native", "remedies"),
                        help="only that one (default: all)")
    part = parser.parse_args().part
    if "DUALPI2_LAB" not in os.environ:
        sys.exit("overload.py: runs in the lab's guest: `make bench-overload`")
    run("modprobe", "-a", "veth", "dummy", "pktgen", "nft_limit")
    link = Link()
    if part != "remedies":
        head("Floods")
    if part in (None, "floods"):
        for length in LENGTHS:
            for ecn in FLOODS:
                for factor in TIMES:
                    show("bpf_dualpi2", ecn, length, factor, link.measure(ecn, length, factor))
            for ecn in FLOODS:
                show(" ".join(PROTECTION), ecn, length, 10,
                     link.measure(ecn, length, 10, options=PROTECTION))
    if part in (None, "native"):
        try:
            for length, factor in NATIVE:
                for ecn in FLOODS:
                    show("htb + sch_dualpi2", ecn, length, factor,
                         link.measure(ecn, length, factor, "htb+dualpi2"))
        except MissingError as error:
            print(f"htb + sch_dualpi2: {error}")
    if part in (None, "remedies"):
        head("Remedies")
        for options in REMEDIES:
            for ecn in (ECT_1, NOT_ECT):
                show(" ".join(map(str, options)), ecn, 1514, 10,
                     link.measure(ecn, 1514, 10, options=options))
        for other in OTHERS:
            for ecn in (ECT_1, NOT_ECT):
                show(other, ecn, 1514, 10, link.measure(ecn, 1514, 10, other))
        link.tx.run("nft", "-f", "-", input=POLICER)
        for ecn in (ECT_1, NOT_ECT):
            show(f"flood policed to {POLICED // 10**6} Mbit/s", ecn, 1514, 10,
                 link.measure(ecn, 1514, 10))


if __name__ == "__main__":
    main()
