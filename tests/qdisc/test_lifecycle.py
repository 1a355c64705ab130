# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Attach, change, unload, and what others do to the interface meanwhile, under load.

Every frame is accounted for: sent = arrived + dropped by the qdisc + dropped by the kernel
while it changes qdiscs (tx_dropped of the device, noop_enqueue() of net/sched/sch_generic.c).
"""

import itertools
import json
import shutil
import struct

import pytest
from conftest import BIN, LOADER, PI2_PINS, PIN_DIR, Qdisc, drops, one_line, published, root
from frames import CE, ECT_0, ECT_1, NOT_ECT, ipv4_frame, send
from netns import Namespace, dummy, run, wait_until
from steady import steadily
from test_options import SETTINGS, spelled

STATS = BIN / "dualpi2-stats"
NEXT = BIN / "next"  # another build: `make foreign`
NO_PI2 = ("--target", "4000s")


def tx_dropped(space, dev):
    [link] = json.loads(space.run("ip", "-j", "-s", "link", "show", dev).stdout)
    return link["stats64"]["tx"]["dropped"]


class Load:
    """Small frames of all codepoints through the cable, and the account of them."""

    def __init__(self, wire):
        self.wire = wire
        self.codepoints = itertools.cycle((NOT_ECT, ECT_1, ECT_0, CE))
        self.dropped_before = tx_dropped(wire.tx, "d0")
        self.dropped = 0  # by qdiscs that are gone

    def send(self):
        self.wire.burst(next(self.codepoints), 1, 200)

    def settle(self):
        """Nothing waits, and nothing will be dropped any more: note what was."""
        self.wire.load("--rate", 0)
        wait_until(lambda: self.wire.qdisc.tc()["qlen"] == 0, "the queues are empty", step=0)
        stats = self.wire.qdisc.stats()
        self.dropped += drops(stats["l-queue"]) + drops(stats["c-queue"])

    def check(self):
        wire = self.wire
        expected = wire.sent - self.dropped - (tx_dropped(wire.tx, "d0") - self.dropped_before)
        wait_until(lambda: wire.receive() is None or wire.arrived >= expected,
                   f"{expected} of {wire.sent} frames have arrived")
        assert wire.arrived == expected


@pytest.fixture
def load(registered, wire):
    wire.start()
    yield Load(wire)
    wire.stop()
    wire.tx.run("tc", "qdisc", "del", "dev", "d0", "root", check=False)  # a mishap's


def is_current(qdisc):
    return "nothing changed" in qdisc.load().stdout


# ---- our own doings --------------------------------------------------------------------


def test_again_and_again(load, long):
    """Attach, change every parameter, unload."""
    with steadily(load.send):
        for _ in range(100 if long else 3):
            load.wire.load()
            for name, value, *_ in SETTINGS:
                load.wire.load(*spelled(name, value))
            load.settle()
            load.wire.load("--unload")
    assert load.wire.sent > 100
    load.check()


def test_what_waits_is_lost_with_the_qdisc_and_no_more(load):
    wire = load.wire
    wire.load("--rate", "10kbit", *NO_PI2)  # 160 ms a frame
    for _ in range(20):
        load.send()
    stats = wire.qdisc.stats()
    assert 0 < stats["qlen"] <= 20 - stats["packets"]
    wire.load("--unload")
    wire.receive()
    # One more may have left between both commands.
    assert 20 - stats["qlen"] <= wire.arrived <= 20 - stats["qlen"] + 1
    load.dropped = 20 - wire.arrived
    load.send()
    load.check()


def test_loaders_at_once(registered, box):
    """They attach, change and unload both interfaces, in any order; then all is as it should be."""
    commands = [("--limit", 50), ("--unload",), ("--target", "9ms"), ("--unload",)]
    loaders = [box.popen(LOADER, dev, *options) for options in commands for dev in ("one", "two")]
    for loader in loaders:
        output, _ = loader.communicate(timeout=60)
        assert loader.returncode == 0 or "nothing to unload" in output, output
        assert output.count("\n") == 1
    for dev in ("one", "two"):
        Qdisc(box, dev).load()
        assert is_current(Qdisc(box, dev))
        Qdisc(box, dev).load("--unload")


def test_many_instances(registered, new_space, long):
    """Each has its parameters, its statistics and its traffic."""
    space = new_space("many")
    names = [f"m{number}" for number in range(64 if long else 8)]
    for name in names:
        dummy(space, name)
    for number, name in enumerate(names):
        space.run(LOADER, name, "--limit", 100 + number)
        send_frames(space, name, number)
    shown = {entry["dev"]: entry for entry in
             json.loads(space.run(STATS, "--json").stdout)}
    for number, name in enumerate(names):
        assert shown[name]["options"]["limit"] == 100 + number
        assert shown[name]["packets"] == shown[name]["c-queue"]["packets-in"] == number
        assert shown[name]["bypassed-tcx"] == 0
        space.run(LOADER, name, "--unload")
    assert json.loads(space.run(STATS, "--json").stdout) == []


def send_frames(space, dev, count):
    send(space, dev, *(ipv4_frame(serial, NOT_ECT, 200) for serial in range(count)))


# ---- behind our back -------------------------------------------------------------------

# Under load; all of them end with the interface in use, without our qdisc or with it.
MISHAPS = {
    "tc deletes it": "tc qdisc del dev d0 root",
    "tc replaces it": "tc qdisc replace dev d0 root handle 9: pfifo",
    "tc replaces it by itself": "tc qdisc replace dev d0 root handle 9: bpf_dualpi2",
    "the MTU changes": "ip link set d0 mtu 1400",
    "its helper is deleted": "ip link del gso-d0",
    "its tcx link's pin is deleted": f"find {PIN_DIR} -name tcx-{{cookie}}-* -delete",
}


@pytest.mark.parametrize("mishap", MISHAPS)
def test_mishap_under_load(load, mishap):
    """No frame is lost without being counted, and the next dualpi2-load mends it."""
    wire = load.wire
    wire.load("--limit", 123)
    with steadily(load.send):
        wait_until(lambda: wire.qdisc.tc()["packets"] > 20, "there is traffic")
        wire.tx.run(*MISHAPS[mishap].format(cookie=wire.tx.cookie()).split())
        wire.load("--replace")
        assert is_current(wire.qdisc)
        forwarded = wire.qdisc.tc()["packets"]
        wait_until(lambda: wire.qdisc.tc()["packets"] > forwarded, "there is traffic")
        load.settle()
    stats = wire.qdisc.check_conservation()
    assert stats["bypassed-tcx"] == 0 or mishap == "its tcx link's pin is deleted"
    wire.tx.ip("link set d0 mtu 1500")
    load.check()


def test_a_replaced_qdisc_leaves_the_entry_to_its_successor(registered, box):
    """Which has the same key, and starts before the other is reset and destroyed."""
    qdisc = Qdisc(box, "one")
    qdisc.load("--limit", 77)
    box.run("tc", "qdisc", "replace", "dev", "one", "root", "handle", "9:", "bpf_dualpi2")
    assert published("one")["handle"] == 9 << 16
    assert is_current(qdisc)
    assert qdisc.stats()["options"]["limit"] == 77
    qdisc.load("--unload")


def test_lost_tcx_program_is_warned_of(cable):
    cable.load()
    cable.burst(ECT_1, 2)
    cable.qdisc.lose_program()
    cable.burst(ECT_1, 3)
    table = cable.qdisc.table()
    assert "our tcx program is not attached" in table and "3 packets did not pass" in table
    assert "its tcx program is attached again" in cable.load().stdout
    assert "is not attached" not in cable.qdisc.table()
    assert cable.qdisc.stats()["bypassed-tcx"] == 3


@pytest.mark.parametrize("by", ["one", "two"])
def test_detached_program_takes_nothing_with_it(registered, box, by):
    """Not even if another interface's dualpi2-load sweeps what is left of those that are gone."""
    box.run("tc", "qdisc", "replace", "dev", "one", "root", "handle", "7:", "fq_codel", "limit",
            123)
    before = root(box, "one")
    qdisc = Qdisc(box, "one")
    qdisc.load("--replace", "--limit", 77)
    run("bpftool", "link", "detach", "pinned", qdisc.tcx_pin())
    said = box.run(LOADER, by).stdout + qdisc.load().stdout
    assert "its tcx program is attached again" in said
    assert qdisc.stats()["options"]["limit"] == 77
    for dev in {"one", by}:
        box.run(LOADER, dev, "--unload")
    assert root(box, "one") == before


def test_pins_deleted_under_a_live_qdisc(registered, load):
    """The control loop goes on without tools, programs and timer, and the next load repairs."""
    wire = load.wire
    wire.load("--rate", "1mbit", "--target", "1ms")
    shutil.rmtree(PIN_DIR)
    line = one_line(wire.tx.run(STATS, "d0", check=False), 1)
    assert "pins are gone" in line and "dualpi2-load d0" in line

    def is_controlled():
        wire.burst(NOT_ECT, 20, 1514)
        return wire.qdisc.tc()["drops"] > 20

    wait_until(is_controlled, "PI2 drops", 60, step=0.1)
    wait_until(lambda: wire.qdisc.tc()["qlen"] == 0, "the queue is empty", 60)
    tc = wire.qdisc.tc()
    assert wire.sent == tc["packets"] + tc["drops"]
    load.dropped = tc["drops"]
    load.check()
    Qdisc(registered, "anchor").load()  # the kind is registered again
    wire.load("--rate", "1mbit")
    before = wire.sent
    wire.burst(ECT_1, 4)
    wire.drain()
    stats = wire.qdisc.check_conservation()
    assert stats["l-queue"]["packets-in"] == wire.sent - before
    assert stats["bypassed-tcx"] == 0


def test_interface_goes_to_another_namespace(registered, box, new_space):
    """The kernel ends its qdisc. What is left there goes with the next run here, and there it
    can be attached as before."""
    other = new_space("elsewhere")
    for options in (["--rate", "5mbit"], ["--ingress", "--rate", "5mbit"]):
        box.run(LOADER, "one", *options)
    box.ip("link set one netns elsewhere")
    other.up_without_ipv6("one")
    assert root(other, "one")["kind"] != "bpf_dualpi2"
    other.run(LOADER, "one", "--limit", 7)
    send_frames(other, "one", 3)
    [stats] = json.loads(other.run(STATS, "--json").stdout)
    assert stats["packets"] == 3 and stats["bypassed-tcx"] == 0
    assert stats["options"]["limit"] == 7 and stats["tcx-attached"] is True
    Qdisc(box, "two").load()
    assert set(box.links()) == {"lo", "two", "gso-two", "gsx-two"}
    other.run(LOADER, "one", "--ingress", "--rate", "5mbit")
    assert tcx_programs(other) == {"dualpi2_mark", "dualpi2_ingress"}
    other.run(LOADER, "one", "--ingress", "--unload")
    other.run(LOADER, "one", "--unload")
    assert tcx_programs(other) == set()
    assert set(other.links()) == {"lo", "one"}
    Qdisc(box, "two").load("--unload")
    assert interface_pins(registered) == {"anchor"}


def test_interface_with_ingress_goes_to_another_namespace(registered, box, new_space):
    """It can have --ingress there at once, whatever is left where it came from."""
    other = new_space("elsewhere")
    box.run(LOADER, "one", "--ingress", "--rate", "5mbit")
    box.ip("link set one netns elsewhere")
    other.up("one")
    other.run(LOADER, "one", "--ingress", "--rate", "6mbit")
    assert tcx_programs(other) == {"dualpi2_ingress"}
    assert Qdisc(other, "in-one").stats()["options"]["rate"] == 6_000_000
    Qdisc(box, "two").load()
    assert "in-one" not in box.links()
    assert tcx_programs(other) == {"dualpi2_ingress"}, "that of here was not taken for it"
    other.run(LOADER, "one", "--ingress", "--unload")
    assert set(other.links()) == {"lo", "one"}
    Qdisc(box, "two").load("--unload")
    assert interface_pins(registered) == {"anchor"}


def tcx_programs(space):
    [net] = json.loads(space.run("bpftool", "-j", "net", "show").stdout)
    return {program["name"] for program in net["tc"] if program["devname"] == "one"}


def interface_pins(space):
    """Whose pins there are: "anchor" for those of its namespace, or the name of the pin."""
    return {"anchor" if f"-{space.cookie()}-" in pin.name else pin.name
            for pin in PI2_PINS.iterdir() if pin.name.split("-")[-1].isdigit()}


def test_namespace_is_deleted(registered, box):
    other = Namespace("elsewhere")
    other.ip("link add gone type dummy")
    other.run(LOADER, "gone")
    other.run(LOADER, "gone", "--ingress", "--rate", "5mbit")
    assert len(interface_pins(registered)) > 1
    other.delete()
    Qdisc(box, "one").load()
    Qdisc(box, "one").load("--unload")
    assert interface_pins(registered) == {"anchor"}


def test_interface_is_renamed(registered, box):
    qdisc = Qdisc(box, "one")
    qdisc.load("--limit", 50)
    before = set(box.links())
    box.ip("link set one name uno")
    uno = Qdisc(box, "uno")
    send_frames(box, "uno", 2)
    assert uno.stats()["options"]["limit"] == 50
    assert is_current(uno)
    assert uno.check_conservation()["packets"] == 2
    uno.load("--unload")
    assert set(box.links()) == before - {"one", "gso-one", "gsx-one"} | {"uno"}


# ---- upgrade ---------------------------------------------------------------------------


def test_next_build_goes_on_with_what_is_live(cable):
    """Same ABI: the live qdisc keeps its programs, parameters and statistics."""
    assert run(NEXT / "dualpi2-load", "--version").stdout != run(LOADER, "--version").stdout
    cable.load("--rate", "100mbit", "--limit", 77)
    cable.burst(ECT_1, 5)
    cable.drain()
    assert "changed, target 9ms" in cable.tx.run(NEXT / "dualpi2-load", "d0", "--target",
                                                 "9ms").stdout
    cable.burst(NOT_ECT, 5)
    cable.drain()
    [stats] = json.loads(cable.tx.run(NEXT / "dualpi2-stats", "d0", "--json").stdout)
    assert stats["packets"] == 10 and stats["bypassed-tcx"] == 0
    assert (stats["options"]["limit"], stats["options"]["target"]) == (77, 9000)
    assert stats["tcx-attached"] is True


def test_another_abi_is_refused_and_can_be_left(registered, load):
    """Another ABI: refused, until its pins are deleted; traffic flows all the time."""
    wire = load.wire
    wire.load()
    with steadily(load.send):
        wait_until(lambda: wire.qdisc.tc()["packets"] > 20, "there is traffic")
        run("bpftool", "map", "update", "pinned", PI2_PINS / "dualpi2_abi", "key", 0, 0, 0, 0,
            "value", *struct.pack("=I", 99))
        for command in ([LOADER, "d0"], [LOADER, "d0", "--unload"], [STATS, "d0"]):
            assert "another version" in one_line(wire.tx.run(*command, check=False), 1)
        shutil.rmtree(PIN_DIR)
        wire.load("--limit", 5)
        assert wire.qdisc.stats()["options"]["limit"] == 5
        Qdisc(registered, "anchor").load()
    load.check()
