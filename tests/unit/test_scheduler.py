# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The scheduler of include/scheduler.h: single decisions, long runs, and the account of the
model."""

import itertools
import random
from fractions import Fraction

import model
import pytest
from clib import C
from hypothesis import example, given
from hypothesis import strategies as st

FRAME = 1514


@pytest.mark.parametrize("share, frame, credit", [
    (10, FRAME, -80 * FRAME), (50, FRAME, 0), (90, FRAME, 80 * FRAME),
    (0, FRAME, -100 * FRAME), (100, FRAME, 100 * FRAME),
    # The length is cut.
    (100, 2**20, 100 * 2**20), (100, 2**20 + 1, 100 * 2**20), (0, 2**32 - 1, -100 * 2**20),
])
def test_first_credit_is_one_frame(share, frame, credit):
    assert C.scheduler_reset(share, frame) == credit


@pytest.mark.parametrize("credit, l_waits, c_waits, from_l", [
    # L goes first until C has credit.
    (-80 * FRAME, True, True, True), (0, True, True, True), (1, True, True, False),
    # A queue alone is served whatever the credit.
    *((credit, in_l, not in_l, in_l)
      for credit in (-1_000_000, 0, 1_000_000) for in_l in (True, False)),
])
def test_who_is_served(credit, l_waits, c_waits, from_l):
    assert C.scheduler_serves_l(credit, l_waits, c_waits) == from_l


@pytest.mark.parametrize("credit, share, from_l, length, after", [
    (-1000, 10, True, 64, -1000 + 64 * 10), (1000, 10, False, 64, 1000 - 64 * 90),
    (5, 0, True, FRAME, 5), (5, 100, False, FRAME, 5),
])
def test_charge_by_weight_and_length(credit, share, from_l, length, after):
    assert C.scheduler_charge(credit, share, from_l, length) == after


class Run:
    """Turns as dequeue takes them: only what is contested is charged."""

    def __init__(self, share, frame=FRAME):
        self.share = share
        self.credit = C.scheduler_reset(share, frame)
        self.served = {"l": 0, "c": 0}  # bytes

    def serve(self, l_len, c_len):
        """The lengths of both heads; 0: the queue is empty."""
        from_l = C.scheduler_serves_l(self.credit, l_len > 0, c_len > 0)
        queue, length = ("l", l_len) if from_l else ("c", c_len)
        self.served[queue] += length
        if l_len and c_len:
            self.credit = C.scheduler_charge(self.credit, self.share, from_l, length)
        return queue


@pytest.mark.parametrize("share", [0, 1, 10, 50, 90, 100])
def test_c_gets_its_share(share):
    """Frames of both queues in all sizes: to within the start's one frame and the last one."""
    run, dice = Run(share), random.Random(1)
    for _ in range(20_000):
        run.serve(dice.randint(60, FRAME), dice.randint(60, FRAME))
        fair = sum(run.served.values()) * share // 100
        assert abs(run.served["c"] - fair) <= 2 * FRAME
    assert share > 0 or run.served["c"] == 0
    assert share < 100 or run.served["l"] == 0


def test_every_tenth_frame_is_classic():
    """Full frames only, at 10 %: nine of L, then one of C."""
    run = Run(10)
    assert "".join(run.serve(FRAME, FRAME) for _ in range(1000)) == "lllllllllc" * 100


@pytest.mark.parametrize("share", range(101))
def test_credit_is_bounded(share):
    run, dice = Run(share), random.Random(share)
    for _ in range(2000):
        run.serve(dice.randrange(FRAME), dice.randrange(FRAME))
        assert abs(run.credit) <= 100 * FRAME


def test_a_packet_served_alone_costs_nothing():
    """C had the link for itself for long: L is not made to wait for that, nor repaid."""
    run = Run(10)
    credit = run.credit
    for _ in range(1000):
        run.serve(0, FRAME)
        run.serve(FRAME, 0)
    assert run.credit == credit


frames = st.integers(60, 9014)
# Arrivals for L or C, and turns of the link in between.
events = st.lists(
    st.one_of(
        st.tuples(st.sampled_from("lc"), frames),
        st.tuples(st.just("serve"), st.integers(1, 4)),
    ),
    max_size=120,
)


@given(st.integers(0, 100), frames, events)
@example(50, 1000, [("l", 60), ("c", 60), ("serve", 2)])  # nobody is owed: L first
def test_it_keeps_the_account_of_the_model(share, frame, script):
    exact, run = model.Wrr(Fraction(share, 100), frame), Run(share, frame)
    queues = {"l": [], "c": []}
    for kind, value in script:
        if kind != "serve":
            queues[kind].append(value)
            continue
        for _ in range(value):
            heads = [queues[name][0] if queues[name] else None for name in "lc"]
            if not any(heads):
                exact.settle()
                run = Run(share, frame)
                continue
            queue = run.serve(*(head or 0 for head in heads))
            assert queue == exact.choose(*heads)
            del queues[queue][0]
            assert Fraction(run.credit, 100) == exact.owed_to_c


@given(st.integers(0, 100), st.lists(st.tuples(frames, frames), min_size=1, max_size=150))
def test_c_gets_its_share_within_one_frame(share, heads):
    """Both queues always hold packets. From the moment that the first imbalance is
    worked off, C is within one (longest) frame of its share over *every* interval.
    """
    longest = max(max(pair) for pair in heads)
    run = Run(share, longest)
    started, deviations = None, [Fraction(0)]  # of C's bytes from its share, since the start
    columns = dict(zip("lc", map(itertools.cycle, zip(*heads, strict=True)), strict=True))
    lengths = {queue: next(column) for queue, column in columns.items()}
    for _ in range(2 * len(heads)):
        queue = run.serve(lengths["l"], lengths["c"])
        lengths[queue] = next(columns[queue])
        fair = Fraction(share * sum(run.served.values()), 100)
        deviations.append(run.served["c"] - fair)
        if started is None and -(100 - share) * longest < run.credit <= share * longest:
            started = len(deviations) - 1
    if started is not None:
        steady = deviations[started:]
        assert max(steady) - min(steady) <= longest
