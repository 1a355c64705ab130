# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The guard of include/guard.h: blame, terms, release and the share of convicts, against a model in
exact arithmetic."""

from fractions import Fraction

import pytest
from clib import C, ffi, new, params
from hypothesis import given
from hypothesis import strategies as st
from model import SECOND, Guard

MS = 1_000_000
MBIT = 125_000  # bytes/s
FRAME = 1514
UNKNOWN = 0  # rate of a link that is not shaped
ENDLESS = 2**64 - 1


def law(rate=20 * MBIT, frame=FRAME, l_share=90, c_delay_ns=0, **members):
    return new("guard_law", C.guard_make(params(**members), rate, l_share, frame, c_delay_ns))


# ---- what follows from the parameters ---------------------------------------------------


@pytest.mark.parametrize("rate, long_ns, per_byte, blame, stricter, ahead_ns", [
    (UNKNOWN, 2 * MS, 4000, 26_000, 3, 0),
    # two frames of 1514 bytes take 53.83 ms of 90 % of the link; half of it is allowed
    (MBIT // 2, 53_831_111, 32_000, 26_000, 0, 193_792_000),
    # 6.73 ms; 1 Mbit/s is allowed at least
    (4 * MBIT, 6_728_888, 8000, 26_000, 0, 24_224_000),
    (8 * MBIT, 3_364_444, 8000, 26_000, 0, 20 * MS),
    (10 * MBIT, 2_691_555, 6400, 31_250, 3, 20 * MS),
    (20 * MBIT, 2 * MS, 4000, 62_500, 3, 20 * MS),
    (1000 * MBIT, 2 * MS, 4000, 3_125_000, 3, 20 * MS),
])
def test_law(rate, long_ns, per_byte, blame, stricter, ahead_ns):
    made = law(rate)
    assert made.long_ns == long_ns
    assert made.long_bytes == (long_ns // 1000 * rate // 1_000_000 if rate else 26_000)
    assert (made.ns_per_byte, made.blame_max_ns) == (per_byte, blame * per_byte)
    assert (made.stricter_max, made.share, made.ahead_ns) == (stricter, rate // 4, ahead_ns)


def test_blame_is_never_a_few_large_frames():
    assert law(frame=9014).blame_max_ns == 17 * 9014 * 4000


@pytest.mark.parametrize("members, long_ns", [
    ({"step_ns": 5 * MS}, 10 * MS), ({"l_aqm": C.DUALPI2_L_RAMP}, 2_400_000),
    ({"step_ns": 0}, 2 * MS), ({"step_ns": MS // 10}, 2 * MS),
])
def test_long_is_twice_where_all_are_marked(members, long_ns):
    assert law(100 * MBIT, **members).long_ns == long_ns


@pytest.mark.parametrize("members, packets", [
    ({"step_in_packets": 1, "step_packets": 100}, 100), ({"min_qlen_step": 70}, 70),
    ({"step_in_packets": 1, "step_packets": 9, "min_qlen_step": 70}, 70),
    ({"step_in_packets": 1, "step_packets": 100, "l_aqm": C.DUALPI2_L_RAMP}, 0),
    ({"min_qlen_step": 2**32 - 1}, 100_000),
])
def test_long_is_twice_what_a_step_in_packets_allows(members, packets):
    least = 2_400_000 if "l_aqm" in members else 2 * MS
    assert law(**members).long_ns == max(2 * packets * FRAME * SECOND // (20 * MBIT), least)


@pytest.mark.parametrize("rate", [C.DUALPI2_RATE_MIN, MBIT, C.DUALPI2_RATE_MAX])
@pytest.mark.parametrize("step_ns", [0, MS, C.DUALPI2_TIME_MAX])
def test_law_at_its_ends(rate, step_ns):
    made = law(rate, step_ns=step_ns)
    assert made.long_ns == max(2 * step_ns, 2 * MS, 2 * FRAME * SECOND // rate * 100 // 90)
    if made.long_ns < 8 * SECOND:
        assert made.long_bytes == made.long_ns // 1000 * rate // 1_000_000
    else:
        assert made.long_bytes == ENDLESS


# ---- blame --------------------------------------------------------------------------


@given(rate=st.sampled_from([UNKNOWN, 4 * MBIT, 20 * MBIT, 1000 * MBIT]),
       delay=st.integers(0, 100 * MS), length=st.integers(60, 65_000))
def test_blame(rate, delay, length):
    expected = Guard(rate, FRAME).blame(delay, length)
    assert 0 <= expected - C.guard_blame(law(rate), law(rate).long_ns, delay, length) < 1


def test_a_flow_is_blamed_only_while_l_is_long():
    made, flow = law(), new("guard_flow")
    for now in range(0, SECOND, 10_000):
        assert not C.guard_convicts(made, flow, 2 * MS, FRAME, now)
    assert flow.blamed_until_ns == 0


def frames_until_out(made, flow, *, delay=5 * MS, gap=100_000, now=0):
    """How many frames in a row convict it, and when."""
    for frame in range(1, 10_000):
        now += gap
        if C.guard_convicts(made, flow, delay, FRAME, now):
            return frame, now
    return None, now


@pytest.mark.parametrize("rate, frames", [(20 * MBIT, 42), (4 * MBIT, None), (UNKNOWN, 18)])
def test_as_many_frames_as_the_bucket_holds(rate, frames):
    """At 4 Mbit/s a queue of 5 ms is one of two frames."""
    assert frames_until_out(law(rate), new("guard_flow"))[0] == frames


def test_blame_drains_at_the_allowance():
    """2 Mbit/s of blame for ever."""
    assert frames_until_out(law(), new("guard_flow"), gap=FRAME * 4000 + 1)[0] is None


def test_a_queue_that_is_not_very_long_convicts_nobody():
    """Blame is collected, though: the next long queue does."""
    made, flow = law(), new("guard_flow")
    assert frames_until_out(made, flow, delay=4 * MS)[0] is None
    assert C.guard_convicts(made, flow, 4 * MS + 1, FRAME, flow.blamed_until_ns - 250 * MS)


# ---- terms --------------------------------------------------------------------------


def test_terms_double_and_are_forgotten():
    made, flow, now = law(), new("guard_flow"), 0
    for term, frames in ((256, 42), (512, 21), (1024, 11), (2048, 6), (4096, 6), (4096, 6)):
        taken, now = frames_until_out(made, flow, now=now)
        assert taken == frames
        assert flow.stay.until_ns == now + term * MS
        now = flow.stay.until_ns
    taken, now = frames_until_out(made, flow, now=now + 8 * SECOND)
    assert (taken, flow.stay.until_ns - now) == (42, 256 * MS)


# ---- who takes the link from C --------------------------------------------------------------


@pytest.mark.parametrize("rate, c_delay_ms, c_long_ms", [
    (20 * MBIT, 15, 30), (20 * MBIT, 5, 30), (20 * MBIT, 50, 100),
    (20 * MBIT, 0, None), (8 * MBIT, 15, None), (UNKNOWN, 15, None),
])
def test_c_is_long_beyond_twice_what_its_aqm_aims_at(rate, c_delay_ms, c_long_ms):
    """If that is known, and on links where a few frames are not long."""
    expected = ENDLESS if c_long_ms is None else c_long_ms * MS
    assert law(rate, c_delay_ns=c_delay_ms * MS).c_long_ns == expected


def out_after_ms(part, *, terms=1, c_ms=31):
    """For how long a flow that was out `terms` times may take that part of the link."""
    made = law(c_delay_ns=15 * MS)
    flow = new("guard_flow", stay={"until_ns": SECOND}, terms=terms)
    gap = int(FRAME * SECOND / (20 * MBIT) / part)
    for now in range(SECOND, 2 * SECOND, gap):
        if C.guard_takes_link(made, flow, c_ms * MS, FRAME, now):
            assert flow.terms == terms + 1
            assert flow.stay.until_ns == now + (256 * MS << terms)
            return (now - SECOND) / MS
    return None


@pytest.mark.parametrize("part, longest_ms", [(1, 10), (0.9, 12), (0.75, 18)])
def test_who_was_out_may_not_take_the_link_from_c(part, longest_ms):
    assert 4 < out_after_ms(part) < longest_ms
    assert 4 < out_after_ms(part, terms=3) < longest_ms


@pytest.mark.parametrize("part, more", [(0.49, {}), (1, {"c_ms": 30}), (1, {"terms": 0})])
def test_others_may(part, more):
    """Who takes no more than half, while C is not long, or was never out."""
    assert out_after_ms(part, **more) is None


@given(since=st.integers(0, 2**44), ahead=st.one_of(st.integers(0, 2**32 - 1),
                                                    st.integers(0, 20_000)))
def test_what_was_taken_long_ago_is_through(since, ahead):
    """The clock of it wraps: at worst a flow is as far ahead as it may be. A millisecond more is so
    by the clock of another CPU."""
    made = law(c_delay_ns=15 * MS)
    flow = new("guard_flow", stay={"until_ns": since}, terms=1,
               takes_until=((since >> 10) + ahead) % 2**32)
    most, skew = 8 * MS >> 10, MS >> 10
    if ahead > most:
        ahead = most if ahead - most <= skew else 0
    convicted = C.guard_takes_link(made, flow, 31 * MS, 60, since)
    assert convicted == (ahead + (120 * SECOND // (20 * MBIT) >> 10) > most)


def test_a_clock_that_is_late_forgives_nothing():
    made = law(c_delay_ns=15 * MS)
    flow = new("guard_flow", stay={"until_ns": SECOND}, terms=1,
               takes_until=SECOND + 8 * MS >> 10)
    assert C.guard_takes_link(made, flow, 31 * MS, 60, SECOND - 10_000)


# ---- bounds ---------------------------------------------------------------------------------


def test_blame_is_never_more_than_too_much():
    """A queue that is long, and not very long, for a while: then half of it drains in an eighth."""
    made, flow = law(), new("guard_flow")
    for now in range(0, 20 * SECOND, MS):
        assert not C.guard_convicts(made, flow, 4 * MS, FRAME, now)
    assert flow.blamed_until_ns - now == made.blame_max_ns
    assert not C.guard_convicts(made, flow, 5 * MS, FRAME, now + 50 * MS)


def test_what_is_sparse_is_nobodys_fault_after_a_term_either():
    made, sparse = law(), law(sparse=1)
    spare = sparse.long_ns - made.long_ns
    assert spare > 2 * MS and sparse.no_queue_ns - made.no_queue_ns == spare


def test_who_stays_in_c_is_not_forgotten():
    flow = new("guard_flow", stay={"until_ns": 1, "last_ns": 5 * SECOND}, terms=3)
    assert C.guard_terms(flow, 13 * SECOND - 1) == 3
    assert not C.guard_is_forgotten(flow, 13 * SECOND - 1)
    assert C.guard_terms(flow, 13 * SECOND) == 0 and C.guard_is_forgotten(flow, 13 * SECOND)


def test_two_frames_are_no_queue_for_anybody():
    """At 12 Mbit/s half of what is long would be one frame."""
    made, flow = law(12 * MBIT), new("guard_flow", stay={"until_ns": 1}, terms=4)
    assert not any(C.guard_convicts(made, flow, made.no_queue_ns, FRAME, now)
                   for now in range(2, 1_000_000, 1000))


def test_slow_links_are_not_stricter():
    made, flow, now = law(8 * MBIT), new("guard_flow"), 0
    for _ in range(4):
        taken, now = frames_until_out(made, flow, delay=10 * MS, now=now)
        assert taken == 18
        now = flow.stay.until_ns


@pytest.mark.parametrize("members, now, forgotten", [
    ({}, 0, True), ({"blamed_until_ns": 10}, 9, False), ({"blamed_until_ns": 10}, 10, True),
    ({"stay": {"until_ns": 10}, "terms": 1}, 8 * SECOND + 9, False),
    ({"stay": {"until_ns": 10}, "terms": 1}, 8 * SECOND + 10, True),
])
def test_forgotten(members, now, forgotten):
    assert C.guard_is_forgotten(new("guard_flow", **members), now) == forgotten


# ---- the share ------------------------------------------------------------------------


@given(st.sampled_from([4 * MBIT, 20 * MBIT, 1000 * MBIT]),
       st.lists(st.tuples(st.integers(0, 3 * MS), st.integers(60, FRAME)), max_size=300))
def test_share(rate, packets):
    made, clock, guard, now = law(rate), ffi.new("__u64 *"), Guard(rate, FRAME), 0
    for gap, length in packets:
        now += gap
        polices = C.guard_polices(made, clock, length, now)
        # at the very edge the C code may be some ns early
        if abs(guard.ahead(now) - guard.ahead_ns) > len(packets):
            assert polices == guard.polices(length, now)
        elif not polices:
            guard.charge(length, now)


def test_convicts_get_a_quarter():
    made, clock, passed = law(), ffi.new("__u64 *"), 0
    for now in range(0, 10 * SECOND, 300_000):  # twice the link's rate
        passed += FRAME * (not C.guard_polices(made, clock, FRAME, now))
    assert Fraction(passed, 10 * 20 * MBIT) == pytest.approx(Fraction(1, 4), rel=0.01)


def test_without_a_rate_there_is_no_share():
    clock = ffi.new("__u64 *")
    assert not any(C.guard_polices(law(UNKNOWN), clock, FRAME, 0) for _ in range(1000))


# ---- what is told of it -----------------------------------------------------------------


@pytest.mark.parametrize("blame_ms, terms, percent", [
    (0, 0, 0), (100, 0, 40), (250, 0, 100), (300, 0, 120),
    # half of it is too much after a term, an eighth after three, and no less
    (100, 1, 80), (25, 3, 80), (25, 9, 80),
])
def test_score(blame_ms, terms, percent):
    """20 Mbit/s: 62.5 kB at 2 Mbit/s take 250 ms."""
    made, now = law(), 100 * SECOND
    flow = new("guard_flow", blamed_until_ns=now + blame_ms * MS, stay={"last_ns": now - MS},
               terms=terms)
    assert C.guard_score(flow, made.blame_max_ns, made.stricter_max, now) == percent


@given(st.integers(0, ENDLESS), st.integers(0, ENDLESS), st.integers(0, 2**32 - 1),
       st.integers(0, ENDLESS), st.integers(0, 2**32 - 1))
def test_score_of_anything(until, room, stricter, now, terms):
    """Whatever somebody wrote into the maps."""
    flow = new("guard_flow", blamed_until_ns=until, stay={"last_ns": now}, terms=terms)
    assert 0 <= C.guard_score(flow, room, stricter, now) <= ENDLESS


def test_score_of_a_conviction():
    """It is below 100 before, and the blame is gone afterwards."""
    made, flow, now = law(), new("guard_flow"), 0
    scores = []
    while not C.guard_convicts(made, flow, 5 * MS, FRAME, now):
        scores.append(C.guard_score(flow, made.blame_max_ns, made.stricter_max, now))
    assert scores == sorted(scores) and 90 < scores[-1] < 100
    assert C.guard_score(flow, made.blame_max_ns, made.stricter_max, now) == 0
