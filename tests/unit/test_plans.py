# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Plans (include/plans.h): the wheel against a sorted list, the time at which each packet of a plan
leaves against exact arithmetic, and a simulated link: rates, shares, parents, changes, and that the
link is idle only while nobody may send."""

import collections
import itertools
import random
from fractions import Fraction

import pytest
from clib import C, ffi
from hypothesis import given, settings
from hypothesis import strategies as st
from many_dualqs import FRAME, FRESH, ROUND, START, Qdisc
from model import SECOND

MS = 1_000_000  # ns
SLOT = 1 << C.PLANS_SLOT_SHIFT
REACH = C.PLANS_SLOTS * SLOT
SLACK = C.SHAPER_SLACK_NS
APART = 1 << C.TURNS_APART
GIGABIT = 125_000_000  # bytes/s
lengths = st.sampled_from([64, 100, 600, 1400, FRAME])


def mbit(rate):
    return int(rate * 125_000)


class Planned(Qdisc):
    """Plans: (Mbit/s, number of its parent or 0) of each DualQ, and Mbit/s of each parent."""

    def __init__(self, plans, parents=()):
        super().__init__(len(plans))
        self.parent = ffi.new("struct parent_and_plan[]", len(parents) + 1)
        self.many.parents, self.many.parent = len(parents), self.parent
        self.plans = ffi.addressof(self.many, "plans")
        for number, (rate, parent) in enumerate(plans):
            self.dualq[number].plan.rate, self.dualq[number].plan.parent = mbit(rate), parent
        for number, rate in enumerate(parents):
            self.parent[number].plan.rate = mbit(rate)
        self.now, self.held = START, 0
        C.plans_settle(self.plans)

    def enqueue(self, number, length, in_l):
        was_empty = number not in self.waiting_at(number)
        self.fifo[number][C.TURNS_L if in_l else C.TURNS_C].append(length)
        self.qlen += 1
        self.note(number)
        dualq = ffi.addressof(self.dualq[number], "turns")
        if was_empty:
            C.plans_wake(self.plans, ffi.addressof(self.dualq[number], "own"), number, self.now)
        C.plans_arrive(self.plans, dualq, number, in_l)

    def waiting_at(self, number):
        return {number} if any(self.fifo[number].values()) else set()

    def next(self):
        """Nobody: all who wait are held back by their plans."""
        self.many.now = self.now
        while (number := C.plans_turn(self.plans, self.now)) == C.TURNS_UNKNOWN:
            self.asked += 1
        return number

    def take(self, number, drops=False):
        queues = self.fifo[number]
        from_l = bool(queues[C.TURNS_L])
        length = queues[C.TURNS_L if from_l else C.TURNS_C].popleft()
        self.qlen -= 1
        self.note(number)
        if not self.qlen:
            C.turns_settle(self.turns)
            C.plans_settle(self.plans)
        if not drops:
            dualq = ffi.addressof(self.dualq[number], "turns")
            if C.plans_charge(dualq, self.now, length):
                C.plans_charge_parent(self.plans, dualq, self.now, length)
            self.sent[number] += length
        return length, from_l

    def due(self):
        return C.plans_due(self.plans, self.now)

    def clocks(self, number):
        """When its own plan lets it send, and its parent's."""
        state = self.dualq[number]
        found = [state.own.clock.shaper.free_ns] if state.plan.rate else [0]
        if state.plan.parent:
            parent = self.parent[state.plan.parent - 1]
            found += [parent.parent.clock.shaper.free_ns] if parent.plan.rate else []
        return found

    def apart(self):
        """Who stands in the wheel and at parents."""
        found = collections.Counter()
        slots = [at for at in range(C.PLANS_SLOTS) if self.plans.filled[at // 64] >> at % 64 & 1]
        lines = [self.plans.slot[at] for at in slots] + [self.plans.due]
        lines += [line for at in range(self.many.parents) for line in self.parent[at].parent.line
                  if self.parent[at].parent.epoch == self.turns.epoch]
        for line in lines:
            at = line.first
            while at != C.TURNS_NOBODY:
                found[at] += 1
                assert found[at] == 1
                if at == line.last:
                    break
                at = (self.parent[at - C.PLANS_PARENTS - 1].parent.next if at >= C.PLANS_PARENTS
                      else self.dualq[at].turns.next[C.TURNS_APART])
        return set(found)

    def check(self):
        """Who waits is either in the lines or stands apart, and says so; so does a parent, if
        anybody stands at it."""
        apart, lines = self.apart(), [set(self.line(which)) for which in range(C.TURNS_LINES)]
        for number, queues in enumerate(self.fifo):
            state = self.dualq[number].turns
            is_here = state.epoch == self.turns.epoch
            if not is_here:
                assert not any(queues.values())
                assert number not in apart and all(number not in line for line in lines)
                continue
            assert bool(state.lines & APART) == (number in apart)
            found = sum(1 << which for which, line in enumerate(lines) if number in line)
            assert state.lines & ~APART == found
            if any(queues.values()):
                assert found & (FRESH | ROUND) or number in apart
        for at in range(self.many.parents):
            parent = self.parent[at].parent
            if parent.epoch == self.turns.epoch:
                assert bool(parent.stands) == (C.PLANS_PARENTS + 1 + at in apart)
                assert parent.stands or all(line.first == C.TURNS_NOBODY for line in parent.line)


class Link:
    """A qdisc in front of a link of this rate (bytes/s), and who always waits: number: (queues,
    lengths). What it sends is in `log`: (ns, number, length)."""

    def __init__(self, qdisc, rate=GIGABIT, floods=None, keeps=True):
        self.qdisc, self.rate, self.floods, self.log = qdisc, rate, floods or {}, []
        self.arrivals, self.free, self.keeps = collections.deque(), Fraction(START), keeps
        self.draw = random.Random(41)
        for number in self.floods:
            self.refill(number)

    def refill(self, number):
        self.qdisc.refill(number, *self.floods[number], self.draw)

    def arrive(self, at):
        """What has come until then, at its time."""
        while self.arrivals and self.arrivals[0][0] <= at:
            when, number, length, in_l = self.arrivals.popleft()
            self.qdisc.now = max(self.qdisc.now, when)
            self.qdisc.enqueue(number, length, in_l)

    def idle(self):
        """The link is free, and nobody may send: all must be held back."""
        for number in self.qdisc.waiting():
            slots = 2 if self.qdisc.dualq[number].plan.parent else 1
            assert max(self.qdisc.clocks(number)) > self.qdisc.now - slots * SLOT

    def run(self, until):
        qdisc = self.qdisc
        while qdisc.now < until:
            self.arrive(qdisc.now)
            if not qdisc.qlen:
                if not self.arrivals:
                    break
                qdisc.now = max(qdisc.now, self.arrivals[0][0])
                continue
            number = qdisc.next()
            if number == C.TURNS_NOBODY:
                self.idle()
                assert qdisc.due() > qdisc.now, "or it is lost"
                events = [qdisc.due()] + [arrival[0] for arrival in itertools.islice(
                    self.arrivals, 1)]
                qdisc.now = max(qdisc.now, min(events))
                self.free = max(self.free, Fraction(qdisc.now))
                continue
            assert number in qdisc.waiting_at(number)
            if qdisc.dualq[number].plan.rate:
                assert qdisc.dualq[number].own.clock.shaper.free_ns <= qdisc.now
            length, _ = qdisc.take(number)
            if self.keeps:
                self.log.append((qdisc.now, number, length))
            if number in self.floods:
                self.refill(number)
            self.free = max(self.free, Fraction(qdisc.now)) + Fraction(length * SECOND, self.rate)
            end = -int(-self.free // 1)
            self.arrive(end)
            qdisc.now = end

    def bytes_of(self, numbers, start, end):
        return sum(length for at, number, length in self.log
                   if number in numbers and start <= at < end)


# ---- the wheel -------------------------------------------------------------------


def slot_of(due):
    return -(-due // SLOT)


@given(st.lists(st.tuples(st.integers(-REACH, 2 * REACH), st.sampled_from([0, 0, 1, SLOT, 5 * MS]),
                          st.booleans()), max_size=80))
def test_the_wheel(steps):
    """Whoever is due comes out at the first look after the end of its slot, in the order of slots,
    then as they came; who is too far away, early, but not before the wheel has turned once."""
    qdisc, model = Planned([(1, 0)] * 80), {}
    for number, (ahead, passes, looks) in enumerate(steps):
        due, now = max(qdisc.now + ahead, 1), qdisc.now
        C.plans_stand(qdisc.plans, number, due, now)
        model[number] = (max(due, now - SLOT), due > now + REACH - SLOT)
        now = qdisc.now = now + passes
        if not looks:
            continue
        out = list(iter(lambda now=now: C.plans_rise(qdisc.plans, now), C.TURNS_NOBODY))
        assert all(due <= now or is_far for due, is_far in map(model.get, out))
        slots = [slot_of(due) for due, is_far in map(model.get, out) if not is_far]
        for each in out:
            del model[each]
        assert not any(slot_of(due) * SLOT <= now for due, _ in model.values())
        assert C.plans_due(qdisc.plans, now) > now
        if all(ahead >= 0 for ahead, *_ in steps):
            assert slots == sorted(slots)
    qdisc.now += 4 * REACH
    while C.plans_rise(qdisc.plans, qdisc.now) != C.TURNS_NOBODY:
        pass
    assert C.plans_due(qdisc.plans, qdisc.now) == C.PLANS_NEVER and not any(qdisc.plans.filled)


def test_who_is_too_far_away_comes_back_once_a_turn():
    qdisc = Planned([(1, 0)])
    C.plans_stand(qdisc.plans, 0, START + SECOND, START)
    assert START + REACH - 2 * SLOT < C.plans_due(qdisc.plans, START) <= START + REACH


def test_those_of_a_slot_come_out_as_they_came():
    qdisc = Planned([(1, 0)] * 5)
    for number in (3, 1, 4, 0):
        C.plans_stand(qdisc.plans, number, START + 10, START)
    out = [C.plans_rise(qdisc.plans, START + SLOT) for _ in range(5)]
    assert out == [3, 1, 4, 0, C.TURNS_NOBODY]


def test_sizes():
    assert ffi.sizeof("struct turns_dualq") == 24
    assert ffi.sizeof("struct plans_dualq") == 56
    assert REACH < 20 * MS, "so soon a new rate is in force"


# ---- a plan ----------------------------------------------------------------------


@given(st.integers(1000, GIGABIT), st.lists(lengths, min_size=1, max_size=60))
def test_a_packet_leaves_when_those_before_are_through(rate, sizes):
    """At that time to the ns, or a slot later."""
    qdisc = Planned([(0, 0)])
    qdisc.dualq[0].plan.rate = rate
    link, through = Link(qdisc, 10**12), Fraction(START)
    link.arrivals.extend((START, 0, length, False) for length in sizes)
    link.run(START + 1000 * SECOND)
    assert [length for *_, length in link.log] == sizes
    for at, _, length in link.log:
        assert int(through) <= at <= through + SLOT
        through += Fraction(length * SECOND, rate)


RATES = [.5, 2, 10, 20, 40, 100]


@pytest.mark.parametrize("queues", [[False], [True], [True, False]])
def test_plans_are_exact(queues):
    """All flood a link that has room for all. But for a packet more or less over a second."""
    rates = RATES * 2
    qdisc = Planned([(rate, 0) for rate in rates])
    link = Link(qdisc, GIGABIT, {n: (queues, [64, 600, FRAME]) for n in range(len(rates))})
    link.run(START + 2 * SECOND)
    for number, rate in enumerate(rates):
        for start in (START, START + SECOND):
            sent = link.bytes_of({number}, start, start + SECOND)
            assert abs(sent - mbit(rate)) <= mbit(rate) / 1000 + FRAME


@given(st.floats(.5, 100), st.lists(st.tuples(st.integers(0, 40 * MS), st.integers(1, 30), lengths),
                                    max_size=30))
@settings(max_examples=60)
def test_nothing_is_caught_up_after_a_lull(rate, bursts):
    """In no time more than the rate and a packet, beside the one with which it begins."""
    link = Link(Planned([(rate, 0)]))
    at = itertools.accumulate(gap for gap, *_ in bursts)
    for now, (_, count, length) in zip(at, bursts, strict=True):
        link.arrivals.extend([(START + now, 0, length, False)] * count)
    link.run(START + 1000 * SECOND)
    began, sent, last = None, 0, None
    for now, _, length in link.log:
        if began is None or now - last > 2 * length * SECOND / mbit(rate) + 2 * SLOT:
            began, sent = now, 0  # it was idle: nothing of before counts
        assert sent <= (now - began + SLOT) * mbit(rate) / SECOND + 1
        sent, last = sent + length, now


def test_who_is_late_catches_up_a_packet_or_a_slack():
    """The link was down for a second. Then its clock is that far in the past, and no farther."""
    for rate, most in ((100, 100 * 125 + 2 * FRAME), (.5, 2 * FRAME)):
        qdisc = Planned([(rate, 0)])
        link = Link(qdisc, GIGABIT, {0: ([False], [FRAME])})
        link.run(START + 100 * MS)
        qdisc.now += SECOND
        link.run(qdisc.now + MS)
        assert FRAME < link.bytes_of({0}, START + SECOND, qdisc.now) - mbit(rate) / 1000 <= most


def test_a_clock_outlives_the_epoch():
    """The next packet comes whenever the qdisc is empty: nothing waits, but the plan holds."""
    qdisc, at = Planned([(2, 0)]), []
    for _ in range(50):
        qdisc.enqueue(0, FRAME, False)
        while qdisc.next() == C.TURNS_NOBODY:
            qdisc.now = qdisc.due()
        qdisc.take(0)
        at.append(qdisc.now)
    assert at[-1] - at[0] == pytest.approx(49 * FRAME * SECOND / mbit(2), rel=.001)


def test_without_a_plan_nothing_is_held_back():
    link = Link(Planned([(0, 0)] * 3), GIGABIT, {n: ([False], [FRAME]) for n in range(3)})
    link.run(START + 100 * MS)
    assert sum(link.qdisc.sent) == pytest.approx(GIGABIT / 10, abs=FRAME)
    assert max(link.qdisc.sent) - min(link.qdisc.sent) <= 3 * FRAME


@pytest.mark.parametrize("rate, quantum", [(.5, 256), (2.048, 256), (20, 2500), (8e5, 2**20)])
def test_a_quantum_is_a_millisecond(rate, quantum):
    qdisc = Planned([(rate, 0)])
    qdisc.enqueue(0, FRAME, False)
    assert qdisc.dualq[0].turns.deficit == quantum


# ---- a link that is short --------------------------------------------------------


def shares(link, start, end):
    """Of its plan, what each got."""
    return [link.bytes_of({n}, start, end) / link.qdisc.dualq[n].plan.rate
            for n in range(len(link.qdisc.fifo))]


def spread(found):
    return max(found) / (sum(found) / len(found)) - 1, 1 - min(found) / (sum(found) / len(found))


@pytest.mark.parametrize("plans", [[20, 40, 60], [3, 4, 14, 100], [40] * 5 + [4] * 10])
@pytest.mark.parametrize("queues", [[False], [True], [True, False]])
def test_a_short_link_is_shared_in_proportion(plans, queues):
    link = Link(Planned([(rate, 0) for rate in plans]), mbit(sum(plans) / 2.4),
                {n: (queues, [600, FRAME]) for n in range(len(plans))})
    link.run(START + 2 * SECOND)
    assert max(spread(shares(link, START, START + 2 * SECOND))) < .03


# ---- parents ---------------------------------------------------------------------


@pytest.mark.parametrize("parents", [[20], [50, 100], [200, 9, 50]])
@pytest.mark.parametrize("queues", [[False], [True, False]])
def test_children_have_the_rate_of_their_parent_in_proportion(parents, queues):
    """Their plans are 2.5 times of it, and beside them others flood a link with room for all."""
    plans = [(rate * part / 4, at) for at, rate in enumerate(parents, 1) for part in (1, 2, 3, 4)]
    plans += [(40, 0)] * 3
    qdisc = Planned(plans, parents)
    link = Link(qdisc, GIGABIT, {n: (queues, [600, FRAME]) for n in range(len(plans))})
    link.run(START + 2 * SECOND)
    for at, rate in enumerate(parents, 1):
        children = [n for n, (_, of) in enumerate(plans) if of == at]
        for start in (START, START + SECOND):
            sent = link.bytes_of(set(children), start, start + SECOND)
            assert abs(sent - mbit(rate)) <= mbit(rate) / 1000 + 2 * FRAME
        own = shares(link, START, START + 2 * SECOND)
        allowed = .03 + FRAME / (mbit(rate) / 5)
        assert max(spread([own[n] for n in children])) < allowed
    assert min(shares(link, START, START + 2 * SECOND)[-3:]) > 2 * .999


def test_a_parent_with_room_changes_nothing():
    qdisc = Planned([(rate, 1) for rate in RATES], [300])
    link = Link(qdisc, GIGABIT, {n: ([False], [600, FRAME]) for n in range(len(RATES))})
    link.run(START + SECOND)
    for number, rate in enumerate(RATES):
        assert abs(qdisc.sent[number] - mbit(rate)) <= mbit(rate) / 1000 + FRAME


def test_a_short_link_is_shared_in_proportion_beyond_parents():
    """A link of half of what all want; the parent is not what is short."""
    plans = [(10, 1)] * 20 + [(40, 0)] * 5 + [(20, 2)] * 5
    qdisc = Planned(plans, [210, 110])
    link = Link(qdisc, mbit(250), {n: ([False], [600, FRAME]) for n in range(len(plans))})
    link.run(START + 2 * SECOND)
    assert max(spread(shares(link, START, START + 2 * SECOND))) < .03


@pytest.mark.parametrize("link_rate", [100, 30])
def test_five_hundred_children(link_rate):
    """Of 1 Mbit/s each at 20 Mbit/s, where the link is short as well or not. All get the same, and
    whose turn it is is found without walking through them."""
    qdisc = Planned([(1, 1)] * 500 + [(20, 0)], [20])
    link = Link(qdisc, mbit(link_rate), {n: ([False], [FRAME]) for n in range(501)})
    link.run(START + 2 * SECOND)
    children = qdisc.sent[:500]
    if link_rate == 100:
        assert sum(children) == pytest.approx(2 * mbit(20), rel=.002)
    assert max(children) - min(children) <= 2 * FRAME
    assert sum(children) > 500 * 3 * FRAME
    assert qdisc.asked <= len(link.log) / 10


def test_l_of_a_child_does_not_wait_for_its_siblings():
    """A hundred flood C at a parent of 100 Mbit/s; L of another one waits for two packets, until it
    has used a quantum."""
    qdisc = Planned([(20, 1)] * 101, [100])
    link = Link(qdisc, GIGABIT, {n: ([False], [FRAME]) for n in range(100)})
    link.run(START + 200 * MS)
    for _ in range(24):
        came = qdisc.now
        qdisc.enqueue(100, 100, True)
        while qdisc.fifo[100][C.TURNS_L]:
            link.run(qdisc.now + 1)
        left = max(at for at, number, _ in link.log if number == 100)
        assert left - came <= 3 * FRAME * SECOND / mbit(100) + 2 * SLOT
        link.run(qdisc.now + 7 * MS)


# ---- live changes ----------------------------------------------------------------


@pytest.mark.parametrize("is_parent", [False, True])
def test_a_raised_rate_is_in_force_soon(is_parent):
    """The plan of .5 Mbit/s has sent 64 kB, for which it has to wait for a second."""
    qdisc = Planned([(.5, 0)]) if not is_parent else Planned([(0, 1)], [.5])
    plan = qdisc.parent[0].plan if is_parent else qdisc.dualq[0].plan
    link = Link(qdisc)
    link.arrivals.append((START, 0, 65226, False))
    link.arrivals.extend([(START + 1, 0, FRAME, False)] * 200)
    link.run(START + 200 * MS)
    assert len(link.log) == 1
    plan.rate = mbit(100)
    link.run(START + 220 * MS)
    assert len(link.log) > 1
    assert link.log[1][0] <= START + 200 * MS + 17 * MS
    link.run(START + 400 * MS)
    took = link.log[-1][0] - link.log[1][0]
    assert len(link.log) == 201
    assert took == pytest.approx(199 * FRAME * SECOND / mbit(100), rel=.001, abs=SLOT)


def test_a_lowered_rate_is_in_force_soon():
    qdisc = Planned([(100, 0)])
    link = Link(qdisc, GIGABIT, {0: ([False], [FRAME])})
    link.run(START + 100 * MS)
    qdisc.dualq[0].plan.rate = mbit(5)
    link.run(START + 1100 * MS)
    sent = link.bytes_of({0}, START + 100 * MS, START + 1100 * MS)
    before = mbit(100) * C.PLANS_LOOK_NS / SECOND
    assert -2 * FRAME <= sent - mbit(5) * 1.001 <= before + 2 * FRAME


def test_a_plan_may_be_lifted_and_moved_to_another_parent():
    qdisc = Planned([(1, 1), (1, 1)], [1, 50])
    link = Link(qdisc, GIGABIT, {n: ([False], [FRAME]) for n in range(2)})
    link.run(START + 100 * MS)
    for number in range(2):
        qdisc.dualq[number].plan.rate, qdisc.dualq[number].plan.parent = 0, 2
    link.run(START + 120 * MS)
    link.run(START + 1120 * MS)
    sent = link.bytes_of({0, 1}, START + 120 * MS, START + 1120 * MS)
    assert sent == pytest.approx(mbit(50), rel=.001, abs=2 * FRAME)


# ---- nobody is lost --------------------------------------------------------------


events = st.lists(st.one_of(
    st.tuples(st.just("arrive"), st.integers(0, 7), lengths, st.booleans(), st.integers(1, 12)),
    st.tuples(st.just("serve"), st.integers(1, 8)), st.tuples(st.just("drop"), st.integers(0, 7)),
    st.tuples(st.just("pass"), st.sampled_from([1, SLOT, 3 * MS, SECOND])),
    st.tuples(st.just("rate"), st.integers(0, 10), st.sampled_from([0, .5, 3, 40, 1000]))),
    max_size=120)


@given(events)
def test_who_waits_is_somewhere(events):
    """Whatever comes, leaves, is dropped, or changes: in the lines or apart. And whoever has the
    turn may send; nobody has it only while all are held back."""
    rates = [.5, 1, 5, 30, 200, 2, 0, 0]
    qdisc = Planned([(rate, at % 3) for at, rate in enumerate(rates)], [4, 40])
    for what, number, *rest in events:
        if what == "arrive":
            length, in_l, count = rest
            for _ in range(count):
                qdisc.enqueue(number, length, in_l)
                qdisc.check()
        elif what == "serve":
            for _ in range(min(number, qdisc.qlen)):
                found = qdisc.next()
                qdisc.check()
                if found == C.TURNS_NOBODY:
                    qdisc.now = qdisc.due()
                    assert qdisc.now <= START + 1000 * SECOND
                    continue
                assert found in qdisc.waiting()
                assert max(qdisc.clocks(found)) <= qdisc.now
                qdisc.take(found)
                qdisc.check()
        elif what == "drop" and number in qdisc.waiting():
            qdisc.take(number, drops=True)
            qdisc.check()
        elif what == "pass":
            qdisc.now += number
        elif what == "rate":
            plan = qdisc.dualq[number].plan if number < 8 else qdisc.parent[number % 2].plan
            plan.rate = mbit(rest[0])
    for _ in range(100_000):
        if not qdisc.qlen:
            break
        found = qdisc.next()
        if found == C.TURNS_NOBODY:
            qdisc.now = qdisc.due()
        else:
            qdisc.take(found)
    assert not qdisc.qlen


@given(st.lists(st.tuples(st.integers(0, 3 * MS), st.integers(0, 7), lengths, st.booleans(),
                          st.integers(1, 15)), max_size=60))
@settings(max_examples=60)
def test_the_link_is_idle_only_while_all_are_held_back(bursts):
    """Link.idle() looks, for a slot or two. And all of it is sent."""
    plans = [(rate, at % 3) for at, rate in enumerate([.5, 1, 5, 30, 200, 2, 0, 100])]
    link = Link(Planned(plans, [4, 40]), mbit(100))
    at = itertools.accumulate(gap for gap, *_ in bursts)
    for now, (_, number, length, in_l, count) in zip(at, bursts, strict=True):
        link.arrivals.extend([(START + now, number, length, in_l)] * count)
    link.run(START + 1000 * SECOND)
    assert sum(count for *_, count in bursts) == len(link.log)


def test_what_was_in_the_wheel_of_another_epoch_is_gone():
    qdisc = Planned([(1, 1)] * 2, [1])
    for number in range(2):
        for _ in range(2):
            qdisc.enqueue(number, FRAME, False)
    qdisc.take(qdisc.next())
    assert qdisc.next() == C.TURNS_NOBODY and qdisc.apart()
    for number in (0, 1):
        while number in qdisc.waiting():
            qdisc.take(number, drops=True)
    assert not qdisc.apart() and qdisc.due() == C.PLANS_NEVER
    qdisc.now += SECOND
    qdisc.enqueue(1, FRAME, False)
    qdisc.check()
    assert qdisc.next() == 1
