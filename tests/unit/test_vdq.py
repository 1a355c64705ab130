# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""include/vdq/: vdq.h against a virtual queue in exact arithmetic, and packet_value.h."""

import math
import random
from fractions import Fraction

import pytest
from clib import C, ffi, new
from hypothesis import given
from hypothesis import strategies as st

MS, SECOND = 10**6, 10**9  # ns
PERIOD = 10 * MS
MBIT = 125_000  # bytes/s
VDQ_RING_MAX, VDQ_VALUE_MAX = C.VDQ_RING_MAX, C.VDQ_VALUE_MAX


class Model:
    """The virtual queue as vdq.h describes it, without a ring, bins kept or integers."""

    def __init__(self, rate, percent, target_ns, ring, bins):
        capacity = rate * percent // 100
        # What the law keeps of 1 / C_v is rounded, by less than a millionth at 1 Gbit/s.
        self.byte_ns = Fraction(SECOND * 2**20 // capacity, 2**20)
        self.carried = Fraction(capacity * PERIOD, SECOND)
        self.target = Fraction(capacity * target_ns, SECOND)
        self.ring, self.bins = ring, bins
        self.packets, self.came = [], []
        self.free_ns, self.overflows = Fraction(0), 0

    def bin_of(self, value):
        return value * self.bins // 2**20

    def backlog(self):
        return sum(length for _, length in self.packets)

    def histogram(self, packets):
        bins = [0] * self.bins
        for value, length in packets:
            bins[self.bin_of(value)] += length
        return bins

    def serve(self, now):
        while self.packets:
            done = self.free_ns + self.packets[0][1] * self.byte_ns
            if math.floor(done) > now:
                return
            self.free_ns = done
            self.packets.pop(0)

    def tell(self, now, value, length, passed):
        self.came.append((value, length))
        if not passed:
            return
        self.serve(now)
        if self.is_full():
            self.overflows += 1
            return
        if not self.packets and math.floor(self.free_ns) < now:
            self.free_ns = Fraction(now)
        self.packets.append((value, length))

    def is_full(self):
        """Then more may wait than is in it, and nothing is given up to the target."""
        return len(self.packets) == self.ring

    def waiting(self, now):
        return max(0, (self.free_ns + self.backlog() * self.byte_ns - now) / self.byte_ns)

    def budget(self, waiting):
        """What may pass in a period, in bytes, of which the law's whole numbers lose two."""
        missing = self.target - waiting
        return max(0, self.carried + (missing if missing > 0 else missing / 8))

    def threshold(self, budget):
        """The least value with which no more than the budget lies above its bin, and the share of
        what came that has no more value."""
        bins = self.histogram(self.came)
        self.came = []
        if sum(bins) <= budget:
            return 0, 0
        lowest = next(bin for bin in range(self.bins) if sum(bins[bin + 1:]) <= budget)
        value = 2**20 * (lowest + 1) // self.bins
        while self.bin_of(value) > lowest:
            value -= 1
        return value, sum(bins[:lowest + 1]) / sum(bins)


def make(*parameters):
    return new("vdq_law", C.vdq_make(*parameters))


PACKETS = st.tuples(st.one_of(st.integers(0, 2 * MS), st.integers(0, 200 * MS)),
                    st.integers(1, VDQ_VALUE_MAX), st.sampled_from([60, 590, 1514, 65000]),
                    st.booleans(), st.booleans())


@given(rate=st.sampled_from([MBIT, 40 * MBIT, 10**4 * MBIT]), percent=st.integers(1, 100),
       target=st.sampled_from([0, MS, 15 * MS]), ring=st.sampled_from([1, 5, VDQ_RING_MAX]),
       bins=st.sampled_from([1, 7, 512, 1024]), script=st.lists(PACKETS, max_size=60))
def test_virtual_queue_is_the_models(rate, percent, target, ring, bins, script):
    model = Model(rate, percent, target, ring, bins)
    law = make(rate, percent, target, ring, bins)
    ours, now = new("vdq"), 10**12
    assert law.carried == math.floor(model.carried)
    assert law.target == math.floor(model.target)
    for gap, value, length, passed, update in script:
        now += gap
        model.tell(now, value, length, passed)
        C.vdq_tell(ours, law, now, value, length, passed)
        assert list(ours.bin)[:bins] == model.histogram(model.packets)
        assert list(ours.came)[:bins] == model.histogram(model.came)
        assert ours.backlog == sum(ours.bin) == model.backlog()
        assert ours.end - ours.first == len(model.packets)
        assert ours.overflows == model.overflows
        waiting = C.vdq_waiting(ours, law, now)
        # A nanosecond is lost between the clocks; so many bytes that is.
        assert abs(waiting - model.waiting(now)) <= 2 + 2 / model.byte_ns
        if not update:
            continue
        told = max(waiting, law.target) if waiting and model.is_full() else waiting
        budget = C.vdq_budget(law, told)
        assert abs(budget - model.budget(told)) <= 2
        ctv, share = model.threshold(budget)
        C.vdq_update(ours, law, now, 1)
        assert ours.ctv == ctv
        assert ours.share == pytest.approx(2**32 * share, abs=1)
        assert ours.is_late == (budget == 0)
        assert not ours.is_empty and not any(ours.came)
        C.vdq_update(ours, law, now, 1)
        assert ours.is_empty == (not waiting)
        assert ours.ctv == (ctv if waiting > law.target else 0), "of a period without a packet"


def test_threshold_outlasts_a_pause_between_bursts():
    """More of them than the link carries, every second period: a CTV that fell in between would
    never meet a packet. It ends when no more than the target waits."""
    law = make(MBIT, 100, 2 * MS, VDQ_RING_MAX, 512)
    ours = new("vdq")
    for burst in range(5):
        begin = SECOND + burst * 2 * PERIOD
        for _ in range(10):
            C.vdq_tell(ours, law, begin, 1000, 400, True)
        assert bool(ours.ctv) == (burst > 0)
        C.vdq_update(ours, law, begin + MS, 1)
        of_the_burst = ours.ctv, ours.share
        C.vdq_update(ours, law, begin + MS + PERIOD, 1)
        assert ours.ctv and (ours.ctv, ours.share) == of_the_burst
    C.vdq_update(ours, law, SECOND + SECOND, 1)
    assert (ours.ctv, ours.share) == (0, 0)


def test_ring_may_go_round():
    """Its places are used many times, and each packet leaves with what it brought."""
    law = make(10**4 * MBIT, 100, MS, VDQ_RING_MAX, 512)
    ours, dice, now = new("vdq"), random.Random(1), 10**12
    for _ in range(3 * VDQ_RING_MAX):
        now += dice.randint(0, 2000)
        C.vdq_tell(ours, law, now, dice.randint(1, VDQ_VALUE_MAX),
                   dice.randint(60, 1514), dice.random() < 0.7)
    assert ours.end > 2 * VDQ_RING_MAX and not ours.overflows
    assert ours.backlog == sum(ours.bin)
    C.vdq_tell(ours, law, now + SECOND, 1, 100, True)
    assert ours.backlog == sum(ours.bin) == 100


def test_without_a_rate_nothing_is_virtual():
    law = make(0, 95, MS, VDQ_RING_MAX, 512)
    ours = new("vdq")
    C.vdq_tell(ours, law, SECOND, 5, 1514, True)
    C.vdq_update(ours, law, SECOND, 1)
    assert (ours.backlog, ours.ctv, ours.is_empty) == (0, 0, 1)


def test_an_hour_is_the_longest_wait():
    """A link of 1 % of 8 kbit/s has more than 64 bits of it with a hundred full frames."""
    law = make(1000, 1, SECOND, VDQ_RING_MAX, 512)
    ours = new("vdq")
    for _ in range(1000):
        C.vdq_tell(ours, law, SECOND, 5, 1514, True)
        waiting = C.vdq_waiting(ours, law, SECOND)
        assert waiting == pytest.approx(min(ours.backlog, 3600 * 10), abs=1)


def test_clear_forgets_all_but_what_was_counted():
    law = make(MBIT, 95, MS, 4, 512)
    ours = new("vdq")
    for _ in range(9):
        C.vdq_tell(ours, law, SECOND, 5, 1514, True)
    C.vdq_update(ours, law, SECOND, 1)
    assert ours.ctv and ours.overflows == 5 and not ours.is_empty
    C.vdq_tell(ours, law, SECOND, 5, 1514, False)
    C.vdq_clear(ours)
    assert not any(ours.bin) and not any(ours.came)
    assert ours.is_empty and not ours.is_late
    assert (ours.first, ours.end, ours.backlog, ours.ctv, ours.share) == (0,) * 5
    assert ours.overflows == 5


@pytest.mark.parametrize("bins", [1, 7, 31, 32, 33, 512, 1000, 1024])
def test_columns_have_what_the_bins_have(bins):
    law, ours, dice = make(MBIT, 100, SECOND, VDQ_RING_MAX, bins), new("vdq"), random.Random(1)
    for _ in range(1000):
        C.vdq_tell(ours, law, SECOND, dice.randint(1, VDQ_VALUE_MAX), 100, True)
    expected = [0] * 32
    for place, size in enumerate(list(ours.bin)[:bins]):
        expected[place * 32 // bins] += size
    columns = ffi.new("unsigned long long[32]", [1] * 32)
    C.vdq_columns(ours, law, columns, 32)
    assert list(columns) == expected and sum(expected) == 100_000


@given(st.lists(st.tuples(st.integers(1, VDQ_VALUE_MAX), st.sampled_from([60, 590, 1514])),
                min_size=1, max_size=60), st.integers(1, 5))
def test_a_late_update_asks_the_same_of_each_period(packets, periods):
    """The same load, for one period and for several: the threshold is the same."""
    law = make(MBIT, 100, 0, VDQ_RING_MAX, 512)
    found = []
    for count in (1, periods):
        ours = new("vdq")
        for value, length in packets * count:
            C.vdq_tell(ours, law, SECOND, value, length, False)
        C.vdq_update(ours, law, SECOND, count)
        found.append((ours.ctv, ours.share))
    assert found[0] == found[1]


def test_share_is_what_the_threshold_took():
    law = make(MBIT, 100, 0, VDQ_RING_MAX, 512)
    ours = new("vdq")
    for i in range(20):  # ten times what the link carries in a period, of two values
        C.vdq_tell(ours, law, SECOND, VDQ_VALUE_MAX if i % 20 == 0 else 1000, 625, True)
    C.vdq_update(ours, law, SECOND + 95 * MS, 1)
    assert ours.share == pytest.approx(2**32 * 19 / 20, rel=1e-6)
    assert 1000 <= ours.ctv < VDQ_VALUE_MAX
    C.vdq_tell(ours, law, SECOND + 95 * MS, 1000, 65000, False)
    C.vdq_update(ours, law, SECOND + 95 * MS, 1)
    assert ours.share == 2**32 - 1, "all that came"


# ---- the oracle: unresponsive flows through one threshold ---------------------------------------


def marked_flows(rates, capacity, target_ns, seconds, dice):
    """What gets through a virtual queue with the capacity of the link: rates, all in bytes/s. And
    the delay there at its end, ns."""
    law = make(capacity, 100, target_ns, VDQ_RING_MAX, 512)
    vdq, flows, passed = new("vdq"), [new("value_flow") for _ in rates], [0] * len(rates)
    due = [SECOND + dice.randrange(MS) for _ in rates]
    update = SECOND
    while min(due) < (1 + seconds) * SECOND:
        now = min(due)
        number = due.index(now)
        while update <= now:
            C.vdq_update(vdq, law, update, 1)
            update += PERIOD
        due[number] += round(1500 * SECOND / rates[number] * dice.uniform(0.9, 1.1))
        C.value_measure(flows[number], now, 1500, 30 * MS)
        value = C.value_of(C.value_spread(flows[number]))
        goes_on = value > vdq.ctv
        C.vdq_tell(vdq, law, now, value, 1500, goes_on)
        if goes_on and now > 2 * SECOND:
            passed[number] += 1500
    delay = C.vdq_waiting(vdq, law, now) * SECOND / capacity
    return [count / (seconds - 1) for count in passed], delay


@pytest.mark.parametrize("target", [0, 2 * MS, 15 * MS])
@pytest.mark.parametrize("rates, capacity, shares", [
    ((80, 50), 100, (50, 50)),
    ((80, 50), 60, (30, 30)),
    ((10, 80, 50), 100, (10, 45, 45)),
    ((80, 10), 100, (80, 10)),
    ((100,) * 5, 100, (20,) * 5),
])
def test_oracle(rates, capacity, shares, target):
    """Each flow gets what max-min fairness gives it: within 5 %, as the issue of this AQM."""
    through, delay = marked_flows([rate * MBIT for rate in rates], capacity * MBIT, target, 4,
                                  random.Random(2020))
    assert [rate / MBIT for rate in through] == pytest.approx(shares, rel=0.05)
    if sum(rates) > capacity:
        assert delay == pytest.approx(target, abs=2 * MS)


# ---- values ---------------------------------------------------------------------------------


def inverse(value):
    """V^-1: the highest rate that is worth more, bytes/s."""
    low, high = 0, 2**36
    while low < high:
        middle = (low + high + 1) // 2
        if C.value_of(middle) > value:
            low = middle
        else:
            high = middle - 1
    return low


@given(st.integers(0, 2**34), st.integers(0, 2**34))
def test_more_rate_is_never_worth_more(one, other):
    low, high = sorted((one, other))
    assert 1 <= C.value_of(high) <= C.value_of(low) <= VDQ_VALUE_MAX


def test_value_is_a_logarithm():
    """8 kbit/s is worth all; each doubling costs 1/25 of it."""
    assert C.value_of(0) == C.value_of(1024) == VDQ_VALUE_MAX
    for doublings in range(26):
        value = C.value_of(1024 << doublings)
        assert value == pytest.approx(max(1, VDQ_VALUE_MAX * (1 - doublings / 25)), abs=1)
    for rate in (2000, 12_500, 10**6, 12_500_000, 10**9):
        assert inverse(C.value_of(rate) - 1) == pytest.approx(rate, rel=0.001)


@given(st.integers(1, VDQ_VALUE_MAX - 1))
def test_rate_of_a_value(value):
    assert C.value_rate(value) == pytest.approx(inverse(value), rel=1e-4)


# ---- policies ----------------------------------------------------------------------------------


def policy(points=(), share=100):
    return new("value_policy", points=len(points), share=share, point=points)


@given(st.integers(0, 2**33 - 1), st.integers(1, 10_000))
def test_a_share_is_a_share_of_the_rate(rate, share):
    value = C.value_by(policy(share=share), rate)
    assert value == C.value_of(rate * 100 // share)
    assert 1 <= value <= VDQ_VALUE_MAX


@st.composite
def tables(draw):
    count = draw(st.integers(1, 16))
    rates = draw(st.lists(st.integers(0, 2**33 - 1), min_size=count, max_size=count, unique=True))
    values = draw(st.lists(st.integers(1, VDQ_VALUE_MAX), min_size=count, max_size=count))
    return list(zip(sorted(rates), sorted(values, reverse=True), strict=True))


@given(tables(), st.data())
def test_a_table_is_made_of_straight_lines(points, data):
    near = st.sampled_from([rate for rate, _ in points]).flatmap(
        lambda rate: st.integers(max(0, rate - 2), rate + 2))
    rate = data.draw(st.one_of(st.integers(0, 2**33 - 1), near))
    below = [point for point in points if point[0] <= rate]
    above = [point for point in points if point[0] > rate]
    if not below or not above:
        exact = (below[-1] if below else above[0])[1]
    else:
        (low, high_value), (high, low_value) = below[-1], above[0]
        exact = high_value - Fraction((rate - low) * (high_value - low_value), high - low)
    assert C.value_by(policy(points), rate) == math.ceil(exact)


@pytest.mark.parametrize("rate, fair", [(80, 50), (80, 10), (1, 0.1), (50, 60)])
def test_a_threshold_leaves_each_flow_the_same(rate, fair):
    """min(R, V^-1(v))"""
    flow = new("value_flow", rate=rate * MBIT)
    threshold = C.value_of(round(fair * MBIT))
    count = 10_000
    above = sum(C.value_of(C.value_spread(flow)) > threshold
                for _ in range(count))
    assert rate * above / count == pytest.approx(min(rate, fair), rel=0.01)


@pytest.mark.parametrize("memory", [30 * MS, SECOND])
@pytest.mark.parametrize("length", [60, 590, 1514])
@pytest.mark.parametrize("kbit", [100, 1000, 10_000, 100_000])
def test_rate_of_a_steady_flow(kbit, length, memory):
    """Within 5 %, after five memories, with 20 % of jitter in its distances."""
    dice, flow, now, seen = random.Random(kbit), new("value_flow"), SECOND, []
    distance = length * 8 * MS / kbit
    settled = now + max(SECOND, 5 * memory)
    while now < settled + 4 * SECOND:
        C.value_measure(flow, now, length, memory)
        if now > settled:
            seen.append(flow.rate)
        now += round(distance * dice.uniform(0.9, 1.1))
    assert sum(seen) / len(seen) * 8 / 1000 == pytest.approx(kbit, rel=0.05)


@given(st.integers(0, 2**63), st.integers(0, 2**32 - 1), st.integers(1, 1 << 20),
       st.integers(MS, SECOND))
def test_rate_stays_in_range(now, earlier, length, memory):
    flow = new("value_flow", last_ns=max(0, now - earlier), rate=2**33 - 1)
    assert C.value_measure(flow, now, length, memory) < 2**33
