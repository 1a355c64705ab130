# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""include/curvy_red.h against RFC 9332, Figure 10, in exact arithmetic."""

from fractions import Fraction

import pytest
from clib import ONE, C, new
from hypothesis import example, given
from hypothesis import strategies as st

MS = 1_000_000
TIMES = st.one_of(st.integers(0, 100 * MS), st.integers(0, 5000 * MS), st.integers(0, 2**42))


def law(min_th=5 * MS, span=500 * MS, smoothing=5, curviness=1):
    return new("curvy_red_law", C.curvy_red_make(min_th, span, smoothing, curviness))


def prob(made, delay):
    return C.curvy_red_prob(made, delay)


@given(TIMES, TIMES, st.integers(MS, 2**42), st.integers(1, 4))
@example(5 * MS, 5 * MS, 500 * MS, 1)
@example(505 * MS, 5 * MS, 500 * MS, 1)
@example(2**42, 0, 2**42, 4)
def test_p_is_a_power_of_the_share(delay, min_th, span, curviness):
    exact = min(max(Fraction(delay - min_th, span), 0), 1) ** curviness * ONE
    found = prob(law(min_th, span, curviness=curviness), delay)
    # 2^63 / range is cut off, and so is each power.
    error = 4 + curviness * exact * span / 2**62
    assert exact - error - 1 <= found <= exact


@pytest.mark.parametrize("delay_ms, sqrt_p_c", [(0, 0), (5, 0), (55, 0.1), (255, 0.5), (505, 1)])
def test_the_curve_of_the_rfc(delay_ms, sqrt_p_c):
    """The probability of a Classic packet rises with the square of its delay."""
    p = prob(law(), delay_ms * MS)
    assert p / ONE == pytest.approx(sqrt_p_c, abs=1e-6)
    assert C.coupling_p_c(p) / ONE == pytest.approx(sqrt_p_c**2, abs=1e-6)


@given(st.lists(st.integers(0, 1000 * MS), max_size=100), st.integers(0, 16))
def test_delay_is_smoothed(delays, smoothing):
    """Q_C += (delay - Q_C) / 2^g_C."""
    made, found, exact = law(smoothing=smoothing), 0, Fraction(0)
    for delay in delays:
        exact += (delay - exact) / 2**smoothing
        found = C.curvy_red_smooth(made, found, delay)
        # Each step rounds towards where it comes from, by less than 1.
        assert abs(found - exact) <= 2**smoothing


def test_smoothing_takes_32_packets():
    """After so many at a new delay it has gone 1 - 1/e of the way, as an EWMA does."""
    made, q_c = law(), 0
    for _ in range(32):
        q_c = C.curvy_red_smooth(made, q_c, 100 * MS)
    assert q_c / (100 * MS) == pytest.approx(1 - (31 / 32) ** 32, abs=1e-6)
