# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The shaper of include/shaper.h: bytes on the link, its clock against exact arithmetic, and what
it lets out after an idle time or a late timer."""

import math
import random
from fractions import Fraction

import model
import pytest
from clib import C, new
from hypothesis import given
from hypothesis import strategies as st
from model import SECOND

RAW, NETWORK, PTM = (getattr(C, f"DUALPI2_FRAMING_{name}") for name in ("RAW", "NETWORK", "PTM"))
MS = 1_000_000
SLACK_NS = 1_000_000  # what a late timer may catch up
MBIT40 = 5_000_000  # bytes/s: a frame of 1500 bytes takes 300 us
FRAME, FRAME_NS = 1500, 300_000
ETHERNET, PPPOE = 14, 22  # bytes in front of the IP header


def shaper(free_ns=0, remainder=0):
    return new("shaper", free_ns=free_ns, remainder=remainder)


def clock(s):
    return s.free_ns, s.remainder


# ---- the wire ------------------------------------------------------------------


# The figures of a single packet are those of sch_cake with the keywords of tc-cake(8): docsis is
# overhead 18 mpu 64, ethernet overhead 38 mpu 84.
@pytest.mark.parametrize("framing, overhead, mpu, rows", [
    (RAW, 0, 0, [(1514, 1, ETHERNET, 1514), (1, 1, ETHERNET, 1), (68130, 45, ETHERNET, 68130)]),
    # the overhead is not used
    (RAW, 38, 64, [(1514, 1, ETHERNET, 1514), (63, 1, ETHERNET, 64), (65, 1, ETHERNET, 65),
                   (180, 3, ETHERNET, 192)]),
    (NETWORK, 0, 0, [(1514, 1, ETHERNET, 1500), (1514, 1, PPPOE, 1492), (1500, 1, 0, 1500),
                     (10, 1, ETHERNET, 0)]),  # shorter than its own header
    (NETWORK, 18, 64, [(1514, 1, ETHERNET, 1518), (60, 1, ETHERNET, 64), (61, 1, ETHERNET, 65),
                       (42, 1, ETHERNET, 64), (45 * 1514, 45, ETHERNET, 45 * 1518)]),
    (NETWORK, 38, 84, [(1514, 1, ETHERNET, 1538), (60, 1, ETHERNET, 84), (61, 1, ETHERNET, 85),
                       (1500, 1, 0, 1538), (1514, 1, PPPOE, 1530), (3 * 42, 3, ETHERNET, 3 * 84),
                       (45 * 1514, 45, ETHERNET, 45 * 1538)]),
    # 1530 / 64 = 23.9, 1522 / 64 = 23.8, 68850 / 64 = 1075.8
    (PTM, 30, 0, [(1514, 1, ETHERNET, 1530 + 24), (1514, 1, PPPOE, 1522 + 24),
                  (1500, 1, 0, 1530 + 24), (47, 1, ETHERNET, 63 + 1), (48, 1, ETHERNET, 64 + 1),
                  (49, 1, ETHERNET, 65 + 2), (45 * 1514, 45, ETHERNET, 45 * 1530 + 1076)]),
    (PTM, 30, 128, [(60, 1, ETHERNET, 128 + 2)]),  # the mpu comes first
    (NETWORK, -64, 0, [(1514, 1, ETHERNET, 1436), (79, 1, ETHERNET, 1), (78, 1, ETHERNET, 0),
                       (60, 1, ETHERNET, 0), (2 * 1514, 2, ETHERNET, 2 * 1436)]),
    (NETWORK, -64, 20, [(60, 1, ETHERNET, 20)]),
    (PTM, -64, 0, [(60, 1, ETHERNET, 0), (79, 1, ETHERNET, 2)]),
    # the longest skb: 65535 packets of 50 + 256 bytes, and a 64th
    (PTM, C.DUALPI2_OVERHEAD_MAX, C.DUALPI2_MPU_MAX,
     [(65535 * 64, 65535, ETHERNET, 65535 * 306 + 313340)]),
])
def test_wire_length_by_hand(framing, overhead, mpu, rows):
    params = new("dualpi2_params", framing=framing, overhead=overhead, mpu=mpu)
    for length, packets, header, wire in rows:
        assert C.shaper_wire_len(params, length, packets, header) == wire, (length, packets)


@given(
    st.sampled_from([RAW, NETWORK, PTM]),
    st.integers(-64, 256),
    st.integers(0, 256),
    st.sampled_from([0, 14, 18, 22]),
    st.integers(1, 64),
    st.integers(1, 9000),
    st.data(),
)
def test_wire_length_is_that_of_the_segments(framing, overhead, mpu, header, packets, full, data):
    """A packet's is exact. A GSO packet's is worked out for all segments together: PTM then
    rounds up once, not for each, and a last segment below the minimum is not filled up
    where the others are longer.
    """
    last = data.draw(st.integers(1, full))
    total = (full + header) * (packets - 1) + last + header
    params = new("dualpi2_params", framing=framing, overhead=overhead, mpu=mpu)
    added = header if framing == RAW else overhead
    one, rest = (
        model.wire_bytes(ip_bytes, added, mpu, framing == PTM) for ip_bytes in (full, last)
    )
    short = max(mpu - (last + added), -(last + added), 0) if packets > 1 else 0
    error = one * (packets - 1) + rest - C.shaper_wire_len(params, total, packets, header)
    in_64b65b = 1 + Fraction(1, 64) if framing == PTM else 1
    assert 0 <= error <= short * in_64b65b + (packets - 1 if framing == PTM else 0)


# ---- the clock -----------------------------------------------------------------


def send_burst(s, rate, now):
    """Send what may leave; how many frames."""
    for sent in range(100):
        if not C.shaper_ready(s, rate, now):
            return sent
        C.shaper_charge(s, rate, now, FRAME)
    return 100


def test_a_wait_is_not_longer_than_a_look():
    """Who waits for the link looks again when it is free, or soon: the rate may be another one by
    then."""
    now, soon = 100 * SECOND, 100 * SECOND + C.SHAPER_LOOK_NS
    assert C.shaper_look(shaper(now + 3 * MS), now) == now + 3 * MS
    s = shaper(now + 3600 * SECOND)
    assert C.shaper_look(s, now) == soon
    C.shaper_restart(s, soon)
    assert C.shaper_ready(s, MBIT40, soon)


@pytest.mark.parametrize("rate", [1, 3, 125, 12345, 999983, 4999999, MBIT40, 999999937,
                                  1250000000, 125000000000])
def test_exact_at_odd_rates(rate):
    """After every packet of a busy link the clock is right to the ns, so the rate is right to the
    byte over any interval."""
    dice, s, total, start = random.Random(1), shaper(), 0, 5 * MS
    C.shaper_wake(s, start)
    for _ in range(5000):
        length = dice.randint(1, 9000)
        assert C.shaper_ready(s, rate, s.free_ns)
        C.shaper_charge(s, rate, s.free_ns, length)
        total += length
        assert clock(s) == (start + total * SECOND // rate, total * SECOND % rate)


def test_longest_packet_does_not_overflow():
    s = shaper()
    C.shaper_charge(s, 1, 0, 2**32 - 1)
    assert s.free_ns == (2**32 - 1) * SECOND


def test_not_ready_before_the_link_is_free():
    s = shaper(SECOND)
    assert C.shaper_ready(s, MBIT40, SECOND)
    C.shaper_charge(s, MBIT40, SECOND, FRAME)
    ready = [after for after in (0, FRAME_NS - 1, FRAME_NS)
             if C.shaper_ready(s, MBIT40, SECOND + after)]
    assert ready == [FRAME_NS]


def test_no_burst_after_idle():
    """A tenth of a second idle is worth no credit: one frame leaves, not hundreds."""
    s, later = shaper(), SECOND + 100 * MS
    C.shaper_wake(s, SECOND)
    send_burst(s, MBIT40, SECOND)
    C.shaper_wake(s, later)
    assert send_burst(s, MBIT40, later) == 1
    assert s.free_ns == later + FRAME_NS


def test_idle_time_forgets_the_remainder():
    """The time a wake-up finds unused is not carried over in part either."""
    s = shaper(10, 2)
    C.shaper_wake(s, SECOND)
    assert clock(s) == (SECOND, 0)


def test_a_new_packet_does_not_jump_the_line():
    """The queue ran empty, but the last packet is still on the wire."""
    s = shaper(SECOND)
    C.shaper_charge(s, 7, SECOND, 10)
    C.shaper_wake(s, SECOND + 1000)
    assert clock(s) == (SECOND + 10 * SECOND // 7, 10 * SECOND % 7)
    assert not C.shaper_ready(s, 7, SECOND + 1000)


def test_short_delay_is_made_up():
    """A timer that is late by less than the slack loses no time."""
    s = shaper(SECOND)
    C.shaper_charge(s, MBIT40, SECOND, FRAME)
    assert send_burst(s, MBIT40, SECOND + FRAME_NS + SLACK_NS) == 4
    assert s.free_ns == SECOND + 5 * FRAME_NS


@pytest.mark.parametrize("late_ns", [SLACK_NS + 1, 2 * MS, 10 * MS, SECOND])
def test_catching_up_is_bounded(late_ns):
    """What the slack holds (3 frames and a third) and the frame that is due, however late it is."""
    s = shaper(SECOND, 1)
    assert send_burst(s, MBIT40, SECOND + late_ns) == 4
    assert clock(s) == (SECOND + late_ns - SLACK_NS + 4 * FRAME_NS, 0)


def test_early_clock_does_not_underflow():
    """A monotonic clock that has just started."""
    s = shaper()
    C.shaper_charge(s, MBIT40, SLACK_NS // 2, FRAME)
    assert s.free_ns == FRAME_NS


def test_rate_0_is_not_shaped():
    s = shaper(SECOND, 5)
    assert send_burst(s, 0, 0) == 100
    assert clock(s) == (SECOND, 5)


@pytest.mark.parametrize("rate, now, ahead, wait", [
    (MBIT40, SECOND, 0, 0),
    (MBIT40, SECOND + MS, 0, 0),
    (MBIT40, SECOND - 7, 0, 7),
    (MBIT40, SECOND - 7, FRAME, FRAME_NS + 7),
    (MBIT40, SECOND + MS, 2 * FRAME, 2 * FRAME_NS),
    (1, SECOND, 2**33 - 1, (2**33 - 1) * SECOND),
    (0, 0, FRAME, 0),
])
def test_wait_behind_bytes(rate, now, ahead, wait):
    """The rest of the packet on the wire, and the bytes in front."""
    assert C.shaper_wait(shaper(SECOND), rate, now, ahead) == wait


rates = st.one_of(
    st.integers(1000, 2_000_000), st.integers(1000, 125_000_000_000), st.just(MBIT40)
)
lengths = st.one_of(st.integers(60, 1514), st.integers(1, 65_535))


@given(rates, st.lists(st.tuples(st.integers(0, 5_000_000), lengths), max_size=80))
def test_departures_are_those_of_the_exact_link(rate, packets):
    """A timer that is never late: each packet leaves at the exact time, cut to whole
    ns, so never a whole ns early; and what is cut off is not lost.
    """
    now = SECOND
    arrivals = []
    for gap, length in packets:
        now += gap
        arrivals.append((now, length))
    s = shaper()
    last_start = -1
    for (arrival, length), exact in zip(
        arrivals, model.link_departures(arrivals, rate), strict=True
    ):
        if last_start <= arrival:  # everything before it has left
            C.shaper_wake(s, arrival)
        start = max(arrival, s.free_ns)
        assert start == math.floor(exact)
        assert C.shaper_ready(s, rate, start)
        assert start == arrival or not C.shaper_ready(s, rate, start - 1)
        C.shaper_charge(s, rate, start, length)
        assert s.remainder < rate
        last_start = start


@given(
    rates,
    st.lists(
        st.tuples(
            lengths,
            st.one_of(st.just(0), st.integers(0, 3_000_000), st.integers(0, 10**9)),
            st.booleans(),
        ),
        max_size=80,
    ),
)
def test_late_timer_catches_up_at_most_the_slack(rate, steps):
    """Packets that leave late by a random time; some of them found the queue empty."""
    s = shaper(SECOND)
    exact = Fraction(s.free_ns)
    departures = []
    for length, lateness, wakes in steps:
        now = max(s.free_ns, departures[-1][0] if departures else 0) + lateness
        if wakes:
            C.shaper_wake(s, now)
            exact = max(exact, Fraction(now))
        assert C.shaper_ready(s, rate, now)
        C.shaper_charge(s, rate, now, length)
        exact = max(exact, Fraction(now - SLACK_NS)) + Fraction(length * SECOND, rate)
        assert s.free_ns + Fraction(s.remainder, rate) == exact
        departures.append((now, length))
    # Over every interval: no more than the rate gives, the slack and one packet.
    for first, (begin, _) in enumerate(departures):
        total = 0
        for now, length in departures[first:]:
            allowed = Fraction((now - begin + SLACK_NS + 1) * rate, SECOND)
            assert total <= allowed
            total += length


@given(rates, st.integers(0, 10**9), st.integers(0, 10**9), st.lists(lengths, max_size=50))
def test_wait_is_when_the_bytes_ahead_have_left(rate, free, now, ahead):
    """Told in advance: when the model's link starts what comes behind all the others."""
    start = max(free, now)
    arrivals = [(start, length) for length in [*ahead, 60]]
    exact = model.link_departures(arrivals, rate)[-1] - now
    assert C.shaper_wait(shaper(free), rate, now, sum(ahead)) == math.floor(exact)


# ---- what was dropped behind the link -----------------------------------------------


def test_what_was_dropped_has_taken_its_time():
    s = shaper(SECOND)
    C.shaper_charge_lost(s, MBIT40, SECOND, FRAME)
    assert clock(s) == (SECOND + FRAME_NS, 0) and s.lost_ns == SECOND + 3 * FRAME_NS
    C.shaper_charge_lost(s, 0, SECOND, FRAME)
    assert clock(s) == (SECOND + FRAME_NS, 0), "of a link without a rate"


@given(st.lists(st.tuples(lengths, st.integers(0, 2_000_000)), max_size=300))
def test_drops_have_a_third_of_the_link_at_most(drops):
    """Over the whole time, and 30 ms of it that they may be ahead, and one packet."""
    s, now = shaper(SECOND), SECOND
    for length, gap in drops:
        now += gap
        before = s.free_ns
        C.shaper_wake(s, now)
        woken = s.free_ns
        C.shaper_charge_lost(s, MBIT40, now, length)
        charged = s.free_ns - woken
        assert charged in (0, length * SECOND // MBIT40, length * SECOND // MBIT40 + 1)
        assert woken >= before
    longest = 3 * max((length for length, _ in drops), default=0) * SECOND // MBIT40
    assert s.lost_ns <= now + 30 * MS + longest


def test_a_flood_of_drops_leaves_two_thirds():
    s, now, forwarded = shaper(SECOND), SECOND, 0
    while now < 3 * SECOND:
        for _ in range(10):
            C.shaper_charge_lost(s, MBIT40, now, FRAME)
        if C.shaper_ready(s, MBIT40, now):
            C.shaper_charge(s, MBIT40, now, FRAME)
            forwarded += FRAME
        now += 100_000
    assert forwarded / (2 * MBIT40) == pytest.approx(2 / 3, rel=0.02)


def test_a_new_rate_forgets_what_was_dropped():
    s = shaper(SECOND)
    C.shaper_charge_lost(s, MBIT40, SECOND, FRAME)
    C.shaper_restart(s, SECOND)
    assert clock(s) == (SECOND, 0) and s.lost_ns == 0
