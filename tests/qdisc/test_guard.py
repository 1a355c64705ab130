# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The guard: a flow that makes L long goes to C, all of it and for a while; others stay. Flows are
told apart by their IP protocol here. At 20 Mbit/s a full frame takes 606 us."""

import pytest
from conftest import drops
from frames import CE, ECT_1, NOT_ECT, ipv4_frame
from netns import wait_until

ALSO_REGISTERED = ("fixed",)
FLOOD, OTHER = 253, 254  # IP protocols
GUARDED = ("--rate", "20mbit", "--guard")
LONG = 100  # frames: 61 ms


def flood(cable, count=LONG, ecn=ECT_1, protocol=FLOOD):
    """As fast as it goes; the serials."""
    serials = [next(cable.serials) for _ in range(count)]
    cable.send(*(ipv4_frame(serial, ecn, protocol=protocol) for serial in serials))
    return serials


def guard(cable):
    return cable.qdisc.stats()["guard"]


def is_in_l(cable, ecn=ECT_1, protocol=FLOOD):
    """Is a frame of this flow let into L now?"""
    before = cable.qdisc.stats()["l-queue"]["packets-in"]
    flood(cable, 1, ecn, protocol)
    return cable.qdisc.stats()["l-queue"]["packets-in"] > before


def test_a_flood_goes_to_c(cable):
    cable.load(*GUARDED)
    flood(cable)
    stats = cable.qdisc.stats()
    assert stats["guard"]["convictions"] == 1
    assert stats["guard"]["redirected"] == stats["c-queue"]["packets-in"]
    # 62.5 kB of blame, which begins with the fifth frame and is full from the eighth on
    assert 44 <= stats["l-queue"]["packets-in"] <= 50
    assert not is_in_l(cable), "all of it, in its term"


def test_others_stay(cable):
    cable.load(*GUARDED)
    flood(cable)
    assert is_in_l(cable, protocol=OTHER)


def test_it_is_off_by_default(cable):
    cable.load("--rate", "20mbit")
    flood(cable)
    cable.drain()
    stats = cable.qdisc.stats()
    assert stats["l-queue"]["packets-in"] == LONG and not stats["guard"]["convictions"]


def test_another_qdisc_knows_nothing_of_it(cable):
    cable.load(*GUARDED)
    flood(cable)
    cable.drain()
    cable.qdisc.check_conservation()
    cable.load("--unload")
    cable.load(*GUARDED)
    cable.sent = cable.arrived = 0
    flood(cable, protocol=OTHER)  # so that the guard looks at every flow
    assert guard(cable)["convictions"] == 1
    assert is_in_l(cable)


def test_switched_off_it_lets_all_in(cable):
    cable.load(*GUARDED)
    flood(cable)
    cable.load("--no-guard")
    assert is_in_l(cable)


def test_a_burst_that_is_no_longer_than_the_step_is_nobodys_fault(cable):
    """Three frames at 4 Mbit/s take 9 ms, but the first leaves at once, and two are no queue: not
    even while the guard looks at every flow."""
    cable.load("--rate", "4mbit", "--guard")
    flood(cable, protocol=OTHER)
    cable.drain()
    assert guard(cable)["convictions"] == 1
    for _ in range(30):
        flood(cable, 3)
        cable.drain()
    assert guard(cable)["convictions"] == 1


def test_after_its_term_it_comes_back(cable):
    cable.load(*GUARDED)
    flood(cable)
    assert not is_in_l(cable)
    cable.drain()
    wait_until(lambda: is_in_l(cable), "it is in L again")


def test_it_does_not_pass_its_own_packets(cable):
    """After its term, too, while C has some of them: they arrive in the order of sending."""
    cable.load(*GUARDED)
    flood(cable)
    cable.load("--rate", "100kbit", "--target", "4000s")  # none leaves for now
    flood(cable, 1)
    wait_until(lambda: cable.qdisc.stats()["delay-c"] > 300_000, "its term is over")
    assert not is_in_l(cable)


def test_what_it_sends_is_classic(cable):
    """Marked while C waits longer than the step; of those that are, some are dropped on arrival."""
    cable.load(*GUARDED, "--target", "4000s")
    flood(cable)
    cable.load("--rate", "2mbit")
    flood(cable, 20, NOT_ECT, OTHER)
    wait_until(lambda: cable.qdisc.stats()["delay-c"] > 25_000, "their share is free again")
    flood(cable, 2)
    arrived = cable.drain()
    stats = cable.qdisc.stats()
    marked = sum(packet.ecn == CE for packet in arrived)
    assert 2 <= marked - stats["l-queue"]["mark-native"] <= stats["c-queue"]["mark-guard"]
    assert stats["c-queue"]["mark-coupled"] == stats["l-queue"]["mark-guard"] == 0


def test_convicts_have_a_quarter_while_c_waits(cable):
    """Beside a Classic flow that fills C. A quarter of 36 ms is 9, and they may be 20 ms ahead."""
    cable.load(*GUARDED, "--target", "4000s")
    flood(cable)
    cable.drain()
    before = cable.qdisc.stats()
    flood(cable, 100, NOT_ECT, OTHER)
    flood(cable, 100)
    queue = cable.qdisc.stats()["c-queue"]
    policed = queue["drop-guard"] - before["c-queue"]["drop-guard"]
    cable.drain()
    # 20 ms at a quarter of 20 Mbit/s are 8 frames and one that begins
    assert 100 - policed == pytest.approx(9, abs=4)
    assert drops(queue) == queue["drop-guard"], "others lose nothing by it"


def test_what_comes_to_c_at_once_is_bounded(cable):
    """Also where C was empty: 2 ms, or 20 ms of the quarter."""
    cable.load(*GUARDED, "--target", "4000s")
    flood(cable)
    stats = cable.qdisc.stats()
    passed = stats["guard"]["redirected"] - stats["c-queue"]["drop-guard"]
    assert stats["guard"]["redirected"] > 45 and 8 <= passed <= 11
    cable.drain()


def test_a_new_rate_gives_the_whole_share(cable):
    """Whatever was sent at a much lower one before."""
    cable.load("--rate", "100kbit", "--guard", "--target", "4000s")
    flood(cable)
    cable.load("--rate", "20mbit")
    cable.drain()
    before = cable.qdisc.stats()["c-queue"]["drop-guard"]
    flood(cable, 40, NOT_ECT, OTHER)
    flood(cable, 8)
    assert cable.qdisc.stats()["c-queue"]["drop-guard"] == before
    cable.drain()


def test_the_aqm_drops_it(cable):
    """With p_C, although it is ECT."""
    cable.load("--aqm", "fixed", "--fixed-prob", "50%", *GUARDED)
    flood(cable)
    cable.drain()
    stats = cable.qdisc.stats()
    assert stats["c-queue"]["drop-aqm"] > 0 and stats["l-queue"]["drop-aqm"] == 0
