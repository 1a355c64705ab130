# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Marks and drops: by the step, which are exact, and by PI2, where native rolls dice."""

import time

import frames
import pytest
from frames import CE, ECT_0, ECT_1, NOT_ECT
from netns import wait_until
from report import binomial_bounds, span
from sides import PROB_MAX

NEVER = 4_000_000  # us; native keeps the step and tupdate in 32 bits of ns
CALM = {"target": NEVER, "step": NEVER}
MS = 0.001


def burst(ecn, count, length=400, first=1):
    return [frames.ipv4_frame(first + i, ecn, length) for i in range(count)]


def marked(passed):
    """Which packets were marked, as places in the burst."""
    return [packet.serial - 1 for packet in passed if packet.ecn == CE]


# ---- the step ------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", (0, 3))
def test_step_in_packets(pair, report, threshold):
    """Both look at the other packets in L: native at dequeue, ours at enqueue."""
    def script(side):
        side.send(burst(ECT_1, 10))
        return marked(side.let()), side.stats()["step-mark"]

    native, ours = pair.both(script, step_packets=threshold, target=NEVER)
    count = 9 - threshold
    what = f"step of {threshold} packets, burst of 10"
    report.equal(f"{what}: step-mark", native[1], ours[1])
    report.differs(f"{what}: which ones", span(native[0]), span(ours[0]), "marks at enqueue",
                   native[0] == list(range(count)) and
                   ours[0] == list(range(threshold + 1, 10)))


def test_step_in_time(pair, report):
    """Two bursts, 3 ms apart; those of the first wait longer than 1 ms."""
    def script(side):
        side.send(burst(ECT_1, 5))
        time.sleep(3 * MS)
        side.send(burst(ECT_1, 5, first=6))
        return marked(side.let()), side.stats()["step-mark"]

    native, ours = pair.both(script, step=2000, target=NEVER)
    what = "step of 2 ms, two bursts, 3 ms apart"
    report.equal(f"{what}: step-mark", native[1], ours[1])
    report.differs(f"{what}: which ones", span(native[0]), span(ours[0]), "marks at enqueue",
                   native[0] == [0, 1, 2, 3, 4] and ours[0] == [5, 6, 7, 8, 9])


def test_lone_packet(pair, report):
    def script(side):
        side.send(burst(ECT_1, 1))
        time.sleep(3 * MS)
        return len(marked(side.let()))

    native, ours = pair.both(script, step=1000, target=NEVER)
    report.differs("step of 1 ms, a lone packet waits 3 ms: marks", native, ours, "lone packet",
                   (native, ours) == (1, 0))


@pytest.mark.parametrize("least", (0, 1, 4))
def test_min_qlen_step(pair, report, least):
    """The packets that find so many in L are the ones the step applies to."""
    def script(side):
        side.send(burst(ECT_1, 10))
        return marked(side.let())

    native, ours = pair.both(script, step_packets=0, min_qlen_step=least, target=NEVER)
    # Native looks at the queue length once more at dequeue: the last packet leaves none behind.
    what = f"step of 0 packets, min_qlen_step {least}: which of 10"
    report.differs(what, span(native), span(ours), "marks at enqueue",
                   native == list(range(least, 9)) and ours == list(range(max(least, 1), 10)))


@pytest.mark.parametrize("name, maker, tags", [
    ("IPv4", frames.ipv4_frame, ()),
    ("IPv6", frames.ipv6_frame, ()),
    ("IPv4 in 802.1Q", frames.ipv4_frame, ((frames.ETH_P_8021Q, 5),)),
])
def test_marked_bytes(pair, report, name, maker, tags):
    """Where both mark the same packets, these come out the same to the byte."""
    def script(side):
        side.send(maker(1 + i, ECT_1, 400, tags) for i in range(2))
        time.sleep(3 * MS)
        side.send(maker(3 + i, ECT_1, 400, tags) for i in range(8))
        time.sleep(3 * MS)
        passed = side.let()
        return marked(passed), [packet.data for packet in passed]

    native, ours = pair.both(script, step=1000, min_qlen_step=4, target=NEVER)
    assert native[0] == list(range(4, 10))
    report.equal(f"step, min_qlen_step 4, {name}: bytes", native, ours,
                 shown=f"{span(native[0])} CE")


def test_step_and_ce(pair, report):
    def script(side):
        side.send(burst(CE, 10))
        side.let()
        return side.stats()["step-mark"]

    native, ours = pair.both(script, step_packets=0, target=NEVER)
    report.differs("step of 0 packets, burst of 10 CE: step-mark", native, ours, "CE",
                   (native, ours) == (9, 0))


# ---- PI2 -----------------------------------------------------------------------------


def is_at_cap(side, inverse):
    """Six digits are shown."""
    return abs(side.stats()["prob"] / PROB_MAX - 1 / inverse) <= 1e-6


def hold(side, inverse):
    """p' = 1 / inverse to the last bit, where `overflow` ends it, and an empty queue. The
    next update comes in four seconds."""
    side.change(overflow=True, coupling=inverse, target=0, tupdate=1000, alpha=1 << 22,
                step=NEVER)
    side.send(burst(NOT_ECT, 1))
    wait_until(lambda: is_at_cap(side, inverse), "p' is at its cap")
    side.change(tupdate=NEVER)
    time.sleep(2 * MS)  # native takes the new interval over at the end of the old one
    side.let()
    assert is_at_cap(side, inverse)


TRIALS = 2000
RESTING = 8  # of 400 bytes, that find (native: leave) less than 2 * 1514 bytes queued


class Flood:
    """What became of so many packets that PI2 acts on TRIALS of them."""

    def __init__(self, side, ecn, minor=None):
        before = side.stats()
        side.send(burst(ecn, TRIALS + RESTING), minor)
        passed = side.let()
        after = side.stats()
        self.dropped = TRIALS + RESTING - len(passed)
        self.marked = len(marked(passed))
        self.unmarked = len(passed) - self.marked
        self.ecn_mark = after["ecn-mark"] - before["ecn-mark"]
        self.overlimits = after["overlimits"] - before["overlimits"]
        assert after["drops"] - before["drops"] == self.dropped, "the drops are counted"


def flood_both(pair, inverse, ecn, minor=None, **options):
    """Floods at p' = 1 / inverse."""
    def script(side):
        hold(side, inverse)
        side.change(**{"overflow": False} | options)
        return Flood(side, ecn, minor)

    return pair.both(script)


def shares(pair, report, what, inverse, ecn, mark, drop, **options):
    """Packets are marked with probability `mark` and dropped with `drop`; not both."""
    native, ours = flood_both(pair, inverse, ecn, **options)
    if mark:
        report.share(f"{what}: marked", TRIALS, mark, native.marked, ours.marked)
    if drop:
        report.share(f"{what}: dropped", TRIALS, drop, native.dropped, ours.dropped)
    for flood in (native, ours):
        assert flood.ecn_mark == flood.marked, "the marks are counted"
        assert mark or not flood.marked
        assert drop or not flood.dropped


def at(inverse, coupling):
    return f"p' 1/{inverse} k {coupling}"


@pytest.mark.parametrize("inverse, coupling", [(4, 2), (10, 3), (2, 1)])
@pytest.mark.parametrize("ecn", (ECT_1, ECT_0, NOT_ECT))
def test_shares(pair, report, ecn, inverse, coupling):
    squared = 1 / inverse**2
    what, mark, drop = {ECT_1: ("L4S", coupling / inverse, 0), ECT_0: ("ECT(0)", squared, 0),
                        NOT_ECT: ("Not-ECT", 0, squared)}[ecn]
    shares(pair, report, f"{at(inverse, coupling)}, {what}", inverse, ecn, mark, drop,
           coupling=coupling)


def test_shares_of_ect_0_as_l4s(pair, report):
    shares(pair, report, f"{at(4, 2)}, any_ect, ECT(0)", 4, ECT_0, 0.5, 0, coupling=2,
           any_ect=True)


@pytest.mark.parametrize("ecn", (ECT_0, NOT_ECT))
def test_overload_of_classic(pair, report, ecn):
    """k * p' > 1: no marks in C any more."""
    what = {ECT_0: "ECT(0)", NOT_ECT: "Not-ECT"}[ecn]
    shares(pair, report, f"overload, {at(3, 4)}, {what}", 3, ecn, 0, 1 / 9, coupling=4)


def test_overload_of_l4s(pair, report):
    native, ours = flood_both(pair, 3, ECT_1, coupling=4)
    what = f"overload, {at(3, 4)}, L4S"
    report.share(f"{what}: dropped", TRIALS, 1 / 9, native.dropped, ours.dropped)
    # PI2 rests at the end of the queue for native, at its beginning for ours.
    assert native.unmarked == RESTING
    report.equal(f"{what}: passed without a mark", native.unmarked, ours.unmarked)
    report.differs(f"{what}: ecn-mark off by",
                   native.ecn_mark - native.marked, ours.ecn_mark - ours.marked,
                   "ecn-mark in overload", native.ecn_mark == native.marked and
                   ours.ecn_mark == TRIALS)


@pytest.mark.parametrize("ecn", (ECT_1, ECT_0, NOT_ECT))
def test_overflow(pair, report, ecn):
    """p' ends at 1 / k, and what can be marked is not dropped."""
    what, mark, drop = {ECT_1: ("L4S", 1, 0), ECT_0: ("ECT(0)", 1 / 4, 0),
                        NOT_ECT: ("Not-ECT", 0, 1 / 4)}[ecn]
    shares(pair, report, f"overflow, {at(2, 2)}, {what}", 2, ecn, mark, drop, overflow=True)


@pytest.mark.parametrize("ecn", (ECT_1, ECT_0, NOT_ECT))
def test_drop_enqueue(pair, report, ecn):
    what, mark, drop = {ECT_1: ("L4S", 1 / 2, 0), ECT_0: ("ECT(0)", 1 / 16, 0),
                        NOT_ECT: ("Not-ECT", 0, 1 / 16)}[ecn]
    shares(pair, report, f"drop_enqueue, {at(4, 2)}, {what}", 4, ecn, mark, drop, coupling=2,
           drop_enqueue=True)


def test_drop_enqueue_drops_before_the_queue(pair, report):
    """Which moment it is shows in the queue length before anything leaves."""
    def script(side):
        hold(side, 2)
        side.change(overflow=False, coupling=1, drop_enqueue=True)
        before = side.stats()
        side.send(burst(NOT_ECT, 100))
        queued = side.stats()
        passed = len(side.let())
        return queued["qlen"] - passed, queued["drops"] - before["drops"] + passed

    native, ours = pair.both(script)
    assert native == (0, 100)
    report.equal("drop_enqueue: dropped later, and in all", native, ours)


def test_rest(pair, report):
    """Below a backlog of two full frames PI2 rests."""
    def script(side):
        hold(side, 2)
        side.change(coupling=2)  # still `overflow`: p_CL is 1
        side.send(burst(ECT_1, 20))
        return marked(side.let())

    native, ours = pair.both(script)
    report.differs("rest, 20 packets of 400 bytes: marks", len(native), len(ours),
                   "marks at enqueue", native == list(range(12)) and
                   ours in (list(range(8, 20)), list(range(9, 20))))


# ---- packets that skb->priority put into L --------------------------------------------


@pytest.mark.parametrize("ecn", (ECT_0, NOT_ECT))
def test_classic_ecn_in_l(pair, report, ecn):
    """RFC 9332, 2.5.1.1: a Classic packet in L is marked or dropped as a Classic one."""
    native, ours = flood_both(pair, 4, ecn, minor=1, coupling=2)
    name, hits = {ECT_0: ("ECT(0) marked", (native.marked, ours.marked)),
                  NOT_ECT: ("Not-ECT dropped", (native.dropped, ours.dropped))}[ecn]
    low, high = binomial_bounds(TRIALS, 1 / 2)
    report.differs(f"{at(4, 2)}, class 1: {name}", *hits, "Classic in L",
                   low <= hits[0] <= high and abs(hits[1] - TRIALS / 16) <= 1)


@pytest.mark.parametrize("ecn", (ECT_0, NOT_ECT))
def test_step_and_classic_ecn(pair, report, ecn):
    def script(side):
        side.send(burst(ecn, 41), minor=1)
        passed = side.let()
        return len(marked(passed)) if ecn == ECT_0 else 41 - len(passed)

    native, ours = pair.both(script, step_packets=0, target=NEVER)
    name = {ECT_0: "ECT(0) marked", NOT_ECT: "Not-ECT dropped"}[ecn]
    report.differs(f"step of 0 packets, class 1: {name}/41", native, ours, "Classic in L",
                   native == 40 and abs(ours - 40 / 4) <= 1)


@pytest.mark.parametrize("ecn", (ECT_0, NOT_ECT))
def test_class_without_aqm(pair, report, ecn):
    native, ours = flood_both(pair, 2, ecn, minor=2, coupling=3)
    counts = [(flood.marked, flood.dropped) for flood in (native, ours)]
    assert counts[0] == (0, 0)
    name = {ECT_0: "ECT(0)", NOT_ECT: "Not-ECT"}[ecn]
    report.equal(f"overload, class 2, {name}: marks, drops", *counts)
