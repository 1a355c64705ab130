# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Classic flows that build no queue are served as L. Flows are told apart by their IP protocol
here. At 2 Mbit/s a full frame takes 6 ms, and a burst is two of them."""

import struct

import pytest
from frames import (
    CE,
    ECT_0,
    ECT_1,
    ETH_P_IP,
    ETH_P_IPV6,
    NOT_ECT,
    check_order,
    frame,
    ipv4,
    ipv4_frame,
    ipv6,
    numbered,
    other_frame,
)
from netns import wait_until

pytestmark = pytest.mark.oldest_kernel

BULK, GAME = 253, 254  # IP protocols
SPARSE = ("--rate", "2mbit", "--sparse")
CALM = ("--target", "4000s")  # p' stays 0


def send(cable, count, length, protocol, ecn=NOT_ECT):
    """As fast as it goes; the serials."""
    serials = [next(cable.serials) for _ in range(count)]
    cable.send(*(ipv4_frame(serial, ecn, length, protocol=protocol) for serial in serials))
    return serials


def sparse(cable):
    return cable.qdisc.stats()["sparse"]


def is_sparse(cable, protocol=GAME, ecn=NOT_ECT):
    """Is a small packet of this flow served as L now?"""
    before = sparse(cable)["packets"]
    send(cable, 1, 100, protocol, ecn)
    return sparse(cable)["packets"] > before


@pytest.mark.parametrize("ecn", [NOT_ECT, ECT_0])
def test_a_small_packet_does_not_wait_behind_bulk(cable, ecn):
    cable.load(*SPARSE, *CALM)
    bulk = send(cable, 20, 1514, BULK)
    game = send(cable, 1, 100, GAME, ecn)
    order = [packet.serial for packet in cable.drain()]
    assert order.index(game[0]) < order.index(bulk[5])
    stats = cable.qdisc.stats()
    assert stats["sparse"]["packets"] == stats["l-queue"]["packets-in"] == 2
    assert stats["c-queue"]["packets-in"] == 19


def test_it_is_off_by_default(cable):
    cable.load("--rate", "2mbit", *CALM)
    send(cable, 20, 1514, BULK)
    assert not is_sparse(cable)
    assert cable.qdisc.stats()["l-queue"]["packets-in"] == 0


def test_switched_off_it_lets_none_in(cable):
    cable.load(*SPARSE, *CALM)
    assert is_sparse(cable)
    cable.load("--no-sparse")
    assert not is_sparse(cable)


def test_what_is_not_ip_is_a_flow_too(cable):
    """ARP, for example."""
    cable.load(*SPARSE, *CALM)
    send(cable, 20, 1514, BULK)
    cable.send(other_frame(next(cable.serials), 100))
    assert sparse(cable)["packets"] == 2


def test_l4s_and_who_is_told_where_to_go_are_left_alone(cable):
    cable.load(*SPARSE, *CALM, "--classic-dscp", "40")  # of all frames here
    assert not is_sparse(cable)
    assert not is_sparse(cable, ecn=ECT_1)
    queues = cable.qdisc.stats()
    assert queues["c-queue"]["packets-in"] == 2


def test_l_does_not_mark_it(cable):
    """Nor does it drop it, as class 2 of skb->priority: ECT(0) above the step."""
    cable.load(*SPARSE, *CALM, "--step-thresh", "100us")
    send(cable, 3, 1514, BULK, ECT_1)
    send(cable, 5, 100, GAME, ECT_0)
    arrived = cable.drain()
    assert sparse(cable)["packets"] == 5
    marked = sum(packet.ecn == CE for packet in arrived)
    assert marked == cable.qdisc.stats()["l-queue"]["mark-native"]
    assert sum(packet.ecn == ECT_0 for packet in arrived) == 5


def test_a_flow_that_grows_goes_to_c(cable):
    """All of it, in order, and others are still served as L."""
    cable.load(*SPARSE, *CALM)
    serials = send(cable, 30, 600, BULK)
    stats = cable.qdisc.stats()
    assert 2 <= stats["sparse"]["packets"] <= 4
    assert stats["c-queue"]["packets-in"] == 30 - stats["sparse"]["packets"]
    assert not is_sparse(cable, BULK)
    assert is_sparse(cable, GAME)
    check_order([packet.serial for packet in cable.drain()], serials)


def test_it_does_not_pass_its_own_packets(cable):
    """A flow that is sparse again stays in C while it has packets there."""
    cable.load(*SPARSE, *CALM)
    send(cable, 30, 1514, BULK)
    cable.load("--rate", "100kbit")  # 120 ms a frame
    before = cable.qdisc.stats()["c-queue"]["backlog-packets"]
    wait_until(lambda: cable.qdisc.stats()["delay-c"] > 300_000, "its stay is over")
    assert before and not is_sparse(cable, BULK)
    cable.load("--rate", "2mbit")
    cable.drain()
    wait_until(lambda: is_sparse(cable, BULK), "it is sparse again")


def words(serial, first, second, length):
    """What headers with ports or an SPI begin with, and the rest."""
    return struct.pack("!HH", first, second) + numbered(serial, length, 4)


def in_ipv4(protocol, first, second):
    return lambda serial: frame(ETH_P_IP, ipv4(NOT_ECT, words(serial, first, second, 900),
                                               protocol=protocol))


def in_ipv6(protocol, first, second):
    return lambda serial: frame(ETH_P_IPV6, ipv6(NOT_ECT, words(serial, first, second, 900),
                                                 next_header=protocol))


TCP, UDP, ESP = 6, 17, 50


@pytest.mark.parametrize("one, other", [
    (in_ipv4(UDP, 1, 9), in_ipv4(UDP, 2, 9)), (in_ipv4(TCP, 1, 9), in_ipv4(TCP, 1, 8)),
    (in_ipv4(UDP, 1, 9), in_ipv4(TCP, 1, 9)), (in_ipv6(UDP, 1, 9), in_ipv6(UDP, 2, 9)),
    (in_ipv6(TCP, 1, 9), in_ipv6(TCP, 1, 8)), (in_ipv4(UDP, 1, 9), in_ipv6(UDP, 1, 9)),
    (in_ipv4(ESP, 0, 1), in_ipv4(ESP, 0, 2)), (in_ipv6(ESP, 0, 1), in_ipv6(ESP, 0, 2)),
])
def test_flows_are_told_apart(cable, one, other):
    cable.load(*SPARSE, *CALM)
    cable.send(*(one(next(cable.serials)) for _ in range(10)))
    grown = sparse(cable)["packets"]
    cable.send(one(next(cable.serials)))
    assert sparse(cable)["packets"] == grown
    cable.send(other(next(cable.serials)))
    assert sparse(cable)["packets"] == grown + 1


def test_together_they_are_bounded(cable):
    """So many new flows at once: what they have in L is no more than a burst, half of what all may
    have."""
    cable.load(*SPARSE, *CALM)
    for protocol in range(150, 250):
        send(cable, 1, 600, protocol)
    stats = cable.qdisc.stats()
    # of 100, some left meanwhile, at half of the link
    assert 3028 * 0.7 <= stats["sparse"]["packets"] * 600 <= 3028 * 1.5
    assert stats["c-queue"]["packets-in"] == 100 - stats["sparse"]["packets"]


def test_without_a_rate_nobody_is(cable):
    """A share of an unknown link is unknown."""
    said = cable.qdisc.load("--sparse")
    assert "sparse does nothing without a rate" in said.stdout + said.stderr
    assert not is_sparse(cable)
