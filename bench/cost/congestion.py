# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a TCP sender costs with different congestion controls, all of it: from the call that sends
to the call that receives, over a cable. The application is the limit, so that all send alike, and
the CPU is never idle.
"""

import json
import socket
import time

from guest import BIN, be_quiet, run
from netns import Namespace, veth

TOOL = BIN / "tcp-prague"
PORT = 5201
BASELINE = "reno"
OURS = "prague"
CONTROLS = (BASELINE, "cubic", "dctcp", OURS)
SEGMENT = 1400  # bytes of payload, with room for Accurate ECN's option
BURST = 2  # packets that the receiver takes at once, with one ACK
WARMUP, PACKETS = 2000, 20000
PROGRAMS = "prague_"


def programs():
    """{program: (runs, instructions in all of them)} of TCP Prague (kernel.bpf_stats_enabled)."""
    shown = json.loads(run("bpftool", "-j", "prog", "show").stdout)
    return {program["name"]: (program.get("run_cnt", 0), program.get("run_time_ns", 0))
            for program in shown if program.get("name", "").startswith(PROGRAMS)}


class Cable:
    def __init__(self):
        self.left, self.right = Namespace("left"), Namespace("right")
        veth(self.left, "s0", self.right, "c0")  # a packet is a packet: no GSO
        self.left.ip("addr add 10.9.0.1/24 dev s0")
        self.right.ip("addr add 10.9.0.2/24 dev c0")
        for space in (self.left, self.right):
            space.sysctl("net.ipv4.tcp_ecn", 3)
        self.listener = self.right.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.listener.bind(("10.9.0.2", PORT))
        self.listener.listen()

    def connect(self, congestion):
        sender = self.left.socket(socket.AF_INET, socket.SOCK_STREAM)
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
        sender.connect(("10.9.0.2", PORT))
        receiver, _ = self.listener.accept()
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sender, receiver

    def counters(self):
        """Packets of data from the left, and packets from the right."""
        def sent(space, dev):
            return space.links("-s")[dev]["stats64"]["tx"]["packets"]

        return sent(self.left, "s0"), sent(self.right, "c0")

    def close(self):
        self.listener.close()
        self.left.delete()
        self.right.delete()


def transfer(sender, receiver, packets, data=bytes(SEGMENT)):
    """Instructions for so many packets."""
    began = time.monotonic_ns()
    for _ in range(packets // BURST):
        for _ in range(BURST):
            sender.send(data)
        receiver.recv(BURST * SEGMENT, socket.MSG_WAITALL)
    return time.monotonic_ns() - began


def measure_control(cable, congestion):
    """Instructions a packet, ACKs a packet, and what our programs took."""
    sender, receiver = cable.connect(congestion)
    transfer(sender, receiver, WARMUP)
    be_quiet()
    before, spent = cable.counters(), programs()
    took = transfer(sender, receiver, PACKETS)
    sent, acks = (after - former for after, former in zip(cable.counters(), before, strict=True))
    assert sent == PACKETS, f"{sent} packets, not {PACKETS}"
    found = {"congestion": congestion, "a packet": took / sent, "ACKs a packet": acks / sent}
    more = {name: (runs - spent[name][0], time_ns - spent[name][1])
            for name, (runs, time_ns) in programs().items()}
    sender.close()
    receiver.close()
    return found | {"programs": {name: {"runs a packet": runs / sent,
                                        "instructions a run": time_ns / runs}
                                 for name, (runs, time_ns) in more.items() if runs > sent / 100}}


def by_program(cable):
    """{program: runs a packet, instructions a run}. Reading the clock for this is counted, too."""
    run("sysctl", "-q", "kernel.bpf_stats_enabled=1")
    found = measure_control(cable, OURS)["programs"]
    run("sysctl", "-q", "kernel.bpf_stats_enabled=0")
    return found


def measure():
    run("modprobe", "-a", "tcp_dctcp", "veth")
    cable = Cable()
    cable.left.run(TOOL, "on")
    rows = [measure_control(cable, congestion) for congestion in CONTROLS]
    found = {"rows": rows, "programs": by_program(cable)}
    cable.left.run(TOOL, "off")
    cable.close()
    return found
