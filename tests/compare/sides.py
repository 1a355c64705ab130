# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The two qdiscs under one interface, each at the root of a gate of its own (gate.c).

Options have the names of struct dualpi2_params, times are in microseconds, gains in
1/256 Hz. Statistics have the keys of `tc -j -s qdisc show dev DEV`, but `prob` is in 2^-32.
"""

import errno
import json
import os
import socket
import struct
from pathlib import Path

import frames
from netns import run, wait_until
from rtnetlink import Qdiscs, attribute, attributes

BIN = Path(os.environ.get("DUALPI2_BIN", ".output")).resolve()
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33
PROB_MAX = 2**32 - 1


class Side:
    """A qdisc, and the gate that asks it for packets."""

    name = None

    def __init__(self, dev):
        self.dev = dev
        self.qdiscs = Qdiscs()
        run("ip", "link", "add", dev, "type", "gate")
        Path(f"/proc/sys/net/ipv6/conf/{dev}/disable_ipv6").write_text("1")
        run("ip", "link", "set", dev, "up")
        self.sender = self.packet_socket(SO_SNDBUFFORCE)
        self.sender.bind((dev, 0))
        # Sees what the gate lets through.
        self.receiver = self.packet_socket(SO_RCVBUFFORCE)
        frames.stamp_arrivals(self.receiver)
        self.receiver.bind((dev, frames.ETH_P_ALL))

    @staticmethod
    def packet_socket(buffer):
        made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        made.setsockopt(socket.SOL_SOCKET, buffer, 1 << 30)
        return made

    def start(self, **options):
        """A fresh qdisc above a closed gate."""
        raise NotImplementedError

    def change(self, **options):
        raise NotImplementedError

    def stop(self):
        raise NotImplementedError

    def stats(self):
        raise NotImplementedError

    def counters(self):
        """What the kernel counts for any qdisc."""
        return self.qdiscs.get(self.dev)[2]

    def close(self):
        self.sender.close()
        self.receiver.close()
        run("ip", "link", "delete", self.dev)

    def send(self, batch, minor=None):
        """Hand frames to the qdisc. `minor`: in a class of it (skb->priority)."""
        priority = self.qdiscs.get(self.dev)[0] | minor if minor is not None else 0
        self.sender.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY,
                               struct.pack("=I", priority))
        for data in batch:
            try:
                self.sender.send(data)
            except OSError as error:  # dropped on arrival
                if error.errno != errno.ENOBUFS:
                    raise

    def link_down_and_up(self):
        for state in ("down", "up"):
            run("ip", "link", "set", self.dev, state)
        for endpoint in (self.sender, self.receiver):
            endpoint.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)  # "Network is down"

    def gate(self, count):
        Path(f"/sys/class/net/{self.dev}/pass").write_text(str(count))

    def let(self, count=None):
        """Let this many packets out, or all; then close the gate again."""
        before = self.counters()["packets"]
        self.gate(-1 if count is None else count)

        def is_done():
            now = self.counters()
            return now["qlen"] == 0 or count is not None and now["packets"] - before >= count

        if count != 0:
            wait_until(is_done, "the packets have passed the gate", step=0.005)
        self.gate(0)
        return self.passed()

    def passed(self):
        """What has come through the gate since the last call."""
        return [frames.parse(*arrival) for arrival in frames.received(self.receiver)]


class Ours(Side):
    name = "bpf_dualpi2"

    FLAGS = {
        "limit": lambda value: ("--limit", value),
        "memlimit": lambda value: ("--memlimit", value),
        "target": lambda value: ("--target", f"{value}us"),
        "tupdate": lambda value: ("--tupdate", f"{value}us"),
        "alpha": lambda value: ("--alpha", f"{value / 256:.6f}"),
        "beta": lambda value: ("--beta", f"{value / 256:.6f}"),
        "step": lambda value: ("--step-thresh", f"{value}us"),
        "step_packets": lambda value: ("--step-thresh", f"{value}p"),
        "min_qlen_step": lambda value: ("--min-qlen-step", value),
        "coupling": lambda value: ("--coupling-factor", value),
        "overflow": lambda value: ("--overflow" if value else "--drop-on-overload",),
        "drop_enqueue": lambda value: ("--drop-enqueue" if value else "--drop-dequeue",),
        "classic_protection": lambda value: ("--classic-protection", f"{value}%"),
        "any_ect": lambda value: ("--any-ect" if value else "--l4s-ect",),
    }

    def load(self, *arguments):
        run(BIN / "dualpi2-load", self.dev, *arguments)

    def change(self, **options):
        self.load(*(word for name, value in options.items() for word in self.FLAGS[name](value)))

    start = change

    def stop(self):
        self.load("--unload")

    def document(self):
        return json.loads(run(BIN / "dualpi2-stats", self.dev, "--json").stdout)[0]

    def stats(self):
        shown = self.document()
        return self.counters() | {key: shown[key] for key in Native.XSTATS} | {
            "prob": round(shown["prob"] * PROB_MAX)}

    def options(self):
        shown = self.document()["options"]
        return {
            "limit": shown["limit"],
            "memlimit": shown["memory-limit"],
            "target": shown["target"],
            "tupdate": shown["tupdate"],
            "alpha": round(shown["alpha"] * 256),
            "beta": round(shown["beta"] * 256),
            "step": shown["step-thresh-us"],
            "min_qlen_step": shown["min-qlen-step"],
            "coupling": shown["coupling"],
            "overflow": shown["drop-overload"] != "drop",
            "drop_enqueue": shown["drop-early"] != "drop-dequeue",
            "classic_protection": shown["c-protection"],
            "any_ect": shown["ecn-mask"] != "l4s-ect",
        }


class Native(Side):
    name = "sch_dualpi2"

    # TCA_DUALPI2_* of include/uapi/linux/pkt_sched.h: number, format, and how the option's
    # value travels.
    ATTRIBUTES = {
        "limit": (1, "=I"),
        "memlimit": (2, "=I"),
        "target": (3, "=I"),
        "tupdate": (4, "=I"),
        "alpha": (5, "=I"),
        "beta": (6, "=I"),
        "step_packets": (7, "=I"),
        "step": (8, "=I"),
        "min_qlen_step": (9, "=I"),
        "coupling": (10, "=B"),
        "overflow": (11, "=B"),
        "drop_enqueue": (12, "=B"),
        "classic_protection": (13, "=B"),
        "any_ect": (14, "=B"),
    }
    # Flags whose two values are not 0 and 1 in this order.
    TO_WIRE = {"overflow": {False: 1, True: 0}, "any_ect": {False: 1, True: 3}}

    # struct tc_dualpi2_xstats
    XSTATS = ("prob", "delay-c", "delay-l", "pkts-in-c", "pkts-in-l", "maxq", "ecn-mark",
              "step-mark", "credit", "memory-used", "max-memory-used", "memory-limit")
    XSTATS_FORMAT = struct.Struct("=8Ii3I")

    def encode(self, options):
        packed = b""
        for name, value in options.items():
            number, layout = self.ATTRIBUTES[name]
            value = self.TO_WIRE.get(name, {}).get(value, value)
            packed += attribute(number, struct.pack(layout, value))
        return packed

    def start(self, **options):
        self.qdiscs.add(self.dev, "dualpi2", self.encode(options), handle=0x10000)

    def change(self, **options):
        self.qdiscs.change(self.dev, "dualpi2", self.encode(options))

    def stop(self):
        self.qdiscs.delete(self.dev)

    def stats(self):
        _, _, counters, xstats = self.qdiscs.get(self.dev)
        return counters | dict(zip(self.XSTATS, self.XSTATS_FORMAT.unpack(xstats), strict=True))

    def options(self):
        raw = attributes(self.qdiscs.get(self.dev)[1])
        found = {}
        for name, (number, layout) in self.ATTRIBUTES.items():
            if number in raw:
                [value] = struct.unpack(layout, raw[number])
                back = {wire: option for option, wire in self.TO_WIRE.get(name, {}).items()}
                found[name] = back.get(value, value)
        return found
