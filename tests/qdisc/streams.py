# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Paced frames from several senders at once, and the delay of each. A frame's serial is the time
when it was sent, and its last bits who sent it."""

import statistics
import struct
import time

from frames import SERIAL_LEN
from netns import wait_until

STREAMS = 2048
YEAR_2000_NS = 946_684_800 * 10**9  # serials of streams are later


class Stream:
    """Frames in turn; `bit_per_s` of all of them together."""

    def __init__(self, frames, bit_per_s):
        self.bare = [frame[:-SERIAL_LEN] for frame in frames]
        self.bit_per_s, self.bits = bit_per_s, 8 * len(frames[0])
        self.sent = 0
        self.arrivals = []  # (sent, arrived; s)

    def due(self, elapsed):
        """Those that have to be sent until then."""
        while self.sent * self.bits < self.bit_per_s * elapsed:
            yield self.bare[self.sent % len(self.bare)]
            self.sent += 1

    def measured(self, begin, end):
        """Of those that arrived meanwhile: (bit/s, mean and P99 of their delay in ms)."""
        delays = sorted(1000 * (arrived - sent) for sent, arrived in self.arrivals
                        if begin <= arrived < end)
        return (len(delays) * self.bits / (end - begin), statistics.fmean(delays),
                delays[int(0.99 * len(delays))])


def sort(packets, streams):
    for packet in packets:
        if packet.serial >= YEAR_2000_NS:
            streams[packet.serial % STREAMS].arrivals.append(
                (packet.serial / 1e9, packet.time_ns / 1e9))


def play(link, streams, seconds):
    """Send them for so long, and wait until all is through; when it began."""
    assert len(streams) <= STREAMS
    began = time.time()
    while (elapsed := time.time() - began) < seconds:
        for number, stream in enumerate(streams):
            for bare in stream.due(elapsed):
                serial = time.time_ns() // STREAMS * STREAMS + number
                link.send(bare + struct.pack("!Q", serial))
        sort(link.receive(), streams)
        time.sleep(0.001)
    wait_until(lambda: sort(link.receive(), streams) or link.backlog() == 0,
               "the queues are empty")
    sort(link.receive(), streams)
    return began
