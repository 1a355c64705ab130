# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`--per-host`: who is a host, and that each has a DualQ and a share of its own."""

import itertools

import pytest
from frames import CE, ECT_1, NOT_ECT, ipv4_frame, ipv6_frame, other_frame
from netns import run, wait_until
from test_hosts import DUALQS, SETS, maps

pytestmark = pytest.mark.oldest_kernel

ALSO_REGISTERED = ("pi2-hosts",)

LENGTH = 1000
BY_TARGET = ("--per-host", "dst")
# A packet takes 80 ms, so that few leave while others are sent, and PI2 drops none.
SLOW = ("--rate", "100kbit", "--target", "4000s")
STANDING = (*BY_TARGET, *SLOW)
UNSHAPED = ("--rate", 0)


def v4(number):
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


class Hosts:
    """The cable, and hosts behind it by number."""

    def __init__(self, cable):
        self.cable, self.of, self.arrived = cable, {}, []

    def load(self, *options):
        return self.cable.load(*options)

    def send(self, host, ecn, count, frame=ipv4_frame, length=LENGTH, **options):
        """To (or, as options say, from) a host."""
        serials = list(itertools.islice(self.cable.serials, count))
        self.of |= dict.fromkeys(serials, host)
        options = options or ({"target": v4(host)} if frame == ipv4_frame else {})
        self.cable.send(*(frame(serial, ecn, length, **options) for serial in serials))
        return serials

    def drain(self):
        """Whose packets came, in the order of their arrival; those of a host are in order."""
        self.arrived += self.cable.drain()
        for host in set(self.of.values()):
            for ecns in ((ECT_1, CE), (NOT_ECT,)):
                serials = [packet.serial for packet in self.arrived
                           if self.of[packet.serial] == host and packet.ecn in ecns]
                assert serials == sorted(serials)
        return [self.of[packet.serial] for packet in self.arrived]

    def stats(self):
        return self.cable.qdisc.stats()


@pytest.fixture
def hosts(cable):
    return Hosts(cable)


def test_each_has_the_same_share_whatever_it_queues(hosts):
    """One that sends first, and ten times as much, does not get more."""
    hosts.load(*STANDING)
    hosts.send(1, NOT_ECT, 100)
    hosts.send(2, NOT_ECT, 10)
    hosts.send(3, NOT_ECT, 10)
    assert hosts.stats()["hosts"]["waiting"] == 3
    hosts.load(*UNSHAPED)
    order = hosts.drain()
    last = len(order) - order[::-1].index(3)
    assert order[:last].count(1) <= 10 + 3
    assert hosts.stats()["hosts"]["waiting"] == 0


def test_the_share_is_in_bytes(hosts):
    hosts.load(*STANDING)
    hosts.send(1, NOT_ECT, 30, length=1500)
    hosts.send(2, NOT_ECT, 150, length=300)
    hosts.load(*UNSHAPED)
    order = hosts.drain()
    half = order[:90]
    assert half.count(1) * 1500 == pytest.approx(half.count(2) * 300, abs=3 * 1514)


def test_l_of_a_host_waits_for_no_queue_of_others(hosts):
    hosts.load(*STANDING)
    for host in range(1, 40):
        hosts.send(host, NOT_ECT, 3)
    hosts.send(40, ECT_1, 1)
    hosts.load(*UNSHAPED)
    assert hosts.drain().index(40) <= 2


def test_l_that_floods_does_not_delay_that_of_others(hosts):
    hosts.load(*STANDING, "--step-thresh", "4000s")
    hosts.send(1, ECT_1, 200)
    hosts.send(2, ECT_1, 1)
    hosts.load(*UNSHAPED)
    assert hosts.drain().index(2) <= 3


def claims(hosts):
    return hosts.stats()["hosts"]["claims"]


@pytest.mark.parametrize("options, frame, first, second, are_one", [
    (("dst",), ipv4_frame, {"target": "10.0.0.1"}, {"target": "10.0.0.2"}, False),
    (("dst",), ipv4_frame, {"source": "10.0.0.1"}, {"source": "10.0.0.3"}, True),
    (("src",), ipv4_frame, {"source": "10.0.0.1"}, {"source": "10.0.0.3"}, False),
    (("src",), ipv4_frame, {"target": "10.0.0.1"}, {"target": "10.0.0.3"}, True),
    (("dst",), ipv6_frame, {"target": "2001:db8::1"}, {"target": "2001:db8::2"}, True),
    (("dst",), ipv6_frame, {"target": "2001:db8::1"}, {"target": "2001:db8:0:1::1"}, False),
    (("src",), ipv6_frame, {"source": "2001:db8::1"}, {"source": "2001:db8:0:1::1"}, False),
    (("dst", "--host-prefix", 56), ipv6_frame,
     {"target": "2001:db8::1"}, {"target": "2001:db8:0:ff::1"}, True),
    (("dst", "--host-prefix", 128), ipv6_frame,
     {"target": "2001:db8::1"}, {"target": "2001:db8::2"}, False),
], ids=str)
def test_what_a_host_is(hosts, options, frame, first, second, are_one):
    """With a VLAN tag in the frame as well, where its header is searched for."""
    hosts.load(*SLOW, "--per-host", *options)
    for vlans in ((), ((0x8100, 5),)):
        hosts.send(1, NOT_ECT, 3, lambda serial, ecn, length, vlans=vlans, **of:
                   frame(serial, ecn, length, vlans, **of), **first)
        hosts.send(2, NOT_ECT, 3, lambda serial, ecn, length, vlans=vlans, **of:
                   frame(serial, ecn, length, vlans, **of), **second)
    assert claims(hosts) == (1 if are_one else 2)
    hosts.load(*UNSHAPED)
    hosts.drain()


def test_a_packet_without_an_ip_header_is_of_no_host(hosts):
    hosts.load(*STANDING)
    hosts.send(0, NOT_ECT, 5, lambda serial, ecn, length: other_frame(serial, length))
    stats = hosts.stats()
    assert (stats["hosts"]["claims"], stats["hosts"]["waiting"]) == (0, 1)
    hosts.load(*UNSHAPED)
    assert hosts.drain() == [0] * 5


def test_another_law_begins_with_the_next_packet(hosts):
    """What waits stays where it is, and is served."""
    hosts.load(*STANDING)
    hosts.send(1, NOT_ECT, 5)
    hosts.load("--per-host", "src")
    hosts.send(2, NOT_ECT, 5, source="10.0.0.9", target=v4(1))
    assert (stats := hosts.stats())["hosts"]["claims"] == 2 and stats["hosts"]["waiting"] == 2
    hosts.load(*UNSHAPED)
    assert sorted(hosts.drain()) == [1] * 5 + [2] * 5


def test_more_hosts_than_dualqs_share_and_are_counted(hosts):
    hosts.load(*STANDING, "--hosts", 8)
    for host in range(1, 21):
        hosts.send(host, NOT_ECT, 2)
    stats = hosts.stats()["hosts"]
    assert stats == {"waiting": 8, "claims": 8, "shared": 24}
    hosts.load(*UNSHAPED)
    assert sorted(hosts.drain()) == sorted([*range(1, 21)] * 2)


def test_a_host_that_shares_is_marked_too(hosts):
    """Else an L4S sender would not know of any queue."""
    hosts.load(*STANDING, "--step-thresh", "1ms", "--hosts", 8)
    for host in range(1, 10):
        hosts.send(host, ECT_1, 12, length=200)
    assert hosts.stats()["hosts"]["shared"] == 12
    hosts.load(*UNSHAPED)
    hosts.drain()
    marked = [hosts.of[packet.serial] for packet in hosts.arrived if packet.ecn == CE]
    assert all(marked.count(host) >= 8 for host in range(1, 10)), marked


def test_an_idle_dualq_is_given_to_the_next_host(hosts):
    """Nothing of the one before is left to it: more hosts than DualQs, one after the other."""
    hosts.load(*BY_TARGET, *UNSHAPED, "--hosts", 8)
    for host in range(1, 101):
        hosts.send(host, ECT_1 if host % 2 else NOT_ECT, 3)
    hosts.drain()
    assert hosts.stats()["hosts"] == {"waiting": 0, "claims": 100, "shared": 0}


def test_who_floods_leaves_room_for_others(hosts):
    hosts.load(*STANDING, "--limit", 100)
    hosts.send(1, NOT_ECT, 200)
    for host in range(2, 12):
        hosts.send(host, NOT_ECT, 3)
    stats = hosts.stats()
    assert stats["c-queue"]["drop-limit"] == pytest.approx(150, abs=2)
    hosts.load(*UNSHAPED)
    order = hosts.drain()
    assert all(order.count(host) == 3 for host in range(2, 12))


def test_who_floods_leaves_memory_for_others(hosts):
    hosts.load(*STANDING, "--memlimit", 100_000)
    hosts.send(1, NOT_ECT, 200)
    for host in range(2, 6):
        hosts.send(host, NOT_ECT, 1)
    assert hosts.stats()["c-queue"]["drop-memlimit"] > 150
    hosts.load(*UNSHAPED)
    order = hosts.drain()
    assert all(order.count(host) == 1 for host in range(2, 6))


def test_a_link_that_goes_down_empties_all(hosts):
    """And they begin anew."""
    hosts.load(*STANDING)
    for host in range(1, 51):
        hosts.send(host, NOT_ECT, 10)
        hosts.send(host, ECT_1, 10)
    hosts.cable.tx.ip("link set d0 down")
    hosts.cable.tx.ip("link set d0 up")
    hosts.cable.sender.getsockopt(1, 4)  # SO_ERROR: "Network is down"
    stats = hosts.stats()
    assert stats["qlen"] == 0 == stats["hosts"]["waiting"]
    assert stats["c-queue"]["drop-reset"] + stats["l-queue"]["drop-reset"] > 990
    for host in range(1, 51):
        hosts.send(host, NOT_ECT, 10)
    assert hosts.stats()["hosts"]["waiting"] == 50
    hosts.load(*UNSHAPED)
    assert sorted(hosts.drain()[-499:])[:2] == [1, 1]


def test_a_lowered_limit_holds_for_all_together(hosts):
    hosts.load(*STANDING)
    for host in range(1, 21):
        hosts.send(host, NOT_ECT, 10)
    hosts.load("--limit", 40)
    wait_until(lambda: hosts.cable.qdisc.tc()["qlen"] <= 40, "the limit holds")
    assert hosts.stats()["c-queue"]["drop-trim"] > 150
    hosts.load(*UNSHAPED)
    assert len(set(hosts.drain())) == 20, "each has kept some"


def test_a_packet_that_passed_no_program_has_its_host(hosts):
    hosts.load(*STANDING)
    hosts.cable.qdisc.lose_program("pi2-hosts")
    hosts.send(1, NOT_ECT, 3)
    hosts.send(2, NOT_ECT, 3)
    stats = hosts.stats()
    assert stats["bypassed-tcx"] == 6 and stats["hosts"]["claims"] == 2
    hosts.load(*UNSHAPED)  # attaches it again
    hosts.drain()


def test_p_of_one_is_not_that_of_others(hosts):
    """A host with a standing queue has its packets marked, another one has not."""
    hosts.load(*BY_TARGET, "--rate", "1mbit", "--target", "1ms", "--step-thresh", "4000s")
    hosts.send(1, NOT_ECT, 200)
    wait_until(lambda: hosts.stats()["prob"] > .3, "p' has grown")
    for _ in range(20):
        hosts.send(1, ECT_1, 4, length=300)
        hosts.send(2, ECT_1, 2, length=300)
    hosts.load(*UNSHAPED)
    hosts.drain()
    marked = [hosts.of[packet.serial] for packet in hosts.arrived if packet.ecn == CE]
    assert 1 in marked and 2 not in marked


def test_queues_that_are_taken_away_take_their_packets_with_them(hosts):
    """By hand, while packets wait: those are counted as thrown away, and the rest goes on."""
    before = maps()
    hosts.load(*STANDING, "--hosts", 16)
    [number] = maps().keys() - before.keys()
    for host in range(1, 6):
        hosts.send(host, NOT_ECT, 5)
    for pin in (SETS, DUALQS):
        run("bpftool", "map", "delete", "pinned", pin, "key", number, 0, 0, 0)
    hosts.load(*UNSHAPED)
    wait_until(lambda: hosts.stats()["qlen"] == 0, "nothing waits")
    assert hosts.stats()["c-queue"]["drop-reset"] > 20
    hosts.load(*BY_TARGET)
    hosts.send(1, NOT_ECT, 5)
    hosts.send(2, ECT_1, 5)
    assert hosts.drain()[-10:] == [1] * 5 + [2] * 5
    assert hosts.stats()["hosts"]["claims"] >= 2
