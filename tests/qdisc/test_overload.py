# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""More load than marks can tame (RFC 9332, 2.5.1.1, 4.2.3 and A.2): when it begins,
what is dropped then, what is told about it, and that it ends."""

import json
import re
import signal
import statistics
import struct
import subprocess
import time
from pathlib import Path

import pytest
from conftest import BIN, LOADER, PIN_DIR, following, follows, next_line, published
from frames import ECT_0, ECT_1, ETHER_LEN, NOT_ECT, SERIAL_LEN, ipv4_frame, received
from held import COUNT, RESTED, ce_count, fits, flood, hold_probability
from netns import run, wait_until

pytestmark = pytest.mark.oldest_kernel


@pytest.mark.parametrize("ecn, queue, cause", [
    (ECT_1, "l-queue", "drop-overload"), (ECT_0, "c-queue", "drop-overload"),
    (NOT_ECT, "c-queue", "drop-aqm"),
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
    assert change["c-queue"]["mark-coupled"] == ce_count(arrived)
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
    wait_until(lambda: published("d0")["levels"]["prob"] == 0, "p' is 0")


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
        wait_until(lambda: published("d0")["levels"]["prob"] < 2**31, "overload is gone", step=0.02)
        cable.load("--target", 0, "--alpha", 100)
        cable.burst(NOT_ECT, 100)
        wait_until(lambda: published("d0")["levels"]["prob"] > 2**31, "overload is back", step=0.02)
    assert published("d0")["overload"]["events"] == 1
    calm_down(cable)
    wait_until(lambda: not published("d0")["overload"]["active"], "the event is over")
    cable.load("--target", 0, "--alpha", 100, "--rate", "1mbit")
    cable.burst(NOT_ECT, 300)
    wait_until(lambda: published("d0")["overload"]["events"] == 2, "another event")
    calm_down(cable)


def test_events_can_be_followed(cable):
    """dualpi2-stats --events tells of both ends of an event while it happens, to all."""
    cable.load()
    followers = [subprocess.Popen([BIN / "dualpi2-stats", "--events", "--json"],
                                  stdout=subprocess.PIPE, text=True) for _ in range(3)]
    try:
        hold_probability(cable, 0.6)
        began, *others = [json.loads(next_line(follower)) for follower in followers]
        assert (began["dev"], began["event"]) == ("d0", "began")
        assert others == [began] * 2
        calm_down(cable)
        ended, *others = [json.loads(next_line(follower)) for follower in followers]
        assert (ended["dev"], ended["event"]) == ("d0", "ended")
        assert ended["start"] == began["start"]
        assert ended["duration"] > 0
        assert others == [ended] * 2
    finally:
        for follower in followers:
            follower.terminate()
            follower.wait()


KEPT = 256  # DUALPI2_EVENTS
CODEL_EVENTS = PIN_DIR / "codel/dualpi2_events"


def keep_events(path, numbers, begun=None, netns=2**63, ifindex=1, is_whole=True):
    """As if the programs had told of events with these numbers, of interfaces named after them, in
    a namespace (its cookie): by default none of this host. Or were about to."""
    lines = []
    for number in numbers:
        # netns, ifindex, parent, ended, netns, ifname, start_ns, duration_ns
        event = struct.pack("=QQIIII16sQQQ", number * is_whole, netns, ifindex, 0, 0, 1,
                            f"x{number}".encode(), 10**9, 0, begun or number)
        place = struct.pack("=I", number % KEPT)
        key, value = (" ".join(map(str, data)) for data in (place, event))
        lines.append(f"map update pinned {CODEL_EVENTS} key {key} value {value}\n")
    path.write_text("".join(lines))
    run("bpftool", "batch", "file", path)


def looks_of(process):
    """How often it has gone to sleep."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status, re.M)[1])


def test_events_are_told_whole_and_in_order(cable, tmp_path):
    """Also where one CPU writes longer than another, and where more came than are kept."""
    cable.load("--aqm", "codel")  # which has a map of its own, and goes with it
    batch = tmp_path / "batch"
    follower = subprocess.Popen([BIN / "dualpi2-stats", "--events", "--json"],
                                stdout=subprocess.PIPE, bufsize=0)  # several lines at a time

    def told():
        return json.loads(next_line(follower))["dev"]

    try:
        wait_until(lambda: follows(follower), "it follows")
        keep_events(batch, [2], is_whole=False)
        keep_events(batch, [1, 3])
        assert told() == "x1"
        before = looks_of(follower)
        wait_until(lambda: looks_of(follower) >= before + 3, "it has looked again")
        keep_events(batch, [2])
        assert [told(), told()] == ["x2", "x3"]
        keep_events(batch, [4], begun=4 + KEPT)  # overwritten while it was read
        keep_events(batch, [5])
        assert told() == "x5"
        follower.send_signal(signal.SIGSTOP)
        keep_events(batch, range(6, 406))
        follower.send_signal(signal.SIGCONT)
        assert [told() for _ in range(KEPT)] == [f"x{number}" for number in range(150, 406)]
    finally:
        follower.terminate()
        follower.wait()
        cable.load("--unload")


EVENTS = (BIN / "dualpi2-stats", "one", "--events", "--json")


def followed_of(box, follower, batch, *devices):
    """The name with which the first event comes, of one for each device in this order."""
    for number, ifindex in enumerate(devices, start=1):
        keep_events(batch, [number], netns=box.cookie(), ifindex=ifindex)
    return json.loads(next_line(follower))["interface"]


def test_events_of_an_interface_that_was_made_anew(space, tmp_path):
    """It has another number, and another interface has the old one."""
    space.run(LOADER, "one", "--aqm", "codel")
    old = space.links()["one"]["ifindex"]
    with following(space, *EVENTS) as follower:
        space.ip("link del one")
        space.ip(f"link add other index {old} type dummy")
        space.ip("link add one type dummy")
        new = space.links()["one"]["ifindex"]
        assert followed_of(space, follower, tmp_path / "batch", old, new) == "one"


def test_events_of_an_interface_that_is_renamed(registered, box, tmp_path):
    """It is followed under its new name, and not another one that has the old name now."""
    box.run(LOADER, "one", "--aqm", "codel")
    with following(box, *EVENTS) as follower:
        followed = box.links()["one"]["ifindex"]
        box.ip("link set one name renamed")
        box.ip("link add one type dummy")
        other = box.links()["one"]["ifindex"]
        assert followed_of(box, follower, tmp_path / "batch", other, followed) == "renamed"
    box.run(LOADER, "renamed", "--unload")


def test_lines_of_an_interface_that_is_renamed(registered, box):
    box.run(LOADER, "one")
    jsonl = BIN / "dualpi2-stats", "one", "--jsonl", "--interval", "50ms"
    with following(box, *jsonl) as follower:
        assert json.loads(next_line(follower))["interface"] == "one"
        box.ip("link set one name renamed")
        box.ip("link add one type dummy")
        wait_until(lambda: json.loads(next_line(follower))["interface"] == "renamed",
                   "it follows the interface")
        box.run(LOADER, "renamed", "--unload")


def test_events_and_overload_for_people(cable):
    """A line each, of one interface; the table tells of it too; an interrupt is no failure."""
    cable.load()
    assert "overload" not in cable.qdisc.table()
    with following(cable.tx, BIN / "dualpi2-stats", "d0", "--events") as follower:
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


# ---- unresponsive load --------------------------------------------------------------

RATE = 10_000_000  # bit/s
LENGTH = 1514
TARGET_MS = 15  # the default
SETTLED_S = 2  # when the control loop has found p'
PROTECTED = 0.1  # of the link for Classic, the default
NORMAL = {ECT_1: 0.3, NOT_ECT: 0.3}
NORMAL_PROB = 0.1  # p_C is below 1 %


class Stream:
    """Paced frames of both codepoints whatever becomes of them, and what arrives. A frame's
    serial is the time when it was sent."""

    TEMPLATES = {ecn: ipv4_frame(0, ecn, LENGTH)[:-SERIAL_LEN] for ecn in (ECT_1, NOT_ECT)}

    def __init__(self, cable):
        self.cable = cable
        self.arrivals = []  # (is it L4S, sent, arrived; s)

    def send(self, shares, seconds):
        """Offer each codepoint so much of the link; the time when that began and ended."""
        began = time.time()
        sent = dict.fromkeys(shares, 0)
        while (elapsed := time.time() - began) < seconds:
            for ecn, share in shares.items():
                while sent[ecn] < share * elapsed * RATE / 8 / LENGTH:
                    self.cable.send(self.TEMPLATES[ecn] + struct.pack("!Q", time.time_ns()))
                    sent[ecn] += 1
            self.receive()
            time.sleep(0.001)
        return began, time.time()

    def receive(self):
        for data, arrived_ns in received(self.cable.receiver):
            self.cable.arrived += 1
            sent_ns, = struct.unpack("!Q", data[-SERIAL_LEN:])
            is_l4s = data[ETHER_LEN + 1] & 3 != NOT_ECT
            self.arrivals.append((is_l4s, sent_ns / 1e9, arrived_ns / 1e9))

    def delays_ms(self, is_l4s, begin, end):
        """Of what was sent in between, shortest first."""
        return sorted((arrived - sent) * 1000 for kind, sent, arrived in self.arrivals
                      if kind == is_l4s and begin <= sent < end)

    def shares(self, is_l4s, begin, end):
        """The part of the link in each whole second."""
        seconds = int(end - begin)
        counts = [0] * seconds
        for kind, _, arrived in self.arrivals:
            if kind == is_l4s and begin <= arrived < begin + seconds:
                counts[int(arrived - begin)] += 1
        return [count * LENGTH * 8 / RATE for count in counts]


def percentile(ordered, part):
    return ordered[int(len(ordered) * part / 100)]


@pytest.mark.parametrize("l4s, classic", [(2, 0.3), (0.3, 2), (2, 2)])
def test_unresponsive_load(cable, long, l4s, classic):
    """Twice what the link takes, in either queue and in both: the link is full, none starves,
    Classic has no less than its protected share, the delay is PI2's target; and a second
    after it all is as before."""
    cable.load("--rate", f"{RATE}bit")
    stream = Stream(cable)
    before, _ = stream.send(NORMAL, 2)
    began, ended = stream.send({ECT_1: l4s, NOT_ECT: classic}, 60 if long else 8)
    overloaded = cable.qdisc.stats()["prob"]
    stream.send(NORMAL, 1)
    stats = cable.qdisc.stats()
    _, after = stream.send(NORMAL, 2)
    cable.drain()
    begin = began + SETTLED_S
    shares = {is_l4s: stream.shares(is_l4s, begin, ended) for is_l4s in (True, False)}
    delays = {is_l4s: stream.delays_ms(is_l4s, begin, ended) for is_l4s in (True, False)}
    normal = {is_l4s: stream.delays_ms(is_l4s, before, began) for is_l4s in (True, False)}
    again = {is_l4s: stream.delays_ms(is_l4s, ended + 1, after - 0.1) for is_l4s in (True, False)}
    print(f"\nload L, C: {l4s:.0%}, {classic:.0%}; p': {overloaded:.3f}, 1 s later "
          f"{stats['prob']:.3f}; events {stats['overload']['events']}")
    for what, is_l4s in (("L", True), ("C", False)):
        print(f"{what}: least share in a second {min(shares[is_l4s]):.1%}; delay (ms) mean "
              f"{statistics.fmean(delays[is_l4s]):.2f}, P99 {percentile(delays[is_l4s], 99):.2f}, "
              f"before {percentile(normal[is_l4s], 99):.2f}, "
              f"after {percentile(again[is_l4s], 99):.2f}")
    assert all(sum(both) > 0.98 for both in zip(*shares.values(), strict=True))
    assert min(shares[False]) >= PROTECTED
    assert min(shares[True]) >= PROTECTED
    assert max(percentile(delays[is_l4s], 99) for is_l4s in delays) < 2.5 * TARGET_MS
    for is_l4s in (True, False):
        assert percentile(again[is_l4s], 99) <= percentile(normal[is_l4s], 99) + 2
    assert stats["overload"]["events"] == 1
    assert stats["prob"] < NORMAL_PROB


def test_stalled_link(cable):
    """Next to nothing leaves for five seconds: p' goes to its end and not beyond, what waited
    has waited for too long and is dropped, and a second later all is as before. (A device
    that stops altogether: tests/compare/test_stall.py.)"""
    cable.load("--rate", f"{RATE}bit")
    stream = Stream(cable)
    before, began = stream.send(NORMAL, 2)
    cable.load("--rate", "8kbit")  # 1.5 s a frame
    stream.send(NORMAL, 5)
    stalled = cable.qdisc.stats()
    cable.load("--rate", f"{RATE}bit")
    _, again = stream.send(NORMAL, 1)
    stats = cable.qdisc.stats()
    _, after = stream.send(NORMAL, 2)
    cable.drain()
    offered = sum(NORMAL.values()) * 5 * RATE / 8 / LENGTH
    print(f"\np': {stalled['prob']:.3f}, 1 s later {stats['prob']:.3f}; of {offered:.0f} frames "
          f"dropped {stats['drops']}")
    assert stalled["prob"] == 1
    assert stats["prob"] < NORMAL_PROB
    assert stats["drops"] > 0.9 * offered
    for is_l4s in (True, False):
        normal = percentile(stream.delays_ms(is_l4s, before, began - 0.1), 99)
        assert percentile(stream.delays_ms(is_l4s, again, after - 0.1), 99) <= normal + 2


@pytest.fixture
def wall_clock():
    """Sets it wrong by so many seconds."""
    offset = time.clock_gettime_ns(time.CLOCK_REALTIME) - time.monotonic_ns()

    def jump(seconds):
        time.clock_settime_ns(time.CLOCK_REALTIME,
                              time.monotonic_ns() + offset + seconds * 10**9)
    yield jump
    jump(0)


def test_clock_jump(cable, wall_clock):
    """Somebody sets the clock: all times here are monotonic ones."""
    cable.load("--rate", f"{RATE}bit")
    stream = Stream(cable)
    for seconds in (0, 86400, -86400, 0):
        wall_clock(seconds)
        updates = published("d0")["updates"]
        stream.send(NORMAL, 0.5)
        assert published("d0")["updates"] > updates + 20, "p' is moved every 16 ms"
    cable.drain()
    stats = cable.qdisc.stats()
    assert stats["prob"] == 0 and stats["drops"] == 0
    assert max(stats[queue]["delay"]["max"] for queue in ("l-queue", "c-queue")) < 20_000  # us
