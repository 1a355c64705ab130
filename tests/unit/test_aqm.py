# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The decisions of the BPF programs (bpf/classify.bpf.h, bpf/coupled.bpf.h and
bpf/aqm/pi2.bpf.h, through aqm.c) against the pseudocode of RFC 9332 and its section 2.5.1.1,
packet by packet.
"""

import collections
import random
from fractions import Fraction

import model
import pytest
from clib import ONE, C, ffi, params
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from inputs import couplings

NOT_ECT, ECT_1, ECT_0, CE = range(4)
MARK_NONE, MARK_NATIVE, MARK_COUPLED = range(3)  # enum mark
DROP_NONE, DROP_AQM, DROP_OVERLOAD = range(3)  # enum drop
PACKET_L, PACKET_NOT_ECT, PACKET_EXEMPT, PACKET_UNTAGGED = 1, 2, 4, 8
L4S_DSCP, CLASSIC_DSCP = 45, 46  # in these tests: what has the one goes to L, the other to C
MTU = 1500
NEVER_NS = 2**63
NOW = 10 * model.SECOND

p_cmaxes = st.one_of(st.just(0), st.integers(1, ONE - 1))
probs = st.one_of(st.integers(0, ONE - 1), st.integers(0, ONE // 8), st.just(ONE - 1))


class Aqm:
    """One instance, with queues so long that nothing of it rests, unless told otherwise."""

    def __init__(self, mtu=MTU, **given):
        dscps = {"l4s_dscp": 1 << L4S_DSCP, "classic_dscp": 1 << CLASSIC_DSCP}
        self.c = ffi.gc(C.unit_aqm_new(params(**dscps | given), mtu), C.unit_aqm_free)
        for in_l in (True, False):
            self.set_queue(in_l, packets=100, size=100 * mtu)

    def set_queue(self, in_l, packets, size, age=0):
        C.unit_aqm_set_queue(self.c, in_l, packets, size, NOW - age)

    def set_prob(self, prob):
        C.unit_aqm_set_prob(self.c, prob)

    def update(self, now):
        return C.unit_aqm_update(self.c, now)

    def classify(self, tos):
        return C.unit_aqm_classify(self.c, tos)

    def mark(self, tos):
        return C.unit_aqm_mark(self.c, tos, NOW)

    def drop(self, flags, l_delay=0):
        return C.unit_aqm_drop(self.c, flags, l_delay)


def exact_pi2(prob, k, p_cmax=0, overflow=False):
    """The model at a p' of the C code's, or none where cutting p_C may decide on overload."""
    exact = model.Pi2(k=k, p_cmax=Fraction(p_cmax, ONE) if p_cmax else None, overflow=overflow)
    exact.p = Fraction(prob, ONE)
    assume(overflow or abs(exact.p_c - exact.p_cmax) * ONE >= 3)
    assume(overflow or not ONE - k <= k * prob < ONE)
    return exact


def tolerance(packets):
    """Two sums of probabilities from 0 may be out of step by one hit; one of them is of cut
    ones, each by less than 3 * 2^-32.
    """
    return 1 + Fraction(3 * packets, ONE)


@settings(max_examples=200)
@given(probs, couplings, p_cmaxes, st.booleans(), st.integers(0, 2**32))
@example(ONE - 1, 2, 0, False, 1)
@example(ONE // 2 + 1, 2, 0, False, 1)
@example(ONE // 4, 2, ONE // 20, False, 1)  # above p_Cmax, but p_CL is 1/2
@example(2 * ONE // 5, 4, ONE // 4, False, 1)  # L is overloaded, C is not yet
@example(ONE // 3, 3, 0, True, 1)
def test_queues_are_those_of_figure_7(prob, k, p_cmax, overflow, seed):
    """Packets come and leave at random. We mark on arrival, Figure 7 when they leave; at the
    same p' all the same as many of each queue are marked and dropped.
    """
    if overflow:
        prob = min(prob, (ONE - 1) // k)
    exact = exact_pi2(prob, k, p_cmax, overflow)
    dequeue = model.Dequeue(exact)
    aqm = Aqm(mtu=0, coupling=k, p_cmax=p_cmax, overflow=overflow, step_ns=NEVER_NS)
    aqm.set_prob(prob)
    chance = random.Random(seed)
    waiting = {True: collections.deque(), False: collections.deque()}
    ours, theirs = collections.Counter(), collections.Counter()

    def arrive(ecn):
        flags = aqm.classify(ecn)
        in_l = bool(flags & PACKET_L)
        assert in_l == (ecn % 2 == 1)  # Figure 3, line 6
        marked = ecn != NOT_ECT and aqm.mark(ecn) != MARK_NONE
        ours[in_l, "marked on arrival"] += marked
        waiting[in_l].append((ecn, flags, marked))

    def leave(in_l):
        ecn, flags, marked = waiting[in_l].popleft()
        dropped = aqm.drop(flags) != DROP_NONE
        ours[in_l, "drop" if dropped else "mark" if marked else "forward"] += 1
        theirs[in_l, dequeue.from_l(0) if in_l else dequeue.from_c(ecn != NOT_ECT)] += 1
        ours[in_l, "packets"] += 1
        ours[in_l, "ECT dropped"] += dropped and ecn != NOT_ECT

    for _ in range(300):
        arrive(chance.choice([NOT_ECT, ECT_1, ECT_0]))
        in_l = chance.choice([True, False])
        while waiting[in_l] and chance.random() < 0.6:
            leave(in_l)
    for in_l in waiting:
        while waiting[in_l]:
            leave(in_l)

    near_l, near_c = (tolerance(ours[in_l, "packets"]) for in_l in (True, False))
    assert abs(ours[True, "drop"] - theirs[True, "drop"]) <= near_l
    if not exact.l_overloaded:
        assert abs(ours[True, "mark"] - theirs[True, "mark"]) <= near_l
    elif exact.p_cl >= 1:
        assert ours[True, "forward"] == 0
    else:
        marked = ours[True, "packets"] * exact.p_cl
        assert abs(ours[True, "marked on arrival"] - marked) <= near_l
    hits = [counter[False, "mark"] + counter[False, "drop"] for counter in (ours, theirs)]
    assert abs(hits[0] - hits[1]) <= near_c
    if exact.c_overloaded:
        assert ours[False, "mark"] == theirs[False, "mark"] == 0
    else:
        assert ours[False, "ECT dropped"] == 0


def likelihood_of(exact, ecn, in_l, p_native):
    """RFC 9332, 2.5.1.1, for a packet in L or C, outside of overload."""
    if in_l:
        p_l = max(p_native, exact.p_cl)
        return min(p_l, 1) if ecn == ECT_1 else model.classic_of(p_l, exact.k)
    return exact.p_cl if ecn == ECT_1 else exact.p_c


@given(
    st.sampled_from([NOT_ECT, ECT_1, ECT_0]),
    st.booleans(),
    st.integers(0, ONE - 1),
    couplings,
    st.one_of(st.integers(700_000, 1_300_000), st.just(0)),
)
@example(ECT_0, True, 4 * ONE // 5, 2, 1_040_000)  # p_CL = 0.8, p'_L = 0.6, p' = 0.4
@example(ECT_1, True, 4 * ONE // 5, 2, 1_040_000)
@example(ECT_0, True, 0, 2, 1_200_000)  # p'_L = 1: to a Classic sender 1/4
def test_unexpected_packets_as_in_2_5_1_1(ecn, in_l, prob, k, age):
    """Every ECN codepoint in either queue, behind a head that has waited for so long: marked,
    or dropped if it cannot be, as often as the RFC says, and for the right reason.
    """
    prob //= k
    exact = exact_pi2(prob, k)
    native = model.laqm(age, 800_000, 400_000)
    aqm = Aqm(coupling=k, l_aqm=C.DUALPI2_L_RAMP)
    aqm.set_queue(True, packets=100, size=100 * MTU, age=age)
    aqm.set_prob(prob)
    tos = (L4S_DSCP if in_l else CLASSIC_DSCP) << 2 | ecn
    flags = aqm.classify(tos)
    assert bool(flags & PACKET_L) == in_l

    packets = 200
    if ecn == NOT_ECT:
        results = collections.Counter(aqm.drop(flags, age) for _ in range(packets))
        reason = DROP_AQM
    else:
        assert aqm.drop(flags, age) == DROP_NONE
        results = collections.Counter(aqm.mark(tos) for _ in range(packets))
        reason = MARK_NATIVE if in_l and native > exact.p_cl else MARK_COUPLED
    hits = packets - results[0]
    expected = packets * likelihood_of(exact, ecn, in_l, native)
    assert abs(hits - expected) <= tolerance(packets)
    assert results[reason] == hits


@pytest.mark.parametrize("ecn", [NOT_ECT, ECT_1, ECT_0, CE])
@pytest.mark.parametrize("in_l", [True, False])
def test_overload_drops_whatever_the_ecn_field_says(ecn, in_l):
    """p' = 3/4: 9 of 16 packets. Scalable ones are all marked before, Classic ones never."""
    aqm = Aqm()
    aqm.set_prob(3 * ONE // 4)
    tos = (L4S_DSCP if in_l else CLASSIC_DSCP) << 2 | ecn
    drops = [aqm.drop(aqm.classify(tos)) for _ in range(16)]
    reason = DROP_AQM if ecn == NOT_ECT else DROP_OVERLOAD
    assert collections.Counter(drops) == {reason: 9, DROP_NONE: 7}
    if ecn in (ECT_1, ECT_0):
        assert aqm.mark(tos) == (MARK_COUPLED if ecn == ECT_1 else MARK_NONE)


def test_overload_of_l_has_nothing_to_do_with_its_own_aqm():
    """p' = 1/4 is above p_Cmax = 1/20: one of 16 is dropped, though p'_L is 1."""
    aqm = Aqm(p_cmax=ONE // 20)
    aqm.set_prob(ONE // 4)
    drops = [aqm.drop(aqm.classify(ECT_1), 2_000_000) for _ in range(16)]
    assert drops == [DROP_NONE] * 15 + [DROP_OVERLOAD]


def test_pi2_rests_below_two_full_frames():
    """L's own AQM does not, and of both queues together it is."""
    aqm = Aqm()
    aqm.set_prob(ONE - 1)
    for l_size, c_size, rests in ((MTU, MTU - 1, True), (MTU, MTU, False), (0, 2 * MTU, False)):
        aqm.set_queue(True, packets=1, size=l_size)
        aqm.set_queue(False, packets=1, size=c_size)
        assert (aqm.mark(ECT_1) == MARK_NONE) == rests
        drops = {aqm.drop(PACKET_NOT_ECT) for _ in range(3)}
        assert (drops == {DROP_NONE}) == rests
    aqm.set_queue(True, packets=2, size=200, age=2_000_000)
    aqm.set_queue(False, packets=0, size=0)
    assert aqm.mark(ECT_1) == MARK_NATIVE


@pytest.mark.parametrize("ahead", [0, 1])
def test_first_two_in_l_are_marked_by_pi2_only(ahead):
    aqm = Aqm()
    aqm.set_queue(True, packets=ahead, size=ahead * MTU, age=2_000_000)
    assert aqm.mark(ECT_1) == MARK_NONE
    aqm.set_prob(ONE - 1)
    assert aqm.mark(ECT_1) == MARK_COUPLED


def test_exempt_and_untagged_packets():
    """What is exempt is never dropped. What came without a tag is dropped with p_C, not
    with what its delay in L would mean.
    """
    aqm = Aqm(mtu=0)
    flags = PACKET_L | PACKET_NOT_ECT
    # The step says always, to a Classic sender (1/2)^2, cut: the fifth is the first.
    assert [aqm.drop(flags, 2_000_000) for _ in range(5)] == [DROP_NONE] * 4 + [DROP_AQM]
    assert {aqm.drop(flags | PACKET_UNTAGGED, 2_000_000) for _ in range(8)} == {DROP_NONE}
    aqm.set_prob(ONE - 1)
    assert {aqm.drop(flags | PACKET_EXEMPT, 2_000_000) for _ in range(8)} == {DROP_NONE}
    assert DROP_AQM in {aqm.drop(flags | PACKET_UNTAGGED, 2_000_000) for _ in range(8)}


@given(
    st.lists(st.tuples(*[st.one_of(st.integers(0, 60_000_000), st.none())] * 2), max_size=60),
    couplings,
    st.booleans(),
)
def test_update_is_driven_by_the_older_head(ages, k, overflow):
    """Figure 8, line 2a; an empty queue has no delay. The gains are exact to 0.1 %. Up to
    overload: what follows it is not the RFC's."""
    aqm = Aqm(coupling=k, overflow=overflow)
    exact = model.Pi2(
        Fraction(15, 1000), Fraction(41, 256), Fraction(819, 256), k, overflow=overflow
    )
    moved = Fraction(0)
    for pair in ages:
        for in_l, age in zip((True, False), pair, strict=True):
            aqm.set_queue(in_l, packets=1, size=MTU, age=NOW if age is None else age)
        delay = Fraction(max(age or 0 for age in pair), model.SECOND)
        moved += exact.alpha * abs(delay - exact.target) + exact.beta * abs(delay - exact.prevq)
        exact.update(delay)
        prob = aqm.update(NOW)
        assert abs(Fraction(prob, ONE) - exact.p) <= moved / 1000 + Fraction(len(ages) + 1, ONE)
        if exact.l_overloaded or exact.p == exact.p_max:
            break


def test_overload_event_lasts_a_second_longer():
    """RFC 9332, 2.5.2.3: no flapping. Delays are at the target, so p' stays as it is set."""
    aqm = Aqm()
    for in_l in (True, False):
        aqm.set_queue(in_l, packets=0, size=0, age=NOW)

    def overload(prob, at_ns):
        aqm.set_prob(prob)
        aqm.set_queue(False, packets=1, size=MTU, age=15_000_000 - at_ns)
        aqm.update(NOW + at_ns)
        return C.unit_aqm_overload(aqm.c)

    overload(0, 0)
    below, above = ONE // 2 - 1, ONE // 2
    assert not overload(below, 1)
    assert overload(above, 2)
    assert overload(below, 3)
    assert overload(above, 1000)
    assert overload(below, 1000 + model.SECOND - 1)
    assert not overload(below, 1000 + model.SECOND)


def test_after_overload_an_idle_queue_forgets():
    """p' = 1 goes within the updates of a second, but only after overload, and only when the
    delay is below half the target twice: else by alpha * target an update."""
    aqm = Aqm()
    law = Fraction(41, 256) * Fraction(15, 1000) * ONE
    faster = law + (ONE // 4 - law) / 32

    def fall(age, prob=ONE // 4, updates=1):
        """How far p' falls behind a head of this age."""
        for in_l in (True, False):
            aqm.set_queue(in_l, packets=1, size=MTU, age=age)
        aqm.set_prob(prob)
        for _ in range(updates):
            after = aqm.update(NOW)
        return prob - after

    fall(NOW)
    assert fall(NOW) == pytest.approx(law, rel=0.001), "there was no overload"
    fall(NOW, ONE - 1)
    assert fall(NOW) == pytest.approx(faster, rel=0.001)
    fall(7_500_000)
    assert fall(7_500_000) == pytest.approx(law / 2, rel=0.001), "half the target"
    fall(7_499_999)
    assert fall(7_499_999) == pytest.approx(law / 2 + (ONE // 4 - law / 2) / 32, rel=0.001)
    assert fall(NOW, ONE - 1, 62) > ONE * 0.92
