# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One link for many qdiscs (include/share.h): its clocks against exact arithmetic, and in a
simulation with packets in several queues what a link promises: its rate over any interval, no idle
time while somebody waits, L before C, and nothing for packets that are thrown away."""

import collections
import itertools
from fractions import Fraction

import model
import pytest
from clib import C, ffi, new
from hypothesis import given, settings
from hypothesis import strategies as st
from model import SECOND

MS = 1_000_000
WORK = 2**C.SHARE_FRACTION  # of a byte
SLOT = 2**C.SHARE_SLOT_SHIFT  # work
FRAME = 1500
LOOK = 10 * MS  # who waits looks so often, for the rate may have been raised
START = 7 * SECOND
RATES = [1000, 12345, 125_000, 5_000_000, 125_000_000, 312_500_000, 125_000_000_000]


def link(rate, now=START, work=0):
    share = new("share", rate=rate)
    share.pace[0] = C.share_pace_make(rate, now, work)
    share.l_end = share.c_end = work % 2**64
    return share


def member(of, name):
    return ffi.addressof(of, name)


def work_at(share, now):
    return C.share_work(C.share_pace(share), now)


# ---- the pace ------------------------------------------------------------------


@given(st.integers(1000, 125_000_000_000), st.integers(0, 2**44))
def test_work_is_rate_times_time(rate, passed):
    """To a part in 2^29 and a unit, and one more for each 4.3 s of a pace that is so old."""
    pace = new("share_pace", C.share_pace_make(rate, START, 0))
    exact = Fraction(rate * passed * WORK, SECOND)
    made = C.share_work(pace, START + passed)
    assert exact * (1 - Fraction(1, 2**29)) - 1 - passed / 2**32 <= made <= exact


def test_a_time_from_before_the_pace():
    """Read on another CPU, a moment before somebody changed it."""
    pace = new("share_pace", C.share_pace_make(FRAME, START, 55))
    assert C.share_work(pace, START - 1000) == 55


@pytest.mark.parametrize("rate", RATES)
def test_a_wait_is_as_long_as_the_work_takes(rate):
    for nbytes in (1, 64, FRAME, 65536):
        assert C.share_ns(nbytes * WORK, rate) == -(-nbytes * SECOND // rate)
    pace = new("share_pace", C.share_pace_make(rate, START, 0))
    assert C.share_work(pace, START + C.share_ns(FRAME * WORK, rate) + 10) >= FRAME * WORK - 10


def test_not_shaped_nothing_moves():
    share = link(0)
    assert work_at(share, START + 5 * SECOND) == 0
    assert C.share_ns(FRAME * WORK, 0) == 0


def test_another_rate_goes_on_from_there():
    share, now, done = link(1_000_000), START, Fraction(0)
    for rate in (5_000_000, 1000, 125_000_000, 125_000_000, 3) * 20:
        now += 10 * MS
        done += Fraction(share.rate * 10 * MS, SECOND)
        before = work_at(share, now)
        assert C.share_set_rate(share, rate, now)
        assert work_at(share, now) == before
        assert share.rate == rate
    assert done * WORK * (1 - Fraction(1, 2**28)) - 200 <= work_at(share, now) <= done * WORK


def test_only_one_changes_it_at_a_time():
    share = link(1000)
    share.is_changing = 1
    assert not C.share_set_rate(share, 2000, START)
    assert share.rate == 1000


def test_a_rate_after_none_is_past_all_that_waits():
    """What came meanwhile has taken nothing of the link; what came before stood still."""
    share, queue = link(5_000_000), new("share_queue")
    for _ in range(30):
        slot = C.share_enter(member(share, "c_end"), work_at(share, START), FRAME * WORK)
    C.share_set_rate(share, 0, START)
    C.share_set_rate(share, 10_000_000, START + MS)
    now = C.share_at(share, False, work_at(share, START + MS))
    late = now - C.share_start(queue, slot, now)
    assert late > C.share_pace(share).slack


# ---- a clock -------------------------------------------------------------------


@given(st.integers(0, 2**64 - 1), st.integers(-2**40, 2**40), st.integers(1, 2**30))
def test_a_claim_starts_where_the_clock_is_or_now(clock, ahead, work):
    at = ffi.new("__u64 *", clock)
    now = (clock - ahead) % 2**64
    start = C.share_claim(at, now, work)
    assert start == (clock if ahead >= 0 else now)
    assert at[0] == (start + work) % 2**64


@given(st.integers(0, 2**64 - 1), st.integers(-2**47, 2**45 - 2 * SLOT))
def test_a_slot_is_told_from_now(now, ahead):
    """Also around the wrap of the slots, every 64 GiB, and of the clocks: at most 16 bytes late,
    and as much again for the one slot whose number would be 0."""
    start = (now + ahead) % 2**64
    clock, queue = ffi.new("__u64 *", start), new("share_queue")
    slot = C.share_enter(clock, (start - 1) % 2**64, FRAME * WORK)
    late = (C.share_start(queue, slot, now) - start) % 2**64
    assert late < SLOT * (2 if slot == 1 else 1)


def test_what_is_due_as_it_comes_goes_at_once():
    """Unless it has waited too long, or its queue has moved."""
    clock, queue = ffi.new("__u64 *", 5000), new("share_queue")
    slot = C.share_enter(clock, 7000, FRAME * WORK)
    assert C.share_at_once(queue, slot, 0) and C.share_at_once(queue, slot, C.SHARE_SLACK_NS)
    assert not C.share_at_once(queue, slot, C.SHARE_SLACK_NS + 1)
    assert C.share_start(queue, slot, 2**60) < 2**60, "it is late then"
    assert not C.share_at_once(queue, C.share_enter(clock, 7000, FRAME * WORK), 0)
    queue.left = 1
    assert not C.share_at_once(queue, slot, 0)


def test_a_head_that_nobody_served_for_long_is_due():
    queue, now = new("share_queue"), 2**60
    for behind in (2**46, 2**47, 2**48 - C.SHARE_AHEAD_MAX - SLOT):
        slot = (now - behind) // SLOT % 2**32 or 1
        assert C.share_start(queue, slot, now) <= now


def test_a_clock_that_fell_behind_by_half_its_numbers():
    share, now = link(125_000_000_000), START + 6 * 3600 * SECOND
    assert C.share_is_old(C.share_pace(share), now)
    C.share_wake(share, now)
    work = work_at(share, now)
    assert share.l_end == share.c_end == work
    assert not C.share_is_old(C.share_pace(share), now)
    share.held = C.SHARE_PACKET
    share.c_end += 1000
    C.share_wake(share, now + 6 * SECOND)
    assert share.c_end == work + 1000, "not while a packet waits"


def test_what_was_not_queued_has_taken_nothing():
    clock = ffi.new("__u64 *", 0)
    for _ in range(10):
        C.share_enter(clock, 0, FRAME * WORK)
    C.share_turn_back(clock, FRAME * WORK)
    assert clock[0] == 9 * FRAME * WORK


def test_what_was_lost_has_had_its_time():
    """Both queues are later by as much."""
    share = link(5_000_000, work=2**40)
    at = [C.share_at(share, in_l, work_at(share, START)) for in_l in (True, False)]
    C.share_lose(share, C.share_pace(share), work_at(share, START), FRAME * WORK)
    after = [C.share_at(share, in_l, work_at(share, START)) for in_l in (True, False)]
    assert [before - now for before, now in zip(at, after, strict=True)] == 2 * [FRAME * WORK]


@pytest.mark.parametrize("rate", RATES[1:])
def test_what_is_lost_has_a_third_of_the_link_at_most(rate):
    """And what it is ahead of that, 30 ms or the frame that is one too much."""
    share, step = link(rate), C.share_ns(FRAME * WORK, rate) // 4
    for number in range(2000):
        now = START + number * step
        C.share_lose(share, C.share_pace(share), work_at(share, now), FRAME * WORK)
        most = (work_at(share, now) + 30 * C.share_pace(share).slack) // 3 + FRAME * WORK
        assert share.l_sent <= most
    assert share.l_sent >= work_at(share, now) // 3


def test_what_was_lost_long_ago_or_at_a_higher_rate_is_forgotten():
    """A clock that fell behind by half of its numbers looks ahead."""
    for end, rate in ((2**63 + 5, 5_000_000), (2**40 + 50 * C.share_pace(link(5_000_000)).slack,
                                               50_000)):
        share = link(5_000_000, work=2**40)
        share.lost_end = end
        C.share_set_rate(share, rate, START)
        C.share_lose(share, C.share_pace(share), work_at(share, START), FRAME * WORK)
        assert share.l_sent == FRAME * WORK


# ---- a link with queues --------------------------------------------------------

Packet = collections.namedtuple("Packet", "arrived qdisc in_l length")
Sent = collections.namedtuple("Sent", "at packet")


class Qdisc:
    """It holds packets until their time has come, as bpf/link/shared.bpf.h does."""

    def __init__(self, link):
        self.link = link
        self.fifo = {True: collections.deque(), False: collections.deque()}
        self.queue = {True: new("share_queue"), False: new("share_queue")}
        self.stopped_until = self.epoch = self.c_start = 0

    def clock(self, in_l):
        return member(self.link.share, "l_end" if in_l else "c_end")

    def now(self, in_l):
        return C.share_at(self.link.share, in_l, work_at(self.link.share, self.link.now))

    def enqueue(self, packet):
        share, now = self.link.share, self.now(packet.in_l)
        work, gap = packet.length * WORK, 0
        if packet.in_l and C.share_c_waits(share):
            gap = C.share_gap(work, self.link.l_share)
        if not self.fifo[packet.in_l]:
            self.queue[packet.in_l].left = 0
        if packet.in_l:
            slot = C.share_enter_l(share, C.share_pace(share), work_at(share, self.link.now),
                                   work + gap)
        else:
            slot = C.share_enter_c(share, now, work)
        self.fifo[packet.in_l].append((slot, packet, work + gap, self.link.now))
        share.memory += 0 if packet.in_l else C.SHARE_PACKET

    def work(self, in_l):
        return sum(work for _, _, work, _ in self.fifo[in_l])

    def waits(self, in_l):
        """How long its head has to, in work; None: there is none."""
        if not self.fifo[in_l]:
            return None
        if self.epoch != self.link.share.epoch:
            self.epoch = self.link.share.epoch
            for each in (True, False):
                C.share_move(self.clock(each), self.queue[each], self.now(each), 0,
                             self.work(each), 2**62)
        now, queue = self.now(in_l), self.queue[in_l]
        slot, _, _, enqueued = self.fifo[in_l][0]
        if C.share_at_once(queue, slot, self.link.now - enqueued):
            return 0
        start = C.share_start(queue, slot, now)
        late = (now - start) % 2**64
        if C.share_pace(self.link.share).slack < late < 2**63:
            C.share_move(self.clock(in_l), queue, now, C.share_pace(self.link.share).slack,
                         self.work(in_l),
                         sum(qdisc.work(in_l) for qdisc in self.link.qdiscs if qdisc != self))
            start = queue.next
        self.c_start = self.c_start if in_l else start
        return C.share_ahead(start, now)

    def serve(self):
        """All that is due; when to look again."""
        while True:
            waits = {in_l: self.waits(in_l) for in_l in (True, False)}
            due = [in_l for in_l in waits if waits[in_l] == 0]
            if not due:
                break
            _, packet, work, _ = self.fifo[due[0]].popleft()
            C.share_leave(self.queue[due[0]], work)
            self.link.share.memory -= 0 if packet.in_l else C.SHARE_PACKET
            if due[0]:
                share, real = self.link.share, packet.length * WORK
                if work == real and C.share_c_waits(share):
                    share.l_gaps += C.share_gap(real, self.link.l_share)
                share.l_sent += real
            elif self.c_start:
                C.share_sends_c(self.link.share, self.c_start, work)
                self.c_start = 0
            self.link.sent.append(Sent(self.link.now, packet))
        ahead = [work for work in waits.values() if work is not None]
        if not ahead:
            return None
        return self.link.now + min(C.share_ns(min(ahead), self.link.share.rate), LOOK)


class Link:
    def __init__(self, rate, qdiscs, l_share=90):
        self.share, self.l_share, self.now, self.sent = link(rate), l_share, START, []
        self.qdiscs = [Qdisc(self) for _ in range(qdiscs)]

    def run(self, packets, lateness=itertools.repeat(0), events=()):
        """Packets arrive, and something happens at times; timers are late."""
        to_come = sorted([(packet.arrived, 1, packet) for packet in packets] +
                         [(at, 0, event) for at, event in events], key=lambda entry: entry[:2])
        wake = {}
        lateness = iter(lateness)
        while to_come or wake:
            at = min([*wake.values(), *(entry[0] for entry in to_come[:1])])
            self.now = max(self.now, at)
            touched = [qdisc for qdisc, when in wake.items() if when <= self.now]
            while to_come and to_come[0][0] <= self.now:
                _, is_packet, what = to_come.pop(0)
                if is_packet:
                    self.qdiscs[what.qdisc].enqueue(what)
                    touched.append(what.qdisc)
                else:
                    what(self)
            for qdisc in dict.fromkeys(touched):
                wake.pop(qdisc, None)
                stopped = self.qdiscs[qdisc].stopped_until
                again = self.qdiscs[qdisc].serve() if stopped <= self.now else stopped
                if again is not None:
                    wake[qdisc] = max(again + next(lateness), self.now + 1)
        return self.sent


def most_ahead(sent, rate):
    """Bytes by which the link was ever ahead of one that is exact and has no buffer: the most that
    began in any interval beyond the rate."""
    level, most, before = Fraction(0), Fraction(0), START
    for at, packet in sent:
        level = max(level - Fraction(rate * (at - before), SECOND), 0) + packet.length
        most, before = max(most, level), at
    return most


def packets_of(draw_from, qdiscs, count=40, span=20 * MS, lengths=(64, FRAME)):
    return draw_from.draw(st.lists(st.builds(
        Packet, st.integers(START, START + span), st.integers(0, qdiscs - 1), st.booleans(),
        st.integers(*lengths)), min_size=1, max_size=count))


RATE = 5_000_000  # a frame takes 300 us
ROUNDED = 17 * SECOND / RATE + 2  # a slot, and a wait in whole bytes


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 5), st.data())
def test_exact_over_any_interval(qdiscs, data):
    """Three frames, whatever comes in whichever queue: one of each kind that begins, and one of L
    that is under way."""
    sent = Link(RATE, qdiscs).run(packets := packets_of(data, qdiscs))
    assert sorted(packet for _, packet in sent) == sorted(packets)
    assert most_ahead(sent, RATE) <= 3 * FRAME + 2 * SLOT / WORK


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 5), st.lists(st.integers(0, 800_000), min_size=1, max_size=50), st.data())
def test_late_timers_do_not_add_up(qdiscs, lateness, data):
    """They may catch up by what they were late, and that is at most the slack and a frame."""
    sent = Link(RATE, qdiscs).run(packets_of(data, qdiscs), itertools.cycle(lateness))
    late = RATE * max(lateness) / SECOND
    assert most_ahead(sent, RATE) <= 3 * FRAME + 2 * late + 4 * SLOT / WORK


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 5), st.booleans(), st.data())
def test_of_one_kind_it_is_a_single_link(qdiscs, in_l, data):
    """No idle time while somebody waits: the packets begin as on one link with one queue."""
    packets = [packet._replace(in_l=in_l) for packet in packets_of(data, qdiscs)]
    sent = Link(RATE, qdiscs).run(packets)
    exact = model.link_departures(arrivals := [(packet.arrived, packet.length) for packet in
                                               sorted(packets, key=lambda one: one.arrived)], RATE)
    assert len(sent) == len(packets)
    takes = Fraction(SECOND, RATE)
    end = max(at + packet.length * takes for at, packet in sent)
    ends = [start + length * takes for start, (_, length) in zip(exact, arrivals, strict=True)]
    assert end <= max(ends) + ROUNDED


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 5), st.data())
def test_l_does_not_wait_for_what_waits_in_c(qdiscs, data):
    """Each begins as on a link of its own that has L's share of the rate, at the latest, but for
    the packet of C that is under way."""
    crowd = [Packet(START + n, n % qdiscs, False, FRAME) for n in range(100)]
    packets = sorted({packet._replace(in_l=True) for packet in packets_of(data, qdiscs)})
    sent = [entry for entry in Link(RATE, qdiscs).run(crowd + packets) if entry.packet.in_l]
    exact = model.link_departures([(packet.arrived, packet.length) for packet in packets],
                                  RATE * Fraction(90, 100))
    for (at, _), bound in zip(sorted(sent), exact, strict=True):
        assert at <= bound + FRAME * SECOND / RATE + ROUNDED


def test_l_waits_for_what_c_has_under_way():
    """As on one link, which is never ahead of itself, but for the moment by which L is first. And
    for no more than that."""
    crowd = [Packet(START + n, n % 2, False, FRAME) for n in range(200)]
    packets = [Packet(START + n * 1_234_567, 2 + n % 2, True, FRAME) for n in range(1, 30)]
    sent = Link(RATE, 4).run(crowd + packets)
    first = RATE * C.SHARE_SLACK_NS / SECOND / 2**C.SHARE_FIRST
    assert most_ahead(sent, RATE) <= FRAME + first + 4 * SLOT / WORK
    waited = [at - packet.arrived for at, packet in sent if packet.in_l]
    assert max(waited) <= FRAME * SECOND / RATE + ROUNDED
    assert sum(waited) / len(waited) == pytest.approx(FRAME * SECOND / RATE / 2, rel=0.2)


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**49))
def test_what_is_under_way_is_no_more_than_was_sent(at, passed):
    """Also when the numbers of the slots come round again."""
    share = link(5_000_000)
    C.share_sends_c(share, at, FRAME * WORK)
    left = C.share_under_way(share, (at + passed) % 2**64)
    assert left <= C.SHARE_UNDER_WAY_MAX
    if passed < 2**47:
        assert 0 <= max(0, FRAME * WORK - passed) - left < SLOT


def test_what_c_sent_long_ago_is_not_under_way():
    """Each second somebody begins the pace anew."""
    share = link(1_000_000_000)
    C.share_sends_c(share, 0, FRAME * WORK)
    for second in range(1, 200):  # three times round the slots
        now = START + second * SECOND
        C.share_wake(share, now)
        at = C.share_at(share, False, work_at(share, now))
        assert (at - share.c_sends * SLOT) % 2**48 < SLOT


def test_c_has_its_share_beside_a_flood_of_l():
    """10 % of the link, and what both leave to nobody is at most the gap of a frame."""
    flood = [Packet(START + n * 200_000, n % 2, True, FRAME) for n in range(1000)]
    crowd = [Packet(START + n * 500_000, 2 + n % 2, False, FRAME) for n in range(400)]
    sent = [entry for entry in Link(RATE, 4).run(flood + crowd) if entry.at < START + 200 * MS]
    in_c = sum(packet.length for _, packet in sent if not packet.in_l)
    total = sum(packet.length for _, packet in sent)
    assert total >= 0.99 * RATE * 0.2
    assert 0.09 * total <= in_c <= 0.12 * total


def test_a_queue_that_stood_still_does_not_burst():
    """Of four, each with a quarter of the link, one stops for 20 ms, in which 17 of its frames
    lose their place."""
    packets = [Packet(START + n * 300_000, n % 4, False, FRAME) for n in range(1000)]

    def stop(on):
        on.qdiscs[1].stopped_until = on.now + 20 * MS
    on = Link(RATE, 4)
    sent = on.run(packets, events=[(START + 100 * MS, stop)])
    assert most_ahead(sent, RATE) <= RATE * C.SHARE_SLACK_NS / SECOND + 4 * FRAME
    assert len(sent) == 1000
    # And it is not behind for long: what was lost is lost once.
    assert sent[-1].at <= packets[-1].arrived + 20 * MS


def test_a_lone_queue_that_stood_still_goes_on_at_the_rate():
    packets = [Packet(START + n * 300_000, 0, False, FRAME) for n in range(200)]

    def stop(on):
        on.qdiscs[0].stopped_until = on.now + 20 * MS
    sent = Link(RATE, 1).run(packets, events=[(START + 10 * MS, stop)])
    assert most_ahead(sent, RATE) <= RATE * C.SHARE_SLACK_NS / SECOND + 2 * FRAME
    assert sent[-1].at <= packets[-1].arrived + 20 * MS + 300_000


def test_c_has_its_share_beside_what_came_to_l_before():
    flood = [Packet(START + n, n % 2, True, FRAME) for n in range(500)]
    crowd = [Packet(START + 10 * MS + n, 2 + n % 2, False, FRAME) for n in range(100)]
    sent = [entry for entry in Link(RATE, 4).run(flood + crowd) if entry.at < START + 100 * MS]
    in_c = sum(packet.length for at, packet in sent if not packet.in_l)
    assert in_c == pytest.approx(0.1 * RATE * 0.09, abs=2 * FRAME)
    assert most_ahead(sent, RATE) <= 3 * FRAME


def test_what_is_thrown_away_leaves_no_hole():
    """Of four queues one, whose packets come before all others', is emptied."""
    packets = [Packet(START + n, 0, False, FRAME) for n in range(100)] + [
        Packet(START + MS + n, 1 + n % 3, n % 10 == 0, FRAME) for n in range(100)]

    def throw_away(on):
        on.share.memory -= len(on.qdiscs[0].fifo[False]) * C.SHARE_PACKET
        on.qdiscs[0].fifo[False].clear()
        C.share_restart(on.share, work_at(on.share, on.now))
    at = START + 10 * MS
    sent = Link(RATE, 4).run(packets, events=[(at, throw_away)])
    after = [entry for entry in sent if entry.at > at]
    assert most_ahead(sent, RATE) <= 3 * FRAME
    assert sent[-1].at <= at + len(after) * FRAME * SECOND / RATE + LOOK


@pytest.mark.parametrize("to", [1_000_000, 25_000_000])
def test_another_rate_under_a_backlog(to):
    """No packet notices; a slower link has at most a frame under way as before."""
    packets = [Packet(START + n, n % 4, False, FRAME) for n in range(300)]
    at = START + 30 * MS
    sent = Link(RATE, 4).run(packets, events=[
        (at, lambda on: C.share_set_rate(on.share, to, on.now))])
    before = [entry for entry in sent if entry.at <= at]
    after = [entry for entry in sent if entry.at > at]
    assert len(before) in (99, 100, 101)
    assert len(sent) == 300
    for passed in range(0, 150 * MS, 10 * MS):
        count = sum(1 for entry in after if entry.at <= at + passed)
        assert count * FRAME <= to * passed / SECOND + 2 * FRAME
    assert sent[-1].at <= at + 200 * FRAME * SECOND / to + LOOK


def test_the_rate_changes_all_the_time():
    packets = [Packet(START + n, n % 4, n % 8 == 0, FRAME) for n in range(2000)]
    rates = [3_000_000, 5_000_000, 4_000_000, 6_000_000]
    changes = [(START + 10 * MS * (n + 1), lambda on, n=n: C.share_set_rate(
        on.share, rates[n % 4], on.now)) for n in range(60)]
    sent = Link(RATE, 4).run(packets, events=changes)
    for first in range(20, 30):
        begun = sum(FRAME for entry in sent
                    if START + first * 10 * MS < entry.at <= START + (first + 20) * 10 * MS)
        exact = sum(rates[(n - 1) % 4] for n in range(first, first + 20)) / 100
        assert abs(begun - exact) <= 4 * FRAME


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 4), st.lists(st.integers(0, 3 * MS), min_size=1, max_size=50), st.data())
def test_no_clock_is_ahead_of_an_empty_link(qdiscs, lateness, data):
    """Nothing is taken for nothing, also where heads were so late that they asked anew: at most
    what a piece of theirs still had when it was taken."""
    on = Link(RATE, qdiscs)
    sent = on.run(packets_of(data, qdiscs), itertools.cycle(lateness))
    assert len(sent) == sum(1 for _ in sent)
    work = work_at(on.share, on.now)
    gap = FRAME * WORK * 100 // 90
    total = sum(packet.length for _, packet in sent) * WORK
    assert C.share_ahead(on.share.l_end, work) <= max(2 * gap, total)
    on.now += 60 * MS  # of which 100 frames take 30 at the most
    work = work_at(on.share, on.now)
    for in_l, end in ((True, on.share.l_end), (False, on.share.c_end)):
        assert not C.share_ahead(end, C.share_at(on.share, in_l, work))
