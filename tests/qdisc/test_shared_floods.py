# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--mq --rate under floods: what a well-behaved L flow gets, and all shares, are those of one qdisc
at the root with the same rate and the same senders, whichever queues the flood comes to."""

import math
import statistics
import struct
import time

import pytest
from frames import ECT_1, NOT_ECT, SERIAL_LEN, ipv4_frame
from netns import wait_until
from shared_link import CALM, Shared, shared_link
from test_mq import QUEUES, from_flow

RATE = 10_000_000
LENGTH = 1000
SETTLED_S, SECONDS = 1.5, 1.5
LATE_MS = 0.05  # the timer of L's queue, which waits for a frame of C in another one
YEAR_2000_NS = 946_684_800 * 10**9  # serials of streams are later


class Stream:
    """Paced frames of one codepoint into some queues. A frame's serial is the time when it was
    sent, and its last bits who sent it."""

    def __init__(self, ecn, load, queues):
        """`load`: a part of the link."""
        self.ecn, self.load, self.queues = ecn, load, queues
        self.sent = 0
        self.arrivals = []  # (sent, arrived; s)


class Flooded(Shared):
    def send_all(self, streams, seconds):
        began = time.time()
        bare = {ecn: ipv4_frame(0, ecn, LENGTH)[:-SERIAL_LEN] for ecn in (ECT_1, NOT_ECT)}
        frames = [[from_flow(bare[stream.ecn], self.flow_of[queue]) for queue in stream.queues]
                  for stream in streams]
        while (elapsed := time.time() - began) < seconds:
            for number, stream in enumerate(streams):
                while stream.sent < stream.load * elapsed * RATE / 8 / LENGTH:
                    frame = frames[number][stream.sent % len(stream.queues)]
                    self.send(frame + struct.pack("!Q", time.time_ns() // 16 * 16 + number))
                    stream.sent += 1
            self.sort(streams)
            time.sleep(0.001)
        wait_until(lambda: self.backlog() == 0, "the queues are empty")
        self.sort(streams)
        return began

    def sort(self, streams):
        for packet in self.receive():
            if packet.serial < YEAR_2000_NS:
                continue
            streams[packet.serial % 16].arrivals.append((packet.serial / 1e9, packet.time_ns / 1e9))


@pytest.fixture
def link(registered_link, new_space):
    for device in shared_link(new_space, Flooded):
        device.start("--rate", "1gbit")  # finds flows
        device.load("--unload")
        yield device


def measured(link, streams):
    """Of each stream (its part of the link, mean and P99 of its delay in ms)."""
    began = link.send_all(streams, SETTLED_S + SECONDS)
    begin, end = began + SETTLED_S, began + SETTLED_S + SECONDS
    found = []
    for stream in streams:
        delays = sorted(1000 * (arrived - sent) for sent, arrived in stream.arrivals
                        if begin <= arrived < end)
        found.append((len(delays) * LENGTH * 8 / RATE / SECONDS, statistics.fmean(delays),
                      delays[int(0.99 * len(delays))]))
    return found


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
        return [Stream(ecn, 2, queues), Stream(ECT_1, 0.2, [1]), Stream(NOT_ECT, 0.2, [2])]
    at_root(link)
    root = measured(link, streams([0]))
    shared_by_queues(link)
    for queues in [0], list(range(QUEUES)):
        shared = measured(link, streams(queues))
        for who, one, other in zip(("flood", "L", "C"), root, shared, strict=True):
            print(f"into {len(queues)}, {who}: root {one[0]:.1%} {one[1]:.2f} {one[2]:.2f} ms, "
                  f"link {other[0]:.1%} {other[1]:.2f} {other[2]:.2f} ms")
            assert other[0] == pytest.approx(one[0], rel=0.1, abs=by_chance(one[0]))
        assert shared[1][1] <= 1.1 * root[1][1] + LATE_MS
        assert shared[1][2] <= 1.1 * root[1][2] + LATE_MS


STANDING = 30  # frames that wait in the queue of who is there already
WINDOW = 10  # frames of the joiner


def joins(link):
    """After how many ms a joiner has 80 % of the third that is its share."""
    incumbent, joiner = Stream(NOT_ECT, 1, [0]), Stream(NOT_ECT, 0.5, [1])
    link.load(*CALM)
    link.burst([0], NOT_ECT, STANDING, LENGTH)
    began = link.send_all([incumbent, joiner], 0.4)
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
