# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""More load than marks can tame (RFC 9332, 2.5.1.1, 4.2.3 and A.2): when it begins,
what is dropped then, and what is told about it."""

import json
import re
import select
import signal
import subprocess

import pytest
from conftest import BIN, published
from frames import ECT_0, ECT_1, NOT_ECT
from held import COUNT, RESTED, ce_count, fits, flood, hold_probability
from netns import wait_until


@pytest.mark.parametrize("ecn, queue, cause", [
    (ECT_1, "l-queue", "drop-overload"), (ECT_0, "c-queue", "drop-overload"),
    (NOT_ECT, "c-queue", "drop-pi2"),
])
def test_overload_drops_in_both_queues(cable, ecn, queue, cause):
    """k * p' >= 1: the Classic drop for everybody; what is left of L is all marked."""
    prob = hold_probability(cable, 0.6)
    assert prob < 1, "p' has run away, nothing can be measured"
    arrived, change = flood(cable, ecn)
    assert change[queue][cause] == COUNT - len(arrived)
    assert fits(COUNT - len(arrived), prob**2)
    if ecn == ECT_1:
        assert ce_count(arrived) >= len(arrived) - RESTED
    else:
        assert ce_count(arrived) == 0


@pytest.mark.parametrize("ecn, queue", [(ECT_1, "l-queue"), (ECT_0, "c-queue")])
def test_p_cmax_is_where_overload_begins(cable, ecn, queue):
    prob = hold_probability(cable, 0.2)
    assert prob < 0.5
    arrived, _ = flood(cable, ecn)
    assert len(arrived) == COUNT, "not in overload: 1/k^2 is far"
    cable.load("--p-cmax", "1%")
    arrived, change = flood(cable, ecn)
    assert change[queue]["drop-overload"] == COUNT - len(arrived)
    assert fits(COUNT - len(arrived), prob**2)
    if ecn == ECT_1:
        assert ce_count(arrived) > len(arrived) * 2 * prob * 0.9, "the rest is marked as ever"


def test_p_cmax_beyond_saturation_spares_c_alone(cable):
    """L can be marked no harder than always, whatever p_Cmax is (p_Lmax, A.2)."""
    prob = hold_probability(cable, 0.6, "--p-cmax", "100%")
    assert prob < 1
    arrived, change = flood(cable, ECT_0)
    assert change["c-queue"]["mark-pi2"] == ce_count(arrived)
    assert fits(ce_count(arrived), prob**2)
    assert len(arrived) == COUNT
    arrived, change = flood(cable, ECT_1)
    assert fits(change["l-queue"]["drop-overload"], prob**2)


def test_overflow_marks_all_and_drops_what_it_must(cable):
    """p' ends where every L4S packet is marked; ECN-capable packets are never dropped."""
    prob = hold_probability(cable, 0.5, "--overflow")
    assert prob == 0.5
    arrived, _ = flood(cable, ECT_1)
    assert len(arrived) == COUNT
    assert ce_count(arrived) >= COUNT - RESTED - 2
    arrived, _ = flood(cable, ECT_0)
    assert len(arrived) == COUNT
    assert fits(ce_count(arrived), 0.25)
    arrived, _ = flood(cable, NOT_ECT)
    assert fits(COUNT - len(arrived), 0.25)


def calm_down(cable):
    """Let p' fall to 0 within a few updates."""
    cable.load("--rate", 0)
    cable.drain()
    cable.load("--target", "4s", "--alpha", 20, "--tupdate", "16ms")
    wait_until(lambda: published("d0")["prob"] == 0, "p' is 0")


def test_overload_event(cable):
    """One event from the first update in overload until there was none for a second
    (RFC 9332, 2.5.2.3)."""
    hold_probability(cable, 0.6)
    overload = cable.qdisc.stats()["overload"]
    assert overload["active"] is True
    assert overload["events"] == 1
    calm_down(cable)
    assert cable.qdisc.stats()["overload"]["active"] is True, "it might come back"
    last = published("d0")["refreshed_ns"]
    ended = wait_until(lambda: not (now := published("d0"))["overload"]["active"] and now,
                       "the event is over")
    assert ended["refreshed_ns"] - ended["overload"]["start_ns"] >= (
        ended["overload"]["duration_ns"] + 10**9)
    assert ended["overload"]["start_ns"] + ended["overload"]["duration_ns"] <= last
    assert ended["overload"]["total_ns"] == ended["overload"]["duration_ns"] > 0


def test_flapping_is_one_event(cable):
    hold_probability(cable, 0.6)
    for _ in range(3):
        cable.load("--target", "4s", "--alpha", 20, "--tupdate", "16ms")
        wait_until(lambda: published("d0")["prob"] < 2**31, "overload is gone", step=0.02)
        cable.load("--target", 0, "--alpha", 100)
        cable.burst(NOT_ECT, 100)
        wait_until(lambda: published("d0")["prob"] > 2**31, "overload is back", step=0.02)
    assert published("d0")["overload"]["events"] == 1
    calm_down(cable)
    wait_until(lambda: not published("d0")["overload"]["active"], "the event is over")
    cable.load("--target", 0, "--alpha", 100, "--rate", "1mbit")
    cable.burst(NOT_ECT, 300)
    wait_until(lambda: published("d0")["overload"]["events"] == 2, "another event")
    calm_down(cable)


def next_line(follower):
    """Waits for it, for a bounded time."""
    wait_until(lambda: select.select([follower.stdout], [], [], 0)[0], "it tells of an event")
    return follower.stdout.readline()


def test_events_can_be_followed(cable):
    """dualpi2-stats --events tells of both ends of an event while it happens."""
    cable.load()
    follower = subprocess.Popen([BIN / "dualpi2-stats", "--events", "--json"],
                                stdout=subprocess.PIPE, text=True)
    try:
        hold_probability(cable, 0.6)
        began = json.loads(next_line(follower))
        assert (began["dev"], began["event"]) == ("d0", "began")
        calm_down(cable)
        ended = json.loads(next_line(follower))
        assert (ended["dev"], ended["event"]) == ("d0", "ended")
        assert ended["start"] == began["start"]
        assert ended["duration"] > 0
    finally:
        follower.terminate()
        follower.wait()


def test_events_and_overload_for_people(cable):
    """A line each, of one interface; the table tells of it too; an interrupt is no failure."""
    cable.load()
    assert "overload" not in cable.qdisc.table()
    follower = cable.tx.popen(BIN / "dualpi2-stats", "d0", "--events")
    try:
        hold_probability(cable, 0.6)
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} d0: overload began\n",
                            next_line(follower))
        assert re.search(r"  overload .*: 1 event, .* in all; the latest began .* ago\n"
                         r"    and has lasted for ", cable.qdisc.table())
        calm_down(cable)
        assert re.fullmatch(r".* d0: overload ended after [0-9.]+m?s\n",
                            next_line(follower))
        assert "    and lasted for " in cable.qdisc.table()
        assert max(len(line) for line in cable.qdisc.table().splitlines()) <= 80
        follower.send_signal(signal.SIGINT)
        assert follower.wait(timeout=30) == 0
    finally:
        follower.kill()
        follower.wait()
