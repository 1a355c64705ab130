# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--aqm: which one a qdisc has, another one in its place, and what outlives both."""

import json
import select
import socket
import struct

import pytest
import superpackets
from conftest import (
    BIN,
    DEFAULT_QDISC,
    KINDS,
    LOADER,
    PIN_DIR,
    PUBLIC_PIN_DIR,
    Qdisc,
    following,
    one_line,
    root,
    written,
)
from frames import ECT_1, NOT_ECT, ipv4_frame, raw_sender, send
from netns import dummy, run, veth, wait_until

pytestmark = pytest.mark.oldest_kernel

ALSO_REGISTERED = ("fixed",)
STATS = BIN / "dualpi2-stats"
PI2, FIXED = KINDS["pi2"], KINDS["fixed"]
ROOM = 256  # qdiscs of one kind


def kind(space, dev="one"):
    return root(space, dev)["kind"]


def shown(space, *argv):
    return json.loads(space.run(STATS, *argv, "--json").stdout)


def directories(place=PIN_DIR):
    return {pin.name for pin in place.iterdir()} if place.exists() else set()


def programs(space, dev, attached="tcx/egress"):
    """Ours: their names, and their numbers, which tell those of one AQM from those of another."""
    found = [program for program in space.programs(dev) if program["kind"] == attached]
    return [program["name"] for program in found], {program["prog_id"] for program in found}


# ---- one interface ----------------------------------------------------------------------


def test_the_default_and_another_one(bare):
    bare.run(LOADER, "one")
    done = bare.run(LOADER, "two", "--aqm", "fixed", "--fixed-prob", "10%")
    assert "two: bpf_dualq_fixed attached" in done.stdout
    assert [kind(bare, dev) for dev in ("one", "two")] == [PI2, FIXED]
    assert directories() == {"pi2", "fixed", "ledger"}
    assert directories(PUBLIC_PIN_DIR) == {"pi2", "fixed"}
    one, two = shown(bare)
    assert (one["kind"], two["kind"]) == (PI2, FIXED)
    assert "target" in one["options"] and "target" not in two["options"]
    assert two["options"]["fixed-prob"] == pytest.approx(0.1)
    bare.run(LOADER, "one", "--unload")
    assert directories() == {"fixed", "ledger"} and kind(bare, "two") == FIXED


def test_it_stays_unless_another_one_is_asked_for(space):
    space.run(LOADER, "one", "--aqm", "fixed", "--rate", "7mbit")
    handle = root(space, "one")["handle"]
    for options in ("--fixed-prob 20%", "--aqm fixed --fixed-prob 30%", "--rate 8mbit"):
        assert "bpf_dualq_fixed changed" in space.run(LOADER, "one", *options.split()).stdout
    assert root(space, "one")["handle"] == handle, "no packet was lost"
    [stats] = shown(space, "one")
    assert stats["options"]["rate"] == 8_000_000
    assert stats["options"]["fixed-prob"] == pytest.approx(0.3)


@pytest.mark.parametrize("first, second", [("pi2", "fixed"), ("fixed", "pi2")])
def test_another_one_takes_the_place(bare, first, second):
    """Parameters that all have stay; of the former nothing does."""
    before = root(bare, "one")
    bare.run(LOADER, "two", "--aqm", first)  # so the former one stays registered for a while
    bare.run(LOADER, "one", "--aqm", first, "--rate", "40mbit", "--limit", "77")
    names, former = programs(bare, "one")
    send(bare, "one", *[ipv4_frame(serial, ECT_1, 200) for serial in range(3)])
    done = bare.run(LOADER, "one", "--aqm", second, "--limit", "88")
    assert f"one: {KINDS[second]} attached in place of {KINDS[first]}" in done.stdout
    assert kind(bare) == KINDS[second]
    [stats] = shown(bare, "one")
    assert stats["options"]["rate"] == 40_000_000 and stats["options"]["limit"] == 88
    assert directories() == {"pi2", "fixed", "ledger"}
    assert not list((PIN_DIR / first).glob(f"*-{bare.links()['one']['ifindex']}"))
    bare.run(LOADER, "two", "--unload")
    assert directories() == {second, "ledger"} and directories(PUBLIC_PIN_DIR) == {second}
    assert programs(bare, "one")[0] == names and not programs(bare, "one")[1] & former
    send(bare, "one", *[ipv4_frame(serial, ECT_1, 200) for serial in range(5)])
    stats = Qdisc(bare, "one").check_conservation()
    assert stats["l-queue"]["packets-out"] == 5 and stats["bypassed-tcx"] == 0
    bare.run(LOADER, "one", "--unload")
    assert root(bare, "one") == before


def test_what_somebody_configured_comes_back_behind_both(space):
    """The former root qdisc is remembered for the interface, not for an AQM."""
    space.run("tc", "qdisc", "replace", "dev", "one", "root", "handle", "5:", "pfifo", "limit", 77)
    before = root(space, "one")
    space.run(LOADER, "one", "--replace")
    space.run(LOADER, "one", "--aqm", "fixed")
    space.run(LOADER, "one", "--unload")
    assert root(space, "one") == before


def test_a_file_names_it(space, tmp_path):
    conf = tmp_path / "one.conf"
    conf.write_text("aqm fixed\nfixed-prob 5%\n")
    space.run(LOADER, "one", "--config", conf)
    assert kind(space) == FIXED
    conf.write_text("rate 3mbit\n")
    space.run(LOADER, "one", "--config", conf)
    [stats] = shown(space, "one")
    assert stats["kind"] == FIXED and stats["options"]["fixed-prob"] == pytest.approx(0.0625)


@pytest.mark.parametrize("options, reason", [
    ("--aqm nonesuch", "pi2 or "),
    ("--aqm fixed --target 5ms", "--target 5ms: is not for the AQM fixed"),
    ("--aqm pi2 --fixed-prob 5%", "--fixed-prob 5%: is not for the AQM pi2"),
    ("--fixed-prob 5%", "--fixed-prob 5%: is not for the AQM pi2"),
    ("--fixed-prob 5% --target 5ms", "is not for the AQM"),
    ("--unload --aqm fixed", "--unload"),
])
def test_wrong_usage(bare, options, reason):
    assert reason in one_line(bare.run(LOADER, "one", *options.split(), check=False), 2)
    assert not directories()


def test_an_option_of_another_one_than_that_in_use(space):
    space.run(LOADER, "one", "--aqm", "fixed")
    before = shown(space, "one")[0]["options"]
    line = one_line(space.run(LOADER, "one", "--target", "5ms", check=False), 2)
    assert "--target 5ms: is not for the AQM fixed" in line
    assert shown(space, "one")[0]["options"] == before


def test_check(space):
    space.run(LOADER, "one", "--rate", "7mbit")
    text = space.run(LOADER, "--check", "one", "--aqm", "fixed").stdout
    assert f"{FIXED} will take the place of {PI2}" in text and "7mbit" in text
    assert f"is {PI2} already" in space.run(LOADER, "--check", "one").stdout
    assert kind(space) == PI2


def test_the_pins_of_one_are_deleted(bare):
    """Its qdisc is found by its kind, and gives way to any."""
    bare.run(LOADER, "one", "--aqm", "fixed")
    run("rm", "-r", PIN_DIR / "fixed", PUBLIC_PIN_DIR / "fixed")
    assert FIXED in one_line(bare.run(STATS, "one", check=False), 1)
    bare.run(LOADER, "one", "--aqm", "pi2")
    assert kind(bare) == PI2
    bare.run(LOADER, "one", "--unload")


# ---- the handle, and what else tc may have given ---------------------------------------


SO_PRIORITY = 12


def goes_to_l(space, dev, priority):
    """Does a Not-ECT packet with this skb->priority?"""
    before = Qdisc(space, dev).stats()["l-queue"]["packets-in"]
    with raw_sender(space, dev) as sender:
        sender.setsockopt(socket.SOL_SOCKET, SO_PRIORITY, struct.pack("=I", priority))
        sender.send(ipv4_frame(1, NOT_ECT, 200))
    return Qdisc(space, dev).check_conservation()["l-queue"]["packets-in"] == before + 1


def test_rule_that_names_a_class_goes_on(space, tmp_path):
    """With --handle, whatever is loaded, changed or unloaded meanwhile."""
    before = root(space, "one")
    conf = tmp_path / "one.conf"
    conf.write_text("handle 8abc:\nrate 7mbit\n")
    for options in (["--handle", "8abc:"], ["target", "9ms", "handle", "8abc"], ["--limit", "77"],
                    ["--aqm", "fixed"], ["--aqm", "pi2"], ["--unload"], ["--config", conf],
                    ["--config", conf]):
        space.run(LOADER, "one", *options)
        if "--unload" in options:
            assert root(space, "one") == before
            continue
        assert goes_to_l(space, "one", 0x8abc << 16 | 1)
        assert shown(space, "one")[0]["handle"] == "8abc:"


def test_another_handle_takes_another_qdisc(space):
    """In the place of the attached one, with its parameters; --check says so before."""
    space.run(LOADER, "one", "--handle", "7:", "--limit", "77")
    assert "its root will be 9: in place of 7:" in space.run(LOADER, "--check", "one", "handle",
                                                            "9:").stdout
    done = space.run(LOADER, "one", "--handle", "9:", "--target", "9ms")
    assert done.stdout.startswith("one: bpf_dualpi2 attached as 9: in place of 7:, ")
    [stats] = shown(space, "one")
    assert stats["handle"] == "9:" and stats["tcx-attached"] is True
    assert (stats["options"]["limit"], stats["options"]["target"]) == (77, 9000)
    assert goes_to_l(space, "one", 9 << 16 | 1) and not goes_to_l(space, "one", 7 << 16 | 1)
    assert "nothing changed" in space.run(LOADER, "one", "--handle", "9:").stdout


def test_handle_of_the_former_qdisc(space):
    """Whose rules go on, too."""
    space.run("tc", "qdisc", "replace", "dev", "one", "root", "handle", "1:", "pfifo", "limit", 77)
    before = root(space, "one")
    space.run(LOADER, "one", "--replace", "--handle", "1:")
    assert shown(space, "one")[0]["handle"] == "1:"
    space.run(LOADER, "one", "--aqm", "fixed")
    assert root(space, "one")["handle"] == "1:"
    space.run(LOADER, "one", "--unload")
    assert root(space, "one") == before


def test_handle_of_what_arrives(space):
    space.run(LOADER, "one", "--ingress", "--rate", "9mbit", "--handle", "a:")
    assert root(space, "in-one")["handle"] == "a:"
    space.run(LOADER, "one", "--ingress", "--aqm", "fixed")
    assert root(space, "in-one")["handle"] == "a:"


@pytest.mark.parametrize("handle", ["0:", "ffff:", "10000:", "8002:1", "wan"])
def test_what_is_no_handle(bare, handle):
    line = one_line(bare.run(LOADER, "one", "--handle", handle, check=False), 2)
    assert f"--handle {handle}: " in line and "(for example 8002:; 1: to fffe:)" in line
    assert not directories()


def add_with_tc(space, words):
    """One of ours by tc, which then dualpi2-load completes."""
    space.run(LOADER, "two")
    space.run("tc", "qdisc", "replace", "dev", "one", "root", "handle", "7:", *words.split(), PI2)
    space.run(LOADER, "one")


def test_size_table_stays_with_another_one(space):
    add_with_tc(space, "stab overhead 20")
    for options in ("--aqm", "fixed"), ("--handle", "9:"), ("--aqm", "pi2"):
        space.run(LOADER, "one", *options)
        described = space.run("tc", "-d", "qdisc", "show", "dev", "one", "root").stdout
        assert "overhead 20" in described, described


@pytest.mark.parametrize("words, lost", [("stab linklayer atm overhead 40", "size table (stab)"),
                                         ("est 1s 4s", "rate estimator (est)")])
def test_what_another_one_would_not_have(space, words, lost):
    """The kernel does not show enough of it: refused, and --check says so."""
    add_with_tc(space, words)
    for options in ("--aqm", "fixed"), ("--handle", "9:"):
        line = one_line(space.run(LOADER, "one", *options, check=False), 1)
        assert f"would lose its {lost}: note it, then `dualpi2-load one --unload`" in line
        assert "would lose" in space.run(LOADER, "--check", "one", *options, check=False).stdout
    assert root(space, "one")["handle"] == "7:" and kind(space) == PI2
    assert "changed, target 9ms" in space.run(LOADER, "one", "--target", "9ms").stdout
    space.run(LOADER, "one", "--unload")
    space.run(LOADER, "two", "--unload")


# ---- failures ---------------------------------------------------------------------------


def test_no_room_for_the_other_one(bare):
    """Every kind has its own; what was there goes on."""
    for name, queues in ("wide", ROOM - 2), ("more", 2):
        dummy(bare, name, "numtxqueues", queues)
        bare.run(LOADER, name, "--mq", "--aqm", "fixed", "--no-split-gso")
    bare.run(LOADER, "one", "--rate", "30mbit", "--target", "9ms")
    before = shown(bare, "one")[0], directories()
    line = one_line(bare.run(LOADER, "one", "--aqm", "fixed", check=False), 1)
    assert f"of the {ROOM} that a host can have 0 are free" in line
    assert (shown(bare, "one")[0]["options"], directories()) == (before[0]["options"], before[1])
    assert kind(bare) == PI2
    send(bare, "one", *[ipv4_frame(serial, ECT_1, 200) for serial in range(5)])
    stats = Qdisc(bare, "one").check_conservation()
    assert stats["packets"] == 5 and stats["bypassed-tcx"] == 0 and stats["tcx-attached"] is True
    # Room for one is enough, though its handle is taken when it comes.
    handle = root(bare, "one")["handle"]
    bare.run("tc", "qdisc", "del", "dev", "more", "parent", root(bare, "more")["handle"] + "1")
    bare.run(LOADER, "one", "--aqm", "fixed")
    assert (kind(bare), root(bare, "one")["handle"]) == (FIXED, handle)
    for name in "one", "wide", "more":
        bare.run(LOADER, name, "--unload")


# ---- several queues, what arrives, GSO packets ----------------------------------------


def test_all_queues_of_an_mq(bare):
    dummy(bare, "wide", "numtxqueues", 4)
    before = root(bare, "wide")
    bare.run(LOADER, "wide", "--mq")
    bare.run(LOADER, "wide", "--aqm", "fixed")
    qdiscs = json.loads(bare.run("tc", "-j", "qdisc", "show", "dev", "wide").stdout)
    assert [qdisc["kind"] for qdisc in qdiscs] == ["mq"] + 4 * [FIXED]
    assert [entry["kind"] for entry in shown(bare, "wide")] == ["mq"] + 4 * [FIXED]
    assert directories() == {"fixed", "ledger"}
    bare.run("tc", "qdisc", "replace", "dev", "wide", "parent", qdiscs[2]["parent"], "pfifo")
    done = bare.run(LOADER, "wide", "--replace")
    assert "1 of its queues have it again" in done.stdout
    assert [entry["kind"] for entry in shown(bare, "wide")] == ["mq"] + 4 * [FIXED]
    bare.run(LOADER, "wide", "--unload")
    assert root(bare, "wide") == before


def test_what_arrives(new_space):
    """The ifb stays, and the program that sends there is the new one's."""
    tx, rx = new_space("from"), new_space("to")
    veth(tx, "f0", rx, "t0")
    dummy(rx, "other")
    rx.run(LOADER, "other")  # with its programs the former one stays registered
    rx.run(LOADER, "t0", "--ingress", "--rate", "20mbit")
    ifb = rx.links()["in-t0"]["ifindex"]
    names, former = programs(rx, "t0", "tcx/ingress")
    rx.run(LOADER, "t0", "--ingress", "--aqm", "fixed")
    assert rx.links()["in-t0"]["ifindex"] == ifb
    assert kind(rx, "in-t0") == FIXED
    now = programs(rx, "t0", "tcx/ingress")
    assert now[0] == names and not now[1] & former
    send(tx, "f0", *[ipv4_frame(serial, NOT_ECT, 200) for serial in range(5)])
    qdisc = Qdisc(rx, "in-t0")
    wait_until(lambda: qdisc.stats()["c-queue"]["packets-out"] == 5, "they have passed")
    assert qdisc.stats()["options"]["rate"] == 20_000_000
    rx.run(LOADER, "t0", "--ingress", "--unload")
    rx.run(LOADER, "other", "--unload")
    assert not programs(rx, "t0", "tcx/ingress")[0] and not directories()


def splitting_programs(space):
    [net] = json.loads(space.run("bpftool", "-j", "net", "show").stdout)
    return {program["prog_id"] for program in net["tc"] if program["kind"].startswith("netkit")}


@pytest.mark.parametrize("first, second", [("pi2", "fixed"), ("fixed", "pi2")])
def test_gso_packets_are_split_by_the_new_one(space, first, second):
    """By a device with its program."""
    space.run(LOADER, "one", "--aqm", first)
    former = splitting_programs(space)
    space.run(LOADER, "one", "--aqm", second)
    now = splitting_programs(space)
    assert len(former) == len(now) == 1 and former != now
    with superpackets.sender(space, "one") as sender:
        sender.send(superpackets.super_frame(bytes(5 * superpackets.MSS)))
    stats = Qdisc(space, "one").check_conservation()
    assert stats["gso"] == {"split": 1, "whole": 0} and stats["bypassed-tcx"] == 0
    assert stats["c-queue"]["packets-out"] == 5
    space.run(LOADER, "one", "--unload")


# ---- more than one at a time -----------------------------------------------------------


def test_each_is_shown_and_swept(bare):
    for dev, aqm in ("one", "pi2"), ("two", "fixed"):
        bare.run(LOADER, dev, "--aqm", aqm)
    assert [entry["dev"] for entry in shown(bare)] == ["one", "two"]
    bare.ip("link del two")
    bare.run(LOADER, "one")
    assert directories() == {"pi2", "ledger"}, "no qdisc of the other one lives"


def test_default_of_new_interfaces(bare):
    """Any of our kinds can be, and stays registered for it."""
    bare.run(LOADER, "one", "--aqm", "fixed")
    with written(DEFAULT_QDISC, FIXED):
        bare.run(LOADER, "one", "--unload")
        assert directories() == {"fixed", "ledger"}
        bare.ip("link add ifb7 type ifb")
        bare.up("ifb7")
        assert [entry["kind"] for entry in shown(bare, "ifb7")] == [FIXED]
        bare.ip("link del ifb7")


@pytest.mark.parametrize("is_followed_before", [False, True])
def test_events_of_another_one_than_the_default(cable, is_followed_before):
    """Both are registered, and --events reads what either tells, whichever came first."""
    fixed = "--aqm", "fixed", "--fixed-prob", "60%"
    cable.load(*(() if is_followed_before else fixed))
    with following(cable.tx, STATS, "--events", "--json") as follower:
        if is_followed_before:
            cable.load(*fixed)

        def tells():
            cable.burst(ECT_1, 20, 200)
            return select.select([follower.stdout], [], [], 0)[0]
        wait_until(tells, "it tells of an event")
        began = json.loads(follower.stdout.readline())
        assert (began["dev"], began["event"]) == ("d0", "began")
