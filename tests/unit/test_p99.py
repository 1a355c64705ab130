# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""include/p99.h: one number follows the delay that one packet in a hundred exceeds."""

import random
import statistics

import pytest
from clib import C

MS = 1_000_000
PACKETS = 20_000
SETTLED = 10_000
DELAYS = {
    "exponential": lambda chance: chance.expovariate(1 / (10 * MS)),
    "uniform": lambda chance: chance.uniform(0, 20 * MS),
    "normal": lambda chance: max(0, chance.gauss(15 * MS, 3 * MS)),
    "two kinds": lambda chance: chance.choice((.3 * MS, 15 * MS)) * chance.uniform(.8, 1.2),
}


def followed(delays, p99_ns=0):
    for ns in delays:
        p99_ns = C.p99_follow(p99_ns, round(ns))
        yield p99_ns


@pytest.mark.parametrize("draw", DELAYS.values(), ids=DELAYS)
def test_it_is_near_the_quantile(draw):
    chance = random.Random(1)
    delays = [draw(chance) for _ in range(PACKETS)]
    seen = list(followed(delays))[SETTLED:]
    quantile = statistics.quantiles(delays, n=100)[98]
    assert statistics.median(seen) == pytest.approx(quantile, rel=.1)
    assert statistics.pstdev(seen) < .12 * quantile


def test_it_is_right_soon():
    *_, after_100 = followed([15 * MS] * 100)
    assert after_100 == pytest.approx(15 * MS, rel=.1)


def test_it_forgets():
    """Halves in 700 packets."""
    *_, after_700 = followed([0] * 700, 15 * MS)
    assert after_700 == pytest.approx(7.5 * MS, rel=.05)


def test_no_packet_is_not_zero():
    assert C.p99_follow(0, 0) == 0
    assert C.p99_follow(0, 1) == 1024


def test_a_delay_that_no_queue_has():
    p99_ns = 0
    for _ in range(2000):
        p99_ns = C.p99_follow(p99_ns, 2**63)
    assert 2**63 <= p99_ns < 2**64
