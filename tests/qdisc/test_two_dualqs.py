# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A qdisc with two DualQs (two_dualqs.bpf.h): nothing that belongs to a DualQ is the qdisc's, and
the second, which the timer does not update, catches up at its packets."""

import json
import socket
import time

import pytest
from conftest import BIN, PIN_DIR, check_law
from frames import CE, ECT_0, ECT_1, NOT_ECT
from iproute import TC_H_ROOT
from netns import run, wait_until

pytestmark = pytest.mark.oldest_kernel

LOADER = BIN / "two/dualpi2-load"
SO_MARK = 36
FIRST, SECOND = HOMES = (0, 1)


class Two:
    """The cable with such a qdisc."""

    def __init__(self, wire):
        self.wire, self.sent, self.arrived = wire, {home: {} for home in HOMES}, []

    def load(self, *options):
        self.wire.tx.run(LOADER, "d0", *options)

    def burst(self, home, ecn, count, length=400):
        self.wire.sender.setsockopt(socket.SOL_SOCKET, SO_MARK, home)
        self.sent[home] |= dict.fromkeys(self.wire.burst(ecn, count, length), ecn)

    def receive(self):
        self.arrived += self.wire.receive()

    def drain(self):
        self.arrived += self.wire.drain()

    def homes(self):
        """Which DualQ each packet came through, in the order of their arrival."""
        return [next(home for home in HOMES if packet.serial in self.sent[home])
                for packet in self.arrived]

    def of(self, home):
        return [packet for packet in self.arrived if packet.serial in self.sent[home]]

    def finish(self):
        """The conservation law of both together, and for each what was sent and has arrived, in
        the order of each queue."""
        self.load("--rate", 0)
        self.drain()
        self.load()  # it publishes
        stats = self.stats()
        check_law(total(stats), self.wire.qdisc.tc())
        for home in HOMES:
            assert packets(stats[home], "packets_in") == len(self.sent[home])
            assert packets(stats[home], "packets_out") == len(self.of(home))
            for queue in ((ECT_1, CE), (NOT_ECT, ECT_0)):
                passed = [packet.serial for packet in self.of(home)
                          if self.sent[home][packet.serial] in queue]
                assert passed == sorted(passed)

    def stats(self):
        """By DualQ."""
        dump = json.loads(run("bpftool", "-j", "map", "dump", "pinned",
                              PIN_DIR / "pi2/dualpi2_stats").stdout)
        found = {entry["formatted"]["key"]["parent"]: entry["formatted"]["value"]
                 for entry in dump}
        assert set(found) == {TC_H_ROOT, SECOND}
        return found[TC_H_ROOT], found[SECOND]


def as_tool(queue):
    """A queue of the statistics as dualpi2-stats names its members."""
    counters = {name.replace("_", "-"): value for name, value in queue["counters"].items()}
    return counters | {name: queue[name.replace("-", "_")]
                       for name in ("backlog-packets", "backlog-bytes")}


def total(stats):
    """Both together, as those of a qdisc."""
    queues = {name: [as_tool(of[name]) for of in stats] for name in ("l", "c")}
    summed = {f"{name}-queue": {key: sum(queue[key] for queue in both) for key in both[0]}
              for name, both in queues.items()}
    return summed | {"memory-used": stats[FIRST]["memory_used"]}


def packets(of, member):
    return sum(of[name]["counters"][member] for name in ("l", "c"))


@pytest.fixture
def two(wire):
    wire.start()
    two = Two(wire)
    try:
        yield two
        two.finish()
    finally:
        two.load("--unload")
        wire.sender.setsockopt(socket.SOL_SOCKET, SO_MARK, 0)
    assert not PIN_DIR.exists()


def test_they_queue_apart_and_are_served_in_turn(two):
    two.load("--rate", "500kbit")
    for ecn in (ECT_1, NOT_ECT):
        for home in HOMES:
            two.burst(home, ecn, 100)
    two.load()  # it publishes
    for of in two.stats():
        assert {of[name]["counters"]["packets_in"] for name in ("l", "c")} == {100}
        assert of["l"]["backlog_packets"] + of["c"]["backlog_packets"] > 100
    two.load("--rate", 0)
    two.drain()
    homes = two.homes()
    first = homes.index(SECOND) - 1
    assert homes[first:first + 150] == [FIRST, SECOND] * 75


def test_update_marks_and_drops_of_one_are_not_the_others(two):
    """A standing queue in the second; a packet at a time in the first."""
    two.load("--rate", "1mbit", "--step-thresh", "4000s")
    two.burst(SECOND, NOT_ECT, 300)
    wait_until(lambda: two.stats()[SECOND]["levels"]["prob"] > 2**31, "p' has grown")
    for _ in range(20):
        two.burst(SECOND, ECT_1, 5)
        two.burst(FIRST, ECT_1, 1)
        seen = len(two.arrived)
        wait_until(lambda at=seen: two.receive() or FIRST in two.homes()[at:], "it has arrived")
        assert two.stats()[FIRST]["levels"]["prob"] == 0
    two.load("--rate", 0)
    two.drain()
    first, second = two.stats()
    assert first["updates"] and second["updates"]
    assert first["l"]["counters"]["mark_coupled"] == 0 < second["l"]["counters"]["mark_coupled"]
    assert first["c"]["counters"]["drop_aqm"] == 0 < second["c"]["counters"]["drop_aqm"]
    assert CE not in {packet.ecn for packet in two.of(FIRST)}
    assert CE in {packet.ecn for packet in two.of(SECOND)}


def test_overload_of_one_is_not_the_others(two):
    two.load("--rate", "200kbit", "--target", "1ms")
    two.burst(FIRST, ECT_1, 1)
    wait_until(lambda: two.burst(SECOND, ECT_1, 50) or two.stats()[SECOND]["overload"]["active"],
               "the second is overloaded")
    assert two.stats()[FIRST]["overload"]["events"] == 0


def test_many_blocks_come_from_one_pool(two):
    """Both fill and empty lists of blocks, again and again; all comes back in order."""
    two.load("--rate", "1mbit")
    for _ in range(6):
        for home in HOMES:
            two.burst(home, NOT_ECT, 60)
            two.burst(home, ECT_1, 60)
        two.load("--rate", 0)
        two.drain()
        two.load("--rate", "1mbit")


def test_a_link_that_goes_down_empties_both(two):
    two.load("--rate", "100kbit")
    for home in HOMES:
        two.burst(home, NOT_ECT, 30)
        two.burst(home, ECT_1, 30)
    two.receive()
    two.wire.tx.ip("link set d0 down")
    two.wire.tx.ip("link set d0 up")
    two.wire.sender.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)  # "Network is down"
    two.load()  # it publishes
    for of in two.stats():
        assert all(of[name]["counters"]["drop_reset"] > 0 for name in ("l", "c"))
        assert all(of[name]["backlog_packets"] == 0 for name in ("l", "c"))


def test_a_lowered_limit_holds_for_both_together(two):
    two.load("--rate", "100kbit")
    for home in HOMES:
        two.burst(home, NOT_ECT, 40)
    two.load("--limit", 20)
    wait_until(lambda: two.wire.qdisc.tc()["qlen"] <= 20, "the limit holds")
    assert all(of["c"]["counters"]["drop_trim"] > 10 for of in two.stats())


def test_a_new_credit_reaches_the_second_with_its_next_packet(two):
    """A change of parameters touches the first only. A packet takes the link more than a second,
    in which none but this test does anything."""
    two.load("--rate", "8kbit", "--tupdate", "4000s")
    for home in HOMES:
        two.burst(home, ECT_1, 5, 1400)
        two.burst(home, NOT_ECT, 5, 1400)
    wait_until(lambda: two.receive() or set(two.homes()) == {FIRST, SECOND}, "both were served")
    seen = len(two.arrived)
    wait_until(lambda: two.receive() or len(two.arrived) > seen, "the link begins with another")
    two.load()  # it publishes
    before = [of["credit"] for of in two.stats()]
    two.load("--classic-protection", "50%")
    first, second = (of["credit"] for of in two.stats())
    assert first != before[FIRST] and second == before[SECOND] != first
    two.burst(SECOND, NOT_ECT, 1)
    two.load()
    assert [of["credit"] for of in two.stats()] == [first, first]


def test_the_law_reaches_the_second_with_its_next_packet(two):
    """It drops for overload what it could mark. With --overflow it marks."""
    two.load("--rate", "500kbit", "--p-cmax", "1%", "--alpha", 0.02, "--beta", 0.1)
    two.burst(SECOND, NOT_ECT, 300)
    wait_until(lambda: two.stats()[SECOND]["levels"]["prob"] > 2**32 // 5, "it is overloaded")
    two.load("--tupdate", "4000s")
    updates = two.stats()[SECOND]["updates"]
    wait_until(lambda: two.load() or two.stats()[SECOND]["updates"] > updates,
               "the last update for an hour")
    two.burst(SECOND, ECT_0, 60)
    two.load("--overflow")
    assert two.stats()[SECOND]["c"]["counters"]["mark_coupled"] == 0
    two.burst(SECOND, ECT_0, 60)
    two.load()
    assert two.stats()[SECOND]["c"]["counters"]["mark_coupled"] > 0
    two.load("--tupdate", "16ms")
    wait_until(lambda: (two.burst(SECOND, ECT_0, 1) or two.load() or
                        two.stats()[SECOND]["updates"] > updates + 3),
               "the shorter period has begun")


def test_the_second_makes_up_for_the_updates_that_it_slept_through(two):
    """Overload empties its queue, and p' stays where it was until a packet comes, without a timer;
    then it is what so many updates would have made of it."""
    two.load("--rate", "1mbit", "--alpha", 2, "--beta", 0.01)
    two.burst(SECOND, NOT_ECT, 300)
    wait_until(lambda: two.receive() or not two.wire.qdisc.tc()["qlen"], "its queue is empty")
    asleep = wait_until(lambda: (now := two.stats()) == two.stats() and now, "the timer sleeps")
    assert asleep[SECOND]["levels"]["prob"] > 2**31 and asleep[SECOND]["overload"]["active"]
    time.sleep(1.5)  # what p' and overload take to be over
    assert two.stats() == asleep
    two.burst(SECOND, ECT_1, 1)
    two.load()  # it publishes
    awake = two.stats()[SECOND]
    assert awake["levels"]["prob"] == 0 and not awake["overload"]["active"]
    assert awake["updates"] == asleep[SECOND]["updates"] + 1
    assert awake["overload"]["total_ns"] == asleep[SECOND]["overload"]["total_ns"]
