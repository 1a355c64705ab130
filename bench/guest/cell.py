#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One run of a cell with one contender, in the lab's guest, as root.

Usage: cell.py SPECIFICATION, as bench/run writes it (JSON). Leaves what was seen in
/results/run.json.
"""

import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

SRC = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SRC / "tests" / part) for part in (".", "traffic", "compare")]
from contenders import BIN, CONTENDERS, MissingError  # noqa: E402
from netns import run, switch_off_offloads  # noqa: E402
from path import AS_HOST, PING_TARGET, build_path  # noqa: E402
from senders import make_senders  # noqa: E402

RESULT = Path("/results/run.json")
# Of the counters of the senders' TCP, those that tell of retransmissions, needed or not.
TCP_COUNTERS = ("TcpRetransSegs", "TcpExtTCPDSACKRecv", "TcpExtTCPDSACKOfoRecv",
                "TcpExtTCPSpuriousRTOs", "TcpExtTCPFullUndo", "TcpExtTCPPartialUndo",
                "TcpExtTCPDSACKUndo", "TcpExtTCPLossUndo", "TcpExtTCPTimeouts",
                "TcpExtTCPSACKReorder", "TcpExtTCPTSReorder")
SEED_STEP_S = 0.007  # a seed: each flow begins that much later after the one before
MARGIN_S = 2  # that flows last longer than what is measured


class Tap:
    """tap.c, between the router's two ports."""

    def __init__(self, router):
        self.process = subprocess.Popen(
            router.argv(*AS_HOST, BIN / "tap", "r0", "r1"), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise SystemExit("cell.py: the tap does not work")

    def begin(self, phase):
        self.process.stdin.write(f"{phase}\n")
        self.process.stdin.flush()

    def result(self):
        output, _ = self.process.communicate()
        return json.loads(output)


class CpuClock:
    """How much of the CPU's time is idle from now on."""

    def __init__(self):
        self.idle, self.all = self.ticks()

    @staticmethod
    def ticks():
        """Idle and all since boot. Waiting for I/O is idle, too."""
        with open("/proc/stat", encoding="ascii") as stat:
            ticks = [int(word) for word in stat.readline().split()[1:]]
        return ticks[3] + ticks[4], sum(ticks)

    def idle_share(self):
        idle, everything = self.ticks()
        return (idle - self.idle) / (everything - self.all)


class Placement:
    """Do the flows come to the transmit queues that the cell says? From now on, until end()."""

    # Of all packets: some leave between a look at the queues and the tap's phase.
    LOOSE = 0.01

    def __init__(self, contender):
        self.contender = contender
        self.before = self.after = contender.queue_packets()

    def end(self):
        self.after = self.contender.queue_packets()

    def check(self, flows, tap):
        """`tap`: its result."""
        if self.after is None:
            return
        seen = [end - begin for begin, end in zip(self.before, self.after, strict=True)]
        left = dict.fromkeys((flow.addresses.sender for flow in flows), 0)
        for stream in tap["streams"]:
            if stream["source"] in left:
                left[stream["source"]] += sum(sum(figures["left"]) for name, figures in
                                              stream["phases"].items() if name.isdigit())
        expected = [sum(left[flow.addresses.sender] for flow in flows
                        if flow.addresses.queue == queue) for queue in range(len(seen))]
        most = self.LOOSE * sum(expected)
        if any(abs(one - other) > most for one, other in zip(seen, expected, strict=True)):
            raise SystemExit(f"cell.py: the transmit queues sent {seen} packets, and the flows "
                             f"that belong there {expected}")


def limit_gso(sender, gso):
    """`on`: GSO packets travel to the router. `split-by-sender`: TCP makes them, and the sender
    splits them in front of its device. `off`: TCP makes none."""
    if gso == "split-by-sender":
        sender.run("ethtool", "-K", "s0", "tso", "off")
    elif gso == "off":
        switch_off_offloads(sender, "s0")


def measure_unloaded(sender, tap):
    sender.run("ping", "-n", "-q", "-c", 1, PING_TARGET)  # neighbours know each other now
    tap.begin("unloaded")
    sender.run("ping", "-n", "-q", "-i", "0.01", "-c", 100, "-s", 1400, PING_TARGET)
    tap.begin("")


def places(specification, flows, sender, router):
    """[(namespace, device)] that get the qdisc."""
    if specification["at_sender"]:
        return [(sender, "s0")]
    both_ways = any(flow.described.get("back") for flow in flows)
    return [(router, dev) for dev in (["r1", "r0"] if both_ways else ["r1"])]


def tell_base_rtt(base_rtt_us):
    """All sockets, of whatever peer."""
    if base_rtt_us:
        run(BIN / "tcp-base-rtt", "add", "0.0.0.0/0", f"{base_rtt_us}us")


def measure(specification):
    run("modprobe", "-a", "tcp_dctcp", "tcp_bbr", "tcp_nv", "sch_netem", "pktgen")
    flows = make_senders(specification["flows"], specification["tcp"])
    sender, router, receiver = build_path([flow.addresses for flow in flows],
                                          specification["rtt_ms"],
                                          offload=specification["offload"],
                                          slot_us=specification["slot_us"],
                                          tx_queues=specification["tx_queues"])
    limit_gso(sender, specification["sender_gso"])
    make, options = CONTENDERS[specification["contender"]], specification["options"]
    contenders = [make(space, dev, options)
                  for space, dev in places(specification, flows, sender, router)]
    rates = [f"{rate}mbit" for rate in specification["rates_mbit"]]
    for contender in contenders:
        contender.attach(rates[0])
    tap = Tap(router)
    measure_unloaded(sender, tap)

    tell_base_rtt(specification["base_rtt_us"])
    warmup_s, seconds = specification["warmup_s"], specification["seconds"]
    for flow in flows:
        flow.prepare(sender, receiver)
    for flow in flows:
        flow.start(sender, receiver, math.ceil(warmup_s + seconds * len(rates)) + MARGIN_S,
                   specification["seed"])
        # Another seed, another run: TCP is chaotic, and this is enough to show it.
        time.sleep(SEED_STEP_S * specification["seed"])
    time.sleep(warmup_s)
    placement = Placement(contenders[0])
    clock = CpuClock()
    for number, rate in enumerate(rates):
        if number:
            for contender in contenders:
                contender.change_rate(rate)
        tap.begin(f"{number}")
        time.sleep(seconds)
    tap.begin("")
    idle_share = clock.idle_share()
    placement.end()
    for flow in flows:
        flow.look(sender)
    ended = [flow.told() | flow.finish() for flow in flows]
    tcp = json.loads(sender.run("nstat", "-a", "-s", "-z", "-j").stdout)["kernel"]
    guarded = [contender.convictions() for contender in contenders]
    seen = tap.result()
    placement.check(flows, seen)
    return {
        "cpu_idle": round(idle_share, 4),
        "convictions": None if None in guarded else sum(guarded),
        "tcp": {name: tcp[name] for name in TCP_COUNTERS},
        "flows": ended,
        "tap": seen,
    }


def leave_result(measured):
    """Of what the command line specifies, in RESULT. `measured`: makes it, or MissingError."""
    specification = json.loads(sys.argv[1])
    try:
        result = measured(specification)
    except MissingError as missing:
        result = {"missing": str(missing)}
    RESULT.write_text(json.dumps({"kernel": os.uname().release,
                                  "specification": specification} | result))


if __name__ == "__main__":
    leave_result(measure)
