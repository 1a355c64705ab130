# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""TCP Prague behind a queue with Classic ECN (RFC 9331, 4.3, item 3): found, answered as by Reno,
and remembered."""

import json
import struct

import pytest
from conftest import needs
from frames import CE, ECT_0, ECT_1
from netns import Namespace, run, veth, wait_until
from prague_pair import PINS, PORT, UPLOAD, Pair, needs_accecn, prague_pair

pytestmark = needs_accecn
# Public: on private networks nothing is looked for.
LEFT, RIGHT, NETWORK = "198.51.100.1", "203.0.113.2", "203.0.113.0/24"
RTT_MS = 20
RATE = "10mbit"
MUCH = 1 << 30  # bytes: more than a test lasts


class RoutedPair(Pair):
    """With a router between them. Without one the queue would count as the sender's own, and have
    hardly two packets of a socket."""

    def connect(self):
        self.router = Namespace("router")
        veth(self.left, "s0", self.router, "r0")
        veth(self.router, "r1", self.right, "c0")
        for space, own, dev, other in ((self.left, LEFT, "s0", RIGHT),
                                       (self.right, RIGHT, "c0", LEFT)):
            space.ip(f"addr add {own}/32 dev {dev}")
            space.ip(f"route add {other} dev {dev}")
        for dev, other in (("r0", LEFT), ("r1", RIGHT)):
            self.router.ip(f"route add {other} dev {dev}")
            self.router.sysctl(f"net.ipv4.conf.{dev}.proxy_arp", 1)
        self.router.sysctl("net.ipv4.ip_forward", 1)
        self.right.run("tc", "qdisc", "add", "dev", "c0", "root", "netem", "delay",
                       f"{RTT_MS}ms", "limit", 10000)

    def add_bottleneck(self, *aqm):
        needs("sch_htb", f"sch_{aqm[0]}")
        for words in ("qdisc add dev r1 root handle 1: htb default 1",
                      f"class add dev r1 parent 1: classid 1:1 htb rate {RATE}",
                      f"qdisc add dev r1 parent 1:1 {' '.join(aqm)}"):
            self.router.run("tc", *words.split())

    def close(self):
        super().close()
        self.router.delete()


@pytest.fixture
def pair():
    for made in prague_pair(RoutedPair):
        made.accept(address=RIGHT)
        yield made


def begin(pair):
    """A long upload."""
    child = pair.send(to=RIGHT, client=UPLOAD)
    child.stdin.write(f"{MUCH}\n")
    child.stdin.flush()
    return child


def seen(pair):
    """Destinations with a Classic queue: how often."""
    shown = json.loads(pair.tool("status", "--json").stdout)
    return {one["prefix"]: one["times"] for one in shown["classic-destinations"]}


def on_the_wire(pair):
    """ECN fields of the next packets."""
    pair.wire.reset()
    pair.wire.wait_for(300)
    return set(pair.wire.of(PORT))


def reductions(pair, count):
    """The window after a reduction, by the one before."""
    windows, ratios = [], []

    def look():
        [one] = pair.sockets()
        windows.append(one["window"])
        if len(windows) > 1 and windows[-1] < windows[-2]:
            ratios.append(windows[-1] / windows[-2])
        return len(ratios) >= count

    wait_until(look, f"the window is reduced {count} times", step=0.01)
    return ratios


def find_twice(pair):
    for _ in range(2):
        child = begin(pair)
        wait_until(lambda: pair.mode() in ("classic-aqm", "remembered"), "the queue is found")
        pair.end(child)
        wait_until(lambda: not pair.sockets(), "the connection has ended")
    assert seen(pair) == {NETWORK: 2}


@pytest.mark.parametrize("aqm", ["pie", "codel"])
def test_first_it_responds_as_reno_and_then_it_is_cubic(pair, aqm):
    pair.add_bottleneck(aqm, "ecn")
    pair.tool("on", "--netns", "left")
    first = begin(pair)
    pair.wait_for_mode("classic-aqm")
    assert seen(pair) == {NETWORK: 1}
    assert reductions(pair, 5) == pytest.approx([1 / 2] * 5, abs=0.1)
    assert on_the_wire(pair) <= {ECT_1, CE}
    pair.end(first)

    again = begin(pair)
    pair.wait_for_mode("remembered")
    assert seen(pair) == {NETWORK: 2}
    assert pair.congestion() == {"cubic"}
    assert on_the_wire(pair) <= {ECT_0, CE}
    pair.end(again)
    shown = pair.tool("status").stdout
    assert f"Classic ECN queue on the way to {NETWORK}: seen 2 times" in shown

    pair.wire.reset()
    begin(pair)
    pair.wire.wait_for(300)
    assert ECT_1 not in pair.wire.of(PORT)
    assert pair.mode() == "remembered" and pair.congestion() == {"cubic"}


def test_after_a_day_it_is_forgotten(pair):
    pair.add_bottleneck("codel", "ecn")
    pair.tool("on", "--netns", "left")
    find_twice(pair)
    pin = next(pin for pin in PINS.rglob("*") if pin.name == "prague_classic")
    [entry] = json.loads(run("bpftool", "-j", "map", "dump", "pinned", pin).stdout)
    seconds, times = struct.unpack("=QI4x", bytes(int(byte, 16) for byte in entry["value"]))
    # The guest has run for less than a day: before it began, the clock went round.
    value = struct.pack("=QI4x", (seconds - 24 * 3600) % 2**64, times)
    run("bpftool", "map", "update", "pinned", pin, "key", *map(str, (
        int(byte, 16) for byte in entry["key"])), "value", *map(str, value))
    assert not seen(pair)
    pair.wire.reset()
    begin(pair)
    pair.wire.wait_for(30)
    assert set(pair.wire.of(PORT)) <= {ECT_1, CE}


def test_without_detection_nothing_is_found(pair):
    pair.add_bottleneck("codel", "ecn")
    told = pair.tool("on", "--netns", "left", "--no-classic-detection")
    assert "Classic ECN" in told.stdout + told.stderr, "it warns"
    begin(pair)
    wait_until(lambda: sum(one["delivered-ce"] for one in pair.sockets()) > 500,
               "it is marked often", 60)
    assert pair.mode() == "prague" and not seen(pair)
