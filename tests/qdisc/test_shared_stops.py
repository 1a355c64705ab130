# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--mq --rate and a queue that its driver stops: it does not send in a burst afterwards what it
could not send before, and the others send as if it were not there.

The driver is veth's, which stops a queue when the ring to the other end is full. That is emptied by
a thread for each queue, which gets no CPU here as long as somebody else wants it."""

import contextlib
import itertools
import os
import re
import time
from pathlib import Path

import frames
import pytest
from frames import ECT_1, NOT_ECT
from netns import run, wait_until
from shared_link import CAUGHT_UP_NS, FRAME, Shared, frame_ns, most_bytes_ahead, now_ns, shared_link
from test_mq import QUEUES, from_flow

pytestmark = pytest.mark.oldest_kernel

RING = 256  # VETH_RING_SIZE of drivers/net/veth.c
# The queue. (On 6.17.13 another one that veth has stopped never goes on.)
STOPPED = 0
STOP_NS = 20_000_000
SMALL, MORE = 60, 20  # bytes of the frames that fill the ring, and how many have no place
BURST = 60  # frames for each queue
IPV4_SOURCE = slice(26, 30)


class Stopping(Shared):
    """Its other end takes what comes by a thread for each queue."""

    def __init__(self, space, dev, peer):
        super().__init__(space, dev, peer)
        for name in (dev, peer):
            space.run("ethtool", "-K", name, "tso", "off", "gso", "off", check=False)
        space.run("ethtool", "-K", peer, "gro", "on")  # from now on there are rings
        # ip-netns has the /sys of the namespace.
        run("ip", "netns", "exec", space.name, "tee", f"/sys/class/net/{peer}/threaded", input="1")
        self.threads = threads_of(peer)
        self.watcher = frames.raw_receiver(space, dev)
        self.left = {}

    def close(self):
        self.watcher.close()
        super().close()

    def look(self):
        """What has gone to the driver, in that order. What found its ring full came back, and goes
        again."""
        for seen in frames.received(self.watcher):
            packet = frames.parse(*seen)
            self.left.pop(packet.serial, None)
            self.left[packet.serial] = packet
        return list(self.left.values())


def threads_of(dev):
    """The threads of the queues that a device receives on, in their order, once those of former
    devices of its name are gone."""
    found = {}

    def found_all():
        found.clear()
        for path in Path("/proc").glob("[0-9]*/comm"):
            with contextlib.suppress(OSError):  # it has ended
                if name := re.fullmatch(rf"napi/{dev}-(\d+)\n", path.read_text()):
                    found[int(name[1])] = int(path.parent.name)
        return len(found) == QUEUES
    wait_until(found_all, "each queue has a thread")
    return [thread for _, thread in sorted(found.items())]


def busy_until(condition, what, seconds=10):
    """Asks without a moment's rest, in which the thread would have its turn."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, what


@pytest.fixture
def shared(registered_link, new_space):
    for link in shared_link(new_space, Stopping):
        yield link
        link.finish()


@contextlib.contextmanager
def one_queue_stopped(shared):
    """Its thread gets no turn; those of the others have it before us."""
    for queue, thread in enumerate(shared.threads):
        if queue != STOPPED:
            os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(20))
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def is_of(packet, queue):
    return packet.data[IPV4_SOURCE] == from_flow(packet.data, Shared.flow_of[queue])[IPV4_SOURCE]


def stop_for_a_while(shared, codepoints):
    """Send to all queues, of which one stands still meanwhile; what has left, when all has."""
    def of_it():
        return [packet.time_ns for packet in shared.look() if is_of(packet, STOPPED)]
    with one_queue_stopped(shared):
        shared.burst([STOPPED], codepoints[STOPPED], RING + MORE, SMALL)
        busy_until(lambda: len(of_it()) > RING, "its ring is full")
        for _ in range(BURST):
            for queue, ecn in enumerate(codepoints):
                shared.burst([queue], ecn, 1)
        busy_until(lambda: of_it()[-1] + STOP_NS < now_ns(), "it has stood still for long enough")
    shared.drain()
    return shared.look()


@pytest.mark.parametrize("rate", [20_000_000, 50_000_000])
@pytest.mark.parametrize("codepoints", [
    [NOT_ECT] * QUEUES, [ECT_1] * QUEUES, [ECT_1, NOT_ECT, NOT_ECT, NOT_ECT],
    [NOT_ECT, ECT_1, NOT_ECT, NOT_ECT],
], ids=["C", "L", "L beside C", "C beside L"])
def test_it_does_not_burst(shared, codepoints, rate):
    shared.start("--rate", f"{rate}bit")
    shared.look()
    shared.left.clear()
    packets = stop_for_a_while(shared, codepoints)
    of_it = [packet.time_ns for packet in packets if is_of(packet, STOPPED)]
    assert max(b - a for a, b in itertools.pairwise(of_it)) >= STOP_NS
    assert len(packets) == RING + MORE + QUEUES * BURST, "nothing is lost"
    ahead = most_bytes_ahead([(packet.time_ns, len(packet.data)) for packet in packets], rate)
    print(f"at most {ahead / FRAME:.1f} frames ahead")
    assert ahead <= rate / 8e9 * CAUGHT_UP_NS + 4 * FRAME
    # The others have all been sent when they would have been without it.
    others = [packet for packet in packets if not is_of(packet, STOPPED)]
    due_ns = frame_ns(rate) * QUEUES * BURST
    print(f"{(others[-1].time_ns - others[0].time_ns) / 1e6} ms, of {due_ns / 1e6}; of it "
          f"{(of_it[-1] - others[0].time_ns) / 1e6} ms")
    assert others[-1].time_ns - others[0].time_ns <= due_ns + CAUGHT_UP_NS
