# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--mq --rate: one link for all queues of a device. Its rate, whichever queues packets come to; one
p', one overload, one limit; and that nothing is lost or stalls as it changes."""

import itertools
import json
import re
import time
from pathlib import Path

import pytest
from conftest import LOADER, drops, following, next_line, one_line, written
from findings import findings, of_kind
from frames import CE, ECT_1, NOT_ECT
from netns import wait_until
from shared_link import (
    CALM,
    CAUGHT_UP_NS,
    FRAME,
    KIND,
    SLACK_NS,
    STATS,
    RateChange,
    frame_ns,
    most_ahead,
    now_ns,
    shared_link,
)
from test_mq import QUEUES

pytestmark = pytest.mark.oldest_kernel


@pytest.fixture
def link(registered_link, new_space):
    yield from shared_link(new_space)


@pytest.fixture
def shared(link):
    yield link
    link.finish()


# ---- the rate ------------------------------------------------------------------


@pytest.mark.parametrize("ecn", [NOT_ECT, ECT_1], ids=["C", "L"])
@pytest.mark.parametrize("queues", [1, 2, 4])
def test_rate_is_exact_for_all_queues_together(shared, queues, ecn):
    shared.start("--rate", "20mbit")
    shared.burst(range(queues), ecn, 400)
    packets = shared.drain()
    assert len(packets) == 400
    took = packets[-1].time_ns - packets[0].time_ns
    assert took == pytest.approx(399 * frame_ns(20e6), rel=0.005)
    started = [packet.time_ns - number * frame_ns(20e6) for number, packet in enumerate(packets)]
    late = sorted(start - min(started) for start in started)
    assert late[int(0.98 * len(late))] < SLACK_NS
    assert late[-1] < CAUGHT_UP_NS
    assert most_ahead(packets, 20e6) <= 3


@pytest.mark.parametrize("rate, bit_per_s, length", [
    ("1mbit", 10**6, 1514), ("4mbit", 4 * 10**6, 64), ("7777kbit", 7_777_000, 333),
    ("100mbit", 10**8, 1514),
])
def test_other_rates(shared, rate, bit_per_s, length):
    shared.start("--rate", rate)
    shared.burst(range(4), NOT_ECT, 200, length)
    packets = shared.drain()
    took = packets[-1].time_ns - packets[0].time_ns
    assert took == pytest.approx(199 * frame_ns(bit_per_s, length), rel=0.005, abs=CAUGHT_UP_NS)


TURNS = itertools.cycle(range(QUEUES))


def test_it_is_never_ahead(shared, long):
    """Of an exact link, with both kinds in all queues, for a second; in the long version for a
    minute. (We send little meanwhile: what a busy CPU makes late is caught up.)"""
    seconds = 60 if long else 1
    shared.start("--rate", "4mbit", "--limit", 30000)
    shared.receive()
    first = shared.n_arrived()
    shared.burst(range(QUEUES), NOT_ECT, int(seconds * 1e9 / frame_ns(4e6)))
    for _ in range(seconds * 20):
        shared.burst([next(TURNS)], ECT_1, 3)
        time.sleep(0.05)
        shared.receive()
    shared.drain()
    packets = shared.arrived[first:]
    ahead = most_ahead(packets, 4e6)
    print(f"{len(packets)} packets, at most {ahead:.2f} frames ahead")
    assert ahead <= 3
    took = packets[-1].time_ns - packets[0].time_ns
    assert took == pytest.approx((len(packets) - 1) * frame_ns(4e6), rel=0.005)


@pytest.mark.parametrize("length, each_s", [(64, 0.002), (FRAME, 0.006)],
                         ids=["a trickle", "a tenth"])
def test_who_asks_little_loses_nothing_and_costs_nothing(shared, length, each_s):
    """Three queues beside a full one. Where each of four had a quarter of the rate, the full one
    would not have the rest."""
    shared.start("--rate", "20mbit")
    shared.burst([0], NOT_ECT, 500)
    while shared.backlog() > 120:  # to ask takes longer than some frames
        shared.burst([1, 2, 3], NOT_ECT, 3, length)
        time.sleep(each_s)
    packets = shared.drain()
    took = packets[-1].time_ns - packets[0].time_ns
    carried = sum(len(packet.data) for packet in packets[1:])
    assert carried * 8e9 / took >= 0.995 * 20e6
    assert most_ahead(packets, 20e6) <= 3
    assert not any(drops(queue["c-queue"]) for queue in shared.all_stats()[1])


def test_l_does_not_wait_for_c(shared):
    """Nor for what waits in C of its own queue, or of the others."""
    shared.start("--rate", "20mbit")
    shared.burst(range(4), NOT_ECT, 800)
    while shared.backlog() > 100:
        shared.burst([1], ECT_1, 1)
        time.sleep(0.004)
    packets = shared.drain()
    _, queues = shared.all_stats()
    assert queues[1]["l-queue"]["packets-out"] >= 15
    assert queues[1]["l-queue"]["delay"]["max"] <= 2 * frame_ns(20e6) / 1000
    assert most_ahead(packets, 20e6) <= 3


def test_l_waits_for_the_frame_that_is_under_way(shared):
    """As behind one qdisc, for half of it on average, whichever queue that is in."""
    shared.start("--rate", "4mbit")
    shared.burst([0, 2, 3], NOT_ECT, 150)
    while shared.backlog() > 10:
        shared.burst([1], ECT_1, 1)
        time.sleep(0.0041)
    shared.drain()
    l_queue = shared.all_stats()[1][1]["l-queue"]
    assert l_queue["packets-out"] >= 40
    assert l_queue["delay"]["mean"] == pytest.approx(frame_ns(4e6) / 1000 / 2, rel=0.3)
    assert l_queue["delay"]["max"] <= 1.1 * frame_ns(4e6) / 1000


def test_c_has_its_share_beside_l(shared):
    shared.start("--rate", "20mbit")
    l_serials = set(shared.burst([0, 1], ECT_1, 400))
    shared.burst([2, 3], NOT_ECT, 200)
    packets = shared.drain()
    last_l = max(index for index, packet in enumerate(packets) if packet.serial in l_serials)
    in_c = sum(1 for packet in packets[:last_l] if packet.serial not in l_serials)
    assert 0.08 * last_l <= in_c <= 0.13 * last_l
    assert most_ahead(packets, 20e6) <= 3


def test_framing_counts(shared):
    shared.start("--rate", "2mbit", "--ethernet")
    shared.burst(range(4), NOT_ECT, 200, 60)
    packets = shared.drain()
    took = packets[-1].time_ns - packets[0].time_ns
    assert took == pytest.approx(199 * frame_ns(2e6, 84), rel=0.01)


# ---- one AQM, one limit --------------------------------------------------------------


def test_p_is_that_of_the_link(shared):
    """What waits in C of one queue marks in L of another, and is the same wherever one looks."""
    shared.start("--rate", "10mbit", "--target", "5ms", calm=CALM[2:])
    serials = shared.burst([0], NOT_ECT, 600)
    wait_until(lambda: shared.all_stats()[0]["prob"] > 0.05, "p' has grown", step=0.02)
    shared.burst([3], ECT_1, 60)
    shared.load("--tupdate", "4000s")
    whole, queues = shared.all_stats()
    assert whole["updates"] == max(queue["updates"] for queue in queues), "once, not for each"
    assert queues[3]["l-queue"]["mark-coupled"] > 0
    shared.drain()
    assert serials
    assert CE in {packet.ecn for packet in shared.arrived}


def test_limit_is_that_of_the_link(shared):
    shared.start("--rate", "100kbit", "--limit", 100)
    shared.burst([0], NOT_ECT, 90)
    shared.burst([1, 2, 3], NOT_ECT, 60)
    _, queues = shared.all_stats()
    waiting = [queue["c-queue"]["backlog-packets"] for queue in queues]
    assert sum(waiting) == 100 and min(waiting[1:]) > 0
    assert sum(queue["c-queue"]["drop-limit"] for queue in queues) >= 45


def test_memlimit_is_that_of_the_link(shared):
    shared.start("--rate", "100kbit", "--memlimit", "100kb")
    shared.burst(range(4), NOT_ECT, 200)
    whole, queues = shared.all_stats()
    assert 90_000 < whole["memory-used"] <= whole["memory-limit"] == 102_400
    assert all(queue["c-queue"]["drop-memlimit"] for queue in queues)


def test_a_lowered_limit_holds_for_all(shared):
    """Each queue trims its own, as it is served next; what is left goes on at the rate."""
    shared.start("--rate", "2mbit")
    shared.burst(range(4), NOT_ECT, 400)
    shared.load("--limit", 40)
    wait_until(lambda: shared.backlog() <= 40, "the limit holds")
    packets = shared.drain()
    assert sum(queue["c-queue"]["drop-trim"] for queue in shared.all_stats()[1]) > 200
    assert most_ahead(packets, 2e6) <= 4
    last = packets[-30:]
    assert last[-1].time_ns - last[0].time_ns <= 29 * frame_ns(2e6) * 1.05


# ---- it changes ----------------------------------------------------------------------


def test_another_rate_under_a_backlog(shared):
    """Nobody may send what the old rate had promised."""
    shared.start("--rate", "50mbit")
    shared.burst(range(4), NOT_ECT, 4000)
    shared.load("--rate", "10mbit")
    seen = len(shared.arrived)
    shared.receive()
    wait_until(lambda: shared.receive() and shared.backlog() < 100, "most has been sent", step=0.5)
    packets = shared.arrived[seen:][-1000:]
    took = packets[-1].time_ns - packets[0].time_ns
    assert took == pytest.approx((len(packets) - 1) * frame_ns(10e6), rel=0.005)
    assert most_ahead(packets, 10e6) <= 3
    gaps = [later.time_ns - earlier.time_ns for earlier, later in
            itertools.pairwise(shared.arrived[seen:])]
    assert max(gaps) < 2.5 * frame_ns(10e6), "nor is there a pause"
    shared.load("--rate", "100mbit")
    shared.drain()


@pytest.mark.parametrize("ecn", [NOT_ECT, ECT_1], ids=["C", "L"])
def test_a_fifth_of_the_rate_at_once(shared, ecn):
    """What is too much afterwards is what was on its way."""
    shared.start("--rate", "50mbit")
    change = RateChange(shared, 50_000_000)
    shared.burst(range(4), ecn, 300)
    change.to(10_000_000)
    begin, rate = change.made[-1]
    packets = [packet for packet in shared.drain() if packet.time_ns > begin]
    assert len(packets) > 100
    excess = max(number * FRAME - (packet.time_ns - begin) * rate / 8e9
                 for number, packet in enumerate(packets, start=1))
    print(f"excess {excess:.0f} bytes")
    assert excess <= 2 * FRAME
    change.close()


@pytest.mark.parametrize("in_l", [[], [1, 3]], ids=["C", "L and C"])
def test_a_hundred_rates_a_second(shared, in_l):
    """All queues are busy; what is sent is the integral of the rates."""
    rates = [30_000_000, 10_000_000, 40_000_000, 20_000_000]
    shared.start("--rate", "20mbit")
    change = RateChange(shared, 20_000_000)
    for _ in range(2000 // QUEUES):
        for queue in range(QUEUES):
            shared.burst([queue], ECT_1 if queue in in_l else NOT_ECT, 1)
    for number in range(60):
        change.to(rates[number % len(rates)])
        time.sleep(max(0, (change.made[1][0] + (number + 1) * 10_000_000 - now_ns()) / 1e9))
    change.to(20_000_000)
    begin, end = change.made[1][0], change.made[-1][0]
    assert shared.backlog() > 10, "all the time there was something to send"
    shared.load("--rate", "1gbit")
    sent = sum(FRAME for packet in shared.drain() if begin < packet.time_ns <= end)
    exact = sum((after - before) * rate / 8e9 for (before, rate), (after, _) in
                itertools.pairwise(change.made[1:]))
    print(f"{sent} of {exact:.0f} bytes")
    # It may be three frames ahead of an exact link, at both ends.
    assert abs(sent - exact) <= 0.005 * exact + 6 * FRAME
    assert end - begin == pytest.approx(600_000_000, rel=0.05)
    change.close()


def test_other_numbers_of_queues(shared):
    """The device uses fewer, which takes the packets of the others away, and all again."""
    shared.start("--rate", "20mbit")
    shared.burst(range(4), NOT_ECT, 400)
    for number in (2, 4):
        shared.space.run("ethtool", "-L", "m0", "tx", number)
    packets = shared.drain()
    queues = shared.all_stats()[1]
    print([drops(queue["c-queue"]) for queue in queues], len(packets))
    assert [drops(queue["c-queue"]) > 0 for queue in queues] == [False, False, True, True]
    assert most_ahead(packets, 20e6) <= 4
    shared.burst(range(4), NOT_ECT, 100)
    packets = shared.drain()
    took = packets[-1].time_ns - packets[0].time_ns
    assert took == pytest.approx(99 * frame_ns(20e6), rel=0.01)


def test_rate_zero_and_back(shared):
    shared.start("--rate", "10mbit")
    shared.burst(range(4), NOT_ECT, 50)
    shared.load("--rate", 0)
    shared.burst(range(4), NOT_ECT, 200)
    assert shared.backlog() == 0
    shared.load("--rate", "10mbit")
    shared.drain()
    shared.burst(range(4), NOT_ECT, 100)
    packets = shared.drain()
    took = packets[-1].time_ns - packets[0].time_ns
    assert took == pytest.approx(99 * frame_ns(10e6), rel=0.01)


def test_raised_rate_frees_what_waits(shared):
    """Without a packet that comes and wakes a qdisc: a frame takes 1.5 s of the old rate."""
    shared.start("--rate", "8kbit")
    shared.burst(range(4), NOT_ECT, 8)
    shared.load("--rate", "1gbit")
    assert len(shared.drain(seconds=0.5)) == 8


def down_and_up(link):
    link.space.ip("link set m0 down")
    link.space.ip("link set m0 up")
    wait_until(lambda: "UP" in link.space.run("ip", "-br", "link", "show", "m0").stdout.split(),
               "the link is up")
    link.sender.getsockopt(1, 4)  # SO_ERROR: "Network is down"
    link.drain()


def test_l_does_not_wait_for_a_place_that_was_thrown_away(shared):
    """Where the head of C would have started is not where the next one does."""
    shared.start("--rate", "4mbit")
    shared.burst([0], NOT_ECT, 100)
    shared.burst([1], NOT_ECT, 1)
    down_and_up(shared)
    shared.burst([1], NOT_ECT, 1)
    shared.burst([2], ECT_1, 1)
    shared.drain()
    assert shared.all_stats()[1][2]["l-queue"]["delay"]["max"] <= 1.1 * frame_ns(4e6) / 1000


def test_link_down_and_up(shared):
    """What waited is gone, and so is the time that it had taken: the full rate at once."""
    shared.start("--rate", "10mbit")
    shared.burst(range(4), NOT_ECT, 800)
    shared.burst([0], ECT_1, 100)
    down_and_up(shared)
    for ecn in (NOT_ECT, ECT_1):
        before = time.clock_gettime_ns(time.CLOCK_REALTIME)
        shared.burst(range(4), ecn, 100)
        packets = shared.drain()
        assert packets[0].time_ns - before < 10_000_000
        took = packets[-1].time_ns - packets[0].time_ns
        assert took == pytest.approx(99 * frame_ns(10e6), rel=0.01)
    drops = [queue["c-queue"]["drop-reset"] for queue in shared.all_stats()[1]]
    assert all(drops)


def test_a_queue_that_is_replaced_gives_its_time_back(link):
    """The packets of one queue go, and the others have their time; none waits for nobody."""
    link.start("--rate", "10mbit")
    link.burst([0], NOT_ECT, 200)
    link.burst([1], NOT_ECT, 100)
    top, _ = link.shown()
    link.receive()
    link.space.run("tc", "qdisc", "replace", "dev", "m0", "parent", f"{top['handle']}1", "pfifo")
    replaced_ns = now_ns()
    link.burst([2], NOT_ECT, 100)
    packets = link.drain()
    assert len(packets) >= 100  # before 7.2 the kernel drops what waits in all queues
    assert most_ahead(packets, 10e6) <= 4
    # Until it is replaced a packet of its own is next. Where all are dropped the link rests.
    times = [replaced_ns, *(packet.time_ns for packet in packets if packet.time_ns > replaced_ns)]
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert max(gaps) < 3_000_000, "who sleeps looks within a millisecond"


def test_unload_with_packets_that_wait(link):
    link.start("--rate", "100kbit")
    link.burst(range(4), NOT_ECT, 200)
    link.load("--unload")
    assert KIND not in link.space.run("tc", "qdisc", "show", "dev", "m0").stdout
    link.burst(range(4), NOT_ECT, 4)
    wait_until(lambda: len(link.receive()) >= 4 or len(link.arrived) >= 4, "the next ones pass")


def test_loaded_again_it_is_a_link_anew(shared):
    """The clocks of the former one are not those of this one."""
    shared.start("--rate", "100kbit")
    shared.burst(range(4), NOT_ECT, 200)
    shared.load("--unload")
    shared.sent, shared.arrived = 0, []
    shared.receive()
    shared.arrived = []
    shared.start("--rate", "10mbit")
    shared.burst(range(4), NOT_ECT, 100)
    packets = shared.drain()
    assert packets[-1].time_ns - packets[0].time_ns == pytest.approx(99 * frame_ns(10e6), rel=0.01)


TRACING = Path("/sys/kernel/tracing")
# The kernel functions behind a bpf_timer and bpf_qdisc_watchdog_schedule().
TIMERS = ("bpf_timer_cb", "qdisc_watchdog")


def woken(seconds):
    """How often a timer of a qdisc wakes the CPU up in a time in which nothing is sent."""
    event = TRACING / "events/timer/hrtimer_expire_entry/enable"
    (TRACING / "trace").write_text("")
    with written(event, "1"):
        time.sleep(seconds)
    expired = re.findall(r"function=(\w+)", (TRACING / "trace").read_text())
    return sum(expired.count(name) for name in TIMERS)


def test_an_idle_link_wakes_nobody(shared):
    """Neither for an update nor to look whether a packet may leave, in any of its qdiscs."""
    shared.start("--rate", "10mbit")
    shared.burst(range(4), NOT_ECT, 40)
    shared.burst(range(4), ECT_1, 40)
    assert woken(0.05) > 20, "it would be seen"
    shared.drain()
    wait_until(lambda: not woken(0.2), "it rests")
    assert not woken(5)


# ---- the loader ------------------------------------------------------------------------


def test_all_queues_are_equipped_that_there_can_be(link):
    link.space.run("ethtool", "-L", "m0", "tx", 2)
    link.load("--mq", "--rate", "10mbit")
    link.space.run("ethtool", "-L", "m0", "tx", 4)
    assert link.kinds() == [KIND] * 4
    assert "nothing changed" in link.load().stdout


def test_a_queue_that_is_not_ours_is_told(link):
    """Whatever it is: --check, the next load and the tables say that its traffic bypasses us."""
    link.load("--mq", "--rate", "10mbit")
    handle = link.shown()[0]["handle"]
    link.space.run("tc", "qdisc", "replace", "dev", "m0", "parent", f"{handle}2", "handle", "77:",
                   "pfifo")
    said = ("somebody configured one of its queues, so what it sends bypasses the AQM and the "
            f"rate: `qdisc pfifo 77: parent {handle}2`; --replace takes its place, for good")
    assert of_kind(findings(link.space, "m0"), "MISSING") == [f"m0: {said}"]
    assert said in one_line(link.load("--rate", "20mbit", check=False), 1)
    replaced = (f"queue {handle}2 has pfifo in place of {KIND}, so what comes to it bypasses the "
                "AQM and the rate: `dualpi2-load m0 --replace` puts that right")
    assert of_kind(findings(link.space, "m0", "--replace"), "WARNING") == [replaced]
    shown = " ".join(link.table().split())
    assert (f"warning: queue {handle}2 has pfifo in place of {KIND}, so what comes to it bypasses "
            "the AQM and the rate: `dualpi2-load --check m0` says what helps.") in shown
    assert link.all_stats()[0]["other-qdiscs"] == {"queues": 1, "first": f"{handle}2",
                                                   "kind": "pfifo"}
    for queue in (2, 3):
        link.space.run("tc", "qdisc", "del", "dev", "m0", "parent", f"{handle}{queue}")
    lost = (f"queue {handle}2 (and 1 more) has nothing in place of {KIND}, so what comes to it is "
            "lost: `dualpi2-load m0` puts that right")
    assert of_kind(findings(link.space, "m0"), "WARNING") == [lost]
    assert "2 of its queues have it again" in link.load().stdout
    assert link.kinds() == [KIND] * QUEUES
    assert not of_kind(findings(link.space, "m0"), "WARNING")


def test_a_rate_makes_one_link_of_an_mq(link):
    """And its parameters stay. Without a rate it stays one."""
    link.load("--mq", "--limit", 77, "--target", "7ms")
    assert link.kinds() == ["bpf_dualpi2"] * QUEUES
    assert f"{KIND} attached" in link.load("--rate", "10mbit").stdout
    assert link.kinds() == [KIND] * QUEUES
    options = link.all_stats()[0]["options"]
    assert (options["limit"], options["target"], options["rate"]) == (77, 7000, 10_000_000)
    link.load("--rate", 0)
    assert link.kinds() == [KIND] * QUEUES
    link.load("--aqm", "fixed", "--rate", "5mbit")
    assert link.kinds() == ["bpf_mq_fixed"] * QUEUES


@pytest.mark.parametrize("options, why", [
    (("--aqm", "codel"), "not with an mq and the AQM codel"),
    (("--aqm", "curvy-red"), "not with an mq and the AQM curvy-red"),
    (("--guard",), "--guard: not with --rate and an mq"),
    (("--sparse",), "--sparse: not with --rate and an mq"),
    (("--drop-dequeue",), "--drop-dequeue: not with --rate and an mq"),
])
def test_what_cannot_be_shared_is_refused(link, options, why):
    before = link.shown()
    assert why in one_line(link.load("--mq", "--rate", "10mbit", *options, check=False), 2)
    assert link.shown() == before
    link.load("--mq", "--rate", "10mbit")
    assert why in one_line(link.load(*options, check=False), 2)
    assert link.kinds() == [KIND] * QUEUES


def test_unload_gives_back(link):
    before = link.shown()
    link.load("--mq", "--rate", "10mbit")
    link.load("--unload")
    assert link.shown() == before
    checked = link.space.run(LOADER, "m0", "--check", "--mq", "--rate", "10mbit").stdout
    assert f"its {QUEUES} transmit queues share one rate" in checked


# ---- what the tools show ---------------------------------------------------------------


def test_it_is_shown_as_one_dualq(shared):
    """Its queues only if somebody asks for them: in all else they would count twice."""
    shared.start("--rate", "10mbit")
    shared.burst(range(4), NOT_ECT, 40)
    shared.burst([0], ECT_1, 8)
    shared.drain()
    [whole] = json.loads(shared.stats("--json"))
    _, queues = shared.all_stats()
    assert whole["kind"] == KIND and whole["root"]
    assert whole["options"]["rate"] == 10_000_000
    assert whole["c-queue"]["packets-in"] == sum(queue["c-queue"]["packets-in"]
                                                 for queue in queues)
    text = shared.stats()
    assert text.startswith(f"m0: {KIND} over all transmit queues (mq), ")
    assert "  p' 0.00 %" in text and ":1 " not in text
    assert len(re.findall(r"^  [0-9a-f]+:[1-4] +[0-9]+ ", shared.stats("--queues"), re.M)) == 4
    assert shared.stats("--tc").startswith(f"qdisc {KIND} ")
    packets = re.findall(r"^dualpi2_received_packets_total{(.*),queue=\"l4s\"} (\d+)$",
                         shared.stats("--openmetrics"), re.M)
    assert packets == [('device="m0",direction="egress",parent="root"', "8")]


def test_an_overload_is_one_event_of_the_link(shared):
    shared.start("--rate", "1mbit", "--target", "1ms", "--tupdate", "1ms", "--alpha", 200,
                 calm=CALM[2:])
    with following(shared.space, STATS, "m0", "--events") as follower:
        shared.burst([2], NOT_ECT, 200)
        assert next_line(follower).endswith(" m0: overload began\n")
    assert re.search(r"overload .*: 1 event, .*; the latest began [0-9.]+m?s ago", shared.stats())
    shared.load("--rate", 0)
    shared.drain()
    assert shared.all_stats()[0]["overload"]["events"] == 1
