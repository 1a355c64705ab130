# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""TCP Prague behind a queue with Classic ECN (RFC 9331, 4.3, item 3): found, answered as by Reno,
and remembered."""

import json

import pytest
from conftest import needs
from frames import CE, ECT_0, ECT_1
from netns import wait_until
from path import Flow, build_path
from prague_pair import PORT, UPLOAD, Pair, needs_accecn, prague_pair

pytestmark = needs_accecn
# Public: on private networks nothing is looked for.
LEFT, RIGHT, NETWORK = "198.51.100.1", "203.0.113.2", "203.0.113.0/24"
RTT_MS = 100  # so long that a window grows little between two looks at it
RATE = "5mbit"  # and so slow that it is reduced every three seconds
MUCH = 1 << 30  # bytes: more than a test lasts


class RoutedPair(Pair):
    """With a router between them. Without one the queue would count as the sender's own, and have
    hardly two packets of a socket."""

    def connect(self):
        self.left, self.router, self.right = build_path([Flow(LEFT, RIGHT, congestion=None)],
                                                        RTT_MS)

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


def reductions(pair, count):
    """The window after a reduction, by the one before."""
    windows, ratios = [], []

    def look():
        [one] = pair.sockets()
        windows.append(one["window"])
        if len(windows) > 1 and windows[-1] < windows[-2]:
            ratios.append(windows[-1] / windows[-2])
        return len(ratios) >= count

    wait_until(look, f"the window is reduced {count} times", 60, step=0.01)
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
    pair.tool("on", "--netns", pair.left.name)
    first = begin(pair)
    pair.wait_for_mode("classic-aqm")
    assert seen(pair) == {NETWORK: 1}
    assert reductions(pair, 5) == pytest.approx([1 / 2] * 5, abs=0.05)
    assert pair.wire.next_fields() <= {ECT_1, CE}
    pair.end(first)

    again = begin(pair)
    pair.wait_for_mode("remembered")
    assert seen(pair) == {NETWORK: 2}
    assert pair.congestion() == {"cubic"}
    wait_until(lambda: pair.wire.next_fields() <= {ECT_0, CE}, "what was sent before has arrived")
    pair.end(again)
    shown = pair.tool("status").stdout
    assert f"Classic ECN queue on the way to {NETWORK}: seen 2 times" in shown

    pair.wire.reset()
    begin(pair)
    pair.wire.wait_for(300)
    assert ECT_1 not in pair.wire.of(PORT)
    assert pair.mode() == "remembered" and pair.congestion() == {"cubic"}


def test_what_is_not_ect1_responds_as_reno(pair):
    """And as its packets are ECT(0), a mark is none of an L4S queue: nothing is looked for."""
    pair.add_bottleneck("codel", "ecn")
    pair.tool("on", "--netns", pair.left.name, "--dev", "lo")
    begin(pair)
    pair.wait_for_mode("not-ect1")
    assert reductions(pair, 5) == pytest.approx([1 / 2] * 5, abs=0.05)
    assert pair.wire.next_fields() <= {ECT_0, CE}
    assert pair.mode() == "not-ect1" and not seen(pair)


def test_after_a_day_it_is_forgotten(pair):
    pair.add_bottleneck("codel", "ecn")
    pair.tool("on", "--netns", pair.left.name)
    find_twice(pair)
    pair.remember(NETWORK.removesuffix("/24"), 2, age_s=24 * 3600)
    assert not seen(pair)
    pair.wire.reset()
    begin(pair)
    pair.wire.wait_for(30)
    assert set(pair.wire.of(PORT)) <= {ECT_1, CE}


def test_without_detection_nothing_is_found(pair):
    pair.add_bottleneck("codel", "ecn")
    told = pair.tool("on", "--netns", pair.left.name, "--no-classic-detection")
    assert "Classic ECN" in told.stdout + told.stderr, "it warns"
    begin(pair)
    wait_until(lambda: sum(one["delivered-ce"] for one in pair.sockets()) > 500,
               "it is marked often", 60)
    assert pair.mode() == "prague" and not seen(pair)
