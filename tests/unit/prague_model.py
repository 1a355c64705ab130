# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""TCP Prague and the detector of Classic ECN AQMs as formulas, written from the comments of
include/prague.h and include/classic_ecn.h and not from their C.

Windows are in packets, times in microseconds, rates in bytes/s. What is given as a Fraction
stays exact; the detector's score is a float.
"""

import math
from fractions import Fraction

SECOND = 1_000_000  # us
REFERENCE_RTT = 25_000  # us: the virtual RTT of all that are shorter
TRANSITION = 4  # rounds after slow start in which they are not yet
WINDOW_MAX = 2**18  # packets
RATE_MIN = 100_000 // 8  # bytes/s
FULL_MTU = 1500  # bytes: an MTU with which the increase is what g says
SLOW = 4  # packets in a virtual RTT: with fewer a flow that saw CE is slow


def window_min(rtt, mtu):
    """Packets in a round trip at the lowest rate."""
    return Fraction(RATE_MIN * rtt, SECOND * mtu)


class Prague:
    """A flow. Each method is an event; `now` is a clock that only moves forward."""

    def __init__(self, window=Fraction(10)):
        self.window = Fraction(window)
        self.lost = Fraction(0)  # an undo gives it back
        self.alpha = Fraction(0)
        self.last_cut = None  # for CE; None: no CE was ever seen
        self.rounds = 0  # since slow start ended
        self.round_began = 0
        self.delivered = self.delivered_ce = 0  # when the round began

    @property
    def saw_ce(self):
        return self.last_cut is not None

    @property
    def is_independent(self):
        return self.rounds >= TRANSITION

    def virtual_rtt(self, rtt):
        return max(rtt, REFERENCE_RTT) if self.is_independent else rtt

    def in_a_virtual_rtt(self, rtt):
        """Packets."""
        return self.window * Fraction(self.virtual_rtt(rtt), rtt)

    def is_slow(self, rtt):
        return self.saw_ce and self.in_a_virtual_rtt(rtt) < SLOW

    def step(self, rtt):
        """All that a slow flow does is a quarter."""
        return Fraction(1, 4) if self.is_slow(rtt) else 1

    def gain(self, rtt):
        """g, packets: so that flows of all RTTs up to the reference gain bytes/s alike."""
        share = Fraction(min(rtt, REFERENCE_RTT), REFERENCE_RTT) if self.is_independent else 1
        return share**2 * self.step(rtt)

    def increase(self, packets, gain, mtu):
        """They arrived without CE. g is of full packets, as many more of smaller ones."""
        self.window += packets * gain / self.window * Fraction(FULL_MTU, mtu)
        self.window = min(self.window, Fraction(WINDOW_MAX))

    def cut(self, share, now, minimum):
        self.window = max(self.window * (1 - share), minimum)
        self.lost *= 1 - share
        self.last_cut = now

    def ce(self, packets, now, rtt, minimum):
        """On so many packets. A slow flow has half a packet less in a virtual RTT for each."""
        if self.is_slow(rtt):
            half = Fraction(rtt, 2 * self.virtual_rtt(rtt))
            self.window = max(self.window - packets * half * self.step(rtt), minimum)
        elif not self.saw_ce:
            self.cut(Fraction(1, 2), now, minimum)
        elif now - self.last_cut >= self.virtual_rtt(rtt):
            self.cut(self.alpha / 2, now, minimum)

    def ce_reno(self, now, rtt, minimum):
        """What Reno does: half, once in a round trip of the path's own."""
        if not self.saw_ce or now - self.last_cut >= rtt:
            self.cut(Fraction(1, 2), now, minimum)

    def loss(self):
        self.lost = self.window / 2
        self.window /= 2

    def undo(self):
        self.window = min(self.window + self.lost, Fraction(WINDOW_MAX))
        self.lost = Fraction(0)

    def idle(self, time, rto, restart):
        """Half for each RTO that is over, but not below the restart window."""
        over = min(math.ceil(Fraction(time, rto)) - 1, 64)  # more leave nothing either
        self.window = min(self.window, max(self.window / 2**over, Fraction(restart)))

    def round(self, now, delivered, delivered_ce, slow_start):
        """A virtual RTT ended: this many packets have arrived by now, and with CE."""
        packets, ce = delivered - self.delivered, delivered_ce - self.delivered_ce
        if self.saw_ce:
            share = min(Fraction(ce, packets), 1) if packets else Fraction(bool(ce))
            self.alpha += (share - self.alpha) / 16
        if not slow_start:
            self.rounds += 1
        self.delivered, self.delivered_ce = delivered, delivered_ce
        self.round_began = now

    def pacing(self, in_flight, mtu, rtt, now, fast):
        window = self.window if self.is_slow(rtt) else max(self.window, in_flight)
        rate = window * mtu * SECOND / rtt
        if self.is_slow(rtt):
            is_first_half = now - self.round_began < self.virtual_rtt(rtt) // 2
            rate *= 1 + Fraction(1 if is_first_half else -1, 32)
        return max(rate * (2 if fast else 1), RATE_MIN)

    def cwnd(self, cwnd, clamp):
        """A step of at most one towards the whole packets in flight that W needs."""
        goal = min(max(math.ceil(self.window), 2), clamp)
        return cwnd + max(-1, min(1, goal - cwnd))


def marks_in_a_virtual_rtt(p):
    """y: how many marks a flow sees in 25 ms when each packet is marked with likelihood `p`,
    whatever its RTT R <= 25 ms = T. At w = W / R packets/s, just before a cut:

    - A packet without CE adds g / W, g = (R / T)^2: in a second W grows by (1 - p) R / T^2.
    - Nothing is cut for T after a cut, then the next mark cuts, 1 / (p w) later on average.
      Alpha is the share of marks, p: W p / 2 goes every T + 1 / (p w).
    - Both are equal when 2 (1 - p) (1 + y) = y^2, y = p w T. R is not in it.

    If every virtual RTT had a cut (y far above 1), y would be 2 (1 - p), and the rate y / p
    packets in T would be twice 1 / p - 1: about as many Mbit/s, as a packet in T is 0.48 Mbit/s.
    But y is below 3, and the wait for the next mark makes it 1 + sqrt(3) = 2.73 for small p.
    """
    growth = 1 - p
    return growth + math.sqrt(growth**2 + 2 * growth)


def steady_rate(p):
    """Bytes/s with that, on average over the line from one cut of p / 2 to the next."""
    return marks_in_a_virtual_rtt(p) / p * (1 - p / 4) * FULL_MTU * SECOND / REFERENCE_RTT


def steady_slow_rate(p):
    """Bytes/s of a slow flow. For each packet n = W T / R, of those in T, goes up by 1 / n or down
    by 1/2, a quarter of that: over packets 1 / n has the mean p / (2 (1 - p)). What is counted
    by packets has weight n in time, so n has the mean 2 (1 - p) / p in time, whatever its noise.
    """
    return 2 * (1 - p) / p * FULL_MTU * SECOND / REFERENCE_RTT


class ClassicEcn:
    """The detector. Its score begins at 0: L4S."""

    top, from_here, until_below = 17, 9, 8

    def __init__(self):
        self.srtt = None
        self.mdev = 1  # next to nothing
        self.score = 0.0
        self.is_classic = False

    def sample(self, rtt, packets):
        """An RTT, smoothed over so many packets; its deviation over twice as many."""
        if self.srtt is None:
            self.srtt = Fraction(rtt)
            return
        self.mdev += (abs(rtt - self.srtt) - self.mdev) / (2 * packets)
        self.srtt += (rtt - self.srtt) / packets

    @staticmethod
    def worth(mdev, depth):
        """What a virtual RTT adds to the score."""
        return math.log2(mdev / 750) / 2 + math.log2(max(depth / 2000, 1)) / 2

    def round(self, min_rtt):
        self.score += self.worth(self.mdev, self.srtt - min_rtt)
        self.score = min(max(self.score, 0.0), float(self.top))
        self.is_classic = self.score >= (self.until_below if self.is_classic else self.from_here)
