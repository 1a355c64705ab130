# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Which queue a packet waits in, and that waiting is all that happens to it."""

import functools

import frames
import pytest
from conftest import pinned_program
from frames import CE, ECN_NAMES, ECT_0, ECT_1, NOT_ECT

TAGS = {
    "untagged": (),
    "802.1Q": ((frames.ETH_P_8021Q, 5),),
    "802.1ad+802.1Q": ((frames.ETH_P_8021AD, 7), (frames.ETH_P_8021Q, 5)),
}
MAKERS = {
    "IPv4": frames.ipv4_frame,
    "IPv6": frames.ipv6_frame,
    "IPv6 with extension headers": frames.ipv6_options_frame,
    "PPPoE": frames.pppoe_frame,
    "PPPoE, IPv6": functools.partial(frames.pppoe_frame, version=6),
}


@pytest.mark.parametrize("vlans", TAGS.values(), ids=TAGS.keys())
@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS.keys())
def test_ecn_field_decides(cable, maker, vlans):
    cable.load()
    for count, ecn in enumerate((NOT_ECT, ECT_1, ECT_0, CE), start=1):
        before = cable.qdisc.stats()
        cable.send(*(maker(next(cable.serials), ecn, 200, vlans) for _ in range(count)))
        after = cable.qdisc.stats()
        queue = "l-queue" if ecn in (ECT_1, CE) else "c-queue"
        other = "c-queue" if ecn in (ECT_1, CE) else "l-queue"
        assert after[queue]["packets-in"] - before[queue]["packets-in"] == count, ECN_NAMES[ecn]
        assert after[other] == before[other], ECN_NAMES[ecn]
        assert [packet.ecn for packet in cable.drain()] == [ecn] * count
    assert cable.qdisc.stats()["bypassed-tcx"] == 0


def test_not_ip_is_classic(cable):
    cable.load()
    cable.send(frames.other_frame(next(cable.serials)),
               frames.other_frame(next(cable.serials), vlans=TAGS["802.1Q"]))
    stats = cable.qdisc.stats()
    assert stats["c-queue"]["packets-in"] == 2
    assert stats["l-queue"]["packets-in"] == 0


@pytest.mark.parametrize("vlans", TAGS.values(), ids=TAGS.keys())
def test_mpls_has_no_ecn_and_is_classic(cable, vlans):
    cable.load()
    cable.send(frames.mpls_frame(next(cable.serials), ECT_1, 200, vlans))
    stats = cable.qdisc.stats()
    assert (stats["l-queue"]["packets-in"], stats["c-queue"]["packets-in"]) == (0, 1)


def test_ppp_that_is_not_ip_is_classic(cable):
    cable.load()
    lcp = 0xC021
    cable.send(frames.pppoe_frame(next(cable.serials), ECT_1, 200, ppp_protocol=lcp))
    stats = cable.qdisc.stats()
    assert (stats["l-queue"]["packets-in"], stats["c-queue"]["packets-in"]) == (0, 1)


@pytest.mark.parametrize("outer, inner, queue", [(ECT_1, NOT_ECT, "l-queue"),
                                                 (NOT_ECT, ECT_1, "c-queue")])
def test_outer_header_of_6in4_decides(cable, outer, inner, queue):
    """RFC 6040: a tunnel's end carries a mark of the outer header inwards."""
    cable.load()
    cable.send(frames.sixin4_frame(next(cable.serials), outer, inner, 200))
    assert cable.qdisc.stats()[queue]["packets-in"] == 1


def test_a_third_tag_is_not_looked_behind(cable):
    cable.load()
    vlans = TAGS["802.1ad+802.1Q"] + TAGS["802.1Q"]
    cable.send(frames.ipv4_frame(next(cable.serials), ECT_1, 200, vlans))
    assert cable.qdisc.stats()["c-queue"]["packets-in"] == 1


def test_headers_that_are_cut_short_are_classic(cable):
    """Every length from none of the IP header to one byte less than all of it."""
    cable.load()
    whole = {frames.ETH_P_IP: frames.ipv4(ECT_1, b""), frames.ETH_P_IPV6: frames.ipv6(ECT_1, b"")}
    sent = 0
    for protocol, header in whole.items():
        for length in range(len(header)):
            cable.sender.send(frames.frame(protocol, header[:length]))
            sent += 1
    stats = cable.qdisc.stats()
    assert stats["c-queue"]["packets-in"] == sent
    assert stats["l-queue"]["packets-in"] == 0
    # These carry no serial: they are taken off the cable unread.
    cable.arrived += sum(1 for _ in frames.received(cable.receiver))
    cable.sent += sent


def test_wrong_version_is_classic(cable):
    """The EtherType says IPv4, the header does not."""
    cable.load()
    cable.send(frames.frame(frames.ETH_P_IP, frames.ipv6(ECT_1, frames.numbered(1, 100, 54))))
    assert cable.qdisc.stats()["c-queue"]["packets-in"] == 1


def test_without_the_tcx_program(cable):
    """The qdisc classifies by itself, counts that, and the tools say how to mend it."""
    cable.load()
    cable.qdisc.lose_program()
    cable.burst(ECT_1, 2)
    cable.burst(NOT_ECT, 3)
    stats = cable.qdisc.stats()
    assert (stats["l-queue"]["packets-in"], stats["c-queue"]["packets-in"]) == (2, 3)
    assert stats["bypassed-tcx"] == 5
    assert stats["tcx-attached"] is False
    assert "dualpi2-load d0" in cable.qdisc.table()
    cable.load()
    cable.burst(ECT_1, 1)
    stats = cable.qdisc.stats()
    assert stats["bypassed-tcx"] == 5
    assert stats["tcx-attached"] is True


@pytest.fixture
def attach_end(wire):
    """Attaches a program, behind all that are there, after which no other sees a packet. It goes
    after ours, and so has to be asked for before `cable`."""
    with pinned_program("foreign_end") as pin:
        yield lambda: wire.tx.run("bpftool", "net", "attach", "tcx_egress", "pinned", pin, "dev",
                                  "d0")
        wire.tx.run("bpftool", "net", "detach", "tcx_egress", "dev", "d0")


def test_a_program_in_front_that_ends_the_chain(attach_end, cable):
    """It keeps all packets from ours, and that is said (docs/containers.md)."""
    attach_end()
    cable.load()
    cable.burst(ECT_1, 2)
    cable.burst(NOT_ECT, 3)
    stats = cable.qdisc.stats()
    assert (stats["l-queue"]["packets-in"], stats["c-queue"]["packets-in"]) == (2, 3)
    assert stats["bypassed-tcx"] == 5 and stats["tcx-attached"] is True
    assert "5 packets did not pass our tcx program" in cable.qdisc.table()


def test_a_program_behind_that_ends_the_chain(attach_end, cable):
    cable.load()
    attach_end()
    cable.burst(ECT_1, 2)
    stats = cable.qdisc.stats()
    assert stats["l-queue"]["packets-in"] == 2 and stats["bypassed-tcx"] == 0
