# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What PI2 and the step mark and drop, seen at the receiver.

p' is driven up by a standing Classic queue and then held, by an update interval that
never ends. Then large bursts are marked or dropped with known probabilities, and
the counts are compared with them.
"""

import frames
import pytest
from frames import CE, ECT_0, ECT_1, NOT_ECT
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
    """A burst behind a standing queue, then its delivery at full speed."""
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


def test_coupled_mark_in_l(cable):
    prob = hold_probability(cable, 0.15)
    assert prob < 0.5
    arrived, change = flood(cable, ECT_1)
    assert change["l-queue"]["mark-pi2"] == ce_count(arrived)
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
    assert change["c-queue"]["mark-pi2"] == ce_count(arrived)
    assert fits(ce_count(arrived), prob**2)
    assert len(arrived) == COUNT, "ECN-capable packets are not dropped"


def test_squared_drop_in_c(cable):
    prob = hold_probability(cable, 0.25)
    arrived, change = flood(cable, NOT_ECT)
    assert change["c-queue"]["drop-pi2"] == COUNT - len(arrived)
    assert fits(COUNT - len(arrived), prob**2)
    assert ce_count(arrived) == 0, "Not-ECT never becomes CE"


def test_arriving_ce_stays_and_is_not_counted(cable):
    hold_probability(cable, 0.25)
    arrived, change = flood(cable, CE)
    assert ce_count(arrived) == len(arrived) == COUNT
    assert change["l-queue"]["mark-pi2"] == change["l-queue"]["mark-step"] == 0


@pytest.mark.parametrize("ecn, queue, cause", [
    (ECT_1, "l-queue", "drop-overload"), (ECT_0, "c-queue", "drop-overload"),
    (NOT_ECT, "c-queue", "drop-pi2"),
])
def test_overload_drops_in_both_queues(cable, ecn, queue, cause):
    """k * p' >= 1: the Classic drop for everybody; what is left of L is all marked."""
    prob = hold_probability(cable, 0.6)
    assert prob < 1, "p' has run away, nothing can be measured"
    arrived, change = flood(cable, ecn)
    assert change[queue][cause] == COUNT - len(arrived)
    assert fits(COUNT - len(arrived), prob**2)
    if ecn == ECT_1:
        assert ce_count(arrived) >= len(arrived) - RESTED
    else:
        assert ce_count(arrived) == 0


def test_dropping_nearly_everything_does_not_stall(cable):
    """p' close to 1: a dequeue may find nothing to forward; the queue drains all the same."""
    prob = hold_probability(cable, 0.98)
    arrived, change = flood(cable, NOT_ECT)
    assert change["c-queue"]["drop-pi2"] == COUNT - len(arrived)
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
    # The first one left at once; the second waited for it alone, nothing was queued.
    assert marked == serials[2:]
    assert cable.qdisc.stats()["l-queue"]["mark-step"] == 3


@pytest.mark.parametrize("threshold, marked", [("1ms", 3), ("4000s", 0), ("2p", 1), ("0p", 3)])
def test_step_threshold(cable, threshold, marked):
    cable.load("--rate", "1mbit", "--step-thresh", threshold)
    serials = cable.burst(ECT_1, 5)
    ce = [packet.serial for packet in cable.drain() if packet.ecn == CE]
    assert ce == (serials[-marked:] if marked else [])


def test_step_sees_the_age_of_the_head_without_a_shaper(cable):
    """Not shaped, the only thing known of a delay is how long the head has waited."""
    cable.load("--rate", "10kbit")  # a frame takes 1.2 s
    cable.burst(ECT_1, 2)  # the second one waits
    cable.load("--rate", 0)  # it goes with the next run of the queue
    wait_until(lambda: cable.qdisc.stats()["delay-l"] > 1000, "the head is older than 1 ms")
    serials = cable.burst(ECT_1, 1)
    assert [packet.serial for packet in cable.drain() if packet.ecn == CE] == serials


@pytest.mark.parametrize("maker", (frames.ipv4_frame, frames.ipv6_frame))
@pytest.mark.parametrize("vlans", [(), ((frames.ETH_P_8021Q, 5),),
                                   ((frames.ETH_P_8021AD, 7), (frames.ETH_P_8021Q, 5))])
def test_mark_changes_the_ecn_field_and_nothing_else(cable, maker, vlans):
    cable.load("--rate", "1mbit")
    sent = [maker(next(cable.serials), ECT_1, 300, vlans) for _ in range(4)]
    cable.send(*sent)
    for packet in cable.drain():
        marked = packet.ecn == CE
        kept = maker(packet.serial, CE, 300, vlans) if marked else sent[packet.serial - 1]
        assert packet.checksum_ok
        # The kernel may have taken tags out on the way: compare behind the addresses.
        tail = len(packet.data) - 12
        assert packet.data[12:] == kept[-tail:]
    assert cable.qdisc.stats()["l-queue"]["mark-step"] == 2


def test_mark_leaves_a_wrong_checksum_as_wrong(cable):
    """RFC 1624: adjusted by the change, neither repaired nor broken further."""
    cable.load("--rate", "1mbit")
    right = frames.ipv4(ECT_1, frames.numbered(1, 300, 34))
    value = int.from_bytes(right[10:12], "big")
    for _ in range(4):
        cable.send(frames.ipv4_frame(next(cable.serials), ECT_1, 300, checksum=value ^ 0x0F00))
    marked = [packet for packet in cable.drain() if packet.ecn == CE]
    assert len(marked) == 2
    for packet in marked:
        header = packet.data[14:34]
        expected = int.from_bytes(frames.ipv4(CE, frames.numbered(1, 300, 34))[10:12], "big")
        assert int.from_bytes(header[10:12], "big") == expected + (value ^ 0x0F00) - value
