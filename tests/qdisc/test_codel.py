# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""CoDel in a DualQ: its law decides in the C queue, and couples the L queue."""

import sys
from pathlib import Path

import pytest
from conftest import published
from frames import CE, ECT_0, ECT_1, NOT_ECT
from held import ce_count
from netns import wait_until

sys.path.append(str(Path(__file__).resolve().parents[1] / "unit"))
from codel_model import Law2012, Mainline, Refined  # noqa: E402

FRAME_NS = 1514 * 8 * 1000  # on the link below
ALSO_REGISTERED = ("codel",)
pytestmark = pytest.mark.oldest_kernel
COUNT = 250
MODELS = {"mainline": Mainline, "refined": Refined, "2012": Law2012}


@pytest.fixture(name="load")
def loader(cable):
    """At a rate that makes delays."""
    def load(*options):
        cable.load("--aqm", "codel", "--rate", "1mbit", *options)
    return load


def model_of_a_burst(model):
    """All packets come at once and leave at even distances: those that are dropped."""
    for serial in range(COUNT):
        model.enqueue(0, serial, 1514, False)
    now_ns = 0
    while model.dequeue(now_ns):
        now_ns += FRAME_NS
    return model.dropped


@pytest.mark.parametrize("law", MODELS)
def test_drops_those_that_the_law_drops(cable, load, law):
    load("--codel-law", law)
    serials = cable.burst(NOT_ECT, COUNT)
    arrived = {packet.serial for packet in cable.drain()}
    dropped = [place for place, serial in enumerate(serials) if serial not in arrived]
    assert dropped == model_of_a_burst(MODELS[law]()) and len(dropped) > 10
    assert cable.qdisc.stats()["c-queue"]["drop-aqm"] == len(dropped)


def test_marks_the_next_that_comes(cable, load):
    """A signal on an ECN-capable packet: nothing is dropped, and what arrives is marked. (Far more
    than p_C = 1/4 would be overload.)"""
    load("--p-cmax", "100%")
    cable.burst(ECT_0, 60)
    late = []
    for _ in range(60):
        wait_until(lambda: cable.qdisc.stats()["qlen"] < 60, "one has left")
        late += cable.burst(ECT_0, 1)
    cable.load("--rate", 0)
    arrived = cable.drain()
    marked = [packet.serial for packet in arrived if packet.ecn == CE]
    assert len(marked) >= 5 and set(marked) <= set(late)
    stats = cable.qdisc.stats()["c-queue"]
    assert stats["mark-coupled"] == len(marked) and stats["drop-aqm"] == 0


def test_with_drop_enqueue_a_signal_drops_one_that_arrives(cable, load):
    """The next Not-ECT packet, and no more, however many come before one leaves."""
    load("--drop-enqueue", "--p-cmax", "100%")
    cable.burst(NOT_ECT, 60)
    for left in range(1, 41):
        wait_until(lambda left=left: cable.qdisc.stats()["packets"] >= left, f"{left} have left")
        cable.burst(ECT_0, 1)
        cable.burst(NOT_ECT, 3)
    stats = cable.qdisc.stats()
    dropped, marked = stats["c-queue"]["drop-aqm"], stats["c-queue"]["mark-coupled"]
    assert dropped >= 3 and stats["drops"] == dropped
    assert dropped + marked in (stats["count"] - 1, stats["count"])


def test_marks_that_nobody_took_are_forgotten(cable, load):
    """Of congestion that is over."""
    load()
    cable.burst(ECT_0, 60)
    cable.drain()
    wait_until(lambda: published("d0")["c"]["head_age_ns"] == 0, "an update with an empty queue")
    wait_until(lambda: cable.qdisc.stats()["prob"] == 0, "and many more")
    cable.burst(ECT_0, 20)
    assert ce_count(cable.drain()) == 0


def test_gauges_and_coupling(cable, load):
    """p' is the square root of the share that is signalled; when it is over it fades."""
    load()
    cable.burst(NOT_ECT, 60)
    seen = wait_until(lambda: (now := cable.qdisc.stats())["count"] >= 3 and now, "three signals")
    assert seen["dropping"] == 1 and seen["drop-next"] <= 100_000
    assert 0.02 < seen["prob"] < 0.5
    marked = set(cable.burst(ECT_1, 200, 100))
    cable.load("--rate", 0)
    arrived = cable.drain()
    assert any(packet.ecn == CE for packet in arrived if packet.serial in marked)
    wait_until(lambda: published("d0")["levels"]["prob"] == 0, "p' is 0 again")
    assert cable.qdisc.stats()["dropping"] == 0


def test_without_l4s_it_is_codel(cable, load):
    """`--no-l4s`: ECT(1) waits with the others and is dropped."""
    load("--no-l4s", "--codel-law", "refined")
    serials = cable.burst(ECT_1, COUNT)
    arrived = {packet.serial for packet in cable.drain()}
    dropped = [place for place, serial in enumerate(serials) if serial not in arrived]
    assert dropped == model_of_a_burst(Refined())
    assert cable.qdisc.stats()["l-queue"]["packets-in"] == 0
