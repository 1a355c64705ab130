# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""L first, and Classic protected by the WRR credit."""

import pytest
from frames import ECT_1, NOT_ECT
from netns import wait_until

pytestmark = pytest.mark.oldest_kernel

# Frames wait, and nothing is marked or dropped.
CALM = ("--target", "4000s", "--step-thresh", "4000s")


def test_order_is_kept_within_a_queue(cable):
    cable.load(*CALM, "--rate", "10mbit")
    sent = {ecn: [] for ecn in (NOT_ECT, ECT_1)}
    for _ in range(50):
        for ecn, serials in sent.items():
            serials += cable.burst(ecn, 2, 300)
    arrived = cable.drain()
    for ecn, serials in sent.items():
        assert [packet.serial for packet in arrived if packet.ecn == ecn] == serials


def test_l_overtakes(cable):
    cable.load(*CALM, "--rate", "10mbit")
    cable.burst(NOT_ECT, 20)
    cable.burst(ECT_1, 5)
    order = [packet.ecn for packet in cable.drain()]
    # One Classic frame was on its way when L came; the credit lets L go first.
    assert order[1:6] == [ECT_1] * 5


@pytest.mark.parametrize("percent", (0, 10, 25, 50, 100))
def test_classic_gets_its_share(cable, percent):
    """While both queues hold packets, C gets classic_protection of the bytes."""
    cable.load(*CALM, "--classic-protection", f"{percent}%", "--rate", "8kbit")
    cable.burst(NOT_ECT, 400)
    cable.burst(ECT_1, 400)
    cable.load("--rate", "10mbit")
    order = [packet.ecn for packet in cable.drain()]
    last_of_both = min(len(order) - order[::-1].index(ecn) for ecn in (NOT_ECT, ECT_1))
    both = order[1:last_of_both]  # the first one left before L had any
    share = both.count(NOT_ECT) / len(both)
    assert share == pytest.approx(percent / 100, abs=2 / len(both))


def test_only_a_new_share_resets_the_credit(cable):
    """A live change of anything else leaves the state alone, as in sch_dualpi2."""
    cable.load(*CALM, "--rate", "1mbit")
    cable.burst(NOT_ECT, 20)
    cable.burst(ECT_1, 20)
    cable.load("--rate", "10kbit")  # a packet every 1.2 s: none leaves while we look
    left = cable.qdisc.stats()["packets"]
    before = wait_until(lambda: (now := cable.qdisc.stats())["packets"] > left and now,
                        "one has just left", step=0.02)
    cable.load("--target", "20ms", "--coupling-factor", 3, "--step-thresh", "5p", "--limit", 500,
               "--any-ect", "--overflow", "--l-aqm", "ramp", "--tupdate", "4000s")
    after = cable.qdisc.stats()
    for key in ("credit", "prob", "qlen", "backlog", "maxq", "pkts-in-l", "pkts-in-c", "ecn-mark"):
        assert after[key] == before[key], key
    cable.load("--classic-protection", "30%")
    assert cable.qdisc.stats()["credit"] == 1514 * (30 - 70)


def test_empty_queues_begin_with_a_fresh_credit(cable):
    """And, as in sch_dualpi2, with one of the MTU that the device has now."""
    cable.load(*CALM, "--rate", "1mbit")
    for mtu in (1500, 1400):
        cable.tx.ip(f"link set d0 mtu {mtu}")
        cable.burst(NOT_ECT, 20, mtu)
        cable.burst(ECT_1, 10, mtu)
        wait_until(lambda: 0 < cable.qdisc.stats()["qlen"] < 20, "L has been served", step=0.02)
        assert cable.qdisc.stats()["credit"] != (mtu + 14) * (10 - 90)
        cable.load("--rate", 0)
        cable.drain()
        cable.load("--rate", "1mbit")
        assert cable.qdisc.stats()["credit"] == (mtu + 14) * (10 - 90)
    cable.tx.ip("link set d0 mtu 1500")
