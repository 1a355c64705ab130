# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The coupling of the queues, include/coupling.h: against figures worked out by hand, and over
random inputs against the model."""

import math
from fractions import Fraction

import model
import pytest
from clib import ONE, C, new
from hypothesis import example, given, settings
from hypothesis import strategies as st
from inputs import couplings, probs

p_cmaxes = st.one_of(st.just(0), st.integers(1, 1000), st.integers(1, ONE - 1), st.just(ONE - 1))


def make(k, p_cmax=0, overflow=False):
    return new("coupling", C.coupling_make(k, p_cmax, overflow))


@given(probs, st.integers(0, 255))
@example(3, 2)
@example(ONE - 1, 1)
@example(ONE - 1, 255)
def test_coupled_prob_is_k_times_p(prob, k):
    """It does not wrap."""
    assert C.coupling_p_cl(prob, k) == k * prob


@given(probs)
def test_classic_prob_is_p_squared(prob):
    assert C.coupling_p_c(prob) == prob * prob // ONE


@pytest.mark.parametrize("p_l, k, p_c", [
    (0, 1, 0),
    (0x10000, 1, 1),
    (0x80000000, 1, 0x40000000),  # a half, squared
    (ONE - 1, 1, ONE - 2),
    (0x20000, 2, 1),
    (0x1ffff, 2, 0),
    (0x80000000, 2, 0x10000000),  # (1/2 / 2)^2 = 1/16
    (ONE - 1, 2, 0x3fffffff),  # (2^31 - 1)^2 = 2^62 - 2^32 + 1
    (ONE - 1, 3, 477218588),  # 2^32 / 9 = 477218588.4, less 2/9
    (ONE - 1, 255, 0x10203),  # 0x01010101^2 = 0x1020304030201
])
def test_equation_1_by_hand(p_l, k, p_c):
    """p_C = (p_L / k)^2, both divisions cut."""
    assert C.coupling_classic_of(p_l, k) == C.coupling_p_c(p_l // k) == p_c


@given(probs, couplings)
def test_classic_of_is_equation_1(p_l, k):
    """The division by k is cut by less than 1 unit, worth less than 2 in the square, which is
    cut by less than 1 itself.
    """
    error = model.classic_of(Fraction(p_l, ONE), k) * ONE - C.coupling_classic_of(p_l, k)
    assert 0 <= error < 3


@given(probs, couplings)
def test_classic_of_undoes_the_coupling(prob, k):
    """To Classic senders p_CL = k p' means p'^2."""
    prob //= k
    coupled = C.coupling_p_cl(prob, k)
    assert C.coupling_classic_of(coupled, k) == C.coupling_p_c(prob)


@pytest.mark.parametrize("k, p_cmax, in_force, l_begin, c_begin", [
    # 1/k^2 if it is left alone: L from k * p' = 1 on, C from p' = 1/k on. That of C may be a
    # little lower, where p_C is the same when cut to 2^-32: p_C = 0x10203 begins at
    # sqrt(66051 * 2^32) = 16843007.002.
    (1, 0, 0xfffffffe, 0xffffffff, 0xffffffff),
    (2, 0, 0x40000000, 0x80000000, 0x80000000),
    (3, 0, 477218588, 0x55555555, 0x55555555),
    (4, 0, 0x10000000, 0x40000000, 0x40000000),
    (255, 0, 0x10203, 16843008, 16843008),
    # Below 1/k^2 both queues drop from there on, above it L begins when p_CL is 1. 2^32 - 1
    # stands for 1, which p_C reaches when p' is at its end.
    (2, 1, 1, 0x10000, 0x10000),
    (2, 0x10000000, 0x10000000, 0x40000000, 0x40000000),  # 1/16: p' = 1/4, p_CL = 1/2
    (2, 0x40000000, 0x40000000, 0x80000000, 0x80000000),
    (4, 0x40000000, 0x40000000, 0x40000000, 0x80000000),  # 1/4: L at 1/4, C at 1/2
    (255, 0x40000000, 0x40000000, 0x01010101, 0x80000000),
    (1, ONE - 2, ONE - 2, ONE - 1, ONE - 1),
    (1, ONE - 1, ONE - 2, ONE - 1, ONE - 1),
    (2, ONE - 1, ONE - 2, 0x80000000, ONE - 1),
])
def test_overload_begins(k, p_cmax, in_force, l_begin, c_begin):
    """The first p' of each queue; the first queue that drops is enough to be saturated."""
    coupling = make(k, p_cmax)
    assert (coupling.k, coupling.prob_max, coupling.p_lmax) == (k, ONE - 1, ONE - 1)
    assert coupling.p_cmax == in_force
    for overloaded, begin in ((C.coupling_l_overloaded, l_begin),
                              (C.coupling_c_overloaded, c_begin),
                              (C.coupling_saturated, l_begin)):
        assert [prob for prob in (0, begin - 1, begin, ONE - 1)
                if overloaded(coupling, prob)] == [begin, ONE - 1]


@pytest.mark.parametrize("k, end", [(1, ONE - 1), (2, 0x7fffffff), (3, 0x55555555),
                                    (255, 0x01010101)])
@pytest.mark.parametrize("p_cmax", [0, 1, ONE - 1])
def test_overflow_is_never_overload(k, end, p_cmax):
    """p' ends at 1/k, and neither queue is ever overloaded: not there, and not at a higher p'
    that is left from before the option was set. What p_Cmax says does not count."""
    coupling = make(k, p_cmax, True)
    assert (coupling.k, coupling.prob_max) == (k, end)
    for prob in (end, ONE - 1):
        assert not C.coupling_l_overloaded(coupling, prob)
        assert not C.coupling_c_overloaded(coupling, prob)
        assert C.coupling_saturated(coupling, prob)
    assert not C.coupling_saturated(coupling, end - 1)


@st.composite
def overloads(draw):
    """k, p_cmax (0: by default), overflow and a p', which often is near a threshold."""
    k, p_cmax = draw(couplings), draw(p_cmaxes)
    ends = [math.isqrt(p_cmax * ONE), ONE // k]
    near = st.builds(lambda end, by: end + by, st.sampled_from(ends), st.integers(-5, 5))
    prob = draw(st.one_of(probs, near))
    return k, p_cmax, draw(st.booleans()), min(max(prob, 0), ONE - 1)


@settings(max_examples=500)
@given(overloads())
@example((1, 0, False, ONE - 1))
@example((1, ONE - 1, False, ONE - 1))  # p_Cmax = 1 at p' = 1
@example((3, ONE - 1, False, (ONE - 1) // 3))  # p_CL is exactly 1, p_C a ninth
@example((255, 0, True, ONE - 1))  # what is left when overflow is set at p' = 1
def test_overload_is_that_of_appendix_a2(case):
    """2^32 - 1 stands for 1. So much for p_CL, which is exact. p_C is cut, and so is the
    p_Cmax of 1/k^2: where the two are not 3 * 2^-32 apart, either answer will do, unless
    p' is 1.
    """
    k, p_cmax, overflow, prob = case
    coupling = make(k, p_cmax, overflow)
    exact = model.Pi2(k=k, p_cmax=Fraction(p_cmax, ONE - 1) if p_cmax else None, overflow=overflow)
    exact.p = Fraction(prob, ONE - 1)

    in_l = C.coupling_l_overloaded(coupling, prob)
    in_c = C.coupling_c_overloaded(coupling, prob)
    if overflow or prob == ONE - 1 or abs(exact.p_c - exact.p_cmax) * ONE >= 3:
        assert in_c == exact.c_overloaded
        assert in_l == exact.l_overloaded
    assert in_l == in_c or (in_l and k * prob >= ONE - 1)
    saturated = C.coupling_saturated(coupling, prob)
    assert saturated == (in_l or prob >= coupling.prob_max)


@given(overloads(), probs)
def test_overload_does_not_end_when_prob_rises(case, other_prob):
    *parameters, prob = case
    coupling = make(*parameters)
    for overloaded in (C.coupling_l_overloaded, C.coupling_c_overloaded, C.coupling_saturated):
        assert overloaded(coupling, prob) <= overloaded(coupling, max(prob, other_prob))


@given(couplings, st.booleans())
def test_prob_ends_where_l_is_always_marked(k, overflow):
    """Or as near as it gets: within 2^-32 of p'."""
    end = C.coupling_make(k, 0, overflow).prob_max
    assert (end + overflow) * k >= ONE - 1
    assert not overflow or end * k <= ONE - 1


def test_a_quarter_is_every_fourth():
    """Beginning with the fourth."""
    quarter = ONE // 4
    hits = [C.coupling_recurs(number * quarter, quarter) for number in range(100)]
    assert hits == [False, False, False, True] * 25


@pytest.mark.parametrize("count, prob, recurs", [
    (ONE - 1, 0, False),
    (ONE - 1, 1, True),
    (0, 2 * (ONE - 1), True),  # overload: always
    (2**64 - 1, 1, True),  # the count may wrap
])
def test_recurs_by_hand(count, prob, recurs):
    assert C.coupling_recurs(count, prob) == recurs


@given(st.lists(st.integers(0, 255 * (ONE - 1)), max_size=60), st.integers(0, ONE - 1))
def test_recurs_is_the_recur_of_the_rfc(likelihoods, start):
    """RFC 9332, A.1: the count, a fraction there, grows by each likelihood; what goes
    over 1 is a hit and is taken off. Likelihoods above 1 always hit."""
    count, exact = start, Fraction(start, ONE)
    for likelihood in likelihoods:
        exact += Fraction(likelihood, ONE)
        assert C.coupling_recurs(count, likelihood) == (exact >= 1)
        exact -= exact // 1
        count = (count + likelihood) % 2**64


@settings(max_examples=25)
@given(st.integers(0, ONE - 1), st.sampled_from([1, 2, 3, 8]))
def test_marks_couple_as_in_section_2_1(prob, k):
    """p_CL = k p' and p_C = p'^2, to the packet."""
    packets = 2000
    exact = model.Pi2(0, 0, 0, k)
    exact.p = Fraction(prob, ONE)
    for one, expected in (
        (C.coupling_p_cl(prob, k), min(exact.p_cl, 1)),
        (C.coupling_p_c(prob), exact.p_c),
    ):
        hits = sum(C.coupling_recurs(n * one, one) for n in range(packets))
        assert packets * expected - 1 <= hits <= packets * expected
