# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Defaults, live changes, and what happens when the link goes down."""

import time

import frames
import pytest
from netns import run
from scripts import CALM, CLOCK, packet_script, without
from sides import BIN

LOADER = BIN / "dualpi2-load"
GAINS = ("alpha", "beta")


def test_defaults(pair, report):
    native, ours = pair.both(lambda side: side.options())
    names = [name for name in native if name not in GAINS]
    report.equal(f"defaults of {len(names)} options",
                 *([side[name] for name in names] for side in (native, ours)), shown="")
    seen = [tuple(side[name] for name in GAINS) for side in (native, ours)]
    report.differs("alpha, beta that were set as 41, 819 (1/256 Hz)", *seen, "gains",
                   seen == [(40, 818), (41, 819)])


def test_set_and_shown(pair, report):
    asked = {"limit": 123, "memlimit": 456_789, "target": 7_000, "tupdate": 9_000,
             "step": 2_500, "min_qlen_step": 5, "coupling": 3, "overflow": True,
             "drop_enqueue": True, "classic_protection": 42, "any_ect": True}

    def script(side):
        shown = side.options()
        return {name: shown[name] for name in asked}

    native, ours = pair.both(script, **asked)
    assert native == asked
    report.equal(f"{len(asked)} options, set and shown", native, ours, shown="")


def test_memlimit_then_limit(pair, report):
    def script(side):
        side.change(limit=100)
        return side.stats()["memory-limit"]

    native, ours = pair.both(script, memlimit=50_000)
    assert native == 2 * 100 * 1514
    report.equal("memlimit 50000, then limit 100: memory-limit", native, ours)


@pytest.mark.parametrize("what, lower", [("limit 20", {"limit": 20}),
                                         ("memlimit 20000", {"memlimit": 20_000})])
def test_trim(pair, report, what, lower):
    """A lower limit throws away: Classic first, then L."""
    [(burst, _)] = packet_script(1, 160, 0)

    def script(side):
        side.send(burst)
        side.let(20)
        side.change(**lower)
        at_once = side.stats()["qlen"]
        order = [packet.serial for packet in side.let(1)]
        after = side.stats()
        order += [packet.serial for packet in side.let()]
        return at_once, order, without([after, side.stats()], "maxq", *CLOCK)

    native, ours = pair.both(script, **CALM)
    assert 5 < len(native[1]) < len(burst) - 40
    report.equal(f"{what}: what is left, in order", native[1], ours[1],
                 shown=f"{len(native[1])} packets")
    report.equal(f"{what}: {len(native[2][0])} statistics, twice",
                 native[2], ours[2], shown=f"{native[2][0]['drops']} drops")
    report.differs(f"{what}: packets queued at once", native[0], ours[0], "trim",
                   native[0] == len(native[1]) and ours[0] > native[0])


def test_tupdate(pair, report):
    def script(side):
        side.change(tupdate=1000, target=0, alpha=1 << 20)
        side.send([frames.ipv4_frame(1, frames.NOT_ECT, 100)])
        time.sleep(0.1)
        return side.stats()["prob"] > 0

    native, ours = pair.both(script, tupdate=1_000_000)
    report.differs("tupdate 1 s, then 1 ms: p' moves within 0.1 s", native, ours, "tupdate",
                   (native, ours) == (False, True))


def test_link_down(pair, report):
    [(burst, _)] = packet_script(1, 100, 0)

    def script(side):
        side.send(burst)
        side.let(20)
        before = side.stats()
        side.link_down_and_up()
        return before, side.stats()

    native, ours = pair.both(script, **CALM)
    state = ("qlen", "backlog", "memory-used", "credit", "prob", "bytes", "packets", "overlimits")
    report.equal(f"link down and up: {len(state)} values of state",
                 *([side[1][key] for key in state] for side in (native, ours)), shown="")
    counts = ("pkts-in-l", "pkts-in-c", "maxq", "max-memory-used")
    kept = [[side[1][key] == side[0][key] for key in counts] for side in (native, ours)]
    report.differs("link down and up: pkts-in, maxq, max-memory-used",
                   "cleared", "kept", "link down",
                   not any(native[1][key] for key in counts) and kept[1] == [True] * 4)
    thrown = [side[1]["drops"] - side[0]["drops"] for side in (native, ours)]
    report.differs("link down: packets thrown away, as drops", *thrown, "link down",
                   thrown == [0, ours[0]["qlen"]])


@pytest.mark.parametrize("options", [{}, {
    "limit": 123, "memlimit": 456_789, "target": 7_001, "tupdate": 9_001, "alpha": 41, "beta": 819,
    "step": 2_501, "min_qlen_step": 5, "coupling": 3, "overflow": True, "drop_enqueue": True,
    "classic_protection": 42, "any_ect": True}])
def test_native_is_replaced_and_put_back(pair, options):
    """With all it had: what the kernel shows of it is the same to the byte."""
    dev = pair.native.dev
    pair.native.start(**options)
    try:
        before = pair.native.qdiscs.get(dev)[:2]
        checked = run(LOADER, "--check", dev, "--replace").stdout
        assert "ok       its root qdisc, dualpi2, can be put back" in checked
        run(LOADER, dev, "--replace", "--no-split-gso")
        assert run(LOADER, dev, "--unload").stdout == f"{dev}: unloaded\n"
        assert pair.native.qdiscs.get(dev)[:2] == before
    finally:
        pair.native.stop()
