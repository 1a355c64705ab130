# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A model of dualpi2-bpf's arithmetic, written from the text and not from the C.

Sources: RFC 9332 (the pseudocode of Appendix A and sections 2.1, 2.5.1), and the
prose of our requirements and headers. Exact arithmetic throughout: times are
Fractions of a second or nanosecond, probabilities Fractions of 1.
"""

import bisect
import math
import re
from fractions import Fraction

SECOND = 1_000_000_000  # ns


class Pi2:
    """RFC 9332, Appendix A.1 and A.2, dualpi2_update(); time in seconds, gains in Hz.

    `p_cmax`: None for the RFC's own. `overflow`: p' ends where p_CL is 1, and packets that
    can be marked are not dropped for overload (the option of sch_dualpi2).
    """

    p_lmax = 1

    def __init__(self, target=0, alpha=0, beta=0, k=2, p_cmax=None, overflow=False):
        self.target = target
        self.alpha = alpha
        self.beta = beta
        self.k = k
        self.p_cmax = min(Fraction(1, k**2), 1) if p_cmax is None else p_cmax
        self.overflow = overflow
        self.p_max = Fraction(1, k) if overflow else Fraction(1)
        self.p = Fraction(0)
        self.prevq = Fraction(0)

    def update(self, curq, periods=1):
        """The integral counts for all periods since the last update, growth is what it is."""
        integral = periods * self.alpha * (curq - self.target)
        p = self.p + integral + self.beta * (curq - self.prevq)
        self.p = min(max(p, Fraction(0)), self.p_max)
        self.prevq = curq

    @property
    def p_c(self):
        return self.p**2

    @property
    def p_cl(self):
        return self.k * self.p

    @property
    def c_overloaded(self):
        """Line 12b of Figure 7."""
        return not self.overflow and self.p_c >= self.p_cmax

    @property
    def l_overloaded(self):
        """Line 4b of Figure 7; and p_Cmax holds for both queues, the text above it says."""
        return not self.overflow and (self.p_cl >= self.p_lmax or self.c_overloaded)


def classic_of(p_cl, k):
    """RFC 9332, section 2.1, equation (1)."""
    return (p_cl / Fraction(k)) ** 2


def laqm(qdelay, min_th, width):
    """RFC 9332, Figure 5, the native AQM of L. A step is a ramp of width 0 (Note c)."""
    if qdelay >= min_th + width:
        return Fraction(1)
    if qdelay > min_th:
        return Fraction(qdelay - min_th, width)
    return Fraction(0)


class Dequeue:
    """RFC 9332, Figure 7: what becomes of a packet that leaves L or C, at a given p'.

    In one place not to the letter: there lq.count serves the drops and the marks of
    overload, and what a p_CL above 1 leaves in it makes every further packet a drop. Here
    each has a count of its own, and likelihoods are cut to 1.
    """

    def __init__(self, pi2):
        self.pi2 = pi2
        self.counts = {}

    def recur(self, count, likelihood):
        self.counts[count] = self.counts.get(count, 0) + min(likelihood, 1)
        if self.counts[count] > 1:
            self.counts[count] -= 1
            return True
        return False

    def from_l(self, p_native):
        if self.pi2.l_overloaded:
            if self.recur("l drops", self.pi2.p_c):
                return "drop"
            likelihood = self.pi2.p_cl
        else:
            likelihood = max(p_native, self.pi2.p_cl)
        return "mark" if self.recur("l marks", likelihood) else "forward"

    def from_c(self, is_ect):
        if not self.recur("c", self.pi2.p_c):
            return "forward"
        return "mark" if is_ect and not self.pi2.c_overloaded else "drop"


def wire_bytes(ip_bytes, overhead, mpu, ptm):
    """What tc-cake(8) says of a packet: the overhead comes on top of the IP packet, the
    minimum holds with it, and PTM costs a byte for every 64 or part thereof.
    """
    framed = max(ip_bytes + overhead, mpu, 0)
    return framed + math.ceil(Fraction(framed, 64)) if ptm else framed


class Wrr:
    """The bounded priority of the L queue, as an account of bytes.

    Of all bytes served while both queues had some, C is owed the share wc. It is
    served when it is owed something, otherwise L is. The account starts one frame
    out of balance, in favour of the larger weight; it is settled when both queues
    are empty.
    """

    def __init__(self, share, frame):
        self.share = share  # of C, a Fraction of 1
        self.frame = frame
        self.settle()

    def settle(self):
        self.advance = self.frame * (2 * self.share - 1)
        self.contested = 0
        self.contested_c = 0

    @property
    def owed_to_c(self):
        return self.advance + self.share * self.contested - self.contested_c

    def choose(self, l_len, c_len):
        """Serve one of the heads (their lengths; None: the queue is empty)."""
        if l_len is None or c_len is None:
            return "c" if l_len is None else "l"
        if self.owed_to_c > 0:
            self.contested += c_len
            self.contested_c += c_len
            return "c"
        self.contested += l_len
        return "l"


def link_departures(arrivals, rate):
    """When a link of `rate` bytes/s starts each of the (arrival ns, bytes)."""
    free = Fraction(0)
    starts = []
    for arrival, length in arrivals:
        start = max(Fraction(arrival), free)
        starts.append(start)
        free = start + Fraction(length * SECOND, rate)
    return starts


def histogram_edges():
    """8 buckets of 128 ns, then 8 equal parts of each power of two, up to 2^33 ns."""
    edges = [128 * i for i in range(8)]
    octave = 1024
    while octave < 2**33:
        edges += [octave + octave * i // 8 for i in range(8)]
        octave *= 2
    return [*edges, octave]


def bucket_of(edges, ns):
    return min(bisect.bisect_right(edges, ns), len(edges) - 1) - 1


def nearest_rank(values, permille):
    """The smallest value that at least `permille` of 1000 values do not exceed."""
    rank = max(math.ceil(Fraction(len(values) * permille, 1000)), 1)
    return sorted(values)[rank - 1]


# What tc's manual page says about UNITS; in bytes/s, ns and bytes.
RATE_UNITS = {"": Fraction(1, 8), "bit": Fraction(1, 8), "bps": Fraction(1)}
for _power, _letter in enumerate("kmgt", start=1):
    for _word, _worth in (("bit", Fraction(1, 8)), ("bps", Fraction(1))):
        RATE_UNITS[_letter + _word] = 1000**_power * _worth
        RATE_UNITS[_letter + "i" + _word] = 1024**_power * _worth
TIME_UNITS = {"": 1000}
for _names, _worth in (("us usec usecs", 10**3), ("ms msec msecs", 10**6), ("s sec secs", 10**9)):
    TIME_UNITS.update(dict.fromkeys(_names.split(), _worth))
SIZE_UNITS = {"": 1, "b": 1}
for _power, _letter in enumerate("kmg", start=1):
    SIZE_UNITS |= {
        _letter: 1024**_power,
        _letter + "b": 1024**_power,
        _letter + "bit": Fraction(1024**_power, 8),
    }
PACKET_UNITS = dict.fromkeys(("p", "pkt", "pkts", "packet", "packets"), 1)

NUMBER = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([a-z%]*)", re.ASCII)


def parse(text, units, whole=False):
    """The exact value of `text` as a Fraction, or None if it is not one."""
    match = NUMBER.fullmatch(text.lower())
    if not match or match[2] not in units or (whole and "." in text):
        return None
    return Fraction("0" + match[1].rstrip(".")) * units[match[2]]


class Guard:
    """The guard (docs/design.md): blame by the bytes of who sends while L is long, and the share of
    those who are out of L. Times in ns, rates in bytes/s; a rate of 0 is unknown."""

    def __init__(self, rate, frame, sure_delay=1_000_000):
        least = min(Fraction(rate, 2), 125_000)
        self.allowance = min(max(Fraction(rate, 8), least), 250_000) if rate else 250_000
        two_frames = 2 * frame * SECOND // rate * 100 // 90 if rate else 0
        self.long_ns = max(2 * sure_delay, two_frames)
        self.share = Fraction(rate, 4)
        self.ahead_ns = max(20_000_000, 2 * frame * SECOND / self.share) if rate else None
        self.until = Fraction(0)

    def blame(self, delay, length):
        """From none at long_ns to all bytes at twice that; as time that the allowance takes."""
        weight = min(max(Fraction(delay - self.long_ns, self.long_ns), 0), 1)
        return weight * length * SECOND / self.allowance

    def ahead(self, now):
        return max(self.until - now, 0)

    def charge(self, length, now):
        self.until = max(self.until, Fraction(now)) + length * SECOND / self.share

    def polices(self, length, now):
        if self.ahead(now) > self.ahead_ns:
            return True
        self.charge(length, now)
        return False


class Sparse:
    """Sparse flows (docs/design.md): a bucket for each flow, that leaks at its share of the link,
    and one for all of them, that leaks at half of it. Bytes; times in ns, the rate in bytes/s."""

    def __init__(self, rate, frame, shares):
        self.rate = Fraction(rate, SECOND)
        self.share = self.rate / shares
        self.burst = max(2 * frame, rate * Fraction(500, 1_000_000))
        self.now = Fraction(0)
        self.all = Fraction(0)
        self.flows = {}

    def leak(self, now):
        passed, self.now = now - self.now, now
        self.all = max(self.all - passed * self.rate / 2, 0)
        for flow, level in self.flows.items():
            self.flows[flow] = max(level - passed * self.share, 0)

    def spare(self, flow, length):
        """Bytes that this packet leaves of the burst; less than 0: it does not fit. Half of the
        room of all is for flows that are known."""
        used = self.all if flow in self.flows else 2 * self.all
        room = self.burst * (1 - used / (2 * self.burst))
        return room - self.flows.get(flow, 0) - length

    def take(self, flow, length):
        self.flows[flow] = self.flows.get(flow, 0) + length
        self.all += length
