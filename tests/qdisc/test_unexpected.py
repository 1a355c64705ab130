# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Packets in a queue that their ECN field did not choose (RFC 9332, 2.5.1.1; RFC 9331,
5.1 and 5.4): DSCP lists, skb->priority, L4S switched off.

The frames of these tests carry DSCP 40 (CS5).
"""

import socket
import struct

import pytest
from frames import CE, ECT_0, ECT_1, NOT_ECT
from held import COUNT, ce_count, fits, flood, hold_probability

SO_PRIORITY = 12
NO_PI2 = ("--rate", "1mbit", "--target", "4000s")
TO_L = ("--l4s-dscp", "40")
TO_C = ("--classic-dscp", "cs5")


@pytest.fixture
def priority(cable):
    """Sets skb->priority of what is sent from now on."""
    def assign(minor):
        handle = int(cable.qdisc.stats()["handle"].rstrip(":"), 16)
        cable.sender.setsockopt(socket.SOL_SOCKET, SO_PRIORITY,
                                struct.pack("=I", handle << 16 | minor))
    yield assign
    cable.sender.setsockopt(socket.SOL_SOCKET, SO_PRIORITY, 0)


def queue_of(cable, ecn):
    """Which queue a frame of this codepoint comes to."""
    before = cable.qdisc.stats()
    cable.burst(ecn, 1, 200)
    after = cable.qdisc.stats()
    cable.drain()
    return [queue for queue in ("l-queue", "c-queue")
            if after[queue]["packets-in"] > before[queue]["packets-in"]]


def queues(cable):
    return {ecn: queue_of(cable, ecn)[0][0] for ecn in (NOT_ECT, ECT_0, ECT_1, CE)}


@pytest.mark.parametrize("options, chosen", [
    ((), "ccll"), (("--any-ect",), "clll"), (("--no-l4s",), "cccc"),
    (TO_L, "llll"), (TO_C, "cccc"), (("--l4s-dscp", "nqb,ef"), "ccll"),
    (("--no-l4s", *TO_L), "llll"), (("--any-ect", *TO_C), "cccc"),
])
def test_who_goes_where(cable, options, chosen):
    cable.load(*options)
    assert queues(cable) == dict(zip((NOT_ECT, ECT_0, ECT_1, CE), chosen, strict=True))
    cable.load("--l4s-ect", "--l4s-dscp", "none", "--classic-dscp", "none")
    assert queues(cable) == dict(zip((NOT_ECT, ECT_0, ECT_1, CE), "ccll", strict=True))


@pytest.mark.parametrize("minor, chosen", [(0, "ccll"), (1, "llll"), (2, "llll"), (3, "ccll")])
def test_priority_chooses_after_the_ecn_field(cable, priority, minor, chosen):
    cable.load()
    priority(minor)
    assert queues(cable) == dict(zip((NOT_ECT, ECT_0, ECT_1, CE), chosen, strict=True))


def test_priority_of_another_qdisc_means_nothing(cable):
    cable.load()
    cable.sender.setsockopt(socket.SOL_SOCKET, SO_PRIORITY, 1)
    assert queue_of(cable, NOT_ECT) == ["c-queue"]
    cable.sender.setsockopt(socket.SOL_SOCKET, SO_PRIORITY, 0)


def test_any_ect_is_marked_as_l4s(cable):
    prob = hold_probability(cable, 0.15, "--any-ect")
    arrived, change = flood(cable, ECT_0)
    assert change["l-queue"]["mark-coupled"] == ce_count(arrived)
    assert fits(ce_count(arrived), 2 * prob)


def test_ect0_in_l_is_marked_as_classic(cable):
    prob = hold_probability(cable, 0.3, *TO_L)
    arrived, change = flood(cable, ECT_0)
    assert change["l-queue"]["mark-coupled"] == ce_count(arrived)
    assert fits(ce_count(arrived), prob**2)
    assert len(arrived) == COUNT


def test_ect0_in_l_is_held_to_the_target_of_l(cable):
    """Above the step p_L is 1, which is (1/k)^2 to a Classic sender (equation 1): less than
    25 of 100 by what 2^32 - 1 is less than 1."""
    cable.load(*NO_PI2, *TO_L)
    cable.burst(ECT_0, 103)  # the first leaves, the next two find no queue (Th_len)
    assert ce_count(cable.drain()) == 24
    assert cable.qdisc.stats()["l-queue"]["mark-native"] == 24


def test_not_ect_in_l_is_dropped_as_classic(cable):
    prob = hold_probability(cable, 0.3, *TO_L)
    arrived, change = flood(cable, NOT_ECT)
    assert change["l-queue"]["drop-aqm"] == COUNT - len(arrived)
    assert fits(COUNT - len(arrived), prob**2)


def test_not_ect_in_l_is_held_to_the_target_of_l(cable):
    cable.load(*NO_PI2, *TO_L)
    cable.burst(NOT_ECT, 103)  # the first leaves, the last two leave no queue (Th_len)
    assert len(cable.drain()) == 103 - 24
    assert cable.qdisc.stats()["l-queue"]["drop-aqm"] == 24


def test_class_2_is_forwarded_unchanged(cable, priority):
    """L without AQM: for traffic that something else keeps in check."""
    hold_probability(cable, 0.6)
    priority(2)
    for ecn in (NOT_ECT, ECT_0):
        arrived, change = flood(cable, ecn)
        assert change["l-queue"]["packets-out"] == COUNT
        assert [packet.ecn for packet in arrived] == [ecn] * COUNT


def test_ect1_in_c_is_marked_with_the_coupled_probability(cable):
    prob = hold_probability(cable, 0.15, *TO_C)
    arrived, change = flood(cable, ECT_1)
    assert change["c-queue"]["mark-coupled"] == ce_count(arrived)
    assert fits(ce_count(arrived), 2 * prob)
    assert len(arrived) == COUNT


def test_without_l4s_ect1_is_not_ect(cable):
    prob = hold_probability(cable, 0.3, "--no-l4s")
    arrived, change = flood(cable, ECT_1)
    assert change["c-queue"]["drop-aqm"] == COUNT - len(arrived)
    assert fits(COUNT - len(arrived), prob**2)
    assert {packet.ecn for packet in arrived} == {ECT_1}
    arrived, _ = flood(cable, CE)
    assert {packet.ecn for packet in arrived} == {CE}
    assert len(arrived) == COUNT
