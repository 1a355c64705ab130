# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The native AQM of the L queue, include/laqm.h: against figures worked out by hand, and over
random inputs against the model."""

import math

import model
import pytest
from clib import ONE, C, new, params
from hypothesis import example, given
from hypothesis import strategies as st
from inputs import any_delay_ns

L_STEP, L_RAMP = C.DUALPI2_L_STEP, C.DUALPI2_L_RAMP
U32_MAX, U64_MAX = 2**32 - 1, 2**64 - 1
ALWAYS = ONE - 1
MANY = 100  # packets in the queue, where their number does not matter
MIN_TH_NS, RANGE_NS = 800_000, 400_000  # RFC 9332, A.1, minTh and range
queue_delays_ns = st.one_of(
    st.integers(MIN_TH_NS - 2, MIN_TH_NS + RANGE_NS + 2),
    st.sampled_from([MIN_TH_NS, MIN_TH_NS + RANGE_NS, 1_000_000, 0, U64_MAX]),
    any_delay_ns,
)
queue_packets = st.one_of(st.integers(0, 5), st.integers(0, 2**32))


BY_DEFAULT = params()
STEP_0 = new("dualpi2_params", step_ns=0)
RAMP = new("dualpi2_params", l_aqm=L_RAMP)


def step_of(packets, **others):
    return new("dualpi2_params", step_in_packets=1, step_packets=packets, **others)


@pytest.mark.parametrize("queue, delay_ns, packets, prob", [
    # The step marks what is above.
    (BY_DEFAULT, 0, MANY, 0),
    (BY_DEFAULT, 1_000_000, MANY, 0),
    (BY_DEFAULT, 1_000_001, MANY, ALWAYS),
    (BY_DEFAULT, U64_MAX, MANY, ALWAYS),
    (STEP_0, 0, MANY, 0),
    (STEP_0, 1, MANY, ALWAYS),
    # Of a step in packets the delay has no say.
    (step_of(5), U64_MAX, 5, 0),
    (step_of(5), 0, 6, ALWAYS),
    (step_of(0), U64_MAX, 0, 0),
    (step_of(0), 0, 1, ALWAYS),
    (step_of(U32_MAX), 0, U32_MAX, 0),
    (step_of(U32_MAX), 0, 2**32, ALWAYS),
    # A ns on the ramp is worth (2^32 - 1) / 400000 = 10737.418 units. In the middle: 2147483647.5.
    (RAMP, 0, MANY, 0),
    (RAMP, 799_999, MANY, 0),
    (RAMP, 800_000, MANY, 0),
    (RAMP, 800_001, MANY, 10737),
    (RAMP, 800_002, MANY, 21474),
    (RAMP, 999_999, MANY, 2147472910),
    (RAMP, 1_000_000, MANY, 2147483647),
    (RAMP, 1_000_001, MANY, 2147494384),
    (RAMP, 1_199_999, MANY, 4294956557),
    (RAMP, 1_200_000, MANY, ALWAYS),
    (RAMP, 1_200_001, MANY, ALWAYS),
    (RAMP, U64_MAX, MANY, ALWAYS),
    # The thresholds of the step are not those of the ramp.
    (step_of(5, l_aqm=L_RAMP, step_ns=1), 800_000, 6, 0),
    (step_of(5, l_aqm=L_RAMP, step_ns=1), 1_000_000, 5, 2147483647),
])
def test_prob_by_hand(queue, delay_ns, packets, prob):
    assert C.laqm_prob(queue, delay_ns, packets) == prob


@pytest.mark.parametrize("queue", [STEP_0, RAMP, step_of(0, l_aqm=L_RAMP)])
def test_pair_is_left_alone(queue):
    """Whatever the delay: a frame alone may take that long. What the step is in packets, or
    would be, has no say."""
    assert [C.laqm_prob(queue, U64_MAX, packets) for packets in range(3)] == [0, 0, ALWAYS]


@pytest.mark.parametrize("least", [2, 3, U32_MAX])
@pytest.mark.parametrize("queue", [{}, {"step_in_packets": 1}, {"l_aqm": L_RAMP}])
def test_short_queue_is_left_alone(queue, least):
    """Below so many packets none of the three acts, from there on each does."""
    queue = new("dualpi2_params", min_qlen_step=least, **queue)
    assert C.laqm_prob(queue, U64_MAX, least - 1) == 0
    assert C.laqm_prob(queue, U64_MAX, least) == ALWAYS


@pytest.mark.parametrize("queue", [BY_DEFAULT, RAMP, STEP_0])
def test_above_the_sure_delay_nothing_changes(queue):
    """And below it something does."""
    sure = C.laqm_sure_delay(queue)
    assert C.laqm_prob(queue, sure + 1, MANY) == ALWAYS
    assert not sure or C.laqm_prob(queue, sure - 1, MANY) < ALWAYS


def laqm_prob(delay, packets, **members):
    return C.laqm_prob(new("dualpi2_params", **members), delay, packets)


@given(queue_delays_ns, queue_packets, st.integers(0, 4))
@example(MIN_TH_NS + RANGE_NS + 1, 100, 0)
@example(MIN_TH_NS + RANGE_NS, 2, 3)
def test_ramp_is_laqm_of_the_rfc(delay, packets, least):
    """To the unit, cut; and only with more packets in the queue than Th_len = 1, without the
    packet in question, as Figure 7 counts them (lines 4a and 5a). What the step is does not
    count.
    """
    prob = laqm_prob(delay, packets, l_aqm=L_RAMP, min_qlen_step=least, step_in_packets=1)
    acts = packets > 1 and packets >= least
    exact = model.laqm(delay, MIN_TH_NS, RANGE_NS) if acts else 0
    assert prob == math.floor(exact * (ONE - 1))


@given(queue_delays_ns, queue_delays_ns, queue_packets, st.integers(0, 4))
def test_step_is_a_ramp_without_width(delay, step, packets, least):
    """Except that, as in sch_dualpi2, a delay equal to the threshold is not marked yet."""
    prob = laqm_prob(delay, packets, l_aqm=L_STEP, step_ns=step, min_qlen_step=least)
    acts = packets > 1 and packets >= least and delay != step
    assert prob == (model.laqm(delay, step, 0) * (ONE - 1) if acts else 0)


@given(queue_delays_ns, queue_packets, st.integers(0, 5), st.integers(0, 4))
def test_step_in_packets_is_one_of_packets(delay, packets, step, least):
    prob = laqm_prob(
        delay, packets, l_aqm=L_STEP, step_in_packets=1, step_packets=step, min_qlen_step=least
    )
    marks = packets > step and packets >= least
    assert prob == (ONE - 1 if marks else 0)
