# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What PI2 and the L queue's own AQM mark and drop, seen at the receiver: with a p' that
is held (held.py) the shares are known."""

import frames
import pytest
from conftest import LOADER
from frames import CE, ECT_0, ECT_1, NOT_ECT
from held import COUNT, NEVER, ce_count, fits, flood, hold_probability
from netns import wait_until


def test_coupled_mark_in_l(cable):
    prob = hold_probability(cable, 0.15)
    assert prob < 0.5
    arrived, change = flood(cable, ECT_1)
    assert change["l-queue"]["mark-coupled"] == ce_count(arrived)
    assert fits(ce_count(arrived), 2 * prob)
    assert len(arrived) == COUNT, "nothing is dropped in L"


def test_coupling_factor(cable):
    prob = hold_probability(cable, 0.05, "--coupling-factor", 4)
    arrived, _ = flood(cable, ECT_1)
    assert fits(ce_count(arrived), 4 * prob)


def test_squared_mark_in_c(cable):
    prob = hold_probability(cable, 0.25)
    assert prob < 0.5
    arrived, change = flood(cable, ECT_0)
    assert change["c-queue"]["mark-coupled"] == ce_count(arrived)
    assert fits(ce_count(arrived), prob**2)
    assert len(arrived) == COUNT, "ECN-capable packets are not dropped"


def test_squared_drop_in_c(cable):
    prob = hold_probability(cable, 0.25)
    arrived, change = flood(cable, NOT_ECT)
    assert change["c-queue"]["drop-aqm"] == COUNT - len(arrived)
    assert fits(COUNT - len(arrived), prob**2)
    assert ce_count(arrived) == 0, "Not-ECT never becomes CE"


def test_arriving_ce_stays_and_is_not_counted(cable):
    hold_probability(cable, 0.25)
    arrived, change = flood(cable, CE)
    assert ce_count(arrived) == len(arrived) == COUNT
    assert change["l-queue"]["mark-coupled"] == change["l-queue"]["mark-native"] == 0


def test_dropping_nearly_everything_does_not_stall(cable):
    """p' close to 1: a dequeue may find nothing to forward; the queue drains all the same."""
    prob = hold_probability(cable, 0.98)
    arrived, change = flood(cable, NOT_ECT)
    assert change["c-queue"]["drop-aqm"] == COUNT - len(arrived)
    assert fits(COUNT - len(arrived), prob**2)


def test_pi2_rests_below_two_mtu(cable):
    hold_probability(cable, 0.6)
    cable.load("--rate", 0)
    for _ in range(100):
        cable.burst(ECT_1, 1)
        cable.burst(NOT_ECT, 1)
    assert ce_count(cable.drain()) == 0
    cable.load("--rate", "100kbit")
    cable.burst(ECT_1, 20, 100)  # 2000 bytes, below 3028
    assert ce_count(cable.drain()) == 0


def test_step_does_not_rest(cable):
    cable.load("--rate", "100kbit")  # a frame of 100 bytes takes 8 ms
    serials = cable.burst(ECT_1, 5, 100)
    marked = [packet.serial for packet in cable.drain() if packet.ecn == CE]
    # The first one left at once. The second waited for it alone, the third for one more.
    assert marked == serials[3:]
    assert cable.qdisc.stats()["l-queue"]["mark-native"] == 2


def test_frame_that_takes_longer_than_the_step_is_no_queue(cable):
    """At 12 Mbit/s a frame takes 1.01 ms. A window that grows lets out three at a time."""
    cable.load("--rate", "12mbit")
    for _ in range(20):
        cable.burst(ECT_1, 3)
        assert ce_count(cable.drain()) == 0
    serials = cable.burst(ECT_1, 4)
    assert [packet.serial for packet in cable.drain() if packet.ecn == CE] == serials[3:]


@pytest.mark.parametrize("threshold, marked", [("1ms", 2), ("4000s", 0), ("2p", 1), ("0p", 3)])
def test_step_threshold(cable, threshold, marked):
    cable.load("--rate", "1mbit", "--step-thresh", threshold)
    serials = cable.burst(ECT_1, 5)
    ce = [packet.serial for packet in cable.drain() if packet.ecn == CE]
    assert ce == (serials[-marked:] if marked else [])


def test_step_sees_the_age_of_the_head_without_a_shaper(cable):
    """Not shaped, the only thing known of a delay is how long the head has waited."""
    def marked_behind_others():
        """Whether a packet is marked that comes when two wait unshaped, or had just left."""
        cable.load("--rate", "10kbit")  # a frame takes 1.2 s
        cable.burst(ECT_1, 3)  # the second and the third one wait
        wait_until(lambda: cable.qdisc.stats()["delay-l"] > 1000, "the head is older than 1 ms")
        change = cable.tx.popen(LOADER, "d0", "--rate", 0)
        change.stdout.readline()  # done; they go when the qdisc looks next, within 10 ms
        [serial] = cable.burst(ECT_1, 1)
        change.communicate()
        *_, second, third, last = cable.drain()
        assert last.serial == serial and second.ecn == third.ecn == ECT_1
        return last.ecn == CE

    wait_until(marked_behind_others, "a packet is marked")


def test_min_qlen_step(cable):
    """The step acts only on a packet that finds so many in the queue already."""
    cable.load("--rate", "1mbit", "--min-qlen-step", 3)
    serials = cable.burst(ECT_1, 6)  # the first leaves, the second waits alone
    assert [packet.serial for packet in cable.drain() if packet.ecn == CE] == serials[4:]


@pytest.mark.parametrize("l_aqm, some", [("step", False), ("ramp", True)])
def test_ramp_begins_before_the_step(cable, l_aqm, some):
    """Between 0.8 and 1.2 ms the ramp marks some (RFC 9332, A.1), the step of 1.2 ms none.
    At 1500 kbit/s a frame of 60 bytes takes 0.32 ms: the fourth one has 0.96 ms before it,
    less what the test took to send it."""
    cable.load("--rate", "1500kbit", "--l-aqm", l_aqm, "--step-thresh", "1200us")
    marked = 0
    for _ in range(40):
        cable.burst(ECT_1, 4, 60)
        marked += ce_count(cable.drain())
    assert (0 < marked < 40) if some else marked == 0


def test_ramp_ends_in_marking_all(cable):
    cable.load("--rate", "1mbit", "--l-aqm", "ramp", "--step-thresh", NEVER)
    serials = cable.burst(ECT_1, 5)
    assert [packet.serial for packet in cable.drain() if packet.ecn == CE] == serials[3:]


@pytest.mark.parametrize("where, at_once", [("--drop-enqueue", True), ("--drop-dequeue", False)])
def test_drop_on_arrival_or_departure(cable, where, at_once):
    prob = hold_probability(cable, 0.5, where)
    before = cable.qdisc.stats()["c-queue"]["drop-aqm"]
    cable.load("--rate", "10kbit")  # none departs while we look
    cable.burst(NOT_ECT, COUNT, 400)
    seen = cable.qdisc.stats()["c-queue"]["drop-aqm"] - before
    assert fits(seen, prob**2) if at_once else seen <= 1
    cable.load("--rate", 0)
    cable.drain()
    assert fits(cable.qdisc.stats()["c-queue"]["drop-aqm"] - before, prob**2)


@pytest.mark.parametrize("maker", (frames.ipv4_frame, frames.ipv6_frame, frames.pppoe_frame))
@pytest.mark.parametrize("vlans", [(), ((frames.ETH_P_8021Q, 5),),
                                   ((frames.ETH_P_8021AD, 7), (frames.ETH_P_8021Q, 5))])
def test_mark_changes_the_ecn_field_and_nothing_else(cable, maker, vlans):
    cable.load("--rate", "1mbit")
    sent = [maker(next(cable.serials), ECT_1, 300, vlans) for _ in range(5)]
    cable.send(*sent)
    for packet in cable.drain():
        marked = packet.ecn == CE
        kept = maker(packet.serial, CE, 300, vlans) if marked else sent[packet.serial - 1]
        assert packet.checksum_ok
        # The kernel may have taken tags out on the way: compare behind the addresses.
        tail = len(packet.data) - 12
        assert packet.data[12:] == kept[-tail:]
    assert cable.qdisc.stats()["l-queue"]["mark-native"] == 2


def test_mark_leaves_a_wrong_checksum_as_wrong(cable):
    """RFC 1624: adjusted by the change, neither repaired nor broken further."""
    cable.load("--rate", "1mbit")
    right = frames.ipv4(ECT_1, frames.numbered(1, 300, 34))
    value = int.from_bytes(right[10:12], "big")
    for _ in range(5):
        cable.send(frames.ipv4_frame(next(cable.serials), ECT_1, 300, checksum=value ^ 0x0F00))
    marked = [packet for packet in cable.drain() if packet.ecn == CE]
    assert len(marked) == 2
    for packet in marked:
        header = packet.data[14:34]
        expected = int.from_bytes(frames.ipv4(CE, frames.numbered(1, 300, 34))[10:12], "big")
        assert int.from_bytes(header[10:12], "big") == expected + (value ^ 0x0F00) - value
