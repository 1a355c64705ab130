# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""CoDel's laws in include/codel.h against those of codel_model.py."""

import math

import pytest
from clib import ONE, C, new
from codel_model import INTERVAL_NS, MS, MTU, TARGET_NS, UNIT_NS, Law2012, Mainline, Refined
from hypothesis import example, given
from hypothesis import strategies as st

MAINLINE, REFINED, LAW_2012 = C.CODEL_MAINLINE, C.CODEL_REFINED, C.CODEL_2012
MODELS = {MAINLINE: Mainline, REFINED: Refined, LAW_2012: Law2012}


def make(kind, steps=0):
    return new("codel_law", C.codel_make(TARGET_NS, INTERVAL_NS, kind, steps))


class Ours(Mainline):
    """Packet by packet, as dequeue does."""

    def __init__(self, kind, steps=0):
        super().__init__()
        self.law = make(kind, steps)
        self.codel = new("codel")

    def dequeue(self, now_ns):
        while packet := self.pop():
            enqueued_ns, serial, _, ecn = packet
            how = C.CODEL_LAST * (self.backlog <= MTU) | C.CODEL_MARKS * ecn
            if not C.codel_signals(self.codel, self.law, now_ns, now_ns - enqueued_ns, how):
                break
            if ecn:
                self.marked.append(serial)
                break
            self.dropped.append(serial)
        return packet


# ---- scripts ------------------------------------------------------------------------------


def play(codel, script):
    """(gap in ns, packets that arrive, length, ECN-capable, packets that are asked for)"""
    now_ns, serial = 10**12, 0
    for gap_ns, arrive, length, ecn, leave in script:
        now_ns += gap_ns
        for _ in range(arrive):
            codel.enqueue(now_ns, serial, length, ecn)
            serial += 1
        for _ in range(leave):
            codel.dequeue(now_ns)
    return codel.dropped, codel.marked


def congestion(seconds, arrive=12, leave=10, ecn=False):
    """More comes than leaves: packets of 1514 bytes, every 10 ms."""
    return [(10 * MS, arrive, 1514, ecn, leave)] * int(seconds * 100)


STEPS = st.tuples(st.one_of(st.integers(0, 20 * MS), st.integers(0, 2000 * MS)),
                  st.integers(0, 30), st.sampled_from([60, 1514]), st.booleans(),
                  st.integers(0, 30))
SCRIPTS = st.lists(STEPS, max_size=200)


@pytest.mark.parametrize("kind", MODELS)
@given(script=SCRIPTS)
@example(script=congestion(8))
@example(script=congestion(8, ecn=True))
@example(script=congestion(8) + [(10 * MS, 0, 60, False, 400)] + congestion(3))
@example(script=congestion(30, 40))
@example(script=congestion(4) + [(10 * MS, 5, 1514, True, 10)] * 300)
def test_same_signals_as_the_model(kind, script):
    """The inverse square root has a test of its own."""
    assert play(Ours(kind), script) == play(MODELS[kind](C.codel_inv_sqrt), script)


def test_the_scripts_make_it_drop():
    """Or the test above would compare nothing."""
    for model in MODELS.values():
        dropped, _ = play(model(), congestion(8))
        assert len(dropped) > 20
        _, marked = play(model(), congestion(8, ecn=True))
        assert len(marked) > 20


# ---- the count when the queue is back -----------------------------------------------------


def count_again(kind, intervals, last_count=60, count=66):
    """The count with which it begins to drop again, so long after the last signal."""
    law = make(kind)
    drop_next = 10**9
    now_ns = int((drop_next + intervals * law.interval) * UNIT_NS)
    codel = new("codel", first_above=1, drop_next=drop_next, count=count, last_count=last_count,
                inv_sqrt=C.codel_inv_sqrt(count))
    assert C.codel_signals(codel, law, now_ns, 50 * MS, 0)
    return codel.count


@pytest.mark.parametrize("kind, intervals, count", [
    (MAINLINE, 1, 6), (MAINLINE, 15.9, 6), (MAINLINE, 16.1, 1),
    (LAW_2012, 1, 63), (LAW_2012, 15.9, 63), (LAW_2012, 16.1, 1),
    (REFINED, 1, 64), (REFINED, 7.9, 64), (REFINED, 8.1, 1),
])
def test_66_after_60(kind, intervals, count):
    assert count_again(kind, intervals) == count


@pytest.mark.parametrize("count, again", [(1, 1), (2, 1), (3, 1), (4, 2), (126, 124), (127, 125),
                                          (128, 126), (129, 126), (254, 250), (1022, 1006),
                                          (100_000, 98437)])
def test_ns2_takes_back_two_or_a_64th(count, again):
    assert count_again(REFINED, 1, count=count) == again


# ---- the share of packets that it signals ---------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1)), max_size=50),
       st.integers(1, 10_000), st.integers(1, 10_000))
def test_share_is_an_ewma_over_an_interval(periods, period_ms, interval_ms):
    weight = C.codel_weight(period_ms * MS, interval_ms * MS)
    period_ms = min(period_ms, 4000)
    codel, expected = new("codel"), 0.0
    for packets, signals in periods:
        codel.packets = codel.seen_packets + packets & 0xffffffff
        codel.signals = codel.seen_signals + signals & 0xffffffff
        now = min(1.0, signals / packets) if packets else float(bool(signals))
        expected += (now - expected) * period_ms / (period_ms + interval_ms)
        share = C.codel_share(codel, weight) / ONE
        assert share == pytest.approx(expected, abs=1e-8 * len(periods))
        assert (codel.seen_packets, codel.seen_signals) == (codel.packets, codel.signals)


def test_packets_and_signals_are_counted():
    ours = Ours(MAINLINE)
    play(ours, congestion(8))
    assert ours.codel.signals == len(ours.dropped) > 20
    assert ours.codel.packets > 7000


# ---- 1 / sqrt(count) ----------------------------------------------------------------------


@given(st.one_of(st.integers(1, 100_000), st.integers(1, 2**32 - 1)))
@example(1)
@example(2)
@example(2**32 - 1)
def test_inverse_square_root(count):
    exact = ONE / math.sqrt(count)
    assert abs(C.codel_inv_sqrt(count) - exact) <= exact * 0.0001 + 1


@given(st.integers(1, ONE - 1))
@example(1)
def test_square_root_of_a_share(share):
    exact = math.sqrt(share / ONE) * ONE
    assert abs(C.codel_sqrt(share) - exact) <= exact * 0.0001 + 1 + share / ONE * 2**16


@pytest.mark.parametrize("steps, seen", [(1, 31.2), (2, 15.8), (5, 6.05)])
def test_newton_needs_more_than_a_step_on_a_decline(steps, seen):
    """From 66 to 6 the law acts as if the count were this (the mail of 2012)."""
    inv_sqrt = C.codel_inv_sqrt(66)
    for _ in range(steps):
        inv_sqrt = C.codel_newton(inv_sqrt, 6)
    assert (ONE / inv_sqrt) ** 2 == pytest.approx(seen, rel=0.005)


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_so_many_steps_from_the_last_value(steps):
    law = make(LAW_2012, steps)
    expected = C.codel_inv_sqrt(66)
    codel = new("codel", first_above=1, drop_next=10**9, count=66, last_count=6, inv_sqrt=expected)
    now_ns = (10**9 + law.interval) * UNIT_NS
    assert C.codel_signals(codel, law, now_ns, 50 * MS, 0)
    for _ in range(steps):
        expected = C.codel_newton(expected, 36)
    assert (codel.count, codel.inv_sqrt) == (36, expected)
