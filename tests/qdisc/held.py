# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A qdisc whose p' is held, and what it does to a flood of packets then.

p' is driven up by a standing Classic queue and held by an update interval that
never ends. So large bursts are marked or dropped with known probabilities.
"""

from frames import CE, NOT_ECT
from netns import wait_until

NEVER = "4000s"
NO_STEP = ("--step-thresh", NEVER)
COUNT = 2000
RESTED = 8  # frames of a flood, 400 bytes each, that PI2 sees below a backlog of 2 MTU


def hold_probability(cable, at_least, *options):
    """A qdisc with an empty queue and a constant p' not below `at_least`; its p'."""
    gain = 0.004  # the smallest one
    cable.load("--rate", "1mbit", "--target", 0, "--alpha", max(at_least / 50, gain),
               "--beta", gain, *NO_STEP, *options)
    cable.burst(NOT_ECT, 300)
    wait_until(lambda: cable.qdisc.stats()["prob"] >= at_least, f"p' reaches {at_least}")
    cable.load("--tupdate", NEVER)
    cable.load("--rate", 0)
    cable.drain()
    cable.load("--rate", "1mbit")
    return cable.qdisc.stats()["prob"]


def flood(cable, ecn, count=COUNT):
    """A burst behind a standing queue, then its delivery at full speed. A frame takes longer than
    the burst: each that leaves during it may be one below a backlog of 2 MTU."""
    cable.load("--rate", "100kbit")
    before = cable.qdisc.stats()
    cable.burst(ecn, count, 400)
    cable.load("--rate", 0)
    arrived = cable.drain()
    cable.load("--rate", "1mbit")
    after = cable.qdisc.stats()
    change = {queue: {key: after[queue][key] - before[queue][key] for key in after[queue]
                      if isinstance(after[queue][key], int)}
              for queue in ("l-queue", "c-queue")}
    assert all(packet.checksum_ok for packet in arrived)
    return arrived, change


def fits(count, probability):
    """Hits come at even distances (RFC 9332, A.1), so their number is known to within the
    frames that came or went while PI2 rested."""
    return COUNT * probability - RESTED - 1 <= count <= COUNT * probability + 1


def ce_count(arrived):
    return sum(packet.ecn == CE for packet in arrived)
