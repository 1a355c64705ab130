# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--rate: exact over any interval, no bursts. Times are those of the receiver."""

import json

import pytest
from frames import ECT_1, NOT_ECT

pytestmark = pytest.mark.oldest_kernel

CALM = ("--target", "4000s")
# What the receiver's clock and a late timer add, in virtual time...
SLACK_NS = 100_000
# ... and what is caught up after a timer that had to wait for other work of the guest's one CPU.
CAUGHT_UP_NS = 1_000_000  # SHAPER_SLACK_NS of include/shaper.h


def departures(cable, count, length):
    cable.burst(NOT_ECT, count, length)
    arrived = cable.drain()
    return [packet.time_ns for packet in arrived], length


@pytest.mark.parametrize("rate, bit_per_s, length", [
    ("1mbit", 10**6, 1514), ("40mbit", 40 * 10**6, 1514), ("4mbit", 4 * 10**6, 64),
    ("7777kbit", 7_777_000, 333), ("100mbit", 10**8, 1514),
])
def test_rate_is_exact_over_any_interval(cable, rate, bit_per_s, length):
    cable.load("--rate", rate, *CALM)
    times, length = departures(cable, 300, length)
    frame_ns = length * 8 * 10**9 / bit_per_s
    started = [time_ns - number * frame_ns for number, time_ns in enumerate(times)]
    late = sorted(start - min(started) for start in started)
    assert late[int(0.98 * len(late))] < SLACK_NS
    assert late[-1] < CAUGHT_UP_NS


def test_no_burst_after_idleness(cable):
    cable.load("--rate", "10mbit", *CALM)
    departures(cable, 5, 1514)
    cable.qdisc.stats()  # takes some milliseconds in which the link is idle
    times, _ = departures(cable, 10, 1514)
    gaps = [later - earlier for earlier, later in zip(times, times[1:], strict=False)]
    assert min(gaps) > 1_211_200 - SLACK_NS


def test_raised_rate_frees_what_waits(cable):
    """Without a packet that comes and wakes the qdisc: a frame takes 1.5 s of the old rate."""
    cable.load("--rate", "8kbit", *CALM)
    cable.burst(NOT_ECT, 5)
    cable.load("--rate", "1gbit")
    assert len(cable.drain(seconds=0.5)) == 5


def test_rate_changes_and_goes_live(cable):
    cable.load("--rate", "1mbit", *CALM)
    cable.burst(NOT_ECT, 30)
    cable.load("--rate", "50mbit")
    times = [packet.time_ns for packet in cable.drain()]
    assert times[-1] - times[-11] == pytest.approx(10 * 242_240, abs=SLACK_NS)
    cable.load("--rate", "0")
    assert cable.qdisc.stats()["options"]["rate"] == 0
    cable.burst(NOT_ECT, 100)
    assert len(cable.drain()) == 100


def test_without_rate_the_device_decides(cable):
    cable.load()
    times, _ = departures(cable, 100, 1514)
    assert times[-1] - times[0] < 100 * 121_120  # faster than 100 Mbit/s


@pytest.mark.parametrize("options, length, on_the_link", [
    (("--raw",), 1014, 1014),
    (("--overhead", 0), 1014, 1000),  # from the IP header on, as in cake
    (("--overhead", 22), 1014, 1022),
    (("--overhead", -10), 1014, 990),
    (("--ethernet",), 1014, 1038),
    (("--ethernet",), 60, 84),
    (("--docsis",), 1014, 1018),
    (("--docsis",), 60, 64),
    (("--pppoe-ptm",), 1014, 1030 + 17),  # one byte more for each 64 begun
    (("--mpu", 200), 60, 200),
])
def test_accounted_length_is_that_of_the_link(cable, options, length, on_the_link):
    cable.load("--rate", "1mbit", *CALM, *options)
    times, _ = departures(cable, 21, length)
    assert times[-1] - times[0] == pytest.approx(20 * on_the_link * 8000, abs=SLACK_NS)


def test_framing_counts_for_the_step(cable):
    """What waits in L is measured on the link: of ten tiny frames none would wait a
    millisecond by its own length, 0.05 ms."""
    cable.load("--rate", "10mbit", "--overhead", 256)
    cable.burst(ECT_1, 10, 60)  # 46 bytes from the IP header on, plus 256: 0.24 ms each
    assert cable.qdisc.stats()["l-queue"]["mark-native"] == 5


def test_atm_framing_by_a_size_table(cable):
    """tc gives it to a live qdisc (docs/moving.md), which keeps its parameters. A frame of 1000
    bytes takes 22 cells of 53 bytes then, with 40 bytes of overhead."""
    cable.load("--rate", "10mbit", *CALM)
    before = cable.qdisc.stats()
    cable.tx.run(*"tc qdisc replace dev d0 root stab linklayer atm overhead 40 bpf_dualpi2".split())
    stats = cable.qdisc.stats()
    assert stats["options"] == before["options"] and stats["handle"] == before["handle"]
    cable.burst(NOT_ECT, 100, 1000)
    cable.drain()
    after = cable.qdisc.stats()
    assert after["c-queue"]["bytes-out"] == 100 * 22 * 53
    # The last one waits until the others have left, at 10 Mbit/s.
    assert after["c-queue"]["delay"]["max"] == pytest.approx(99 * 22 * 53 * 8 / 10, rel=0.1)
    cable.load("--rate", "8mbit")
    [shown] = json.loads(cable.tx.run("tc", "-j", "qdisc", "show", "dev", "d0", "root").stdout)
    assert shown["kind"] == "bpf_dualpi2"
    assert "linklayer atm" in cable.tx.run("tc", "-d", "qdisc", "show", "dev", "d0", "root").stdout
