# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a packet costs above noqueue, in instructions.

Queue empty: pktgen sends, and each packet leaves for a dummy before the next one comes.

Queue standing: behind a gate (tests/compare/gate.c) that is closed, BACKLOG packets wait.
Batches of packets join them, which is the enqueue, and as many pass the gate after each,
which is the dequeue; batches, because opening the gate has its cost; small ones, because
the memory of a packet that leaves is there for the next one, as in steady traffic; and of
all sizes, because the kernel's allocator does some of its work every 30 packets or so.
Each packet waits for some milliseconds: those in L are CE-marked by the step of 1 ms,
those in C are below the target.
"""

import os
import random
import statistics
import time

from contenders import (
    BASELINE,
    JUDGES,
    OTHER_AQMS,
    OURS,
    PEERS,
    PFIFO,
    TCX_ALONE,
    attached,
    live_instances,
)
from guest import GATE, SINK, be_quiet, has_native
from rtnetlink import Qdiscs
from senders import PACKETS, Ring, pktgen

COUNT = 20000  # packets that pktgen sends
BACKLOG = 1000
BATCHES = 600
LARGEST_BATCH = 64  # packets
SEED = 9332
INSTANCES = (1, 8, 64)  # of bpf_dualpi2, the measured one included


# ---- queue empty --------------------------------------------------------------------


def empty(contender, kind="dummy", more=(), before=COUNT // 10):
    """{packet: instructions}, of all that happens to a packet. `more`: commands for pktgen.
    `before`: packets that are not counted, because with them is done what is done once only."""
    with attached(contender, SINK, kind):
        found = {}
        for packet in PACKETS:
            be_quiet()
            pktgen(SINK, packet, before, more=more)
            found[packet] = pktgen(SINK, packet, COUNT, more=more)
    return found


# ---- queue standing -----------------------------------------------------------------


class Gate:
    def __init__(self):
        self.switch = os.open(f"/sys/class/net/{GATE}/pass", os.O_WRONLY)

    def let(self, count):
        """Let packets out; instructions."""
        text = b"%d" % count
        began = time.monotonic_ns()
        os.write(self.switch, text)
        return time.monotonic_ns() - began

    def close(self):
        os.close(self.switch)


def in_batches(ring, gate, leave):
    """(enqueue, dequeue): instructions a packet, as batches of many sizes tell it from what
    it takes to start one. `leave`: do as many leave, after each batch?"""
    dice = random.Random(SEED)
    sizes = [dice.randint(1, LARGEST_BATCH) for _ in range(BATCHES)]
    enqueue, dequeue = [], []
    for size in sizes:
        enqueue.append(ring.send(size))
        dequeue.append(gate.let(size) if leave else 0)
    return tuple(statistics.linear_regression(sizes, costs).slope for costs in (enqueue, dequeue))


def waiting():
    return Qdiscs().get(GATE)[2]["qlen"]


def behind_gate(contender, backlog):
    """{packet: (enqueue, dequeue)}, of all that happens to a packet."""
    with attached(contender, GATE, "gate"):
        found = {}
        gate = Gate()
        for packet in PACKETS:
            be_quiet()
            gate.let(0 if backlog else -1)
            ring = Ring(GATE, packet)
            ring.send(backlog)
            found[packet] = in_batches(ring, gate, leave=backlog > 0)
            # An AQM may have dropped a few.
            assert backlog * 0.98 <= waiting() <= backlog, f"{waiting()} packets wait"
            gate.let(-1)
            assert not waiting()
            ring.close()
        gate.close()
    return found


# ---- all of it ----------------------------------------------------------------------


class Yardsticks:
    """What everything else is measured against, on the same devices with the same senders."""

    def __init__(self):
        self.empty = empty(BASELINE)
        if has_native():
            self.open_gate = behind_gate(BASELINE, 0)
            self.pfifo = behind_gate(PFIFO, BACKLOG)

    def rows(self, contender, instances=0):
        """One row for each kind of packet; instructions above the yardstick."""
        on_empty = empty(contender)
        on_standing = behind_gate(contender, BACKLOG) if has_native() else {}
        for packet in PACKETS:
            row = {"qdisc": contender.name, "shaped": contender.shaped, "packet": packet,
                   "empty": on_empty[packet] - self.empty[packet]}
            if instances:
                row["instances"] = instances
            if packet in on_standing:
                enqueue, dequeue = on_standing[packet]
                row |= {"standing": enqueue + dequeue - self.open_gate[packet][0],
                        "enqueue": enqueue - self.pfifo[packet][0],
                        "dequeue": dequeue - self.pfifo[packet][1]}
            print(row, flush=True)
            yield row


def measure():
    yardsticks = Yardsticks()
    result = {"noqueue": yardsticks.empty, "rows": [], "missing": []}
    for contender in (*PEERS, TCX_ALONE, *OTHER_AQMS, *JUDGES):
        if contender.is_missing:
            result["missing"].append(contender.name)
        else:
            result["rows"] += yardsticks.rows(contender)
    for instances in INSTANCES:
        live_instances(instances)
        for contender in OURS:
            result["rows"] += yardsticks.rows(contender, instances)
    return result
