# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The PI2 update: every tupdate while there is work, never while there is none."""

import json
import time

import pytest
from conftest import PI2_PINS, published
from frames import ECT_1, NOT_ECT
from netns import run, wait_until

pytestmark = pytest.mark.oldest_kernel


@pytest.mark.parametrize("tupdate_ms", (16, 5))
def test_every_tupdate(cable, tupdate_ms):
    cable.load("--rate", "100kbit", "--target", "4000s", "--tupdate", f"{tupdate_ms}ms")
    cable.burst(NOT_ECT, 50)
    first = published("d0")
    last = wait_until(lambda: (now := published("d0"))["updates"] > first["updates"] + 100 and now,
                      "a hundred updates")
    interval = (last["refreshed_ns"] - first["refreshed_ns"]) / (last["updates"] - first["updates"])
    # The timer is armed anew at the end of each update, as native's.
    assert tupdate_ms * 10**6 <= interval < tupdate_ms * 10**6 * 1.02


def test_p_follows_the_standing_queue(cable):
    """The law, with numbers. The frames came all at once, so the age of the head, whichever
    it is, is the time since then."""
    cable.load("--rate", "100kbit", "--alpha", 3 / 256, "--beta", 3 / 256)
    gain_hz = 3 / 2**32 * 10**9 / 64  # what 3/256 Hz is cut to: include/pi2.h
    cable.burst(NOT_ECT, 30)
    first = wait_until(lambda: (now := published("d0"))["levels"]["prob"] > 0 and now,
                       "p' has moved")
    last = wait_until(lambda: (now := published("d0"))["updates"] >= first["updates"] + 20 and now,
                      "twenty updates")
    count = last["updates"] - first["updates"]
    elapsed = (last["refreshed_ns"] - first["refreshed_ns"]) / 10**9
    age = first["c"]["head_age_ns"] / 10**9
    mean_delay = age + elapsed * (count + 1) / count / 2
    expected = gain_hz * (count * (mean_delay - 0.015) + elapsed)
    moved = (last["levels"]["prob"] - first["levels"]["prob"]) / 2**32
    assert moved == pytest.approx(expected, rel=0.02)


def test_idle_link_sleeps(cable):
    cable.load("--rate", "1mbit")
    cable.burst(NOT_ECT, 20)
    cable.drain()
    wait_until(lambda: (now := published("d0"))["levels"]["prob"] == 0
               and not now["overload"]["active"], "p' is back at 0, and overload over")
    asleep = wait_until(lambda: (now := published("d0")) == published("d0") and now, "it sleeps")
    time.sleep(1)  # that nothing happens can only be watched for a while
    assert published("d0") == asleep
    cable.burst(ECT_1, 1)
    wait_until(lambda: published("d0")["l"]["counters"]["packets_out"] == 1, "a packet wakes it")


def test_tupdate_can_be_shortened(cable):
    """A change takes effect at once, not when the old interval is over."""
    cable.load("--rate", "100kbit", "--target", "4000s", "--tupdate", "4000s")
    cable.burst(NOT_ECT, 50)
    cable.load("--tupdate", "16ms")
    wait_until(lambda: published("d0")["updates"] > 10, "updates come")


def test_programs_know_whether_there_is_a_timer(cable, pytestconfig):
    """All tests of this file hold with and without."""
    cable.load()
    [section] = json.loads(run("bpftool", "-j", "map", "dump", "name", ".rodata.without").stdout)
    assert section["formatted"]["value"] == {
        ".rodata.without_timer": [{"without_timer": pytestconfig.getoption("--without-cmpxchg")}]}


def test_enqueue_makes_up_for_a_lost_timer(spent, cable):
    """The kernel cancels the timer when the last reference to its map goes, for good."""
    cable.load("--rate", "100kbit", "--alpha", 0.01, "--beta", 0.01)
    (PI2_PINS / "dualpi2_qdiscs").unlink()
    cable.burst(NOT_ECT, 40)
    before = published("d0")["updates"]
    for _ in range(5):
        seen = published("d0")["updates"]
        wait_until(lambda seen=seen: (cable.burst(NOT_ECT, 1) and
                                      published("d0")["updates"] > seen),
                   "packets bring updates")
    assert published("d0")["updates"] >= before + 5
    assert published("d0")["levels"]["prob"] > 0


def test_a_packet_makes_up_for_updates_that_nobody_made(spent, cable, pytestconfig):
    """Without a timer. p' falls by alpha * target in each period, whatever comes. Where BPF has no
    timers the watchdog makes updates, which cannot be lost."""
    cable.load("--rate", "1mbit", "--alpha", 2, "--beta", 0.01)
    (PI2_PINS / "dualpi2_qdiscs").unlink()
    cable.burst(NOT_ECT, 40)
    wait_until(lambda: cable.burst(NOT_ECT, 1) and published("d0")["levels"]["prob"] > 2**30,
               "p' has grown")
    cable.load("--rate", 0)
    cable.drain()
    before = published("d0")
    assert before["levels"]["prob"] > 2**28
    time.sleep(1)
    cable.burst(NOT_ECT, 1)
    after = published("d0")
    assert after["levels"]["prob"] == 0
    if not pytestconfig.getoption("--without-cmpxchg"):
        assert after["updates"] == before["updates"] + 1
