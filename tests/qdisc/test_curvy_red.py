# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Curvy RED (RFC 9332, Appendix B): p' follows the Classic delay, smoothed."""

import time

import pytest
from conftest import published
from frames import ECT_1, NOT_ECT
from held import NO_STEP
from netns import wait_until

FRAME_S = 1514 * 8 / 10**6  # of the link below
ALSO_REGISTERED = ("curvy-red",)
pytestmark = pytest.mark.oldest_kernel


@pytest.fixture(name="load")
def loader(cable):
    """At a rate that makes delays."""
    def load(*options):
        return cable.load("--aqm", "curvy-red", "--rate", "1mbit", *options)
    return load


def looks(cable, count):
    """So many samples while a queue stands, each with another Q_C."""
    seen = []
    for _ in range(count):
        last = seen[-1]["smoothed-delay-c"] if seen else -1
        seen.append(wait_until(lambda last=last: (now := cable.qdisc.stats())[
            "smoothed-delay-c"] != last and now, "a packet has left"))
    return seen


@pytest.mark.parametrize("curviness", (1, 2))
@pytest.mark.parametrize("min_th_ms, range_ms", [(5, 500), (40, 2000)])
def test_p_is_a_power_of_the_smoothed_delay(cable, load, min_th_ms, range_ms, curviness):
    load("--min-th", f"{min_th_ms}ms", "--range", f"{range_ms}ms", "--curviness", curviness)
    cable.burst(NOT_ECT, 60)
    seen = looks(cable, 30)
    for sample in seen:
        share = max(0, sample["smoothed-delay-c"] / 1000 - min_th_ms) / range_ms
        assert sample["prob"] == pytest.approx(share**curviness, rel=1e-4, abs=2e-5)
    # The last sample may be of an empty queue, whose p is 0.
    assert max(sample["prob"] for sample in seen) > 0.01**curviness, "and it has moved"


@pytest.mark.parametrize("smoothing", (0, 3, 5))
def test_each_classic_packet_counts(cable, load, smoothing):
    """Packets that came together leave at even distances, so their delays are known."""
    load("--smoothing", smoothing, "--range", "4000s")
    cable.burst(NOT_ECT, 40)
    seen = wait_until(lambda: (now := cable.qdisc.stats())["c-queue"]["packets-out"] >= 30 and now,
                      "thirty have left")
    expected = 0
    for place in range(seen["c-queue"]["packets-out"]):
        expected += (place * FRAME_S - expected) / 2**smoothing
    assert seen["smoothed-delay-c"] / 10**6 == pytest.approx(expected, rel=0.02)


def test_the_dualq_of_2015(cable, load):
    """A preset: what is given beside it counts, wherever it stands."""
    done = load("--min-th", "3ms", "--dualq-2015")
    assert ", dualq-2015 (historical)" in done.stdout
    options = cable.qdisc.stats()["options"]
    assert options["c-protection"] == 0 and options["step-thresh-pkts"] == 5
    assert options["coupled-delay"] == "instant" and options["min-th"] == 3000


@pytest.mark.parametrize("delay, marks", [("smoothed", False), ("instant", True)])
def test_l_packets_are_marked_by_the_smoothed_delay_or_the_last(cable, load, delay, marks):
    """Behind a Classic queue that has just come, of which the smoothed delay knows little."""
    load("--coupled-delay", delay, "--smoothing", 12, "--range", "1s", *NO_STEP)
    cable.burst(NOT_ECT, 40)
    wait_until(lambda: cable.qdisc.stats()["c-queue"]["packets-out"] >= 20, "half have left")
    before = cable.qdisc.stats()["l-queue"]["mark-coupled"]
    cable.burst(ECT_1, 20, 100)
    seen = cable.qdisc.stats()["l-queue"]["mark-coupled"] - before
    assert bool(seen) == marks


def test_single_packets_are_marked_by_the_instant_delay(cable, load):
    """With L empty, and a smoothed delay that is still below the threshold."""
    load("--coupled-delay", "instant", "--smoothing", 16, "--range", "1ms", *NO_STEP)
    cable.burst(NOT_ECT, 300, 200)  # short ones, for L waits until one has left
    for _ in range(10):
        [serial] = cable.burst(ECT_1, 1, 100)
        wait_until(lambda serial=serial: serial in {packet.serial for packet in cable.receive()},
                   "it has left", step=0.001)
    stats = cable.qdisc.stats()
    assert stats["prob"] == 0 and stats["l-queue"]["mark-coupled"] >= 8


def test_an_empty_queue_has_no_delay(cable, load):
    load()
    cable.burst(NOT_ECT, 40)
    wait_until(lambda: cable.qdisc.stats()["prob"], "p' has moved")
    cable.load("--rate", 0)
    cable.drain()
    wait_until(lambda: published("d0")["levels"]["prob"] == 0, "p' is 0 again")
    assert cable.qdisc.stats()["smoothed-delay-c"] == 0


def test_l_queue_that_marks_do_not_tame_is_overload(cable, load):
    """Not in Appendix B, which leaves it out; RFC 9332, 4.2.3, asks for it."""
    load(*NO_STEP)
    cable.burst(ECT_1, 100)
    seen = wait_until(lambda: (now := cable.qdisc.stats())["overload"]["events"] and now,
                      "an overload event")
    assert seen["c-queue"]["packets-in"] == 0


# ---- the time-shifted FIFO -----------------------------------------------------------------


@pytest.mark.parametrize("shift_ms", (1, 50, 4000_000))
def test_packets_leave_by_their_times_of_which_those_of_l_are_shifted(cable, load, shift_ms):
    """One every 20 ms, C and L in turn; the link is busy with a first one until all wait."""
    load("--time-shift", f"{shift_ms}ms", "--range", "4000s", *NO_STEP)
    cable.load("--rate", "8kbit")
    cable.burst(NOT_ECT, 1)
    waiting = []
    begin = time.monotonic()
    for turn in range(12):
        due_ms = 20 * turn
        time.sleep(max(0, begin + due_ms / 1000 - time.monotonic()))
        [serial] = cable.burst(ECT_1 if turn % 2 else NOT_ECT, 1)
        waiting.append((due_ms - shift_ms * (turn % 2), serial))
    cable.load("--rate", "10mbit")
    order = [packet.serial for packet in cable.drain()]
    assert order[1:] == [serial for _, serial in sorted(waiting)]


def test_time_shift_leaves_the_credit_alone(cable, load):
    """So nothing is paid back when the credit decides again."""
    load("--time-shift", "50ms", "--range", "4000s", *NO_STEP)
    for ecn in (NOT_ECT, ECT_1):
        cable.burst(ecn, 20)
    stats = wait_until(lambda: (now := cable.qdisc.stats())["l-queue"]["packets-out"] > 5 and now,
                       "L is served", step=0.02)
    assert stats["qlen"] and stats["credit"] == 1514 * (10 - 90)


@pytest.mark.parametrize("shift, marks", [("0", 1), ("50ms", 0)])
def test_time_shift_gives_l_the_whole_link(cable, load, shift, marks):
    """So the tenth packet is to wait for ten frames, not for the share that C has as well."""
    load("--time-shift", shift, "--range", "4000s", "--step-thresh", "127ms")
    cable.burst(NOT_ECT, 3)
    cable.burst(ECT_1, 10)
    assert cable.qdisc.stats()["l-queue"]["mark-native"] == marks
