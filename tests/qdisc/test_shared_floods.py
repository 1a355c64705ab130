# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--mq --rate under floods: what a well-behaved L flow gets, and all shares, are those of one qdisc
at the root with the same rate and the same senders, whichever queues the flood comes to."""

import math

import pytest
from frames import ECT_1, NOT_ECT, ipv4_frame
from shared_link import CALM, Shared, shared_link
from streams import Stream, play
from test_mq import QUEUES, from_flow

pytestmark = pytest.mark.oldest_kernel

RATE = 10_000_000
LENGTH = 1000
SETTLED_S, SECONDS = 1.5, 1.5
# Not one frame in a whole number of the link's frames: of those it would meet each at the same age.
MODEST = 0.19
# How long L waits for a frame of C that is under way, mean and P99: any link costs that, and how
# much less was seen of a few hundred packets is chance.
UNDER_WAY_MS = 1000 * LENGTH * 8 / RATE / 2, 1000 * LENGTH * 8 / RATE
LATE_MS = 0.05  # the timer of L's queue, which waits for a frame of C in another one


class Flooded(Shared):
    def stream(self, ecn, load, queues):
        """`load`: a part of the link."""
        return Stream([from_flow(ipv4_frame(0, ecn, LENGTH), self.flow_of[queue])
                       for queue in queues], load * RATE)


@pytest.fixture
def link(registered_link, new_space):
    for device in shared_link(new_space, Flooded):
        device.start("--rate", "1gbit")  # finds flows
        device.load("--unload")
        yield device


def measured(link, streams):
    """Of each stream (its part of the link, mean and P99 of its delay in ms)."""
    began = play(link, streams, SETTLED_S + SECONDS)
    begin, end = began + SETTLED_S, began + SETTLED_S + SECONDS
    return [(bit_per_s / RATE, mean, p99) for bit_per_s, mean, p99 in
            (stream.measured(begin, end) for stream in streams)]


def at_root(link):
    link.load("--rate", f"{RATE}bit")


def shared_by_queues(link):
    link.load("--unload")
    link.load("--mq", "--rate", f"{RATE}bit")


def by_chance(share):
    """By which two parts of the link may differ if each packet is dropped or not at random: three
    standard deviations of the difference."""
    packets = RATE * SECONDS / 8 / LENGTH
    return 3 * math.sqrt(2 * share * packets) / packets


@pytest.mark.parametrize("ecn", [ECT_1, NOT_ECT], ids=["ECT(1)", "Not-ECT"])
def test_flood(link, ecn):
    """Twice what the link takes."""
    def streams(queues):
        return [link.stream(ecn, 2, queues), link.stream(ECT_1, MODEST, [1]),
                link.stream(NOT_ECT, MODEST, [2])]
    at_root(link)
    root = measured(link, streams([0]))
    shared_by_queues(link)
    for queues in [0], list(range(QUEUES)):
        shared = measured(link, streams(queues))
        for who, one, other in zip(("flood", "L", "C"), root, shared, strict=True):
            print(f"into {len(queues)}, {who}: root {one[0]:.1%} {one[1]:.2f} {one[2]:.2f} ms, "
                  f"link {other[0]:.1%} {other[1]:.2f} {other[2]:.2f} ms")
            assert other[0] == pytest.approx(one[0], rel=0.1, abs=by_chance(one[0]))
        for alone, late, under_way in zip(root[1][1:], shared[1][1:], UNDER_WAY_MS, strict=True):
            assert late <= 1.1 * max(alone, under_way) + LATE_MS


STANDING = 30  # frames that wait in the queue of who is there already
WINDOW = 10  # frames of the joiner


def joins(link):
    """After how many ms a joiner has 80 % of the third that is its share."""
    incumbent, joiner = link.stream(NOT_ECT, 1, [0]), link.stream(NOT_ECT, 0.5, [1])
    link.load(*CALM)
    link.burst([0], NOT_ECT, STANDING, LENGTH)
    began = play(link, [incumbent, joiner], 0.4)
    arrived = [arrived for _, arrived in joiner.arrivals]
    for first, last in zip(arrived, arrived[WINDOW:], strict=False):
        if WINDOW * LENGTH * 8 / (last - first) >= 0.8 * RATE / 3:
            return 1000 * (last - began)
    raise AssertionError("never")


def test_a_joiner_has_its_share_as_soon(link):
    at_root(link)
    root = joins(link)
    shared_by_queues(link)
    shared = joins(link)
    print(f"root {root:.1f}, link {shared:.1f} ms")
    assert shared <= 1.1 * root + 1
