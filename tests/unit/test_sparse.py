# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Sparse flows of include/sparse.h and their stay in C (include/stay.h), against a model in exact
arithmetic."""

import pytest
from clib import C, new
from hypothesis import given
from hypothesis import strategies as st
from model import SECOND, Sparse

MS = 1_000_000
MBIT = 125_000  # bytes/s
FRAME = 1514
START = 10 * SECOND


def law(rate=20 * MBIT, frame=FRAME):
    return new("sparse_law", C.sparse_make(rate, frame))


def everybody(flows_in_c=0, now=START, rate=20 * MBIT, **members):
    """The count of flows in C has just begun anew."""
    made = new("sparse_all", count_ns=now, before=flows_in_c, **members)
    made.shares = C.sparse_shares(law(rate), made)
    return made


def bytes_at_once(made, shared, length, now=START, **members):
    """That a flow which sent nothing before may send in L."""
    flow, sent = new("sparse_flow", **members), 0
    while C.sparse_is_l(made, shared, flow, length, 0, now):
        sent += length
    return sent


# ---- what follows from the parameters ---------------------------------------------------


@pytest.mark.parametrize("rate, frame, burst_ns", [
    (MBIT, FRAME, 24_224_002),  # two frames, a ns more each
    (20 * MBIT, FRAME, 1_211_202), (20 * MBIT, 9014, 7_211_202),
    (48 * MBIT, FRAME, 504_668), (1000 * MBIT, FRAME, 500_000),
])
def test_burst(rate, frame, burst_ns):
    assert law(rate, frame).burst_ns == burst_ns


@pytest.mark.parametrize("counted, before, shares", [
    (0, 0, 4), (3, 0, 4), (4, 0, 5), (1, 16, 17), (17, 16, 18), (31, 0, 32), (1000, 0, 32),
])
def test_shares(counted, before, shares):
    assert C.sparse_shares(law(), everybody(before, counted=counted)) == shares


@pytest.mark.parametrize("kbit, shares", [(100, 4), (950, 9), (3100, 31), (3200, 32), (9500, 32)])
def test_a_share_is_enough_for_a_call(kbit, shares):
    """100 kbit/s, on a link that has them for four."""
    assert C.sparse_shares(law(kbit * 125), everybody(1000)) == shares


# ---- what fits -------------------------------------------------------------------------


@given(rate=st.sampled_from([MBIT // 10, 4 * MBIT, 20 * MBIT, 1000 * MBIT]),
       in_c=st.sampled_from([0, 10, 100]),
       packets=st.lists(st.tuples(st.integers(0, 5 * MS), st.integers(0, 5),
                                  st.integers(60, FRAME)), max_size=200))
def test_what_fits(rate, in_c, packets):
    made, shared, now = law(rate), everybody(in_c, rate=rate), START
    flows = [new("sparse_flow") for _ in range(6)]
    model = Sparse(rate, FRAME, shared.shares)
    for gap, which, length in packets:
        now += gap
        model.leak(now)
        fits = C.sparse_fits(made, shared, flows[which], length, now)
        # Times are whole ns, and a packet takes one more at most.
        if abs(model.spare(which, length)) > 1 + rate * 1e-6:
            assert fits == (model.spare(which, length) > 0)
        if fits:
            model.take(which, length)


@pytest.mark.parametrize("length, most", [(FRAME, FRAME), (100, 2000)])
def test_a_burst(length, most):
    """Two frames, less what the burst itself takes of the room: a third."""
    assert bytes_at_once(law(), everybody(), length) == most


def test_of_a_crowd_who_sends_most_goes_first():
    """Three frames fill so much that no more fits, but small packets do."""
    made, shared = law(), everybody()
    assert [bytes_at_once(made, shared, FRAME, leaked_ns=1) for _ in range(4)] == [FRAME] * 3 + [0]
    assert bytes_at_once(made, shared, 100, leaked_ns=1) > 0


def test_all_together_have_half_of_the_link():
    made, shared, sent = law(), everybody(), 0
    flows = [new("sparse_flow") for _ in range(1000)]
    for now in range(START, START + 5 * SECOND, 50_000):  # 100 bytes each: 80 % of the link
        flow = flows[now // 50_000 % 1000]
        sent += 100 * C.sparse_fits(made, shared, flow, 100, now)
    assert sent / (5 * 20 * MBIT) == pytest.approx(0.5, rel=0.01)


@pytest.mark.parametrize("flows_in_c, part", [(0, 4), (1, 4), (15, 16), (100, 32)])
def test_one_flow_has_its_share(flows_in_c, part):
    """It goes to C with more, and stays in L with less, at an even pace."""
    for factor, stays in ((0.97, True), (1.03, False)):
        made, flow = law(), new("sparse_flow")
        gap = int(500 * part * SECOND / (20 * MBIT) / factor)
        stayed = all(C.sparse_is_l(made, everybody(flows_in_c, now), flow, 500, 0, now)
                     for now in range(START, START + 5 * SECOND, gap))
        assert stayed == stays


def admitted(rate, length, late_ns, seconds=0.05):
    """What part of the link flows get that send one packet each, as much as the link carries. A
    packet in ten comes `late_ns` after its time was read."""
    made, shared, sent = law(rate), everybody(100, rate=rate), 0
    gap = length * SECOND // rate
    for number in range(int(seconds * SECOND) // gap):
        now = START + number * gap - (late_ns if number % 10 == 0 else 0)
        sent += length * C.sparse_fits(made, shared, new("sparse_flow"), length, now)
    return sent / (seconds * rate)


@pytest.mark.parametrize("mbit, length", [(100, 64), (1000, 64), (1000, 300)])
@pytest.mark.parametrize("late_us", [0, 0.2, 5, 100])
def test_packets_that_come_late_forgive_no_debt(mbit, length, late_us):
    assert admitted(mbit * MBIT, length, int(late_us * 1000)) < 0.52


def test_a_flood_of_new_flows_leaves_room_for_those_that_are_known():
    """A packet of 64 bytes each, together as much as the link carries, beside a game."""
    made, shared, game = law(), everybody(), new("sparse_flow", leaked_ns=1)
    fits, sent = [], 0
    for now in range(START, START + 2 * SECOND, 64 * SECOND // (20 * MBIT)):
        C.sparse_fits(made, shared, new("sparse_flow"), 64, now)
        if (now - START) // (20 * MS) > sent:
            sent += 1
            fits.append(C.sparse_fits(made, shared, game, 128, now))
    assert sent > 90 and all(fits)


def test_a_packet_that_does_not_fit_costs_nothing():
    made, shared, flow = law(), everybody(), new("sparse_flow")
    assert not C.sparse_fits(made, shared, flow, 65_000, START)
    assert flow.leaked_ns == shared.leaked_ns == 0


@pytest.mark.parametrize("rate", [C.DUALPI2_RATE_MIN, C.DUALPI2_RATE_MAX])
def test_rates_at_their_ends(rate):
    assert bytes_at_once(law(rate), everybody(100, rate=rate), 60) > 0


# ---- the stay in C ------------------------------------------------------------------------


def grown(made, shared, now=START):
    flow = new("sparse_flow")
    while C.sparse_is_l(made, shared, flow, FRAME, 0, now):
        pass
    return flow


def test_who_has_grown_stays_in_c_for_a_while():
    made, shared = law(), everybody()
    flow = grown(made, shared)
    assert flow.stay.until_ns == START + 200 * MS
    assert not C.sparse_is_l(made, shared, flow, 60, 0, START + 200 * MS - 1)
    assert C.sparse_is_l(made, shared, flow, 60, 0, START + 200 * MS)


@pytest.mark.parametrize("behind, is_l", [(-1, False), (0, False), (1, True)])
def test_it_comes_back_when_none_of_its_packets_waits(behind, is_l):
    """`behind`: how much later than its last packet the head of C came, ns."""
    made, shared = law(), everybody()
    flow = grown(made, shared)
    assert C.sparse_is_l(made, shared, flow, 60, START + behind, START + SECOND) == is_l


@pytest.mark.parametrize("now, c_head, lasts", [
    (99, 0, True), (99, 50, True),  # in its time
    (100, 0, False),  # C is empty
    (100, 80, True), (100, 90, True),  # something as old as its last packet waits
    (100, 91, False),
])
def test_stay(now, c_head, lasts):
    assert C.stay_lasts(new("stay", until_ns=100, last_ns=90), c_head, now) == lasts


def test_who_was_never_sent_there_does_not_stay():
    assert not C.stay_lasts(new("stay"), 1, 0)


@pytest.mark.parametrize("members, now, forgotten", [
    ({"leaked_ns": 3 * SECOND}, 3 * SECOND - 1, False),
    ({"leaked_ns": 3 * SECOND}, 3 * SECOND, True),
    ({"stay": {"until_ns": 5, "last_ns": 7}}, 8 * SECOND + 6, False),
    ({"stay": {"until_ns": 5, "last_ns": 7}}, 8 * SECOND + 7, True),
    ({"stay": {"until_ns": 9, "last_ns": 7}}, 8 * SECOND + 8, False),
])
def test_forgotten(members, now, forgotten):
    assert C.sparse_is_forgotten(new("sparse_flow", **members), now) == forgotten


# ---- the flows in C -------------------------------------------------------------------------


def test_flows_in_c_are_counted_once_each():
    made, shared = law(), everybody()
    flows = [grown(made, shared) for _ in range(10)]
    for now in range(START, START + 250 * MS, MS):
        for flow in flows:
            assert not C.sparse_is_l(made, shared, flow, FRAME, START, now)
    assert (shared.counted, shared.shares) == (10, 11)
    assert not C.sparse_is_l(made, shared, flows[0], FRAME, START, START + 256 * MS)
    assert (shared.before, shared.counted, shared.shares) == (10, 1, 11)


@pytest.mark.parametrize("after, before", [(255, 7), (256, 3), (511, 3), (512, 0)])
def test_a_count_is_known_for_as_long_as_it_took(after, before):
    shared = everybody(7, counted=3)
    C.sparse_count_on(law(), shared, START + after * MS)
    assert shared.before == before
    assert shared.shares == C.sparse_shares(law(), shared)


# ---- what nobody remembers ------------------------------------------------------------------


@pytest.mark.parametrize("c_head, is_l", [(0, True), (START - 2, False), (START - 1, False),
                                          (START, True)])
def test_a_new_flow_may_have_packets_in_c(c_head, is_l):
    """If others went there that had no place in the table: until those have left."""
    shared, flow = everybody(unknown_ns=START - 1), new("sparse_flow")
    assert C.sparse_is_l(law(), shared, flow, 60, c_head, START) == is_l
    if not is_l:
        assert not C.sparse_is_l(law(), shared, flow, 60, START, START + 1)
        assert C.sparse_is_l(law(), shared, flow, 60, START + 2, START + 3)


def test_who_is_known_to_have_none_there_stays_in_l():
    shared, flow = everybody(), new("sparse_flow")
    assert C.sparse_is_l(law(), shared, flow, 60, 0, START)
    shared.unknown_ns = START
    assert C.sparse_is_l(law(), shared, flow, 60, START, START + 1)


def test_a_higher_rate_is_in_force_at_once():
    """Whatever a flow, and all of them, sent at a much lower one before."""
    flow, shared = new("sparse_flow"), everybody(31)
    assert C.sparse_is_l(law(C.DUALPI2_RATE_MIN), shared, flow, 1000, 0, START)
    shared = everybody(leaked_ns=shared.leaked_ns)
    assert C.sparse_is_l(law(), shared, flow, 60, 0, START + 20 * MS)
    assert bytes_at_once(law(), shared, FRAME, START + 20 * MS) == FRAME


# ---- places of flows ------------------------------------------------------------------------


@given(st.integers(0, 2**64 - 1))
def test_flows_that_differ_in_a_port_have_places_of_their_own(key):
    """As random ones: 8192 balls in 8192 boxes leave 63 % of these with some."""
    hosts = C.flow_mix(key, 0x0A000001_0A000002)
    for shift in (0, 16):  # either port, as it stands in the packet
        ids = [C.flow_end(hosts, port << shift | 443 << 16 - shift, 17) % 2**32
               for port in range(8192)]
        assert len({number % 8192 for number in ids}) > 4900
        assert len({(number >> 16) % 8192 for number in ids}) > 4900
