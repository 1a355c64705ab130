# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What holds for every AQM, whatever its law (bpf/aqm.bpf.h): each test runs with each of
bpf/aqm/. All of them end in the conservation law (conftest.py)."""

import functools
import random
import re
import time

import pytest
import virtual_queues
from conftest import AQMS, BIN, TESTS, chosen, drops, published
from frames import CE, ECT_0, ECT_1, NOT_ECT, check_order, other_frame
from netns import wait_until

ECNS = (NOT_ECT, ECT_1, ECT_0, CE)
HOSTS = "pi2-hosts"
MANY = HOSTS, "pi2-subscribers"  # what it does in one DualQ of many
ALSO_REGISTERED = (*(name for name in AQMS if name != "pi2"), *MANY)
# Flows are judged by the link's rate, and subscribers have plans.
judging = pytest.mark.parametrize("load", (*AQMS, HOSTS), indirect=True)


@pytest.fixture(params=(*AQMS, *MANY))
def load(request, cable):
    """dualpi2-load with one AQM."""
    def load_it(*options):
        return cable.load(*chosen(request.param), *options)
    return load_it


def rows_of(name):
    """Its own rows in the statistics: (COUNTER or GAUGE, unit, key of JSON, metric, meaning)."""
    header = (TESTS.parent / "include/aqm" / f"{name.replace('-', '_')}.h").read_text()
    return re.findall(r'(GAUGE|COUNTER)\(\w+, \w+, "(\w+)", "([\w-]+)", "(\w+)",\s*"([^"]+)"',
                      re.sub(r"\\\n\s*", "", header))


@pytest.mark.parametrize("name", AQMS)
def test_own_values_are_in_every_output(cable, name):
    """JSON and metrics have the same ones; the table tells what they mean."""
    cable.load("--aqm", name, "--rate", "10mbit")
    cable.burst(NOT_ECT, 60)
    cable.burst(ECT_1, 60)
    cable.drain()
    metrics = cable.tx.run(BIN / "dualpi2-stats", "d0", "--openmetrics").stdout
    table = cable.tx.run(BIN / "dualpi2-stats", "d0").stdout
    stats = cable.qdisc.stats()
    for kind, unit, key, metric, meaning in rows_of(name):
        suffix = "_total" if kind == "COUNTER" else ""
        [value] = re.findall(rf"^dualpi2_{metric}{suffix}{{.*}} (\S+)$", metrics, re.M)
        scale = 1e6 if unit == "microseconds" else 1
        assert float(value) * scale == pytest.approx(stats[key], abs=1), key
        assert meaning in table
    assert bool(rows_of(name)) == (name != "fixed")


def mixed_bursts(cable, dice, count):
    """Bursts of all codepoints and lengths: {ECN field: serials}."""
    sent = {ecn: [] for ecn in ECNS}
    for _ in range(count):
        ecn = dice.choice(ECNS)
        sent[ecn] += cable.burst(ecn, dice.randint(1, 40), dice.choice((60, 400, 1514)))
    return sent


def codepoints(arrived, serials):
    """That these packets have, of those that have arrived."""
    of_these = set(serials)
    return {packet.ecn for packet in arrived if packet.serial in of_these}


def test_order_is_kept_and_all_is_accounted_for(cable, load):
    """Under a load that comes and goes, with rates that change."""
    dice = random.Random(9332)
    load("--rate", "2mbit")
    sent, arrived = {ecn: [] for ecn in ECNS}, []
    for rate in ("2mbit", "500kbit", "20mbit", "1mbit"):
        load("--rate", rate)
        for ecn, serials in mixed_bursts(cable, dice, 20).items():
            sent[ecn] += serials
        arrived += cable.receive()
    load("--rate", 0)
    arrived += cable.drain()
    serials = [packet.serial for packet in arrived]
    assert len(set(serials)) == len(serials)
    for queue in (sent[ECT_1] + sent[CE], sent[NOT_ECT] + sent[ECT_0]):
        check_order(serials, queue)
    virtual_queues.look(cable)


def test_not_ect_is_never_marked(cable, load):
    load("--rate", "500kbit")
    not_ect = cable.burst(NOT_ECT, 1000, 400)
    others = cable.burst(ECT_1, 300, 400) + cable.burst(ECT_0, 300, 400)
    wait_until(lambda: cable.qdisc.stats()["packets"] > 20, "some have left")
    not_ect += cable.burst(NOT_ECT, 300, 400)
    others += cable.burst(ECT_1, 300, 400)
    load("--rate", 0)
    arrived = cable.drain()
    assert codepoints(arrived, not_ect) == {NOT_ECT}
    assert CE in codepoints(arrived, others)


def left(cable, packets):
    """Statistics, once so many have."""
    stats = cable.qdisc.stats()
    return stats if stats["packets"] >= packets else None


def test_ect_1_is_not_dropped_outside_overload(cable, load):
    """A queue that grows until it is overload, or 2000 packets have come. As it gets four packets
    for three that leave, that does not hang on the speed of the sender."""
    load("--rate", "2mbit")
    calm, thresholds = None, []
    for step in range(100):
        cable.burst(ECT_1, 20, 400)
        stats = wait_until(functools.partial(left, cable, 15 * step),
                           "three of four have left", step=0.005)
        if stats["overload"]["events"]:
            break
        calm = stats
        thresholds.append(stats.get("ctv"))
    load("--rate", 0)
    arrived = cable.drain()
    acted = calm["prob"] or any(thresholds)  # VDQ has no p'
    assert acted and calm["packets"] > 50, "it was not idle before"
    assert drops(calm["l-queue"]) == 0
    assert CE in {packet.ecn for packet in arrived}


def test_timer_sleeps_on_an_idle_link(cable, load):
    load("--rate", "1mbit")
    cable.burst(NOT_ECT, 20)
    cable.drain()

    def two_looks():
        """What is published, if it does not change for more than any update period."""
        before = published("d0")
        time.sleep(0.2)
        return before if published("d0") == before else None

    asleep = wait_until(two_looks, "the timer sleeps")
    time.sleep(1)  # that nothing happens can only be watched for a while
    assert published("d0") == asleep
    cable.burst(ECT_1, 1)
    wait_until(lambda: published("d0")["l"]["counters"]["packets_out"] == 1, "a packet wakes it")


def test_link_that_goes_down_empties_both_queues(cable, load):
    load("--rate", "100kbit")
    for ecn in ECNS:
        cable.burst(ecn, 30)
    cable.tx.ip("link set d0 down")
    stats = cable.qdisc.check_conservation()
    assert stats["qlen"] == stats["backlog"] == stats["memory-used"] == 0
    assert stats["l-queue"]["drop-reset"] and stats["c-queue"]["drop-reset"]
    cable.tx.up("d0")
    load("--rate", 0)
    serials = cable.burst(ECT_1, 1) + cable.burst(ECT_0, 1)
    wait_until(lambda: cable.qdisc.stats()["qlen"] == 0, "both have left")
    assert {packet.serial for packet in cable.drain()} >= set(serials)


@pytest.mark.parametrize("option, value, key, shown", [
    ("--limit", 500, "limit", 500), ("--coupling-factor", 4, "coupling", 4),
    ("--classic-protection", 25, "c-protection", 25), ("--rate", "8mbit", "rate", 8_000_000),
    ("--l-aqm", "ramp", "l-aqm", "ramp"), ("--drop-enqueue", None, "drop-early", "drop-enqueue"),
])
def test_change_under_load(cable, load, option, value, key, shown):
    """No packet is lost or overtaken by it."""
    load("--rate", "1mbit")
    sent = {ecn: cable.burst(ecn, 40, 400) for ecn in (ECT_1, ECT_0)}
    waiting = cable.qdisc.stats()["qlen"]
    load(option, *([] if value is None else [value]))
    stats = cable.qdisc.stats()
    assert stats["options"][key] == shown
    # By the counters of one moment: the kernel's qlen and packets are of two.
    assert waiting and sum(queue["packets-out"] + drops(queue) + queue["backlog-packets"]
                           for queue in (stats["l-queue"], stats["c-queue"])) == 80
    for ecn in sent:
        sent[ecn] += cable.burst(ecn, 40, 400)
    load("--rate", 0)
    arrived = [packet.serial for packet in cable.drain()]
    for serials in sent.values():
        check_order(arrived, serials)
    stats = cable.qdisc.stats()
    assert stats["drops"] == sum(queue["drop-aqm"] + queue["drop-overload"]
                                 for queue in (stats["l-queue"], stats["c-queue"]))


@judging
def test_guard_takes_a_flood_out_of_l(cable, load):
    load("--rate", "20mbit", "--guard")
    cable.burst(ECT_1, 100)
    stats = cable.qdisc.stats()
    assert stats["guard"]["convictions"] == 1
    assert stats["guard"]["redirected"] == stats["c-queue"]["packets-in"] > 0
    cable.drain()


@judging
def test_sparse_flows_do_not_wait_in_c(cable, load):
    load("--rate", "2mbit", "--sparse")
    cable.burst(NOT_ECT, 20)
    cable.send(other_frame(next(cable.serials), 100))
    stats = cable.qdisc.stats()
    assert stats["sparse"]["packets"] == stats["l-queue"]["packets-in"] == 2
    cable.drain()
