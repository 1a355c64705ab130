# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Attach, change, replace, unload on a host where bpf_dualpi2 is registered."""

import json
from pathlib import Path

import pytest
from conftest import BIN, LOADER, Qdisc, one_line, root, written
from findings import findings, of_kind
from frames import ECT_1, NOT_ECT, other_frame, send
from netns import dummy

pytestmark = pytest.mark.oldest_kernel


def configure(space, qdisc):
    """A root qdisc by tc's words; its kind last but for its options."""
    space.run("tc", "qdisc", "replace", "dev", "one", "root", "handle", "7:", *qdisc.split())


# All kinds of user/interface/tree.c but mq (test_mq.py) and dualpi2 (tests/compare/), with as many
# options as each has, and with their defaults where these come back in another way.
@pytest.mark.parametrize("qdisc", [
    "bfifo limit 77777",
    "cake bandwidth 40mbit diffserv4 dual-srchost nat wash ack-filter rtt 51ms memlimit 8m "
    "overhead 18 mpu 64 no-split-gso fwmark 0xf",
    "codel limit 77 target 7001us interval 99ms ce_threshold 3ms ecn",
    "fq limit 77 flow_limit 33 quantum 3000 initial_quantum 9000 maxrate 5mbit buckets 512 "
    "orphan_mask 511 nopacing refill_delay 30ms low_rate_threshold 1mbit ce_threshold 2ms",
    "fq_codel",
    "fq_codel limit 123 flows 512 target 7ms interval 77ms ce_threshold 3ms memory_limit 3m noecn "
    "drop_batch 32 quantum 300",
    "fq_pie",
    "fq_pie limit 777 flows 512 target 7ms tupdate 9ms alpha 3 beta 19 quantum 1000 "
    "memory_limit 3m ecn_prob 20 ecn bytemode dq_rate_estimator",
    "noqueue",
    "pfifo limit 77",
    "pfifo_fast",
    "pfifo_head_drop limit 77",
    "pie limit 77 target 7ms tupdate 9ms alpha 3 beta 19 ecn bytemode dq_rate_estimator",
    "sfq",
    "sfq limit 100 flows 64 depth 50 divisor 512 perturb 7 quantum 2000 headdrop "
    "redflowlimit 100000 min 8000 max 60000 probability 0.20 ecn",
    "tbf rate 5mbit burst 10k latency 9ms peakrate 10mbit mtu 2000 mpu 64 overhead 10",
    "stab overhead 20 pfifo limit 77",
])
def test_replace_and_put_back(space, qdisc):
    configure(space, qdisc)
    before = root(space, "one")
    assert ("ok", f"its root qdisc, {before['kind']}, can be put back") in findings(
        space, "one", "--replace")
    space.run(LOADER, "one", "--replace")
    assert root(space, "one")["kind"] == "bpf_dualpi2"
    # It says so if not all that the kernel shows of it is the same.
    assert space.run(LOADER, "one", "--unload").stdout == "one: unloaded\n"
    assert root(space, "one") == before


@pytest.mark.parametrize("qdisc, lost", [
    ("stab linklayer atm overhead 40 pfifo", "its size table (stab)"),
    ("est 1s 4s pfifo", "its rate estimator (est)"),
    ("netem delay 1ms", "parts of netem that the kernel does not show"),
])
def test_part_that_would_be_lost(space, qdisc, lost):
    configure(space, qdisc)
    before = root(space, "one")
    line = one_line(space.run(LOADER, "one", "--replace", check=False), 1)
    assert f"with {lost}: note it, then `tc qdisc del dev one root`" in line
    [told] = of_kind(findings(space, "one", "--replace"), "MISSING")
    assert line == f"dualpi2-load: {told}\n"
    assert root(space, "one") == before


USER_NAMESPACES = Path("/proc/sys/user/max_user_namespaces")


@pytest.fixture
def untried():
    """Nobody may make a user namespace, to try in it what comes back."""
    with written(USER_NAMESPACES, "0"):
        yield


def test_what_could_not_be_tried(space, untried):
    """It comes back as far as its kind tells."""
    configure(space, "sfq depth 1 flows 100")
    before = root(space, "one")
    [told] = of_kind(findings(space, "one", "--replace", "--rate", "5mbit"), "hint")
    assert told.startswith("its root qdisc, sfq, can be put back as far as its kind tells: ")
    space.run(LOADER, "one", "--replace")
    assert space.run(LOADER, "one", "--unload").stdout == "one: unloaded\n"
    assert root(space, "one") == before


def send_one(space, dev):
    """A frame that is no IP packet."""
    send(space, dev, other_frame(1, 100))


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
    expected = {"rate": 40_000_000, "target": 10_000, "step-thresh-pkts": 5, "alpha": 0.5,
                "c-protection": 25, "limit": 500}
    options = qdisc.stats()["options"]
    assert {name: options[name] for name in expected} == expected


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


def test_same_interface_number_in_two_namespaces(space, new_space):
    """Instances are told apart by namespace, too."""
    other = new_space("other")
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
    return [program["name"] for program in space.programs(dev)]


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
