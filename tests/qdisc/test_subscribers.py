# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A DualQ and a plan for each subscriber: whose a packet is, what each gets, and changes."""

import ipaddress
import itertools
import time

import gso_wire
import pytest
import superpackets
from frames import CE, ECT_1, NOT_ECT, ipv4_frame, ipv6_frame, other_frame
from netns import wait_until
from subscriber_maps import OTHERS, load, subscribed

pytestmark = pytest.mark.oldest_kernel

# A packet takes 80 ms, so that few leave while others are sent, and PI2 drops none.
CALM = ("--target", "4000s", "--step-thresh", "4000s")
SLOW = ("--rate", "100kbit", *CALM)
ALSO_REGISTERED = ("pi2-subscribers",)
LENGTH = 1000
SETTLED_S = .03  # the link looks every 10 ms; then, who was late catches up a packet and 1 ms


def v4(number):
    return str(ipaddress.IPv4Address("10.1.0.0") + number)


class Planned:
    """The cable, and subscribers behind it by number."""

    def __init__(self, cable, subscribers):
        self.cable, self.subscribers, self.of = cable, subscribers, {}
        self.arrived = []

    def send(self, number, count, ecn=NOT_ECT, length=LENGTH, frame=ipv4_frame, **options):
        serials = list(itertools.islice(self.cable.serials, count))
        self.of |= dict.fromkeys(serials, number)
        options = options or ({"target": v4(number)} if frame == ipv4_frame else {})
        self.cable.send(*(frame(serial, ecn, length, **options) for serial in serials))

    def drain(self, seconds=60):
        """The subscribers of what arrives, in order."""
        arrived = self.cable.drain(seconds)
        self.arrived += arrived
        return [self.of[packet.serial] for packet in arrived]

    def open(self, link="1gbit"):
        """Let the link be fast from now on."""
        load(self.cable, "--rate", link)
        self.opened = time.time()

    def times(self, number):
        """When packets of a subscriber have arrived since then, s; without the first ones, which
        were late and have caught up."""
        return [packet.time_ns / 1e9 for packet in self.arrived
                if self.of[packet.serial] == number and
                packet.time_ns / 1e9 > self.opened + SETTLED_S]


@pytest.fixture
def planned(cable):
    with subscribed(cable, *SLOW) as subscribers:
        yield Planned(cable, subscribers)
        if cable.qdisc.is_attached():
            load(cable, "--rate", 0)


def sign_up(subscribers, plans, parents=()):
    """Plans from number 1 on, parents behind them: (Mbit/s, its parent's place from 1 on or 0)."""
    first = len(plans)
    for place, mbit in enumerate(parents, 1):
        subscribers.plan(first + place, mbit)
    for number, (mbit, parent) in enumerate(plans, 1):
        subscribers.plan(number, mbit, parent and first + parent)
        subscribers.own(number, v4(number))


def rate(times, length=LENGTH):
    """Mbit/s."""
    return (len(times) - 1) * length * 8e-6 / (times[-1] - times[0])


@pytest.mark.parametrize("ecn", [NOT_ECT, ECT_1], ids=["C", "L"])
def test_plans_are_exact(planned, ecn):
    plans = (.5, 2, 10, 20, 40, 100)
    sign_up(planned.subscribers, [(mbit, 0) for mbit in plans])
    for number, mbit in enumerate(plans, 1):
        planned.send(number, max(round(mbit * 25), 100), ecn)
    planned.open()
    planned.drain()
    for number, mbit in enumerate(plans, 1):
        times = planned.times(number)
        print(mbit, rate(times), len(times))
        assert rate(times) == pytest.approx(mbit, rel=.001)


def fill(planned, numbers, count=200):
    for number in numbers:
        planned.send(number, count)


def test_a_short_link_is_shared_in_proportion_to_the_plans(planned):
    plans = (10, 20, 40, 50)
    sign_up(planned.subscribers, [(mbit, 0) for mbit in plans])
    for number, mbit in enumerate(plans, 1):
        planned.send(number, 25 * mbit)
    planned.open("50mbit")
    planned.drain()
    rates = [rate(planned.times(number)) for number in range(1, len(plans) + 1)]
    for measured, mbit in zip(rates, plans, strict=True):
        assert measured == pytest.approx(50 * mbit / sum(plans), rel=.03), rates


def test_parents_are_a_limit_for_all_that_they_have(planned):
    """The first is short, the second has room, and one subscriber has none."""
    plans = [(10, 1), (20, 1), (30, 1), (10, 2), (20, 2), (40, 0)]
    expected = (5, 10, 15, 10, 20, 40)
    sign_up(planned.subscribers, plans, parents=(30, 50))
    for number, mbit in enumerate(expected, 1):
        planned.send(number, 25 * mbit)
    planned.open()
    planned.drain()
    rates = [rate(planned.times(number)) for number in range(1, len(plans) + 1)]
    for number, (measured, mbit) in enumerate(zip(rates, expected, strict=True)):
        assert measured == pytest.approx(mbit, rel=.03 if number < 3 else .002), rates
    of_first = [planned.times(number) for number in (1, 2, 3)]
    end = min(times[-1] for times in of_first)
    together = sorted(time for times in of_first for time in times if time <= end)
    assert rate(together) == pytest.approx(30, rel=.003)


def test_a_plan_changes_live(planned):
    """Without a loss, and soon: from one packet to the next."""
    planned.subscribers.own(1, v4(1))
    planned.subscribers.plan(1, 20)
    planned.send(1, 1000)
    planned.open()
    changes = []
    for mbit in (5, 20, 5, 0):
        time.sleep(.06)
        planned.subscribers.plan(1, mbit)
        changes.append((time.time(), mbit))
    planned.drain()
    times = planned.times(1)
    assert planned.cable.qdisc.stats()["drops"] == 0
    for (begin, mbit), end in zip(changes, [later for later, _ in changes[1:]] + [None],
                                  strict=True):
        of = [time for time in times if time > begin + .02 and (end is None or time < end)]
        print(mbit, len(of), end and rate(of))
        if end:
            assert rate(of) == pytest.approx(mbit, rel=.02)
        else:
            assert not of


# ---- whose a packet is ------------------------------------------------------------------


def order(planned):
    planned.open()
    return planned.drain()


def waiting(planned):
    return planned.cable.qdisc.stats()["hosts"]["waiting"]


@pytest.mark.parametrize("frame, target, owner", [
    (ipv4_frame, "10.1.0.1", 1), (ipv4_frame, "10.1.0.9", 2), (ipv4_frame, "10.2.0.1", 3),
    (ipv6_frame, "2001:db8:1::7", 1), (ipv6_frame, "2001:db8:2::7", 2),
    (ipv6_frame, "2001:db8:2:7::7", 1), (ipv6_frame, "2001:db9::1", 3)], ids=str)
def test_the_longest_prefix_counts(planned, frame, target, owner):
    """Whose DualQ it is in shows whose plan delays it."""
    for number in (1, 2, 3):
        planned.subscribers.plan(number, .1 if number == owner else 1000)
    planned.subscribers.own(1, "10.1.0.1", "2001:db8:1::/48", "2001:db8:2:7::/64")
    planned.subscribers.own(2, "10.1.0.0/16", "2001:db8:2::/48")
    planned.subscribers.own(3, OTHERS)
    planned.open()
    for vlans in ((), ((0x8100, 5),)):
        planned.send(1, 3, vlans=vlans, frame=lambda serial, ecn, length, vlans, target=target:
                     frame(serial, ecn, length, vlans, target=target))
    planned.drain()
    times = [packet.time_ns / 1e9 for packet in planned.arrived]
    assert len(times) == 6 and times[-1] - times[0] == pytest.approx(5 * .08, rel=.02)


@pytest.mark.parametrize("others", [False, True])
def test_addresses_of_nobody(planned, others):
    """Have no plan, or share that of `*`."""
    planned.subscribers.plan(1, .1)
    if others:
        planned.subscribers.own(1, OTHERS)
    planned.open()
    for number in range(5):
        planned.send(number, 1)
    began = time.time()
    planned.drain()
    took = planned.arrived[-1].time_ns / 1e9 - began
    assert took == pytest.approx(4 * .08, rel=.05) if others else took < .02


def test_what_is_not_ip_has_no_plan(planned):
    planned.subscribers.plan(1, .1)
    planned.subscribers.own(1, OTHERS)
    planned.open()
    planned.send(0, 20, frame=lambda serial, ecn, length: other_frame(serial, length))
    began = time.time()
    planned.drain()
    assert planned.arrived[-1].time_ns / 1e9 - began < .02


def test_an_address_goes_to_another(planned):
    """Also one that was looked up just before."""
    sign_up(planned.subscribers, [(.1, 0), (1000, 0)])
    planned.open()
    planned.send(1, 2)
    planned.drain()
    planned.subscribers.own(2, v4(1))
    planned.send(1, 20)
    began = time.time()
    planned.drain()
    assert planned.arrived[-1].time_ns / 1e9 - began < .02


# ---- delay ------------------------------------------------------------------------------


def test_l_waits_for_no_queue_of_others(planned):
    sign_up(planned.subscribers, [(10, 0)] * 20)
    fill(planned, range(1, 20), 5)
    planned.send(20, 1, ECT_1)
    assert order(planned).index(20) <= 2


def test_the_step_is_that_of_the_plan(planned):
    """2 Mbit/s: a packet takes 4 ms. The first three leave at once or wait for one other."""
    sign_up(planned.subscribers, [(2, 0), (1000, 0)])
    load(planned.cable, "--rate", "1gbit", "--step-thresh", "1ms")
    for number in (1, 2):
        planned.send(number, 20, ECT_1)
    planned.drain()
    marked = [planned.of[packet.serial] for packet in planned.arrived if packet.ecn == CE]
    assert 15 <= marked.count(1) <= 18 and marked.count(2) == 0


# ---- what ends --------------------------------------------------------------------------


def new_owner(planned, owner):
    """Number 1, whose p' is high, goes; then it is somebody's. How many L packets are marked."""
    sign_up(planned.subscribers, [(1, 0)])
    load(planned.cable, "--rate", "1gbit", "--target", 0, "--alpha", .1, "--beta", .004)
    planned.send(1, 300)
    wait_until(lambda: planned.cable.qdisc.stats()["prob"] > .2, "p' has grown")
    load(planned.cable, "--tupdate", "4000s")
    planned.subscribers.disown(v4(1))
    planned.subscribers.plan(1, 0, owner=owner)
    planned.drain()
    planned.subscribers.plan(1, .1, owner=owner)
    planned.subscribers.own(1, v4(2))
    planned.send(1, 50, ECT_1, target=v4(2))
    planned.drain()
    return sum(packet.ecn == CE for packet in planned.arrived)


def test_somebody_elses_number_begins_anew(planned):
    assert new_owner(planned, owner=7) == 0


def test_the_same_owner_goes_on(planned):
    assert new_owner(planned, owner=1) > 10


def test_who_goes_leaves_without_a_limit(planned):
    sign_up(planned.subscribers, [(.1, 0), (1, 1)], parents=[.1])
    fill(planned, (1, 2), 50)
    planned.open()
    for number in (1, 2):
        planned.subscribers.disown(v4(number))
        planned.subscribers.plan(number, 0, owner=0)
    began = time.time()
    planned.drain()
    assert planned.arrived[-1].time_ns / 1e9 - began < .02
    assert planned.cable.qdisc.stats()["drops"] == 0


@pytest.fixture
def held(planned):
    """Packets wait in all places where they can: for plans, parents and turns."""
    sign_up(planned.subscribers, [(.1, 0), (.1, 0), (20, 1), (20, 1), (20, 1), (1000, 0)],
            parents=[.1])
    fill(planned, range(1, 6), 20)
    planned.open()
    wait_until(lambda: planned.cable.qdisc.tc()["packets"] >= 5, "some have left")
    return planned


def test_a_link_that_goes_down_empties_all(held):
    held.cable.tx.ip("link set d0 down")
    held.cable.tx.ip("link set d0 up")
    held.cable.sender.getsockopt(1, 4)  # SO_ERROR: "Network is down"
    stats = held.cable.qdisc.stats()
    assert stats["qlen"] == 0 == stats["hosts"]["waiting"]
    assert stats["c-queue"]["drop-reset"] > 60
    held.send(1, 5)
    held.send(4, 5)
    assert sorted(held.drain()[-10:]) == [1] * 5 + [4] * 5


def test_it_ends_while_packets_wait(held):
    held.cable.qdisc.load("--unload")
    assert not held.cable.qdisc.is_attached()


def test_a_lowered_limit_holds_also_for_those_who_are_held(held):
    load(held.cable, "--limit", 10)
    held.send(6, 1)  # dequeue looks
    wait_until(lambda: held.cable.qdisc.tc()["qlen"] <= 10, "the limit holds")
    assert held.cable.qdisc.check_conservation()["c-queue"]["drop-trim"] > 50


def test_what_is_trimmed_does_not_count_in_the_plan(planned):
    """100 kbit/s: 80 ms a packet."""
    sign_up(planned.subscribers, [(.1, 0), (1000, 0)])
    planned.send(1, 50)
    planned.open()
    wait_until(lambda: planned.cable.qdisc.tc()["packets"] >= 3, "some have left")
    load(planned.cable, "--limit", 5)
    planned.send(2, 1)
    planned.drain()
    times = planned.times(1)
    assert max(later - earlier for earlier, later in itertools.pairwise(times)) < .1


@pytest.mark.parametrize("gone", [("plan_dualqs",), ("parents", "plans"), ("parents",),
                                  ("plan_dualqs", "parents", "plans", "prefixes")], ids=str)
def test_maps_that_are_taken_away(held, gone):
    """By hand: packets that were in them are thrown away, all others leave. (Plans go last: without
    them packets leave at once, and so before the rest is taken away.)"""
    held.subscribers.take_away(*gone)
    held.send(0, 5, target="10.9.9.9")
    wait_until(lambda: held.cable.qdisc.tc()["qlen"] == 0, "nothing waits")
    stats = held.cable.qdisc.check_conservation()
    assert (stats["c-queue"]["drop-reset"] > 20) == ("plan_dualqs" in gone or "parents" in gone)


# ---- limits -----------------------------------------------------------------------------


def test_who_floods_leaves_room_for_others(planned):
    sign_up(planned.subscribers, [(1000, 0)] * 11)
    load(planned.cable, "--limit", 100)
    planned.send(1, 200)
    fill(planned, range(2, 12), 3)
    assert planned.cable.qdisc.stats()["c-queue"]["drop-limit"] == pytest.approx(150, abs=2)
    found = order(planned)
    assert all(found.count(number) == 3 for number in range(2, 12))


# ---- GSO --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def one_gso_wire(registered):
    yield from gso_wire.one_wire()


@pytest.fixture
def gso(one_gso_wire):
    yield from gso_wire.checked(one_gso_wire)


def test_whole_gso_packets_take_the_time_of_their_segments(gso):
    segments, packets, mbit = 20, 10, 20
    with subscribed(gso, "--rate", "1gbit", "--no-split-gso", *CALM, dev="g0") as subscribers:
        subscribers.plan(1, mbit)
        subscribers.own(1, "10.0.0.2")
        for _ in range(packets):
            gso.send_local(gso_wire.payload_of(segments))
        wait_until(lambda: gso.qdisc.tc()["qlen"] == 0, "all have left")
        highest = gso.qdisc.stats()["c-queue"]["delay"]["max"]
    frame = superpackets.MSS + 42
    assert highest == pytest.approx((packets - 1) * segments * frame * 8 / mbit, rel=.03)
