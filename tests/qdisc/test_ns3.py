# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The cases of ns-3's unit test of the same AQM (its dual-queue PI2 test suite), as
behaviour: what each is about, with packets of ours."""

import time

import pytest
from frames import ECT_0, ECT_1

pytestmark = pytest.mark.oldest_kernel

LENGTH = 1000
# 1 ms a packet.
SERVED_SLOWLY = ("--rate", "8mbit", "--limit", 50)
TWICE_AS_FAST, SOMEWHAT_FASTER = 0.0005, 0.0009  # s, the sender's pace


def send_paced(cable, pace, count, *codepoints):
    """`count` packets of each codepoint in turn; the counters of both queues."""
    due = time.monotonic()
    for ecn in codepoints * count:
        cable.burst(ecn, 1, LENGTH)
        due += pace
        time.sleep(max(0, due - time.monotonic()))
    cable.drain()
    stats = cable.qdisc.stats()
    return stats["l-queue"], stats["c-queue"]


def marks(queue):
    return queue["mark-native"] + queue["mark-coupled"]


def test_in_and_out(cable):
    cable.load()
    for _ in range(4):
        cable.burst(ECT_0, 1, LENGTH)
        cable.burst(ECT_1, 1, LENGTH)
    assert len(cable.drain()) == 8
    stats = cable.qdisc.stats()
    for queue in (stats["l-queue"], stats["c-queue"]):
        assert (queue["packets-in"], queue["packets-out"]) == (4, 4)
        assert (queue["bytes-in"], queue["bytes-out"]) == (4 * LENGTH, 4 * LENGTH)


def test_both_kinds_into_a_short_queue(cable):
    cable.load(*SERVED_SLOWLY)
    l_queue, c_queue = send_paced(cable, TWICE_AS_FAST, 200, ECT_0, ECT_1)
    assert 0 < marks(c_queue) < marks(l_queue)
    assert l_queue["drop-limit"] + c_queue["drop-limit"] > 0


def test_l4s_alone(cable):
    cable.load(*SERVED_SLOWLY)
    l_queue, c_queue = send_paced(cable, SOMEWHAT_FASTER, 400, ECT_1)
    assert marks(l_queue) > 0
    assert c_queue["packets-in"] == 0


def test_ecn_capable_classic_alone(cable):
    cable.load(*SERVED_SLOWLY)
    l_queue, c_queue = send_paced(cable, SOMEWHAT_FASTER, 400, ECT_0)
    assert marks(c_queue) > 0
    assert c_queue["drop-aqm"] == c_queue["drop-overload"] == 0
    assert l_queue["packets-in"] == 0
