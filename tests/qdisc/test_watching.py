# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What dualpi2-stats tells over time, of packets that really waited."""

import contextlib
import json
import re
import signal

import pytest
from conftest import BIN, KINDS, LOADER, PIN_DIR, PUBLIC_PIN_DIR
from frames import ECT_1, NOT_ECT
from netns import dummy
from steady import steadily
from terminal import Terminal
from test_privilege import BPFFS, as_nobody, mode, send_one

pytestmark = pytest.mark.oldest_kernel

STATS = BIN / "dualpi2-stats"
FRAME = 1514


@contextlib.contextmanager
def streaming(space, *arguments):
    """--jsonl as a process, for half a minute at most: its lines, as they come."""
    process = space.popen("timeout", 30, STATS, "--jsonl", "--interval", "100ms", *arguments)
    try:
        yield map(json.loads, process.stdout)
    finally:
        process.kill()
        process.wait()


def first(lines, wanted):
    """The next one of which this is true."""
    return next(line for line in lines if wanted(line))


def total(lines, queue, counter):
    return sum(line["interval"][queue][counter] for line in lines)


def test_stream_outlives_qdisc_and_registration(box):
    """New maps; the stream goes on, and no figure mixes old and new. (The first test of the file:
    the kind is not registered for the others yet.)"""
    box.run(LOADER, "one", "--rate", "1mbit")
    with streaming(box, "one") as lines:
        send_one(box, "one")
        first(lines, lambda line: line["c-queue"]["packets-in"] == 1)
        box.run(LOADER, "one", "--unload")
        assert not PIN_DIR.exists()
        box.run(LOADER, "one", "--rate", "1mbit")
        fresh = next(lines)
        assert fresh["c-queue"]["packets-in"] == 0
        assert fresh["interval"]["c-queue"]["packets-in"] == 0
    box.run(LOADER, "one", "--unload")


def test_stream_outlives_a_change_of_aqm(box):
    """One of two interfaces gets another AQM: the stream has both, and no figure mixes the two."""
    for name in ("one", "two"):
        box.run(LOADER, name, "--rate", "1mbit")
    with streaming(box) as lines:
        first(lines, lambda line: line["interface"] == "one")
        send_one(box, "one")
        first(lines, lambda line: line["interface"] == "one" and line["c-queue"]["packets-in"])
        box.run(LOADER, "one", "--aqm", "codel")
        line = first(lines, lambda line: line["kind"] == KINDS["codel"])
        assert line["interface"] == "one"
        assert line["c-queue"]["packets-in"] == line["interval"]["c-queue"]["packets-in"] == 0
        assert next(lines)["interface"] == "two"
    for name in ("one", "two"):
        box.run(LOADER, name, "--unload")


@pytest.mark.parametrize("options", [(), ("--mq",)])
def test_stream_tells_qdiscs_of_one_handle_apart(registered, box, options):
    """The second one has more packets than the first one when it is first seen."""
    dummy(box, "wide", "numtxqueues", 2)
    load = LOADER, "wide", "--handle", "8001:", *options
    box.run(*load)
    process = box.popen(STATS, "wide", "--jsonl", "--interval", "100ms")
    lines = (line for line in map(json.loads, process.stdout) if "root" in line)
    try:
        send_one(box, "wide")
        first(lines, lambda line: line["c-queue"]["packets-in"] == 1)
        process.send_signal(signal.SIGSTOP)
        box.run(LOADER, "wide", "--unload")
        box.run(*load)
        for _ in range(3):
            send_one(box, "wide")
        process.send_signal(signal.SIGCONT)
        while (line := next(lines))["c-queue"]["packets-in"] != 3:
            assert line["c-queue"]["packets-in"] == 1
        assert line["interval"]["c-queue"]["packets-in"] == 0
    finally:
        process.kill()
        process.wait()
        box.run(LOADER, "wide", "--unload")


def test_a_queue_elsewhere_is_told_of(cable):
    """A shaper of 10 Mbit/s that gets more than a tenth of that, and holds none of it. That there
    was a queue once does not matter."""
    cable.load("--rate", "10mbit")
    cable.burst(NOT_ECT, 20)
    cable.drain()
    with steadily(lambda: cable.burst(NOT_ECT, 1)):
        shown = cable.tx.run(STATS, "d0").stdout
        one_of_all = cable.tx.run(STATS).stdout
    cable.drain()
    for text in shown, one_of_all:
        assert "hint: " in text and "If something behind has less" in text, text
    assert "hint: " not in cable.tx.run(STATS, "d0").stdout, "nothing was sent lately"


def test_lines_add_up(cable):
    """1 Mbit/s, 30 frames: the intervals have each of them once, whenever they were taken."""
    cable.load("--rate", "1mbit", "--target", "4000s")
    with streaming(cable.tx, "d0") as stream:
        before = next(stream)
        assert before["interval"]["c-queue"]["packets-in"] == 0
        cable.burst(NOT_ECT, 30)
        lines = [next(stream)]
        while lines[-1]["c-queue"]["packets-out"] < 30:
            lines.append(next(stream))
    assert total(lines, "c-queue", "packets-in") == 30
    assert total(lines, "c-queue", "bytes-out") == 30 * FRAME
    elapsed = lines[-1]["time"] - before["time"]
    assert sum(line["interval"]["seconds"] for line in lines) == pytest.approx(elapsed, abs=1e-4)
    # While it was busy, an interval forwarded what the shaper lets through, give or take a frame.
    assert len(lines) >= 4
    for line in lines[1:-1]:
        bits = line["interval"]["c-queue"]["rate-out"] * line["interval"]["seconds"]
        assert bits == pytest.approx(1e6 * line["interval"]["seconds"], abs=8 * FRAME)
        assert line["interval"]["empty"] == 0


def test_delays_are_those_of_the_interval(cable):
    """A queue of a few frames, after one that was longer."""
    cable.load("--rate", "10mbit", "--target", "4000s")
    with streaming(cable.tx, "d0") as stream:
        next(stream)
        cable.burst(NOT_ECT, 200)
        cable.drain()
        first(stream, lambda line: not line["interval"]["c-queue"]["packets-out"])
        cable.burst(NOT_ECT, 5)
        lines = [next(stream), next(stream)]
    [line] = [line for line in lines if line["interval"]["c-queue"]["packets-out"]]
    interval = line["interval"]
    assert interval["c-queue"]["packets-out"] == 5
    # The n-th waits n times 1.2112 ms, less the time that sending them took.
    assert interval["c-queue"]["delay"]["max"] == pytest.approx(4 * 1211, rel=0.15)
    assert line["c-queue"]["delay"]["max"] == pytest.approx(199 * 1211, rel=0.15)
    waited_us = 5 * interval["c-queue"]["delay"]["mean"]
    assert interval["empty"] == pytest.approx(1 - waited_us / 1e6 / interval["seconds"], abs=1e-4)


def test_whoever_may_only_read_gets_the_same(cable):
    """From the public maps, as they are every 200 ms. An interval is the time between two such
    moments, so rates are right to a frame."""
    cable.load("--rate", "1mbit", "--target", "4000s", "--tupdate", "200ms")
    cable.burst(NOT_ECT, 200)  # 2.4 s
    with mode(BPFFS, 0o711), mode(PUBLIC_PIN_DIR, 0o755):
        shown = cable.tx.run(*as_nobody(STATS, "d0", "--jsonl", "--interval", "500ms", "--count",
                                        3)).stdout
    for line in map(json.loads, shown.splitlines()):
        assert line["tcx-attached"] is None
        interval = line["interval"]
        bits = interval["c-queue"]["rate-out"] * interval["seconds"]
        assert bits == pytest.approx(1e6 * interval["seconds"], abs=2 * 8 * FRAME)
        assert interval["seconds"] == pytest.approx(0.5, abs=0.21)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_end_is_a_whole_line(cable, number):
    cable.load()
    process = cable.tx.popen(STATS, "--jsonl", "--interval", "20ms")
    process.stdout.readline()
    process.send_signal(number)
    rest = process.communicate()[0]
    assert process.returncode == 0
    assert all(json.loads(line)["dev"] for line in rest.splitlines())
    assert not rest or rest.endswith("\n")


def test_distribution_has_the_packets(cable):
    """Ten frames wait 12 to 121 ms; the first does not."""
    cable.load("--rate", "1mbit", "--target", "4000s")
    cable.burst(NOT_ECT, 11)
    cable.drain()
    text = cable.tx.run(STATS, "d0", "--histogram", env={"LC_ALL": "C.UTF-8"}).stdout
    assert re.search(r"^ +below +L4S: 0 packets +Classic: 11 packets$", text, re.M)
    shares = [float(share) for share in re.findall(r"([\d.]+) %\n", text)]
    assert sum(shares) == pytest.approx(100, abs=0.5)
    bins = cable.tx.run(STATS, "d0", "--histogram", "--json").stdout
    bins = json.loads(bins)[0]["c-queue"]["delay"]["bins"]
    assert sum(bin_["packets"] for bin_ in bins) == 11
    assert bins[-1]["from-ns"] <= 121.12e6 < bins[-1]["to-ns"]


# ---- --config ----------------------------------------------------------------------------------


def configured(space, directory, *who):
    """Of what has options there: {(name, direction): is it attached?}; None: it is not known."""
    text = space.run(*who, STATS, "--prometheus", "--config", directory).stdout
    found = re.findall(r'^dualpi2_configured_attached\{device="(\w+)",direction="(\w+)"\} ([01])$',
                       text, re.M)
    known = "\ndualpi2_configuration_known 1\n" in text
    return {(name, way): value == "1" for name, way, value in found} if known else None


def test_what_has_options_is_attached_or_not(box, tmp_path):
    assert configured(box, tmp_path) == {}
    for name in ("lo", "gone"):
        (tmp_path / f"{name}.conf").touch()
    (tmp_path / "o*.conf").write_text("rate 1mbit\ningress\nrate 1mbit\n", encoding="utf-8")
    none = {("one", "egress"): False, ("one", "ingress"): False, ("lo", "egress"): False}
    assert configured(box, tmp_path) == none
    for direction, *options in ("egress",), ("ingress", "--ingress"):
        box.run(LOADER, "one", "--rate", "1mbit", *options)
        assert configured(box, tmp_path) == none | {("one", direction): True}
        box.run(LOADER, "one", "--unload", *options)
        assert configured(box, tmp_path) == none
    assert configured(box, tmp_path, *as_nobody()) is None, "pytest's directories are root's alone"


# ---- --watch -----------------------------------------------------------------------------------


def shown(text, name):
    """The cells of a line of figures on the screen: L4S, Classic."""
    [line] = [line for line in text.split("\n") if line.startswith(name)]
    return line[20:50].strip(), line[50:].strip()


def test_screen_shows_what_json_has(cable):
    """50 frames stand still at 1 kbit/s, after ten that have passed."""
    cable.load("--rate", "10mbit", "--target", "4000s")
    cable.burst(ECT_1, 10)
    cable.drain()
    cable.load("--rate", "8kbit")
    cable.burst(NOT_ECT, 50)
    with Terminal(cable.tx.argv(STATS, "d0", "--watch", "--interval", "200ms")) as terminal:
        text = terminal.wait_for_word("nothing leaves:")
        stats = cable.qdisc.stats()
        terminal.press("q")
        assert terminal.end() == 0
    assert "d0: bpf_dualpi2, rate 8kbit, target 4000s" in text
    for cell, queue in zip(shown(text, "queued now"), ("l-queue", "c-queue"), strict=True):
        assert cell == (f"{stats[queue]['backlog-packets']} packets, "
                        f"{stats[queue]['backlog-bytes']} bytes")
    assert stats["c-queue"]["backlog-packets"] >= 48
    assert f"nothing leaves: {stats['c-queue']['backlog-packets']} packets" in text
    cable.load("--rate", 0)
    cable.drain()


UNITS = {"kbit": 1e3, "mbit": 1e6, "us": 1e-6, "ms": 1e-3, "s": 1}


def number(cell):
    """991kbit or 3.6ms, in bit/s or s."""
    value, unit = re.fullmatch(r"([\d.]+)([a-z]+)", cell).groups()
    return float(value) * UNITS[unit]


def test_screen_shows_what_a_stream_tells(cable):
    """A queue of 1 Mbit/s that lasts for some seconds."""
    cable.load("--rate", "1mbit", "--target", "4000s")
    cable.burst(NOT_ECT, 300)  # 3.6 s
    with Terminal(cable.tx.argv(STATS, "d0", "--watch", "--interval", "500ms")) as terminal, \
            streaming(cable.tx, "d0") as stream:
        terminal.wait_for_word("nothing had to be marked")
        interval = next(stream)["interval"]
        text = terminal.text
    # Intervals of 0.5 and 0.1 s, of whole frames.
    speed, share = shown(text, "leaving")[1].split(", ")
    assert number(speed) == pytest.approx(1e6, rel=0.05)
    assert float(share.removesuffix(" % of rate")) == pytest.approx(100, rel=0.05)
    assert interval["c-queue"]["rate-out"] == pytest.approx(1e6, rel=0.2)
    highest = cable.qdisc.stats()["c-queue"]["delay"]["max"] / 1e6
    assert 0 < number(shown(text, "       highest")[1]) < 1.01 * highest
