# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The C functions against the model, over random inputs."""

import itertools
import math
from fractions import Fraction

import model
import pytest
from clib import ONE, C, ffi, new
from hypothesis import example, given, settings
from hypothesis import strategies as st

RAW, NETWORK, PTM = (
    C.DUALPI2_FRAMING_RAW, C.DUALPI2_FRAMING_NETWORK, C.DUALPI2_FRAMING_PTM
)
L_STEP, L_RAMP = C.DUALPI2_L_STEP, C.DUALPI2_L_RAMP
U64_MAX = 2**64 - 1
GAIN_MAX = 2**23 - 1  # 1/256 Hz
CUT_NS = 2**32  # delay differences are cut to this
SLACK_NS = 1_000_000  # what a late timer may catch up
HUGE = 2**60  # every parser's results are exact below


# ---- control law ---------------------------------------------------------------

gains_hz256 = st.one_of(st.integers(1, 2000), st.integers(1, GAIN_MAX))
delays_ns = st.one_of(
    st.integers(0, 50_000_000), st.integers(0, 1_000_000_000), st.integers(0, 4 * model.SECOND)
)
any_delay_ns = st.one_of(delays_ns, st.integers(0, 2**62))
probs = st.one_of(st.integers(0, ONE - 1), st.integers(0, 1000), st.integers(ONE - 1000, ONE - 1))
couplings = st.one_of(st.sampled_from([1, 2, 3, 255]), st.integers(1, 255))
p_cmaxes = st.one_of(st.just(0), st.integers(1, 1000), st.integers(1, ONE - 1), st.just(ONE - 1))


def law_of(target_ns, alpha, beta):
    """With gains in 2^-32 per 64 ns."""
    return new("pi2_law", target_ns=target_ns, alpha=alpha, beta=beta)


laws = st.builds(
    law_of,
    target_ns=delays_ns,
    alpha=gains_hz256.map(C.pi2_scale_gain),
    beta=gains_hz256.map(C.pi2_scale_gain),
)
ends = st.builds(lambda k, overflow: C.coupling_make(k, 0, overflow).prob_max,
                 couplings, st.booleans())  # where p' ends


def next_prob(law, prob, delay, last, end=ONE - 1):
    return C.pi2_next_prob(law, prob, end, delay, last)


@given(gains_hz256)
@example(1)
@example(GAIN_MAX)
def test_gain_is_cut_by_less_than_one_unit(hz256):
    exact = Fraction(hz256, 256) * ONE / model.SECOND * 64
    # The C code's 1 is 2^32 - 1: worth 2^-32 of the gain.
    assert exact * (1 - Fraction(1, ONE)) - 1 - Fraction(1, model.SECOND) <= C.pi2_scale_gain(
        hz256
    )
    assert 1 <= C.pi2_scale_gain(hz256) <= exact


def worst_error(delay, last, target):
    """How far one update in C can be from the exact one, in units of 2^-32.

    A gain is cut to a whole number of 2^-32 per 64 ns, so each product is wrong by
    less than |difference| / 64 (and 2^-32 of a gain that is at most 2^24, which the
    factor 1.01 holds); cutting the sum costs less than 1. Cutting p' to 0..1 never
    makes a difference larger, so the errors of a sequence add up at most.
    """
    return Fraction(abs(delay - target) + abs(delay - last), 64) * Fraction(101, 100) + 1


@given(
    gains_hz256, gains_hz256, delays_ns, couplings, st.booleans(), st.lists(delays_ns, max_size=60)
)
def test_prob_follows_the_rfc_over_many_updates(alpha, beta, target, k, overflow, delays):
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
    for delay in delays:
        exact.update(Fraction(delay, model.SECOND))
        prob = next_prob(law, prob, delay, last, end)
        tolerance += worst_error(delay, last, target)
        assert abs(prob - exact.p * ONE) <= tolerance
        last = delay


@given(probs, any_delay_ns, any_delay_ns, laws, ends)
@example(0, 2**40, 2**40, law_of(0, 1, 1), ONE - 1)
@example(ONE - 1, 0, 2**40, law_of(0, 1, 1), ONE - 1)
def test_one_step_is_the_exact_one_with_the_gains_in_use(prob, delay, last, law, end):
    """With the rounded gains nothing is left but the cut of the sum, towards 0; and p' ends
    at `end`, where it starts from if it was higher.
    """
    error, growth = (
        min(max(difference, -CUT_NS), CUT_NS)
        for difference in (delay - law.target_ns, delay - last)
    )
    step = math.trunc(Fraction(error * law.alpha + growth * law.beta, 64))
    expected = max(min(prob, end) + step, 0)
    assert next_prob(law, prob, delay, last, end) == min(expected, end)


@given(laws, ends, probs, probs, any_delay_ns, any_delay_ns, any_delay_ns)
def test_prob_is_monotonous(law, end, prob, other_prob, delay, other_delay, last):
    result = next_prob(law, prob, delay, last, end)
    higher_prob = next_prob(law, max(prob, other_prob), delay, last, end)
    higher_delay = next_prob(law, prob, max(delay, other_delay), last, end)
    higher_last = next_prob(law, prob, delay, max(last, other_delay), end)
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
    law = new("pi2_law", C.pi2_make(15_000_000, 41, 819))
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


# ---- coupling ------------------------------------------------------------------


@given(probs, st.integers(0, 255))
@example(ONE - 1, 1)
def test_coupled_prob_is_k_times_p(prob, k):
    assert C.coupling_p_cl(prob, k) == k * prob


@given(probs)
def test_classic_prob_is_p_squared(prob):
    assert C.coupling_p_c(prob) == prob * prob // ONE


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


# ---- overload ------------------------------------------------------------------


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
    coupling = new("coupling", C.coupling_make(k, p_cmax, overflow))
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
    coupling = new("coupling", C.coupling_make(*parameters))
    for overloaded in (C.coupling_l_overloaded, C.coupling_c_overloaded,
                       C.coupling_saturated):
        assert overloaded(coupling, prob) <= overloaded(coupling,
                                                               max(prob, other_prob))


@given(couplings, st.booleans())
def test_prob_ends_where_l_is_always_marked(k, overflow):
    """Or as near as it gets: within 2^-32 of p'."""
    end = C.coupling_make(k, 0, overflow).prob_max
    assert (end + overflow) * k >= ONE - 1
    assert not overflow or end * k <= ONE - 1


# ---- native AQM of L -------------------------------------------------------------

MIN_TH_NS, RANGE_NS = 800_000, 400_000  # RFC 9332, A.1, minTh and range
queue_delays_ns = st.one_of(
    st.integers(MIN_TH_NS - 2, MIN_TH_NS + RANGE_NS + 2),
    st.sampled_from([MIN_TH_NS, MIN_TH_NS + RANGE_NS, 1_000_000, 0, U64_MAX]),
    any_delay_ns,
)
queue_packets = st.one_of(st.integers(0, 5), st.integers(0, 2**32))


def laqm_prob(delay, packets, **params):
    return C.laqm_prob(new("dualpi2_params", **params), delay, packets)


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


# ---- scheduler -----------------------------------------------------------------

frames = st.integers(60, 9014)
# Arrivals for L or C, and turns of the link in between.
scheduler_events = st.lists(
    st.one_of(
        st.tuples(st.sampled_from("lc"), frames),
        st.tuples(st.just("serve"), st.integers(1, 4)),
    ),
    max_size=120,
)


@given(st.integers(0, 100), frames, scheduler_events)
@example(50, 1000, [("l", 60), ("c", 60), ("serve", 2)])  # nobody is owed: L first
def test_scheduler_keeps_the_account_of_the_model(wc, frame, events):
    exact = model.Wrr(Fraction(wc, 100), frame)
    credit = C.scheduler_reset(wc, frame)
    queues = {"l": [], "c": []}

    def serve():
        nonlocal credit
        if not queues["l"] and not queues["c"]:
            exact.settle()
            credit = C.scheduler_reset(wc, frame)
            return
        both = bool(queues["l"] and queues["c"])
        heads = [queues[name][0] if queues[name] else None for name in "lc"]
        from_l = C.scheduler_serves_l(credit, bool(queues["l"]), bool(queues["c"]))
        assert ("l" if from_l else "c") == exact.choose(*heads)
        length = queues["l" if from_l else "c"].pop(0)
        if both:
            credit = C.scheduler_charge(credit, wc, from_l, length)
        assert Fraction(credit, 100) == exact.owed_to_c

    for kind, value in events:
        if kind == "serve":
            for _ in range(value):
                serve()
        else:
            queues[kind].append(value)


@given(st.integers(0, 100), st.lists(st.tuples(frames, frames), min_size=1, max_size=150))
def test_c_gets_its_share_within_one_frame(wc, heads):
    """Both queues always hold packets. From the moment that the first imbalance is
    worked off, C is within one (longest) frame of its share over *every* interval.
    """
    longest = max(max(pair) for pair in heads)
    credit = C.scheduler_reset(wc, longest)
    deviations = [Fraction(0)]  # of C's bytes from its share, since the start
    started = None
    l_heads, c_heads = (itertools.cycle(column) for column in zip(*heads, strict=True))
    l_len, c_len = next(l_heads), next(c_heads)
    for _ in range(2 * len(heads)):
        from_l = C.scheduler_serves_l(credit, True, True)
        length = l_len if from_l else c_len
        credit = C.scheduler_charge(credit, wc, from_l, length)
        share = Fraction(wc * length, 100)
        deviations.append(deviations[-1] + (-share if from_l else length - share))
        if started is None and -(100 - wc) * longest < credit <= wc * longest:
            started = len(deviations) - 1
        if from_l:
            l_len = next(l_heads)
        else:
            c_len = next(c_heads)
    if started is not None:
        steady = deviations[started:]
        assert max(steady) - min(steady) <= longest


# ---- shaper --------------------------------------------------------------------

rates = st.one_of(
    st.integers(1000, 2_000_000), st.integers(1000, 125_000_000_000), st.just(5_000_000)
)
lengths = st.one_of(st.integers(60, 1514), st.integers(1, 65_535))


@given(
    st.sampled_from([RAW, NETWORK, PTM]),
    st.integers(-64, 256),
    st.integers(0, 256),
    st.sampled_from([0, 14, 18, 22]),
    st.integers(1, 64),
    st.integers(1, 9000),
    st.data(),
)
def test_wire_length_is_that_of_the_segments(framing, overhead, mpu, header, packets, full, data):
    """A packet's is exact. A GSO packet's is worked out for all segments together: PTM then
    rounds up once, not for each, and a last segment below the minimum is not filled up
    where the others are longer.
    """
    last = data.draw(st.integers(1, full))
    total = (full + header) * (packets - 1) + last + header
    params = new("dualpi2_params", framing=framing, overhead=overhead, mpu=mpu)
    added = header if framing == RAW else overhead
    one, rest = (
        model.wire_bytes(ip_bytes, added, mpu, framing == PTM) for ip_bytes in (full, last)
    )
    short = max(mpu - (last + added), -(last + added), 0) if packets > 1 else 0
    error = (
        one * (packets - 1) + rest - C.shaper_wire_len(params, total, packets, header)
    )
    in_64b65b = 1 + Fraction(1, 64) if framing == PTM else 1
    assert 0 <= error <= short * in_64b65b + (packets - 1 if framing == PTM else 0)


@given(rates, st.lists(st.tuples(st.integers(0, 5_000_000), lengths), max_size=80))
def test_departures_are_those_of_the_exact_link(rate, packets):
    """A timer that is never late: each packet leaves at the exact time, cut to whole
    ns, so never a whole ns early; and what is cut off is not lost.
    """
    now = 1_000_000_000
    arrivals = []
    for gap, length in packets:
        now += gap
        arrivals.append((now, length))
    shaper = new("shaper")
    last_start = -1
    for (arrival, length), exact in zip(
        arrivals, model.link_departures(arrivals, rate), strict=True
    ):
        if last_start <= arrival:  # everything before it has left
            C.shaper_wake(shaper, arrival)
        start = max(arrival, shaper.free_ns)
        assert start == math.floor(exact)
        assert C.shaper_ready(shaper, rate, start)
        assert start == arrival or not C.shaper_ready(shaper, rate, start - 1)
        C.shaper_charge(shaper, rate, start, length)
        assert shaper.remainder < rate
        last_start = start


@given(
    rates,
    st.lists(
        st.tuples(
            lengths,
            st.one_of(st.just(0), st.integers(0, 3_000_000), st.integers(0, 10**9)),
            st.booleans(),
        ),
        max_size=80,
    ),
)
def test_late_timer_catches_up_at_most_the_slack(rate, steps):
    """Packets that leave late by a random time; some of them found the queue empty."""
    shaper = new("shaper", free_ns=1_000_000_000)
    exact = Fraction(shaper.free_ns)
    departures = []
    for length, lateness, wakes in steps:
        now = max(shaper.free_ns, departures[-1][0] if departures else 0) + lateness
        if wakes:
            C.shaper_wake(shaper, now)
            exact = max(exact, Fraction(now))
        assert C.shaper_ready(shaper, rate, now)
        C.shaper_charge(shaper, rate, now, length)
        exact = max(exact, Fraction(now - SLACK_NS)) + Fraction(length * model.SECOND, rate)
        assert shaper.free_ns + Fraction(shaper.remainder, rate) == exact
        departures.append((now, length))
    # Over every interval: no more than the rate gives, the slack and one packet.
    for first, (begin, _) in enumerate(departures):
        total = 0
        for now, length in departures[first:]:
            allowed = Fraction((now - begin + SLACK_NS + 1) * rate, model.SECOND)
            assert total <= allowed
            total += length


@given(rates, st.integers(0, 10**9), st.integers(0, 10**9), st.lists(lengths, max_size=50))
def test_wait_is_when_the_bytes_ahead_have_left(rate, free, now, ahead):
    """Told in advance: when the model's link starts what comes behind all the others."""
    shaper = new("shaper", free_ns=free)
    start = max(free, now)
    arrivals = [(start, length) for length in [*ahead, 60]]
    exact = model.link_departures(arrivals, rate)[-1] - now
    assert C.shaper_wait(shaper, rate, now, sum(ahead)) == math.floor(exact)


# ---- histogram -----------------------------------------------------------------

EDGES = model.histogram_edges()
recorded_ns = st.one_of(
    st.integers(0, 5000),
    st.integers(0, 100_000_000),
    st.integers(0, 2**33 - 1),
    st.sampled_from(EDGES[:-1]),
)


def histogram_of(values):
    histogram, octave = new("dualpi2_histogram"), ffi.new("__u32 *")
    for value in values:
        C.histogram_record(histogram, value, octave)
    return histogram


def test_edges_are_those_of_the_model():
    assert [C.histogram_edge(i) for i in range(C.HISTOGRAM_BUCKETS + 1)] == EDGES


@given(st.one_of(recorded_ns, st.integers(0, U64_MAX)))
def test_value_is_in_its_bucket(ns):
    assert C.histogram_index(ns) == model.bucket_of(EDGES, ns)


@given(st.lists(st.one_of(recorded_ns, st.integers(0, U64_MAX)), max_size=20))
def test_each_value_is_recorded_in_its_bucket(values):
    """Whatever the one before was."""
    expected = [0] * C.HISTOGRAM_BUCKETS
    for value in values:
        expected[model.bucket_of(EDGES, value)] += 1
    assert list(histogram_of(values).bucket) == expected


@given(
    st.lists(recorded_ns, min_size=1, max_size=200),
    st.one_of(st.integers(0, 1000), st.sampled_from([500, 990, 999, 1000])),
)
def test_quantile_is_near_that_of_the_sorted_list(values, permille):
    histogram = histogram_of(values)
    exact = model.nearest_rank(values, permille)
    read = C.histogram_quantile(histogram, permille)
    assert abs(read - exact) <= max(64, Fraction(exact, 16))
    assert read <= max(values)


@given(st.lists(st.integers(0, 2**40), max_size=100))
def test_sum_count_and_maximum_are_exact(values):
    histogram = histogram_of(values)
    assert C.histogram_count(histogram) == len(values)
    assert histogram.sum_ns == sum(values)
    assert histogram.max_ns == max(values, default=0)


# ---- parsers -------------------------------------------------------------------


def spec(name):
    """Any value of a kind that begins at 0."""
    return new("option_spec", kind=getattr(C, f"KIND_{name.upper()}"), max=-1)  # UINT64_MAX


def parse_c(name, text):
    value = ffi.new("uint64_t *", 0xDEAD)
    if C.value_read(spec(name), text.encode(), value) != C.VALUE_OK:
        assert value[0] == 0xDEAD
        return None
    return value[0]


def cut(value):
    return None if value is None else math.floor(value)


def parse_rate(text):
    value = model.parse(text, model.RATE_UNITS)
    return max(cut(value), 1) if value else value  # what is not 0 does not become 0


def parse_gain(text):
    value = model.parse(text, {"": 256})
    return None if value is None else math.floor(value + Fraction(1, 2))


def parse_step(text):
    packets = cut(model.parse(text, model.PACKET_UNITS, whole=True))
    if packets is None:
        return cut(model.parse(text, model.TIME_UNITS))
    return packets | C.STEP_IN_PACKETS if packets < 2**32 else None


PARSERS = {
    "number": lambda text: cut(model.parse(text, {"": 1}, whole=True)),
    "rate": parse_rate,
    "time": lambda text: cut(model.parse(text, model.TIME_UNITS)),
    "size": lambda text: cut(model.parse(text, model.SIZE_UNITS)),
    "percent": lambda text: cut(model.parse(text, {"": 1, "%": 1}, whole=True)),
    "gain": parse_gain,
    "step": parse_step,
}
SUFFIXES = sorted(
    {*model.RATE_UNITS, *model.TIME_UNITS, *model.SIZE_UNITS, *model.PACKET_UNITS, "%", "x", "ss"}
)


@st.composite
def values_with_a_unit(draw):
    whole = draw(st.one_of(st.integers(0, 10_000), st.integers(0, 2**50)))
    fraction = draw(st.one_of(st.just(""), st.from_regex(r"\.[0-9]{0,9}", fullmatch=True)))
    suffix = draw(st.sampled_from(SUFFIXES))
    if draw(st.booleans()):
        suffix = suffix.upper()
    return f"{whole}{fraction}{suffix}"


@pytest.mark.parametrize("name", PARSERS)
@given(
    st.one_of(
        values_with_a_unit(),
        st.text(alphabet="0159.kmgtbispuce%-+ Ee", max_size=8),
        st.integers(2**50, 2**140).map(str),
    )
)
def test_parser_reads_what_the_model_reads(name, text):
    """Exactly, for numbers of up to 9 decimals. What is out of all reason is only told
    to be so: far above the highest value that an option takes.
    """
    expected = PARSERS[name](text)
    read = parse_c(name, text)
    if expected is not None and expected >= HUGE:
        assert read >= HUGE
    else:
        assert read == expected


def formatted(name, value):
    text = ffi.new("char[]", C.OPTION_TEXT_MAX)
    return ffi.string(C.value_format(spec(name), value, text)).decode()


@given(st.integers(1, 125_000_000_000))  # 0 is "unlimited"
def test_rate_reads_back(rate):
    assert parse_c("rate", formatted("rate", rate)) == rate


@given(st.integers(0, (2**32 - 1) * 1000))
def test_time_reads_back(ns):
    assert parse_c("time", formatted("time", ns)) == ns


@given(st.integers(0, GAIN_MAX))
def test_gain_reads_back(hz256):
    assert parse_c("gain", formatted("gain", hz256)) == hz256
