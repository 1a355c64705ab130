# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Whose turn it is (include/turns.h): in a simulation of a qdisc with 1 to 1000 DualQs, against a
link that is shared as if it were a fluid, and against what a DualQ may claim: its share, no more,
and L without waiting."""

import collections
import heapq
import itertools
import random

import pytest
from clib import C, ffi
from hypothesis import given, settings
from hypothesis import strategies as st
from many_dualqs import AHEAD, FRAME, START, Qdisc
from model import SECOND

lengths = st.sampled_from([64, 100, 600, 1400, FRAME])


class Flood:
    """Hosts that always wait: (their queues, the lengths of their packets) of each."""

    def __init__(self, hosts, **qdisc):
        self.qdisc, self.hosts = Qdisc(len(hosts) + 1, **qdisc), hosts
        self.draw = random.Random(41)
        for number in range(len(hosts)):
            self.refill(number)

    def refill(self, number):
        self.qdisc.refill(number, *self.hosts[number], self.draw)

    def serve(self):
        served = self.qdisc.serve()
        if served[0] < len(self.hosts):
            self.refill(served[0])
        return served


# ---- lines -----------------------------------------------------------------------


events = st.lists(st.one_of(
    st.tuples(st.just("arrive"), st.integers(0, 5), lengths, st.booleans(), st.integers(1, 12)),
    st.tuples(st.just("serve"), st.integers(1, 8)), st.tuples(st.just("drop"), st.integers(0, 5)),
    st.tuples(st.just("start"), st.just(0))), max_size=150)


@given(events, st.sets(st.integers(0, 5)))
def test_who_waits_is_in_line(events, c_first):
    """Whatever comes, is served, dropped anywhere, or thrown away. And whose turn it is waits."""
    qdisc, started = Qdisc(6, c_first), START
    for what, number, *packet in events:
        if what == "arrive":
            length, in_l, count = packet
            for _ in range(count):
                qdisc.enqueue(number, length, in_l)
        elif what == "serve":
            for _ in range(min(number, qdisc.qlen)):
                assert qdisc.next() in qdisc.waiting()
                qdisc.check()
                qdisc.serve()
                qdisc.check()
        elif what == "drop" and number in qdisc.waiting():
            qdisc.take(number, drops=True)
        elif what == "start":
            started += SECOND
            for number in range(6):
                for queue in qdisc.fifo[number].values():
                    queue.clear()
                qdisc.note(number)
            qdisc.qlen = 0
            qdisc.start(started)
        qdisc.check()
        assert qdisc.qlen or qdisc.next() == C.TURNS_NOBODY
    while qdisc.qlen:
        qdisc.serve()
    assert qdisc.next() == C.TURNS_NOBODY


def test_anything_may_be_in_a_dualq_before_its_first_packet():
    qdisc = Qdisc(3)
    for number in range(3):
        state = qdisc.dualq[number].turns
        state.epoch, state.lines, state.deficit = START - number, 255, -2**31
    for number in range(3):
        qdisc.enqueue(number, FRAME, False)
    qdisc.check()
    assert [qdisc.serve()[0] for _ in range(3)] == [0, 1, 2]


def test_a_dualq_that_cannot_be_found_has_no_turn():
    qdisc = Qdisc(2)
    qdisc.enqueue(1, FRAME, True)
    qdisc.many.count = 1
    assert qdisc.next() == C.TURNS_NOBODY


@pytest.mark.parametrize("frame, quantum", [(FRAME, FRAME), (9014, 9014), (2**32 - 1, 2**20)])
def test_a_quantum_is_a_full_frame(frame, quantum):
    qdisc = Qdisc(1)
    C.turns_set_frame(qdisc.turns, frame)
    assert qdisc.turns.quantum == quantum == qdisc.turns.ahead // C.TURNS_AHEAD_FRAMES


def test_a_dualq_is_small():
    assert ffi.sizeof("struct turns_dualq") == 24


# ---- shares ----------------------------------------------------------------------


SIZES = ([64], [FRAME], [64, 600, FRAME])
QUEUES = ([False], [True], [True, False])
hosts = st.tuples(st.sampled_from(QUEUES), st.sampled_from(SIZES))


def unequal(sent):
    return max(sent) - min(sent)


def jain(sent):
    return sum(sent) ** 2 / (len(sent) * sum(bytes**2 for bytes in sent))


@given(st.lists(hosts, min_size=2, max_size=8), st.sets(st.integers(0, 7)))
@settings(max_examples=50)
def test_who_always_waits_has_the_same(hosts, c_first):
    """At any time, whatever the queues and the lengths: a quantum more or less, a frame, and L what
    it may be ahead."""
    flood = Flood(hosts, c_first=c_first)
    ahead = AHEAD if any(True in queues for queues, _ in hosts) else 0
    for _ in range(600):
        flood.serve()
        assert unequal(flood.qdisc.sent[:-1]) <= ahead + 3 * FRAME


@pytest.mark.parametrize("count", [1, 10, 100, 1000])
@pytest.mark.parametrize("queues", QUEUES)
def test_the_shares_of_a_crowd(count, queues):
    """The longer, the nearer: Jain's index after so many frames each."""
    frames = 20 if count == 1000 else 100
    sizes = ([300], [FRAME], [300, FRAME])
    flood = Flood([(queues, sizes[number % 3]) for number in range(count)])
    while sum(flood.qdisc.sent) < frames * count * FRAME:
        flood.serve()
    assert unequal(flood.qdisc.sent[:-1]) <= (AHEAD if True in queues else 0) + 3 * FRAME
    assert jain(flood.qdisc.sent[:-1]) >= (0.99 if count == 1000 else 0.999)


class Fluid:
    """A link of a byte for each unit of time, shared equally by all who wait. `clock`: bytes that
    one who always waited would have been sent."""

    def __init__(self, count):
        self.now = self.clock = 0.0
        self.came, self.end = [0] * count, [0.0] * count  # on the clock, when it is through
        self.busy, self.is_busy = [], [False] * count

    def advance(self, to):
        while self.busy:
            end, number = self.busy[0]
            if end < self.end[number]:
                heapq.heapreplace(self.busy, (self.end[number], number))
                continue
            takes = max(end - self.clock, 0) * len(self.busy)
            if takes > to - self.now:
                self.clock += (to - self.now) / len(self.busy)
                break
            self.now += takes
            self.clock = max(end, self.clock)
            self.is_busy[number] = False
            heapq.heappop(self.busy)
        self.now = to

    def arrive(self, number, length):
        if not self.is_busy[number]:
            self.is_busy[number], self.end[number] = True, self.clock
            heapq.heappush(self.busy, (self.clock, number))
        self.end[number] += length
        self.came[number] += length

    def sent(self, number):
        return self.came[number] - max(self.end[number] - self.clock, 0)


def test_the_fluid():
    """Two share until one is through."""
    fluid = Fluid(2)
    for number, length in ((0, 100), (1, 300)):
        fluid.arrive(number, length)
    for to, sent in ((100, (50, 50)), (300, (100, 200)), (400, (100, 300)), (500, (100, 300))):
        fluid.advance(to)
        assert (fluid.sent(0), fluid.sent(1)) == pytest.approx(sent)


def most_behind(arrivals, count, c_first=()):
    """How far a host is ever behind the fluid, bytes. Arrivals: (when, who, length, in L)."""
    qdisc, fluid, now, most = Qdisc(count, c_first), Fluid(count), 0, 0
    arrivals = collections.deque(arrivals)
    while arrivals or qdisc.qlen:
        if not qdisc.qlen:
            now = max(now, arrivals[0][0])
        while arrivals and arrivals[0][0] <= now:
            at, number, length, in_l = arrivals.popleft()
            fluid.advance(at)
            fluid.arrive(number, length)
            qdisc.enqueue(number, length, in_l)
        number, length, _ = qdisc.serve()
        now += length
        fluid.advance(now)
        for each in {number, *itertools.islice(qdisc.waiting(), 20)}:
            most = max(most, fluid.sent(each) - qdisc.sent[each])
    fluid.advance(now + 1)
    assert fluid.sent(0) == pytest.approx(fluid.came[0])
    return most


# For any number of hosts. While two wait, one may be as far ahead of the other as those above who
# always wait, and what the others did not get before they begin with.
BEHIND = 2 * (AHEAD + 3 * FRAME)


@given(st.lists(st.tuples(st.sampled_from([0, 0, 0, 700, 5000]), st.integers(0, 4), lengths,
                          st.booleans()), max_size=300), st.sets(st.integers(0, 4)))
def test_nobody_is_far_behind_the_fluid(packets, c_first):
    """Not with any bursts and pauses of others, so nobody starves."""
    at = itertools.accumulate(gap for gap, *_ in packets)
    arrivals = [(now, *packet[1:]) for now, packet in zip(at, packets, strict=True)]
    assert most_behind(arrivals, 5, c_first) <= BEHIND


@pytest.mark.parametrize("count", [2, 30, 1000])
@pytest.mark.parametrize("load", [0.7, 1.3])
def test_nobody_of_a_crowd_is_far_behind(count, load):
    """Bursts of 1 to 20 packets; of the hosts a third has L, a third C, and a third both."""
    draw, now, arrivals = random.Random(count), 0, []
    while len(arrivals) < 3000 + 6 * count:
        number, length, burst = draw.randrange(count), draw.choice([64, FRAME]), draw.randint(1, 20)
        arrivals += [(now, number, length, draw.choice(QUEUES[number % 3])) for _ in range(burst)]
        now += draw.randrange(int(2 * burst * length / load) + 1)
    assert most_behind(arrivals, count) <= BEHIND


@pytest.mark.parametrize("in_l", [False, True])
@pytest.mark.parametrize("pause", [1, 2, 5, 11, 12, 13, 40])
@pytest.mark.parametrize("burst", [1, 3, 10])
def test_who_comes_and_goes_has_no_more(in_l, pause, burst):
    """Beside ten that always wait: a burst each time that it has been idle for so many packets of
    others. What it had too much it pays, although it was idle meanwhile."""
    flood, idle = Flood([([False], [FRAME])] * 10), 0
    qdisc, thief = flood.qdisc, 10
    for _ in range(4000):
        idle = 0 if thief in qdisc.waiting() else idle + 1
        if idle == pause:
            for _ in range(burst):
                qdisc.enqueue(thief, FRAME, in_l)
        flood.serve()
    assert qdisc.sent[thief] <= min(qdisc.sent[:-1]) + AHEAD + 3 * FRAME


# ---- L ---------------------------------------------------------------------------


def until_served(flood, number, in_l=True, length=100):
    """How many others are served before a packet that comes now."""
    flood.qdisc.enqueue(number, length, in_l)
    return next(n for n in itertools.count() if flood.serve()[0] == number)


@pytest.mark.parametrize("count", [1, 10, 1000])
@pytest.mark.parametrize("queues", QUEUES)
def test_l_of_an_idle_host_is_next(count, queues):
    """Whatever the others flood, once they have spent their first quantum."""
    flood = Flood([(queues, [FRAME])] * count)
    for _ in range(12 * count):
        flood.serve()
    for between in range(20):
        assert until_served(flood, count) == 0
        for _ in range(between + count):
            flood.serve()


@pytest.mark.parametrize("part, mean", [(0.4, 1), (0.66, 3)])
def test_l_within_a_share_waits_for_l_within_a_share(part, mean):
    """Twenty hosts flood C, and so many of all packets are of L and half as long: a quarter of
    their share, and half of it. L waits for a few packets, not for a round of C."""
    draw, count = random.Random(41), 20
    flood, waits = Flood([([False], [FRAME])] * count), []
    came = [collections.deque() for _ in range(count)]
    for served in range(20_000):
        if draw.random() < part:
            number = draw.randrange(count)
            flood.qdisc.enqueue(number, FRAME // 2, True)
            came[number].append(served)
        number, _, from_l = flood.serve()
        if from_l:
            waits.append(served - came[number].popleft())
    assert sum(waits) / len(waits) < mean


def test_l_far_beyond_its_share_waits_for_its_round():
    """As many frames as it may be ahead, its quantum, and then one a round."""
    flood = Flood([([False], [FRAME])] * 10)
    for _ in range(100):
        flood.serve()
    for _ in range(40):
        flood.qdisc.enqueue(10, FRAME, True)
    order = [flood.serve()[0] == 10 for _ in range(100)]
    assert order[:9] == [True] * 9
    at = [n for n, own in enumerate(order) if own][9:]
    assert len(at) >= 7
    assert all(9 <= after - before <= 12 for before, after in itertools.pairwise(at))


def test_l_within_its_share_does_not_wait_behind_l_beyond():
    """A hundred have each sent a frame of a burst."""
    qdisc = Qdisc(101)
    for number in range(100):
        for _ in range(5):
            qdisc.enqueue(number, FRAME, True)
    for _ in range(150):
        qdisc.serve()
    qdisc.enqueue(100, 100, True)
    assert qdisc.serve()[0] == 100


@pytest.mark.parametrize("length, count", [(100, 15), (FRAME, 9)])
def test_l_takes_turns(length, count):
    """A packet each, within their share and beyond."""
    qdisc = Qdisc(4)
    for number in range(4):
        for _ in range(count):
            qdisc.enqueue(number, length, True)
    assert [qdisc.serve()[0] for _ in range(4 * count)] == [0, 1, 2, 3] * count


def test_c_of_an_idle_host_goes_before_the_round():
    """Its first quantum; then its turn is after those who wait."""
    flood = Flood([([False], [FRAME])] * 10)
    for _ in range(100):
        flood.serve()
    for _ in range(5):
        flood.qdisc.enqueue(10, FRAME, False)
    order = [flood.serve()[0] for _ in range(12)]
    assert order[0] == 10 and 10 not in order[1:10]


def test_l_does_not_wait_behind_c_of_those_who_begin():
    qdisc = Qdisc(1000)
    for number in range(999):
        qdisc.enqueue(number, FRAME, False)
    qdisc.enqueue(999, FRAME, True)
    assert qdisc.serve()[0] == 999


# ---- work ------------------------------------------------------------------------


@pytest.mark.parametrize("length", [64, FRAME, 65226])
def test_how_often_it_has_to_be_asked(length):
    """A step is a quantum given or a place in a line, and a call makes 64 of them."""
    flood = Flood([([False], [length])] * 1000)
    for _ in range(5000):
        flood.serve()
    given_or_joined = sum(flood.qdisc.sent) / FRAME + 43 * 1000 + 2 * 1000 + 5000
    assert flood.qdisc.asked <= given_or_joined / 64


def test_a_crowd_that_left_is_cleared_away():
    """A thousand hosts had a packet each; one that waits comes next, after a bounded search."""
    qdisc = Qdisc(1001)
    qdisc.enqueue(1000, FRAME, False)
    qdisc.enqueue(1000, FRAME, False)
    for number in range(1000):
        qdisc.enqueue(number, 100, True)
    while qdisc.waiting() != {1000}:
        qdisc.serve()
    asked = qdisc.asked
    qdisc.enqueue(1000, FRAME, False)
    assert qdisc.serve()[0] == 1000
    assert qdisc.asked - asked <= 3000 / 64
