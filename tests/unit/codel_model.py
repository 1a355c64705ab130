# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""CoDel's laws as queues with loops over packets, written from their sources and not from
include/codel.h: RFC 8289, include/net/codel_impl.h, and the mail of 26 August 2012."""

import math
from collections import deque

UNIT_NS = 1024
MS = 1_000_000
TARGET_NS, INTERVAL_NS = 5 * MS, 100 * MS
MTU = 1514
ONE = 2**32


def inverse_square_root(count):
    """In 2^-32."""
    return min(int(ONE / math.sqrt(count)), ONE - 1)


class Mainline:
    """codel_dequeue() of Linux. Times in units of 1024 ns; `queue` has (when enqueued, length,
    whether a mark can tell); what is dropped and marked is noted by serial."""

    def __init__(self, inv_sqrt=inverse_square_root):
        """`inv_sqrt`: of what is no part of Linux."""
        self.target, self.interval = TARGET_NS // UNIT_NS, INTERVAL_NS // UNIT_NS
        self.inv_sqrt = inv_sqrt
        self.queue, self.backlog = deque(), 0
        self.dropping, self.first_above, self.drop_next = False, 0, 0
        self.count = self.lastcount = self.rec_inv_sqrt = 0
        self.dropped, self.marked = [], []

    def enqueue(self, now_ns, serial, length, ecn):
        self.queue.append((now_ns, serial, length, ecn))
        self.backlog += length

    def pop(self):
        if not self.queue:
            return None
        packet = self.queue.popleft()
        self.backlog -= packet[2]
        return packet

    def newton_step(self):
        invsqrt = self.rec_inv_sqrt << 16
        val = (3 << 32) - self.count * (invsqrt * invsqrt >> 32) >> 2
        self.rec_inv_sqrt = (val * invsqrt >> 31) >> 16

    def control_law(self, time):
        return time + (self.interval * (self.rec_inv_sqrt << 16) >> 32)

    def grace(self, _now):
        """How long a queue may be above the target."""
        return self.interval

    def is_long_above(self, now):
        return now > self.first_above

    def should_drop(self, packet, now_ns):
        now = now_ns // UNIT_NS
        if not packet or now - packet[0] // UNIT_NS < self.target or self.backlog <= MTU:
            self.first_above = 0
            return False
        if not self.first_above:
            self.first_above = now + self.grace(now)
            return False
        return self.is_long_above(now)

    def signal(self, packet):
        """Mark the packet, which goes on, or drop it. Returns whether it goes on."""
        (self.marked if packet[3] else self.dropped).append(packet[1])
        return packet[3]

    def in_loop(self):
        """Before each signal of the loop."""
        self.count += 1
        self.newton_step()

    def begin(self, now):
        delta = self.count - self.lastcount
        if delta > 1 and now - self.drop_next < 16 * self.interval:
            self.count = delta
            self.newton_step()
        else:
            self.count, self.rec_inv_sqrt = 1, 0xffff

    def before_loop(self):
        """Once for all signals that are due now."""

    def dequeue(self, now_ns):
        now, packet = now_ns // UNIT_NS, self.pop()
        if not packet:
            self.dropping = False
            return None
        drop = self.should_drop(packet, now_ns)
        if self.dropping:
            if not drop:
                self.dropping = False
            elif now >= self.drop_next:
                self.before_loop()
            while self.dropping and now >= self.drop_next:
                self.in_loop()
                if self.signal(packet):
                    self.drop_next = self.control_law(self.drop_next)
                    return packet
                packet = self.pop()
                if self.should_drop(packet, now_ns):
                    self.drop_next = self.control_law(self.drop_next)
                else:
                    self.dropping = False
        elif drop:
            if not self.signal(packet):
                packet = self.pop()
                self.should_drop(packet, now_ns)
            self.dropping = True
            self.begin(now)
            self.lastcount = self.count
            self.drop_next = self.control_law(now)
        return packet


class Law2012(Mainline):
    """The patch that the mail withdraws: the middle of both counts, which grows once for all
    that is due at once."""

    def begin(self, now):
        if self.count and now - self.drop_next < 16 * self.interval:
            self.count = (self.count + self.lastcount) // 2
        else:
            self.count = 1

    def before_loop(self):
        self.count += 1

    def in_loop(self):
        pass

    def control_law(self, time):
        return time + (self.interval * self.inv_sqrt(self.count) >> 32)


class Refined(Mainline):
    """What the mail announces: dequeue() of ns-2."""

    def distance(self):
        return self.interval * self.inv_sqrt(self.count) >> 32

    def grace(self, now):
        recent = now - self.drop_next < 8 * self.interval and self.count > 1
        return self.distance() if recent else self.interval

    def is_long_above(self, now):
        return now >= self.first_above

    def dequeue(self, now_ns):
        now, packet = now_ns // UNIT_NS, self.pop()
        above = self.should_drop(packet, now_ns)
        while self.dropping:
            if not above:
                self.dropping = False
                break
            if now < self.drop_next:
                break
            self.count += 1
            self.drop_next += self.distance()
            if self.signal(packet):
                return packet
            packet = self.pop()
            above = self.should_drop(packet, now_ns)
        else:
            if above:
                if not self.signal(packet):
                    packet = self.pop()
                    self.should_drop(packet, now_ns)
                self.dropping = True
                self.begin(now)
                self.drop_next = now + self.distance()
        return packet

    def begin(self, now):
        if self.count > 2 and now - self.drop_next < 8 * self.interval:
            self.count -= 2
            if self.count > 126:
                self.count = (self.count + 2) * 63 // 64
        else:
            self.count = 1
