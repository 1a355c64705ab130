# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The C functions against the model, over random inputs."""

import itertools
import math
from fractions import Fraction

import model
import pytest
from clib import C, ffi, new
from hypothesis import example, given
from hypothesis import strategies as st

RAW, NETWORK, PTM = (
    C.DUALPI2_FRAMING_RAW, C.DUALPI2_FRAMING_NETWORK, C.DUALPI2_FRAMING_PTM
)
U64_MAX = 2**64 - 1
GAIN_MAX = 2**23 - 1  # 1/256 Hz
SLACK_NS = 1_000_000  # what a late timer may catch up
HUGE = 2**60  # every parser's results are exact below


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
