# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--ingress: what arrives is shaped in an ifb. Seen from the receiving IP stack, which
is behind it."""

import contextlib
import fcntl
import itertools
import json
import os
import socket
import statistics
import struct

import injectors
import pytest
import tunnels
from conftest import (
    BIN,
    LOADER,
    PI2_PINS,
    PIN_DIR,
    Qdisc,
    drops,
    following,
    needs,
    next_line,
    one_line,
)
from frames import (
    CE,
    ECT_0,
    ECT_1,
    NOT_ECT,
    SERIAL_LEN,
    ipv4_frame,
    raw_sender,
    received,
    stamp_arrivals,
)
from netns import Namespace, dummy, run, veth, wait_until

CALM = ("--target", "4000s", "--step-thresh", "4000s")
ALSO_REGISTERED = ("fixed",)
PROTOCOL = 253  # of the IPv4 frames
TC_H_INGRESS = 0xFFFFFFF1
DEVICES = PIN_DIR / "ledger" / "dualpi2_devices"


class Path:
    """A sender of raw frames and the IP stack that they are for."""

    def __init__(self, words=()):
        """`words`: of both ends, as veth() takes them."""
        self.tx, self.rx = Namespace("from"), Namespace("to")
        veth(self.tx, "f0", self.rx, "t0", words=words, peer_words=words)
        self.rx.ip("addr add 10.0.0.2/24 dev t0")
        self.sender = raw_sender(self.tx, "f0")
        self.receiver = self.rx.socket(socket.AF_INET, socket.SOCK_RAW, PROTOCOL)
        stamp_arrivals(self.receiver)
        self.serials = itertools.count(1)
        self.ifb = Qdisc(self.rx, "in-t0")

    def load(self, *options, check=True):
        return self.rx.run(LOADER, "t0", "--ingress", *options, check=check)

    def send(self, ecn, count, length=1514, **options):
        serials = list(itertools.islice(self.serials, count))
        for serial in serials:
            self.sender.send(ipv4_frame(serial, ecn, length, **options))
        return serials

    def receive(self):
        """What has arrived since the last call: (serial, ECN, time in ns)."""
        return [(struct.unpack("!Q", packet[-SERIAL_LEN:])[0], packet[1] & 3, time_ns)
                for packet, time_ns in received(self.receiver)]

    def expect(self, count):
        """Wait for so many packets."""
        arrived = []
        wait_until(lambda: arrived.extend(self.receive()) or len(arrived) >= count,
                   f"{count} packets have arrived", 60)
        assert len(arrived) == count
        return arrived

    def devices(self):
        return set(self.rx.links()) - {"lo", "t0"}

    def programs(self):
        return [(program["kind"], program["name"]) for program in self.rx.programs("t0")]

    def check_nothing_left(self):
        assert self.devices() == set()
        assert self.programs() == []
        assert not [pin for pin in PI2_PINS.iterdir() if pin.name.startswith("ingress-")]
        dump = run("bpftool", "-j", "map", "dump", "pinned", DEVICES).stdout
        assert not [entry for entry in json.loads(dump)
                    if entry["formatted"]["key"]["parent"] == TC_H_INGRESS]

    def leave_half_made_ifb(self):
        """Killed between making it and noting its number: the map has 0 for the interface."""
        link = self.rx.links()["t0"]
        key = struct.pack("=QII", self.rx.cookie(), link["ifindex"], TC_H_INGRESS)
        address = bytes.fromhex("02c0ffee0001")
        self.rx.ip(f"link add in-t0 address {address.hex(':')} type ifb")
        run("bpftool", "map", "update", "pinned", DEVICES,
            "key", *key, "value", *address, *bytes(10))

    def unload_under_backlog(self):
        """What waits is delivered, nothing is left, and the next packets arrive."""
        self.send(NOT_ECT, 40)
        assert len(early := self.receive()) < 40
        self.load("--unload")
        self.check_nothing_left()
        self.expect(40 - len(early))
        self.send(NOT_ECT, 5)
        self.expect(5)

    def close(self):
        self.sender.close()
        self.receiver.close()
        self.tx.delete()
        self.rx.delete()


@pytest.fixture
def path(registered):
    path = Path()
    yield path
    path.load("--unload", check=False)
    path.close()


def test_rate_is_exact_and_nothing_is_lost(path):
    done = path.load("--rate", "20mbit", *CALM)
    assert done.stdout.count("\n") == 1 and "t0" in done.stdout and "20mbit" in done.stdout
    serials = path.send(NOT_ECT, 300)
    arrived = path.expect(300)
    assert [serial for serial, _, _ in arrived] == serials
    took = arrived[-1][2] - arrived[0][2]
    assert took == pytest.approx(299 * 1514 * 8 * 1000 / 20, rel=0.01)
    queue = path.ifb.check_conservation()["c-queue"]
    assert queue["packets-out"] == 300


def test_what_is_dropped_has_used_the_link(path):
    """It came through it: all take as long as if none were dropped."""
    path.load("--rate", "20mbit", "--aqm", "fixed", "--fixed-prob", "45%")
    path.send(NOT_ECT, 300)
    wait_until(lambda: path.ifb.tc()["qlen"] == 0, "all have left")
    arrived = path.receive()
    queue = path.ifb.check_conservation()["c-queue"]
    assert queue["drop-aqm"] == 300 - len(arrived) == pytest.approx(60, abs=10)
    took = arrived[-1][2] - arrived[0][2]
    assert took == pytest.approx(299 * 1514 * 8 * 1000 / 20, rel=0.03)


def test_what_is_dropped_is_of_its_hosts_share(path):
    """A host of whose packets a fifth is dropped has its last one through when another one, of
    whose as many were only marked, has: wherever they are dropped."""
    for where in "--drop-dequeue", "--drop-enqueue":
        path.load("--rate", "5mbit", "--aqm", "fixed", "--fixed-prob", "45%", "--per-host", "src",
                  where)
        dropped = set(path.send(NOT_ECT, 200, source="10.0.0.3"))
        path.send(ECT_0, 200, source="10.0.0.4")
        wait_until(lambda: path.ifb.tc()["qlen"] == 0, "all have left")
        order = [serial in dropped for serial, _, _ in path.receive()]
        assert order.count(True) == pytest.approx(160, abs=10) and order.count(False) == 200
        last = len(order) - order[::-1].index(True)
        assert order[:last].count(False) > 185, where
        path.ifb.check_conservation()


def test_l4s_goes_to_l_and_marks_arrive(path):
    path.load("--rate", "20mbit")
    path.send(ECT_1, 100)
    path.send(NOT_ECT, 20)
    arrived = path.expect(120)
    stats = path.ifb.check_conservation()
    low = stats["l-queue"]
    assert low["packets-in"] == 100
    assert stats["c-queue"]["packets-in"] == 20
    assert stats["bypassed-tcx"] == 0
    marked = sum(ecn == CE for _, ecn, _ in arrived)
    assert marked == low["mark-native"] + low["mark-coupled"] > 50


def test_guard(path):
    path.load("--rate", "20mbit", "--guard")
    path.send(ECT_1, 120)
    wait_until(lambda: path.ifb.tc()["qlen"] == 0, "all have left")
    stats = path.ifb.check_conservation()
    assert stats["guard"]["convictions"] == 1
    assert stats["guard"]["redirected"] == stats["c-queue"]["packets-in"] > 0


def test_live_change_loses_nothing(path):
    path.load("--rate", "1mbit", *CALM)
    path.send(NOT_ECT, 30)
    path.load("--rate", "50mbit")
    path.load("--limit", 500)
    arrived = path.expect(30)
    assert arrived[-1][2] - arrived[-11][2] == pytest.approx(10 * 242_240, rel=0.05)
    stats = path.ifb.check_conservation()
    assert stats["options"]["rate"] == 50_000_000 and stats["options"]["limit"] == 500


def test_qdisc_that_was_replaced(path):
    """Its successor takes another number than the usual one, which it still has; and the next one
    takes that again."""
    path.load("--rate", "20mbit")
    for handle in ("7:", "8:"):
        path.rx.run("tc", "qdisc", "replace", "dev", "in-t0", "root", "handle", handle,
                    "bpf_dualpi2")
        path.send(NOT_ECT, 10)
        path.expect(10)
        assert path.ifb.check_conservation()["c-queue"]["packets-in"] == 10


def test_unload_wakes_what_waits(path):
    """At this rate the second packet is due after 9 s, when --unload has long given up."""
    path.tx.ip("link set f0 mtu 9000")
    path.rx.ip("link set t0 mtu 9000")
    path.load("--rate", "8kbit", *CALM)
    path.send(NOT_ECT, 10, length=9014)
    path.expect(1)
    path.load("--unload")
    path.check_nothing_left()
    path.expect(9)


def test_unload_delivers_what_waits_and_leaves_nothing(path):
    path.load("--rate", "1mbit", *CALM)
    path.unload_under_backlog()


def gro_sizes(path):
    [link] = json.loads(path.rx.run("ip", "-j", "-d", "link", "show", "t0").stdout)
    return link["gro_max_size"], link["gro_ipv4_max_size"]


def test_received_packets_are_not_merged(path):
    """GRO is off while GSO packets are to be split, and then as it was."""
    path.rx.ip("link set t0 gro_max_size 50000 gro_ipv4_max_size 40000")
    path.load("--rate", "20mbit")
    assert gro_sizes(path) == (1, 1)
    path.load("--no-split-gso")
    assert gro_sizes(path) == (50000, 40000)
    path.load("--split-gso")
    assert gro_sizes(path) == (1, 1)
    path.load("--unload")
    assert gro_sizes(path) == (50000, 40000)
    path.load("--rate", "20mbit")
    path.rx.ip("link set t0 gro_max_size 30000 gro_ipv4_max_size 30000")
    path.load("--unload")
    assert gro_sizes(path) == (30000, 30000), "what somebody has set since stays"


def test_received_packets_are_merged_to_short_ones(path):
    """A quarter of a millisecond at the rate."""
    path.rx.ip("link set t0 gro_max_size 50000 gro_ipv4_max_size 40000")
    path.load("--rate", "1gbit", "--auto-split-gso")
    assert gro_sizes(path) == (31250, 31250)
    path.load("--rate", "100mbit")
    assert gro_sizes(path) == (3125, 3125)
    path.load("--rate", "1500mbit")
    assert gro_sizes(path) == (46875, 40000)
    path.load("--split-gso")
    assert gro_sizes(path) == (1, 1)
    path.load("--auto-split-gso")
    path.rx.ip("link set t0 gro_max_size 30000 gro_ipv4_max_size 30000")
    path.load("--rate", "1gbit")
    assert gro_sizes(path) == (30000, 30000), "what somebody has set since stays"
    path.load("--unload")
    assert gro_sizes(path) == (30000, 30000)


@pytest.mark.parametrize("options", [(), ("--rate", "0"), ("--target", "5ms")])
def test_wrong_usage_makes_nothing(path, options):
    one_line(path.load(*options, check=False), 2)
    path.check_nothing_left()


def test_unload_of_nothing_fails(path):
    one_line(path.load("--unload", check=False), 1)


def test_foreign_device_with_the_name(path):
    """It stays, and ours takes another name, which is told."""
    path.rx.ip("link add in-t0 type ifb")
    ours = f"in-{path.rx.links()['t0']['ifindex']}"
    assert ours in path.load("--rate", "5mbit").stdout
    assert path.devices() == {"in-t0", ours}
    path.send(NOT_ECT, 5)
    path.expect(5)
    assert Qdisc(path.rx, ours).check_conservation()["c-queue"]["packets-in"] == 5
    path.load("--unload")
    assert path.devices() == {"in-t0"}


def test_a_device_without_packets_of_ip(path):
    done = path.rx.run(LOADER, "lo", "--ingress", "--rate", "5mbit", check=False)
    assert "lo: has neither Ethernet frames nor bare IP packets" in one_line(done, 1)
    assert path.devices() == set()


TUNSETLINK = 0x400454CD  # include/uapi/linux/if_tun.h
# include/uapi/linux/if_arp.h. A tun device can pretend to be of another type.
TYPES = {"tun": 0xFFFE, "ppp": 512, "raw IP": 519}
OUTER = "10.9.0.1", "10.9.0.2"


@contextlib.contextmanager
def tun_device(path, name, kind):
    """What is written to it arrives at the device: yields what sends packets so."""
    fd = injectors.tun_device(path.rx, name, injectors.IFF_TUN)
    fcntl.ioctl(fd, TUNSETLINK, TYPES[kind])
    path.rx.up_without_ipv6(name)
    yield lambda packet: os.write(fd, packet)
    os.close(fd)


def connect(path):
    """Give the ends of the cable addresses of their own, for what is in a tunnel; yields what sends
    packets by its route."""
    for space, dev, address in ((path.tx, "f0", OUTER[0]), (path.rx, "t0", OUTER[1])):
        space.ip(f"addr add {address}/24 dev {dev}")
    # Nothing else is to arrive at the device below.
    path.tx.ip(f"neigh add {OUTER[1]} lladdr 02:00:00:00:00:02 dev f0")
    path.rx.ip(f"neigh add {OUTER[0]} lladdr 02:00:00:00:00:01 dev t0")
    raw = path.tx.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    raw.setsockopt(socket.SOL_SOCKET, 32, 1 << 28)  # SO_SNDBUFFORCE
    return lambda packet: raw.sendto(packet, ("10.0.0.2", 0))


@contextlib.contextmanager
def tunnel(path, name, kind):
    send = connect(path)
    ends = path.tx, path.rx
    if kind == "wireguard":
        needs("wireguard")
        tunnels.wireguard(ends, OUTER, name, "0.0.0.0/0")
    else:
        for space, own, other in zip(ends, OUTER, reversed(OUTER), strict=True):
            space.ip(f"link add {name} type {kind} local {own} remote {other}")
    for space in ends:
        space.up_without_ipv6(name)
    path.tx.ip(f"route add 10.0.0.2 dev {name}")
    yield send


def bare(serial, ecn, length):
    """An IP packet, of so many bytes."""
    return ipv4_frame(serial, ecn, length + 14)[14:]


@pytest.mark.parametrize("kind", [*TYPES, "ipip", "gre", "wireguard"])
def test_a_device_without_link_header(path, kind):
    """Its packets are shaped, marked and counted, and arrive as they were."""
    make = tun_device if kind in TYPES else tunnel
    with make(path, "l3", kind) as send:
        path.rx.run(LOADER, "l3", "--ingress", "--rate", "10mbit", "--target", "4000s")
        ifb = Qdisc(path.rx, "in-l3")
        for serial in range(1, 101):
            send(bare(serial, ECT_1 if serial % 2 else NOT_ECT, 1000))
        arrived = path.expect(100)
        stats = ifb.check_conservation()
        assert stats["l-queue"]["packets-in"] == stats["c-queue"]["packets-in"] == 50
        assert stats["bypassed-tcx"] == 0
        marked = [serial for serial, ecn, _ in arrived if ecn == CE]
        assert marked and all(serial % 2 for serial in marked)
        low = stats["l-queue"]
        assert low["mark-native"] + low["mark-coupled"] == len(marked)
        took = arrived[-1][2] - arrived[0][2]
        assert took == pytest.approx(99 * 1000 * 8 * 1000 / 10, rel=0.01), "no byte more a packet"
        path.rx.run(LOADER, "l3", "--ingress", "--unload")
        assert path.devices() == {"l3"}
        send(bare(101, NOT_ECT, 1000))
        path.expect(1)


def test_ipsec_is_shaped_once(path):
    """What ESP has carried arrives at the same device again."""
    needs("esp4", "xfrm_user")
    send = connect(path)
    tunnels.ipsec((path.tx, path.rx), OUTER, "tunnel", inner=["10.0.0.1/32", "10.0.0.2/32"])
    path.tx.ip("addr add 10.0.0.1/32 dev f0")
    path.tx.ip("route add 10.0.0.2 via 10.9.0.2 src 10.0.0.1")
    path.load("--rate", "5mbit", *CALM)
    for serial in range(1, 51):
        send(bare(serial, NOT_ECT, 1000))
    arrived = path.expect(50)
    stats = path.ifb.check_conservation()
    assert stats["c-queue"]["packets-in"] == 50
    length = stats["c-queue"]["bytes-in"] / 50
    took = arrived[-1][2] - arrived[0][2]
    assert took == pytest.approx(49 * length * 8 * 1000 / 5, rel=0.01)


def test_somebodys_program_stays_and_comes_first(path, foreign_program):
    path.rx.run("bpftool", "net", "attach", "tcx_ingress", "pinned", foreign_program, "dev", "t0")
    path.load("--rate", "20mbit")
    assert path.programs() == [("tcx/ingress", "foreign"), ("tcx/ingress", "dualpi2_ingress")]
    path.send(NOT_ECT, 3)
    path.expect(3)
    path.load("--unload")
    assert path.programs() == [("tcx/ingress", "foreign")]


def add_filter(space):
    space.run("tc", "qdisc", "add", "dev", "t0", "clsact", check=False)
    space.run("tc", "filter", "add", "dev", "t0", "ingress", "matchall", "action", "ok")


def add_chain(words):
    def add(space):
        family, hook = words.split(maxsplit=1)
        space.run("nft", "-f", "-", input=f"""table {family} fw {{ chain in {{
            type filter hook ingress {hook} priority 0
        }}
        }}""")

    return add


FILTERS = {"tc": (add_filter, "its tc ingress filters"),
           "netdev": (add_chain("netdev device t0"), "the nft ingress chain fw in"),
           "inet": (add_chain("inet devices = { lo, t0 }"), "the nft ingress chain fw in")}


@pytest.mark.parametrize("add, whose", FILTERS.values(), ids=FILTERS)
def test_no_filter_is_switched_off(path, add, whose):
    """One that is there forbids it, of one that comes later it is told."""
    add(path.rx)
    told = f"--ingress would take its packets past {whose}: "
    assert told in one_line(path.load("--rate", "5mbit", check=False), 1)
    assert told in path.load("--check", "--rate", "5mbit", check=False).stdout
    assert path.devices() == set()
    path.rx.run("tc", "qdisc", "del", "dev", "t0", "clsact", check=False)
    path.rx.run("nft", "flush", "ruleset")
    path.load("--rate", "5mbit")
    add(path.rx)
    told = f"WARNING  t0: --ingress takes its packets past {whose}: "
    assert told in path.load("--rate", "6mbit").stdout
    assert told in path.load("--check").stdout
    if whose == FILTERS["tc"][1]:  # nft's only the administrator may see, which it is not
        [entry] = json.loads(path.rx.run(BIN / "dualpi2-stats", "--json").stdout)
        assert entry["passed-over"] == whose


@pytest.mark.parametrize("chain", ["netdev device other", "inet devices = { f0, other }"])
def test_a_chain_elsewhere_is_none(path, chain):
    path.rx.ip("link add other type dummy")
    path.rx.ip("link add f0 type dummy")
    add_chain(chain)(path.rx)
    path.load("--rate", "5mbit")


@pytest.mark.parametrize("mishap", [("ip", "link", "del", "in-t0"),
                                    ("ip", "link", "set", "in-t0", "down"),
                                    ("tc", "qdisc", "replace", "dev", "in-t0", "root", "handle",
                                     "9:", "pfifo")])
def test_without_the_queue_packets_arrive_all_the_same(path, mishap):
    """Unshaped, until the next dualpi2-load repairs it."""
    path.load("--rate", "1mbit", *CALM)
    path.rx.run(*mishap)
    serials = path.send(NOT_ECT, 50)
    arrived = path.expect(50)
    assert [serial for serial, _, _ in arrived] == serials
    assert arrived[-1][2] - arrived[0][2] < 10 * 1514 * 8 * 1000, "faster than 1 Mbit/s"
    path.load("--rate", "20mbit", "--replace", *CALM)
    path.send(NOT_ECT, 30)
    arrived = path.expect(30)
    gaps = [after[2] - before[2] for before, after in itertools.pairwise(arrived)]
    # One packet may come late, when something else holds the CPU; none may come early.
    assert statistics.median(gaps) == pytest.approx(605_600, rel=0.01)
    assert sum(gaps) >= 29 * 605_600 * 0.99


def test_both_directions_are_independent(path):
    path.rx.run(LOADER, "t0", "--limit", 77)
    path.load("--rate", "20mbit", "--limit", 88)
    assert path.ifb.stats()["options"]["limit"] == 88
    assert Qdisc(path.rx, "t0").stats()["options"]["limit"] == 77
    path.rx.run(LOADER, "t0", "--egress", "--unload")
    path.send(NOT_ECT, 5)
    path.expect(5)
    assert path.ifb.stats()["c-queue"]["packets-in"] == 5


def test_the_interface_is_deleted(path):
    """Its ifb goes with the next run of the loader."""
    path.rx.ip("link add gone type dummy")
    path.rx.run(LOADER, "gone", "--ingress", "--rate", "5mbit")
    path.rx.ip("link del gone")
    assert path.devices() == {"in-gone"}
    one_line(path.load("--unload", check=False), 1)
    path.check_nothing_left()


def detach_program(path):
    """As somebody may, while GRO is off for us."""
    path.rx.ip("link set t0 gro_max_size 50000 gro_ipv4_max_size 40000")
    path.load("--rate", "20mbit")
    [pin] = PI2_PINS.glob(f"ingress-{path.rx.cookie()}-*")
    run("bpftool", "link", "detach", "pinned", pin)


def test_the_program_is_detached(path):
    """By somebody. The next dualpi2-load, of any interface, says so and restores everything."""
    detach_program(path)
    shown = path.rx.run(BIN / "dualpi2-stats").stdout
    assert "\nin-t0 gets no packets: " in shown
    assert "`dualpi2-load t0 --ingress --unload` removes it" in shown
    path.rx.ip("link add other type dummy")
    said = path.rx.run(LOADER, "other").stdout.splitlines()
    assert "t0: removed in-t0: incoming traffic no longer goes through it" in said
    assert gro_sizes(path) == (50000, 40000)
    path.rx.run(LOADER, "other", "--unload")
    path.rx.ip("link del other")
    path.check_nothing_left()


def test_the_program_is_detached_before_unload(path):
    """It has something to unload."""
    detach_program(path)
    assert path.load("--unload").stdout == "t0: unloaded\n"
    assert gro_sizes(path) == (50000, 40000)
    path.check_nothing_left()


def test_killed_loader(path):
    """Whatever it leaves is known as ours: the next one goes on from there."""
    loader = path.rx.popen(LOADER, "t0", "--ingress", "--rate", "1mbit")
    wait_until(lambda: "in-t0" in path.devices() or loader.poll() is not None, "there is an ifb",
               step=0)
    loader.kill()
    loader.communicate()
    path.load("--rate", "20mbit")
    path.send(NOT_ECT, 5)
    path.expect(5)
    assert path.ifb.stats()["options"]["rate"] == 20_000_000
    assert path.ifb.stats()["c-queue"]["packets-in"] == 5
    path.load("--unload")
    path.check_nothing_left()


def test_ifb_that_is_left_half_made(path):
    path.leave_half_made_ifb()
    path.load("--rate", "20mbit")
    assert path.devices() == {"in-t0"}
    path.load("--unload")
    path.check_nothing_left()


def test_failure_is_undone(path):
    """No room for one more qdisc: that shows last."""
    dummy(path.rx, "wide", "numtxqueues", 255)
    # With the one that keeps the kind registered: 256.
    path.rx.run(LOADER, "wide", "--mq", "--no-split-gso")
    try:
        assert "free" in one_line(path.load("--rate", "5mbit", check=False), 1)
        assert path.devices() == {"wide"}
        assert path.programs() == []
    finally:
        path.rx.run(LOADER, "wide", "--unload")
        path.rx.ip("link del wide")
    path.check_nothing_left()


def test_check(path):
    assert "will go through an ifb" in path.load("--check", "--rate", "5mbit").stdout
    assert path.devices() == set()
    path.load("--rate", "5mbit")
    assert "already" in path.load("--check").stdout


def test_queue_statistics_are_those_of_the_ifb(path):
    path.load("--rate", "20mbit")
    path.send(ECT_1, 10)
    path.expect(10)
    [entry] = json.loads(path.rx.run(BIN / "dualpi2-stats", "--json").stdout)
    assert (entry["interface"], entry["direction"], entry["dev"]) == ("t0", "ingress", "in-t0")
    assert drops(entry["l-queue"]) == 0
    assert entry["l-queue"]["packets-out"] == 10


@pytest.mark.parametrize("interface", [[], ["t0"], ["in-t0"]])
def test_events_have_the_direction(path, interface):
    """Of all, of the interface and of its ifb."""
    path.load("--rate", "1mbit", "--target", 0, "--alpha", 100)
    stats = BIN / "dualpi2-stats", *interface, "--events", "--json"
    with following(path.rx, *stats) as follower:
        path.send(NOT_ECT, 300)
        event = json.loads(next_line(follower))
    assert (event["interface"], event["direction"]) == ("t0", "ingress")
    assert (event["dev"], event["event"]) == ("in-t0", "began")
