# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The queues as lists of blocks (bpf/fifo.bpf.h): nothing is lost, doubled or overtaken,
wherever a block begins or ends."""

import random

import pytest
from frames import ECT_1, NOT_ECT
from netns import wait_until

# No drop, no mark; a frame of 200 bytes takes 16 ms, about a quarter of what a look takes.
SLOW = ("--rate", "100kbit", "--target", "4000s", "--step-thresh", "4000s")
LENGTH = 200
BLOCK = 7  # packets


def test_order_is_kept(cable):
    """Bursts come while packets leave, so that blocks are full, begun and empty in all ways."""
    cable.load(*SLOW)
    dice = random.Random(9332)
    sent = {ECT_1: [], NOT_ECT: []}
    for _ in range(30):
        for ecn, serials in sent.items():
            serials += cable.burst(ecn, dice.randint(1, 2 * BLOCK + 3), LENGTH)
        level = dice.randint(0, 4 * BLOCK)
        wait_until(lambda level=level: cable.qdisc.stats()["qlen"] <= level, f"{level} wait")
    cable.load("--rate", 0)
    arrived = cable.drain()
    for ecn, serials in sent.items():
        assert [packet.serial for packet in arrived if packet.ecn == ecn] == serials


@pytest.mark.parametrize("count", [1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 1, 150 * BLOCK])
def test_lengths_around_a_block(cable, count):
    """The first frame of a burst leaves at once; so many wait, then. Twice: blocks are reused."""
    cable.load(*SLOW)
    for ecn in (ECT_1, NOT_ECT, ECT_1, NOT_ECT):
        cable.load("--rate", "8kbit")
        serials = cable.burst(ecn, count + 1, LENGTH)
        assert cable.qdisc.stats()["qlen"] in (count, count - 1)
        cable.load("--rate", 0)
        assert [packet.serial for packet in cable.drain()] == serials


@pytest.mark.parametrize("count", [1, BLOCK + 1, 3 * BLOCK, 150 * BLOCK])
def test_link_goes_down_with_blocks_in_the_queue(cable, count):
    cable.load(*SLOW)
    for _ in range(2):
        for ecn in (ECT_1, NOT_ECT):
            cable.burst(ecn, count, LENGTH)
        arrived = cable.qdisc.stats()["packets"] + cable.qdisc.stats()["qlen"]
        cable.tx.ip("link set d0 down")
        stats = cable.qdisc.stats()
        assert stats["qlen"] == stats["backlog"] == stats["memory-used"] == 0
        assert stats["packets"] + stats["drops"] >= arrived
        cable.qdisc.check_conservation()
        cable.tx.up("d0")
    cable.load("--rate", 0)
    serial = cable.burst(ECT_1, 1)
    assert [packet.serial for packet in cable.drain()][-1:] == serial
