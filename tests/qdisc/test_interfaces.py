# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Attach, change, replace, unload on a host where bpf_dualpi2 is registered."""

import json
import socket

import pytest
from conftest import BIN, LOADER, Qdisc, one_line, root
from frames import ECT_1, NOT_ECT
from netns import Namespace, dummy


@pytest.fixture
def space(registered, box):
    yield box
    for name in ("one", "two"):
        box.run(LOADER, name, "--unload", check=False)


@pytest.mark.parametrize("qdisc", ["fq_codel limit 123 target 7ms noecn", "pfifo limit 77",
                                   "tbf rate 5mbit burst 10k latency 9ms"])
def test_replace_and_put_back(space, qdisc):
    space.run("tc", "qdisc", "add", "dev", "one", "root", "handle", "7:", *qdisc.split())
    before = root(space, "one")
    space.run(LOADER, "one", "--replace")
    assert root(space, "one")["kind"] == "bpf_dualpi2"
    space.run(LOADER, "one", "--unload")
    after = root(space, "one")
    # The kernel rounds codel's times down by a microsecond at each turn.
    assert after.pop("options") == pytest.approx(before.pop("options"), abs=2)
    assert after == before


def send_one(space, dev):
    """A frame that is no IP packet."""
    sender = space.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    sender.bind((dev, 0x0800))
    sender.send(bytes(100))
    sender.close()


def test_what_cannot_be_put_back_is_not_replaced(space):
    space.run("tc", "qdisc", "add", "dev", "one", "root", "handle", "1:", "htb", "default", 1)
    space.run("tc", "class", "add", "dev", "one", "parent", "1:", "classid", "1:1", "htb",
              "rate", "5mbit")
    before = space.run("tc", "class", "show", "dev", "one").stdout
    one_line(space.run(LOADER, "one", "--replace", check=False), 1)
    assert space.run("tc", "class", "show", "dev", "one").stdout == before


def test_change_keeps_the_other_parameters(space):
    qdisc = Qdisc(space, "one")
    qdisc.load("--rate", "40mbit", "--target", "10ms", "--step-thresh", "5p")
    qdisc.load("--alpha", "0.5", "--classic-protection", "25%", "--limit", 500)
    options = qdisc.stats()["options"]
    assert options["rate"] == 40_000_000
    assert options["target"] == 10_000
    assert options["step-thresh-pkts"] == 5
    assert options["alpha"] == 0.5
    assert options["c-protection"] == 25
    assert options["limit"] == 500


def test_change_loses_no_packet(cable):
    cable.load("--rate", "2mbit", "--target", "4000s")
    serials = []
    for target in range(20):
        serials += cable.burst(NOT_ECT, 10, 200)
        cable.load("--target", f"{4000 - target}s", "--coupling-factor", 1 + target)
    assert [packet.serial for packet in cable.drain()] == serials


def test_interfaces_are_independent(space):
    one, two = Qdisc(space, "one"), Qdisc(space, "two")
    one.load("--rate", "10mbit", "--target", "5ms")
    two.load("--rate", "20mbit", "--limit", 77)
    assert (one.stats()["options"]["rate"], one.stats()["options"]["limit"]) == (10**7, 10000)
    assert (two.stats()["options"]["rate"], two.stats()["options"]["limit"]) == (2 * 10**7, 77)
    send_one(space, "two")
    assert one.stats()["packets"] == 0
    assert two.stats()["c-queue"]["packets-in"] == 1
    both = json.loads(space.run(BIN / "dualpi2-stats", "--json").stdout)
    assert [entry["dev"] for entry in both] == ["one", "two"]
    one.load("--unload")
    assert two.stats()["options"]["limit"] == 77


def test_same_interface_number_in_two_namespaces(space):
    """Instances are told apart by namespace, too."""
    other = Namespace("other")
    try:
        dummy(other, "one", "index", space.links()["one"]["ifindex"])
        here, there = Qdisc(space, "one"), Qdisc(other, "one")
        here.load("--limit", 11)
        there.load("--limit", 22)
        assert here.stats()["options"]["limit"] == 11
        assert there.stats()["options"]["limit"] == 22
        for sender in (space, other):
            send_one(sender, "one")
        for stats in (here.stats(), there.stats()):
            assert stats["c-queue"]["packets-in"] == 1
            assert stats["bypassed-tcx"] == stats["mispredicted"] == 0
        there.load("--unload")
        assert here.stats()["options"]["limit"] == 11
    finally:
        other.delete()


def test_plain_tc_works_with_defaults(space):
    Qdisc(space, "one").load()
    space.run("tc", "qdisc", "replace", "dev", "two", "root", "bpf_dualpi2")
    two = Qdisc(space, "two")
    assert two.stats()["options"]["target"] == 15000
    assert two.stats()["tcx-attached"] is False
    two.load("--target", "9ms")  # what tc made, the loader changes and completes
    assert two.stats()["options"]["target"] == 9000
    assert two.stats()["tcx-attached"] is True


def test_parameters_wait_for_the_qdisc(space):
    """What was set for an interface is in force again when tc makes the qdisc anew."""
    qdisc = Qdisc(space, "one")
    qdisc.load("--target", "9ms")
    space.run("tc", "qdisc", "replace", "dev", "one", "root", "handle", "5:", "pfifo")
    space.run("tc", "qdisc", "replace", "dev", "one", "root", "handle", "6:", "bpf_dualpi2")
    assert qdisc.stats()["options"]["target"] == 9000


def test_deleted_interface_leaves_no_entry(space):
    two = Qdisc(space, "two")
    Qdisc(space, "one").load()
    two.load()
    space.ip("link del two")
    left = json.loads(space.run(BIN / "dualpi2-stats", "--json").stdout)
    assert [entry["dev"] for entry in left] == ["one"]


def test_bad_input_changes_nothing_live(space):
    qdisc = Qdisc(space, "one")
    qdisc.load("--limit", 50)
    before = qdisc.stats()["options"]
    one_line(space.run(LOADER, "one", "--limit", 60, "--target", "never", check=False), 2)
    assert qdisc.stats()["options"] == before


def tcx_programs(space, dev):
    [shown] = json.loads(space.run("bpftool", "-j", "net", "show", "dev", dev).stdout)
    return [program["name"] for program in shown["tc"]]


def test_foreign_tcx_program_stays(space, foreign_program):
    """Ours comes behind it and goes; somebody else's on the same hook is untouched."""
    space.run("bpftool", "net", "attach", "tcx_egress", "pinned", foreign_program, "dev", "one")
    Qdisc(space, "one").load()
    assert tcx_programs(space, "one") == ["dualpi2_split", "foreign", "dualpi2_mark"]
    Qdisc(space, "one").load("--unload")
    assert tcx_programs(space, "one") == ["foreign"]


def test_traffic_goes_on_after_unload(cable):
    cable.load("--rate", "1mbit")
    cable.burst(ECT_1, 5)
    cable.drain()
    cable.qdisc.load("--unload")
    cable.burst(NOT_ECT, 3)
    assert len(cable.receive()) == 3
