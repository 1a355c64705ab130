# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""limit, memlimit, and what else can happen to a full queue."""

import pytest
from frames import ECT_1, NOT_ECT
from netns import wait_until

pytestmark = pytest.mark.oldest_kernel

# A frame of 1514 bytes takes 1.2 s, far longer than a look at the statistics, and PI2 drops none.
STANDING = ("--rate", "10kbit", "--target", "4000s")
UNSHAPED = ("--rate", 0)


def test_limit_counts_both_queues(cable):
    cable.load(*STANDING, "--limit", 10)
    cable.burst(NOT_ECT, 8)
    cable.burst(ECT_1, 8)
    stats = cable.qdisc.stats()
    # The first frame left at once, so 10 of the other 15 fit.
    assert stats["qlen"] == 10
    assert stats["c-queue"]["drop-limit"] == 0
    assert stats["l-queue"]["drop-limit"] == 5
    assert stats["overlimits"] == 5
    assert stats["maxq"] == 10
    cable.load(*UNSHAPED)
    assert len(cable.drain()) == 11


def test_memlimit_is_of_truesize(cable):
    cable.load(*STANDING)
    cable.burst(NOT_ECT, 3)
    truesize = cable.qdisc.stats()["memory-used"] // 2  # of each of the two that wait
    assert truesize >= 1514
    cable.load(*UNSHAPED)
    cable.drain()
    cable.load("--rate", "10kbit", "--memlimit", 5 * truesize + truesize // 2)
    cable.burst(NOT_ECT, 9)
    stats = cable.qdisc.stats()
    assert stats["memory-used"] == 5 * truesize
    assert stats["max-memory-used"] == 5 * truesize
    assert stats["c-queue"]["drop-memlimit"] == 3


def trimmed(cable, *options):
    """Lower a limit under a backlog; the statistics when it holds, and how many packets had left
    at the least when it was made to."""
    gone = cable.qdisc.stats()["packets"]
    cable.load(*options)
    return wait_until(lambda: any((now := cable.qdisc.stats())[queue]["drop-trim"]
                                  for queue in ("l-queue", "c-queue")) and now,
                      "it is trimmed"), gone


def test_lower_limit_trims_classic_first(cable):
    cable.load(*STANDING)
    classic, l4s = cable.burst(NOT_ECT, 20), cable.burst(ECT_1, 20)
    stats, gone = trimmed(cable, "--limit", 25)
    assert stats["l-queue"]["drop-trim"] == 0
    assert 40 - stats["packets"] - 25 <= stats["c-queue"]["drop-trim"] <= 40 - gone - 25
    assert stats["qlen"] <= 25
    before = stats["c-queue"]["drop-trim"]
    cable.load("--limit", 8)
    stats = wait_until(lambda: (now := cable.qdisc.stats())["qlen"] <= 8 and now, "trimmed again")
    assert stats["c-queue"]["backlog-packets"] == 0
    assert stats["c-queue"]["drop-trim"] > before
    assert stats["drops"] == stats["l-queue"]["drop-trim"] + stats["c-queue"]["drop-trim"]
    cable.load("--rate", 0)
    arrived = [packet.serial for packet in cable.drain()]
    assert arrived[-8:] == l4s[-8:], "the oldest went first"
    assert set(arrived).isdisjoint(classic[1:14])


def test_lower_memlimit_trims(cable):
    cable.load(*STANDING)
    cable.burst(NOT_ECT, 11)
    truesize = cable.qdisc.stats()["memory-used"] // 10
    stats, gone = trimmed(cable, "--memlimit", 4 * truesize)
    assert stats["memory-used"] <= 4 * truesize
    assert 11 - stats["packets"] - 4 <= stats["c-queue"]["drop-trim"] <= 11 - gone - 4


def test_default_memlimit_follows_limit_and_mtu(cable):
    cable.load()
    assert cable.qdisc.stats()["memory-limit"] == 2 * 10000 * 1514
    cable.load("--limit", 100)
    assert cable.qdisc.stats()["memory-limit"] == 2 * 100 * 1514


def test_queue_fills_and_drains_again_and_again(cable):
    """Nodes are recycled: order and counts hold over many cycles of all sizes."""
    cable.load("--rate", "100mbit", "--target", "4000s")
    for count in (1, 2, 700, 1, 300, 1500, 3):
        serials = cable.burst(NOT_ECT, count, 100)
        assert [packet.serial for packet in cable.drain()] == serials
    assert cable.qdisc.stats()["memory-used"] == 0


def test_link_down_throws_away_and_counts(cable):
    cable.load("--rate", "10kbit", "--target", "4000s")  # 1.2 s a frame: none leaves now
    cable.burst(NOT_ECT, 6)
    cable.burst(ECT_1, 4)
    before = cable.qdisc.stats()
    cable.tx.ip("link set d0 down")
    stats = cable.qdisc.stats()
    assert stats["qlen"] == stats["backlog"] == stats["memory-used"] == 0
    for queue in ("l-queue", "c-queue"):
        assert stats[queue]["drop-reset"] == before[queue]["backlog-packets"]
    cable.qdisc.check_conservation()
    cable.tx.up("d0")
    assert cable.burst(ECT_1, 1) == [packet.serial for packet in cable.drain()][-1:]
