# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The control law of include/pi2.h: against figures worked out by hand, and over random inputs
against the model."""

import math
from fractions import Fraction

import model
import pytest
from clib import ONE, C, new
from hypothesis import example, given
from hypothesis import strategies as st
from inputs import any_delay_ns, couplings, delays_ns, probs

GAIN_MAX = 2**23 - 1  # 1/256 Hz
CUT_NS = 2**32  # delay differences are cut to this
CUT = CUT_NS // 64  # in steps of p', with the finest gains
MS = 1_000_000
TARGET = 15 * MS


def law_of(target_ns, alpha, beta):
    """With gains in 2^-32 per 64 ns."""
    return new("pi2_law", target_ns=target_ns, alpha=alpha, beta=beta)


def next_prob(law, prob, delay, last, end=ONE - 1, periods=1):
    return C.pi2_next_prob(law, prob, end, delay, last, periods)


@pytest.mark.parametrize("hz256, gain", [
    # The defaults: sch_dualpi2 computes (gain * (2^32 - 1) >> 2) / 10^9 and keeps 44 and 879.
    (41, 44), (819, 879),
    (1, 1), (GAIN_MAX, 9007198),  # (2^23 - 1) / 256 * 2^32 / 10^9 * 64, cut off
])
def test_gain_by_hand(hz256, gain):
    assert C.pi2_scale_gain(hz256) == gain


@pytest.mark.parametrize("ns, cut", [(CUT_NS, CUT_NS), (CUT_NS + 1, CUT_NS),
                                     (-CUT_NS - 1, -CUT_NS), (-CUT_NS + 1, -CUT_NS + 1)])
def test_delays_are_cut(ns, cut):
    assert C.pi2_clamp_delay(ns) == cut


# alpha = 41/256 Hz and beta = 819/256 Hz
NATIVE = law_of(TARGET, 44, 879)
ALPHA_STEP, BETA_STEP = MS * 44 // 64, MS * 879 // 64  # of a ms
# One ns of error is one 64th of a step of p'.
FINEST, FAR = law_of(1000, 1, 1), law_of(2**40, 1, 1)
LARGEST, FAR_LARGEST = (law_of(target, *[C.pi2_scale_gain(GAIN_MAX)] * 2) for target in (0, 2**62))


@pytest.mark.parametrize("law, prob, delay, last, expected", [
    # It rests at the target.
    (NATIVE, 0, TARGET, TARGET, 0),
    (NATIVE, 12345, TARGET, TARGET, 12345),
    (NATIVE, ONE - 1, TARGET, TARGET, ONE - 1),
    # A standing error moves it by alpha, a change of delay by beta.
    (NATIVE, 0, 16 * MS, 16 * MS, ALPHA_STEP),
    (NATIVE, MS, 14 * MS, 14 * MS, MS - ALPHA_STEP),
    (NATIVE, 0, TARGET, TARGET - MS, BETA_STEP),
    (NATIVE, BETA_STEP + 7, TARGET, TARGET + MS, 7),
    # Above target but falling: beta's part wins, p' goes down already.
    (NATIVE, 2**30, 16 * MS, 17 * MS, 2**30 - MS * (879 - 44) // 64),
    (NATIVE, 2**30, 16 * MS, TARGET, 2**30 + MS * (879 + 44) // 64),
    # It saturates at both ends.
    (NATIVE, ONE - 11, 16 * MS, 16 * MS, ONE - 1),
    (NATIVE, 10, 14 * MS, 14 * MS, 0),
    (FINEST, ONE - 2, 1064, 1064, ONE - 1),
    (FINEST, 1, 936, 936, 0),
    # Delays are cut.
    (FINEST, 0, 2**62, 2**62, CUT),
    (FAR, CUT + 5, 0, 0, 5),
    (FAR, 0, 2**40, 0, CUT),
    (FAR, 2 * CUT + 5, 0, 2**62, 5),
    # The sanitizer would report an overflow, the values a wrap.
    (LARGEST, 0, 2**62, 0, ONE - 1),
    (LARGEST, ONE - 1, 2**62, 0, ONE - 1),
    (FAR_LARGEST, ONE - 1, 0, 2**62, 0),
    (FAR_LARGEST, 0, 0, 2**62, 0),
])
def test_next_prob_by_hand(law, prob, delay, last, expected):
    assert next_prob(law, prob, delay, last) == expected


@pytest.mark.parametrize("error, step", [(63, 0), (64, 1), (127, 1), (128, 2), (959, 14)])
def test_rounds_alike_up_and_down(error, step):
    """A step below one unit is lost on either side, so p' does not drift."""
    assert next_prob(FINEST, 5000, 1000 + error, 1000 + error) == 5000 + step
    assert next_prob(FINEST, 5000, 1000 - error, 1000 - error) == 5000 - step


END = 0x7fffffff


@pytest.mark.parametrize("prob, delay, expected", [
    (ONE - 1, TARGET, END),
    (ONE - 1, 16 * MS, END),
    (ONE - 1, 14 * MS, END - ALPHA_STEP),
    (END + 1, 14 * MS, END - ALPHA_STEP),
    (END - ALPHA_STEP, 16 * MS, END),
    (END - ALPHA_STEP - 1, 16 * MS, END - 1),
    (END - ALPHA_STEP + 1, 16 * MS, END),
])
def test_lowered_end_is_in_force_at_once(prob, delay, expected):
    """A p' that was higher when the end of its range was lowered comes down at the next update,
    and what that update takes off is taken from the new end."""
    assert next_prob(NATIVE, prob, delay, delay, END) == expected


@pytest.mark.parametrize("prob, delay, last, expected", [
    # A standing error moves it by alpha in each period, a change of delay by beta once.
    (0, 16 * MS, 16 * MS, 5 * MS * 44 // 64),
    (8 * MS, 14 * MS, 14 * MS, 8 * MS - 5 * MS * 44 // 64),
    (0, 16 * MS, TARGET, MS * (5 * 44 + 879) // 64),
    (2**30, 16 * MS, 17 * MS, 2**30 - MS * (879 - 5 * 44) // 64),
    (0, TARGET, TARGET, 0),
])
def test_missed_updates_by_hand(prob, delay, last, expected):
    assert next_prob(NATIVE, prob, delay, last, periods=5) == expected


gains_hz256 = st.one_of(st.integers(1, 2000), st.integers(1, GAIN_MAX))
gains = gains_hz256.map(C.pi2_scale_gain)
laws = st.builds(law_of, delays_ns, gains, gains)
ends = st.builds(lambda k, overflow: C.coupling_make(k, 0, overflow).prob_max,
                 couplings, st.booleans())  # where p' ends
# Since the last update; a year of the shortest ones is 2^45.
periods = st.one_of(st.just(1), st.integers(1, 1000), st.integers(1, 2**45))


@given(gains_hz256)
@example(1)
@example(GAIN_MAX)
def test_gain_is_cut_by_less_than_one_unit(hz256):
    exact = Fraction(hz256, 256) * ONE / model.SECOND * 64
    # The C code's 1 is 2^32 - 1: worth 2^-32 of the gain.
    least = exact * (1 - Fraction(1, ONE)) - 1 - Fraction(1, model.SECOND)
    assert max(least, 1) <= C.pi2_scale_gain(hz256) <= exact


def worst_error(delay, last, target, count):
    """How far one update in C can be from the exact one, in units of 2^-32.

    A gain is cut to a whole number of 2^-32 per 64 ns, so each product is wrong by
    less than |difference| / 64 (and 2^-32 of a gain that is at most 2^24, which the
    factor 1.01 holds); cutting the sum costs less than 1. Cutting p' to 0..1 never
    makes a difference larger, so the errors of a sequence add up at most.
    """
    difference = count * abs(delay - target) + abs(delay - last)
    return Fraction(difference, 64) * Fraction(101, 100) + 1


@given(
    gains_hz256, gains_hz256, delays_ns, couplings, st.booleans(),
    st.lists(st.tuples(delays_ns, periods), max_size=60)
)
def test_prob_follows_the_rfc_over_many_updates(alpha, beta, target, k, overflow, updates):
    exact = model.Pi2(
        Fraction(target, model.SECOND),
        Fraction(alpha, 256),
        Fraction(beta, 256),
        k,
        overflow=overflow,
    )
    law = new("pi2_law", C.pi2_make(target, alpha, beta))
    end = C.coupling_make(k, 0, overflow).prob_max
    prob, last = 0, 0
    tolerance = Fraction(1)  # the C code's highest p' is up to 2^-32 below 1 or 1/k
    for delay, count in updates:
        exact.update(Fraction(delay, model.SECOND), count)
        prob = next_prob(law, prob, delay, last, end, count)
        tolerance += worst_error(delay, last, target, count)
        assert abs(prob - exact.p * ONE) <= tolerance
        last = delay


@given(probs, any_delay_ns, any_delay_ns, laws, ends, periods)
@example(0, 2**40, 2**40, law_of(0, 1, 1), ONE - 1, 1)
@example(ONE - 1, 0, 2**40, law_of(0, 1, 1), ONE - 1, 1)
@example(ONE - 1, 0, 2**40, law_of(2**40, 9007198, 9007198), ONE - 1, 2**45)
def test_one_step_is_the_exact_one_with_the_gains_in_use(prob, delay, last, law, end, count):
    """With the rounded gains nothing is left but the cut of the sum, towards 0; and p' ends
    at `end`, where it starts from if it was higher.
    """
    error, growth = (
        min(max(difference, -CUT_NS), CUT_NS)
        for difference in (delay - law.target_ns, delay - last)
    )
    step = math.trunc(Fraction(count * error * law.alpha + growth * law.beta, 64))
    expected = max(min(prob, end) + step, 0)
    assert next_prob(law, prob, delay, last, end, count) == min(expected, end)


@given(laws, ends, probs, st.integers(1, 1000))
def test_updates_missed_while_asleep_are_made_up_for(law, end, prob, count):
    """An empty DualQ: one update for all periods, or one in each, which rounds each."""
    each = next_prob(law, prob, 0, 0, end)
    for _ in range(count - 1):
        each = next_prob(law, each, 0, 0, end)
    assert 0 <= each - next_prob(law, prob, 0, 0, end, count) <= count


@given(laws, probs, periods)
def test_overload_decays_while_the_queue_is_calm(law, prob, count):
    """By 1/32, or more after several periods, while the delay is below half the target, and not at
    all otherwise."""
    calm = law.target_ns // 2
    if calm:
        left = math.ceil(Fraction(31 * prob, 31 + count))
        assert C.pi2_decay(law, prob, calm - 1, calm - 1, count) == left
        assert C.pi2_decay(law, prob, calm - 1, calm - 1, 1) == prob - prob // 32
    assert C.pi2_decay(law, prob, calm, 0, count) == prob
    assert C.pi2_decay(law, prob, 0, calm, count) == prob


@given(laws, ends, probs, probs, any_delay_ns, any_delay_ns, any_delay_ns, periods)
def test_prob_is_monotonous(law, end, prob, other_prob, delay, other_delay, last, count):
    result = next_prob(law, prob, delay, last, end, count)
    higher_prob = next_prob(law, max(prob, other_prob), delay, last, end, count)
    higher_delay = next_prob(law, prob, max(delay, other_delay), last, end, count)
    higher_last = next_prob(law, prob, delay, max(last, other_delay), end, count)
    assert higher_prob >= result
    assert higher_delay >= result
    assert higher_last <= result


@given(laws, ends, probs, st.integers(0, 2**62))
def test_prob_rises_above_target_and_falls_below(law, end, prob, delay):
    prob = min(prob, end)
    result = next_prob(law, prob, delay, delay, end)
    if delay > law.target_ns + 64:
        assert result > prob or result == end
    elif delay + 64 < law.target_ns:
        assert result < prob or result == 0
    elif delay == law.target_ns:
        assert result == prob


@pytest.mark.parametrize("flows", [1, 4, 20])
@pytest.mark.parametrize("rtt_ms", [5, 20, 80])
def test_loop_settles_at_target(flows, rtt_ms):
    """Reno flows (the fluid model of the PI2 paper) on 40 Mbit/s and our law: the
    queue comes to rest near the target delay of 15 ms, whatever the load.
    """
    capacity = 40e6 / 8 / 1500  # packets/s
    law = new("pi2_law", C.pi2_make(TARGET, 41, 819))
    window, queue, prob, last, delays = 10.0, 0.0, 0, 0, []
    tick = 0.001
    for step in range(60_000):
        if step % 16 == 0:
            delay = int(queue / capacity * model.SECOND)
            prob = next_prob(law, prob, delay, last)
            last = delay
        rtt = rtt_ms / 1000 + queue / capacity
        p_c = (prob / ONE) ** 2
        window += tick / rtt * (1 - window**2 / 2 * p_c)
        window = max(window, 1.0)
        queue = max(queue + tick * (flows * window / rtt - capacity), 0.0)
        delays.append(queue / capacity)
    settled = delays[40_000:]
    assert sum(settled) / len(settled) == pytest.approx(0.015, rel=0.1)
