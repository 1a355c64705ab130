# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""How p' moves: both qdiscs against one law, under the same queue delay.

The timers run free, so when the updates come is known only to within one interval.
All p' that the law allows then are a band; each qdisc has to stay in its own band.
"""

import time
from itertools import pairwise

import frames
import pytest
from sides import PROB_MAX

PHASES = 64  # of the timer, that are tried
CLOCK_NS = 200_000  # what time passes between a look at the clock and the event itself
SPACING = 0.020  # s; enough for a look at the statistics
PACKETS = 8
LOOKS = PACKETS + PACKETS // 2 - 1


def scaled(gain):
    """A gain in 1/256 Hz in units of 2^-32 per 64 ns, as both keep it."""
    return (gain * PROB_MAX >> 2) // 10**9


class Queue:
    """When packets came and went, and so how old the head was at any time."""

    def __init__(self):
        self.came, self.went = [], []

    def age(self, now):
        gone = sum(went <= now for went in self.went)
        waiting = [came for came in self.came[gone:] if came <= now]
        return now - waiting[0] if waiting else 0


def trajectory(queue, gains, phase, end):
    """[(time, p')] after each update."""
    last_delay = prob = 0
    now = queue.came[0] + phase
    moves = [(queue.came[0], 0)]
    while now < end:
        delay = queue.age(now)
        delta = ((delay - gains["target"] * 1000) * scaled(gains["alpha"]) +
                 (delay - last_delay) * scaled(gains["beta"]))
        prob = max(0, min(PROB_MAX, prob + int(delta / 64)))
        last_delay = delay
        moves.append((now, prob))
        now += gains["tupdate"] * 1000
    return moves


def bands(queue, gains, times):
    """The lowest and the highest p' of the law at each of the times."""
    found = [[] for _ in times]
    interval = gains["tupdate"] * 1000
    for part in range(PHASES + 1):
        moves = trajectory(queue, gains, interval * part // PHASES, times[-1] + CLOCK_NS)
        moves.append((times[-1] + 2 * CLOCK_NS, moves[-1][1]))
        for place, moment in enumerate(times):
            found[place] += [prob for (begin, prob), (end, _) in pairwise(moves)
                             if begin <= moment + CLOCK_NS and end > moment - CLOCK_NS]
    # What the uncertainty of the ages makes: of each summand, and of the last one.
    slack = CLOCK_NS * (scaled(gains["beta"]) + scaled(gains["alpha"]) * len(moves)) // 64
    return [(min(probs) - slack, max(probs) + slack) for probs in found]


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def look(side, queue):
    """(when, p'): the statistics say how old the head was when they were taken."""
    seen = side.stats()
    return queue.came[len(queue.went)] + seen["delay-c"] * 1000, seen["prob"]


def every(seconds, count):
    """Yields `count` times, at a fixed distance, however long what is done takes."""
    began = time.monotonic()
    for turn in range(count):
        time.sleep(max(0, began + turn * seconds - time.monotonic()))
        yield turn


def rise_and_fall(side):
    """A queue whose head gets older, then younger: [(when, p')] and the queue."""
    queue, looks = Queue(), []
    to_monotonic = now_ns() - time.time_ns()
    for serial in every(SPACING, PACKETS):
        side.send([frames.ipv4_frame(serial, frames.NOT_ECT, 100)])  # so few: PI2 rests
        queue.came.append(now_ns())
        time.sleep(SPACING / 4)
        looks.append(look(side, queue))
    for _ in every(SPACING, PACKETS // 2 - 1):
        queue.went += [packet.time_ns + to_monotonic for packet in side.let(2)]
        time.sleep(SPACING / 4)
        looks.append(look(side, queue))
    return looks, queue


def percent(prob):
    return f"{100 * prob / PROB_MAX:.2f} %"


@pytest.mark.parametrize("name, gains", [
    ("defaults", {"target": 15_000, "tupdate": 16_000, "alpha": 41, "beta": 819}),
    ("tupdate 1 ms", {"target": 15_000, "tupdate": 1_000, "alpha": 5, "beta": 819}),
    ("target 50 ms", {"target": 50_000, "tupdate": 2_000, "alpha": 5, "beta": 600}),
])
def test_trajectory(pair, report, name, gains):
    inside, off, widest = [], [], 0
    for looks, queue in pair.both(rise_and_fall, **gains):
        probs = [prob for _, prob in looks]
        assert PROB_MAX / 4 < max(probs) < PROB_MAX, "p' has risen, and freely"
        assert any(later < earlier for earlier, later in pairwise(probs)), "and fallen"
        law = bands(queue, gains, [moment for moment, _ in looks])
        inside.append(sum(low <= prob <= high
                          for prob, (low, high) in zip(probs, law, strict=True)))
        off.append(max(abs(prob - (low + high) / 2)
                       for prob, (low, high) in zip(probs, law, strict=True)))
        widest = max(widest, *((high - low) / 2 for low, high in law))
    fits = inside == [LOOKS, LOOKS]
    report.row(f"p' over time, {name}: off the law by",
               *(percent(distance) for distance in off), "fits" if fits else "DOES NOT FIT",
               f"+-{percent(widest)}")
    assert fits, f"in the law's band are {inside} of {LOOKS}"
