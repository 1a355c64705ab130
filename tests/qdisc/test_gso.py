# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--split-gso: what becomes of GSO packets."""

import contextlib
import ctypes
import fcntl
import itertools
import json
import os
import socket
import struct

import frames
import gso_wire
import injectors
import pytest
import superpackets
from bpfcall import BPF_OBJ_GET, BPF_PROG_ATTACH, bpf
from conftest import BIN, LOADER, PI2_PINS, Qdisc
from frames import CE, ECT_0, ECT_1, NOT_ECT
from gso_wire import CALM, FEW, payload_of, tcp_counters, transfer
from netns import run, veth, wait_until
from steady import steadily
from superpackets import ACK, CWR, ECE, IPPROTO_TCP, IPPROTO_UDP, MSS, PSH, UDP_SEGMENT, super_frame

ALSO_REGISTERED = ("fixed",)
VIRTIO_LEN = 10  # struct virtio_net_hdr
SEGMENTS = 40
FRAME_MAX = 1514
KINDS = pytest.mark.parametrize(("version", "protocol"), [
    pytest.param(version, protocol, id=f"{name} over IPv{version}")
    for version in (4, 6) for name, protocol in (("TCP", IPPROTO_TCP), ("UDP", IPPROTO_UDP))])


@pytest.fixture(scope="module")
def one_wire(registered):
    yield from gso_wire.one_wire()


@pytest.fixture
def wire(one_wire):
    yield from gso_wire.checked(one_wire)


@KINDS
def test_each_segment_waits_by_itself(wire, version, protocol):
    wire.load(*CALM)
    wire.send(SEGMENTS, version=version, protocol=protocol, ecn=ECT_1)
    arrived = wire.segments(SEGMENTS)
    assert b"".join(segment.payload for segment in arrived) == payload_of(SEGMENTS)
    assert max(segment.length for segment in arrived) <= FRAME_MAX
    assert {segment.ecn for segment in arrived} == {ECT_1}
    stats = wire.qdisc.check_conservation()
    assert stats["gso"] == {"split": 1, "whole": 0}
    assert stats["l-queue"]["packets-in"] == SEGMENTS
    assert stats["bypassed-tcx"] == 0


@KINDS
@pytest.mark.parametrize("ecn", [NOT_ECT, ECT_1, ECT_0, CE])
def test_segments_are_those_of_the_kernel(wire, version, protocol, ecn):
    """CE is on every segment, CWR on the first, PSH on the last: byte for byte what the
    kernel makes of the packet where it has to segment it."""
    options = {"version": version, "protocol": protocol, "ecn": ecn,
               "flags": ACK | PSH | ECE | CWR}
    wire.tx.ip("link set g0 gso_max_segs 1 gso_max_size 512")
    wire.send(SEGMENTS, **options)
    expected = wire.arrived(SEGMENTS)
    wire.tx.ip("link set g0 gso_max_segs 65535 gso_max_size 65536")
    wire.load(*CALM)
    wire.send(SEGMENTS, **options)
    assert wire.arrived(SEGMENTS) == expected
    parsed = [superpackets.parse(data) for data in expected]
    assert {segment.ecn for segment in parsed} == {ecn}
    if protocol == IPPROTO_TCP:
        assert [bool(segment.flags & CWR) for segment in parsed] == [True] + [False] * (
            SEGMENTS - 1)


def test_marks_are_of_single_segments(wire):
    """The step falls in the middle of a GSO packet."""
    wire.load("--rate", "10mbit")  # 1.2 ms a segment
    wire.send(SEGMENTS, ecn=ECT_1)
    marked = [segment.ecn == CE for segment in wire.segments(SEGMENTS)]
    assert marked == sorted(marked) and 30 < sum(marked) < SEGMENTS
    low = wire.qdisc.stats()["l-queue"]
    assert low["mark-native"] + low["mark-coupled"] == sum(marked)


@pytest.mark.parametrize("how", ["--split-gso", "--no-split-gso"])
def test_the_guard_counts_what_goes_on_the_wire(wire, how):
    wire.load("--rate", "20mbit", "--guard", how)
    wire.local.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, ECT_1)
    for _ in range(5):
        wire.send_local(payload_of(SEGMENTS))
    wire.local.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, NOT_ECT)
    wait_until(lambda: wire.qdisc.tc()["qlen"] == 0, "all have left")
    stats = wire.qdisc.stats()
    assert stats["guard"]["convictions"] == 1
    assert 0 < stats["guard"]["redirected"] == stats["c-queue"]["packets-in"]


@pytest.mark.parametrize("count", range(1, 9))
def test_queue_is_in_order_when_its_last_packet_is_dropped(wire, count):
    """Of single packets the last one is never dropped: coupled_rests()."""
    def queue_and_get(segments):
        for number in range(segments):
            wire.send_local(payload_of(1, number))
        assert b"".join(segment.payload for segment in wire.segments(segments)) == (
            payload_of(segments))

    wire.load("--aqm", "fixed", "--fixed-prob", 0, "--no-split-gso", "--rate", "10mbit", *CALM[2:])
    queue_and_get(FEW)
    wire.load("--fixed-prob", "100%")
    for _ in range(1 + count):  # the first one gets through: its share adds up to a packet later
        wire.send_local(payload_of(SEGMENTS))
    wire.arrived(1)
    wait_until(lambda: wire.qdisc.stats()["drops"] == count * SEGMENTS, "the others are dropped")
    wire.load("--fixed-prob", 0)
    queue_and_get(FEW)


def test_rate_is_exact(wire):
    wire.load("--rate", "10mbit", *CALM)
    wire.send(SEGMENTS)
    wire.arrived(SEGMENTS)
    highest = wire.qdisc.stats()["c-queue"]["delay"]["max"]
    assert highest == pytest.approx((SEGMENTS - 1) * (MSS + 54) * 8 / 10, rel=0.01)  # us


def test_not_split_it_waits_as_one(wire):
    """Counted as the packets that it is on the wire, and marked whole."""
    wire.load("--no-split-gso", *CALM)
    wire.send_local(payload_of(SEGMENTS))
    [segment] = wire.segments(1)
    assert segment.payload == payload_of(SEGMENTS)
    stats = wire.qdisc.check_conservation()
    assert stats["gso"] == {"split": 0, "whole": 1}
    assert stats["c-queue"]["packets-in"] == SEGMENTS
    assert stats["c-queue"]["bytes-in"] == SEGMENTS * (MSS + frames.ETHER_LEN + frames.IPV4_LEN +
                                                       superpackets.UDP_LEN)
    assert wire.devices() == {}


def test_more_segments_than_can_be_counted(wire):
    """65536 and more: counted as 65535, the highest that the kernel itself can say, not from 0 on
    again; or as tc does, where the kernel has counted them (from 6.19 on)."""
    wire.load("--no-split-gso", *CALM)
    frame = super_frame(payload_of(1), mss=1) + bytes(70_000)
    wire.sender.send(frame)
    queue = wire.qdisc.stats()["c-queue"]
    expected = wire.qdisc.tc()["packets"] or 65535
    assert queue["packets-in"] == queue["packets-out"] == expected
    wire.load("--unload")


def test_not_split_at_the_limit(wire):
    """A drop counts as the packets that it would have been, everywhere."""
    wire.load("--no-split-gso", "--limit", 3, "--memlimit", "1m", "--rate", "1mbit", *CALM)
    for _ in range(8):
        wire.send_local(payload_of(FEW))
    wait_until(lambda: wire.qdisc.tc()["qlen"] == 0, "the queue is empty")
    queue = wire.qdisc.check_conservation()["c-queue"]
    assert queue["drop-limit"] % FEW == 0 and queue["drop-limit"] >= 4 * FEW


def test_not_split_for_somebody_elses_qdisc(wire):
    """Our tcx programs and the device are still there when ours is replaced by hand."""
    wire.load(*CALM)
    wire.tx.run("tc", "qdisc", "replace", "dev", "g0", "root", "pfifo")
    wire.send_local(payload_of(SEGMENTS))
    [packet] = wire.segments(1)
    assert packet.payload == payload_of(SEGMENTS)
    wire.tx.run("tc", "qdisc", "del", "dev", "g0", "root")
    wire.load(*CALM)


@KINDS
def test_not_split_and_not_counted_by_its_sender(wire, version, protocol):
    """tc counts such a packet as none on kernels up to 6.18."""
    wire.load("--no-split-gso", *CALM)
    wire.send(SEGMENTS, version=version, protocol=protocol)
    wire.segments(1)
    stats = wire.qdisc.stats()
    assert stats["gso"] == {"split": 0, "whole": 1}
    assert stats["c-queue"]["packets-in"] == stats["c-queue"]["packets-out"] == SEGMENTS
    wire.load("--unload")


def test_vlan_tags_stay(wire):
    wire.load(*CALM)
    for space, device, number in ((wire.tx, "g0", 1), (wire.rx, "h0", 2)):
        space.ip(f"link add link {device} name tagged type vlan id 5")
        space.up_without_ipv6("tagged", f"10.0.5.{number}/24")
    transfer(wire, "10.0.5.2")
    in_frame = super_frame(payload_of(SEGMENTS), vlans=[(frames.ETH_P_8021Q, 5)])
    before = wire.qdisc.stats()
    wire.sender.send(in_frame)
    wait_until(lambda: wire.qdisc.stats()["c-queue"]["packets-out"] ==
               before["c-queue"]["packets-out"] + SEGMENTS, "the tagged segments have left")
    gso = wire.qdisc.stats()["gso"]
    assert gso["split"] > before["gso"]["split"] > 0 and gso["whole"] == 0


@pytest.mark.parametrize("address", ["10.0.0.2", "fd00::2"])
def test_local_tcp(wire, address):
    """Nothing is lost and nothing overtaken: TCP sends nothing again but tail loss probes
    (the receiver is slow; some probes are new data), and sees nothing out of order."""
    def seen():
        return [*tcp_counters(wire.tx, "TcpRetransSegs", "TcpExtTCPLossProbes"),
                *tcp_counters(wire.rx, "TcpExtTCPOFOQueue")]

    before = seen()
    wire.load("--rate", "200mbit", *CALM)
    transfer(wire, address)
    sent_again, probes, overtaken = (now - then for now, then in zip(seen(), before, strict=True))
    assert sent_again <= probes and not overtaken
    stats = wire.qdisc.check_conservation()
    assert stats["gso"]["split"] > 20 and stats["gso"]["whole"] == 0
    queue = stats["c-queue"]
    assert queue["bytes-in"] / queue["packets-in"] <= FRAME_MAX


def test_local_udp_gso(wire):
    wire.load(*CALM)
    wire.send_local(payload_of(SEGMENTS))
    arrived = wire.segments(SEGMENTS)
    assert b"".join(segment.payload for segment in arrived) == payload_of(SEGMENTS)
    assert wire.qdisc.stats()["gso"] == {"split": 1, "whole": 0}


@pytest.fixture
def host(new_space):
    """The tx namespace forwards for it."""
    return new_space("ghost")


def connect_host(wire, host):
    """host o0 - i0 tx g0 - h0 rx"""
    veth(host, "o0", wire.tx, "i0", offload=True)
    host.ip("addr add 10.1.0.1/24 dev o0")
    wire.tx.ip("addr add 10.1.0.2/24 dev i0")
    host.ip("route add default via 10.1.0.2")
    wire.rx.ip("route replace 10.1.0.0/24 via 10.0.0.1")
    wire.tx.sysctl("net.ipv4.ip_forward", 1)


@pytest.mark.parametrize("merged_by", ["GSO of the host", "GRO of the router"])
def test_forwarded(wire, host, merged_by):
    connect_host(wire, host)
    if merged_by == "GRO of the router":
        host.run("ethtool", "-K", "o0", "tso", "off", "gso", "off")
        wire.tx.run("ethtool", "-K", "i0", "gro", "on")
    wire.load("--rate", "200mbit", *CALM)
    transfer(wire, "10.0.0.2", source=host)
    stats = wire.qdisc.check_conservation()
    assert stats["gso"]["split"] > 20 and stats["gso"]["whole"] == 0


TUNNELS = {
    "VXLAN": "type vxlan id 7 {ends} dstport 4789",
    "GRE": "type gre {ends}",
    "Ethernet in GRE": "type gretap {ends}",
    "IPv4 in IPv4": "type ipip {ends}",
}


@pytest.mark.parametrize("tunnel", TUNNELS.values(), ids=TUNNELS)
def test_tunnels_are_split(wire, tunnel):
    """The segments have the outer headers; the inner TCP gets all it was sent."""
    wire.load("--rate", "200mbit", *CALM)
    for space, device, number in ((wire.tx, "g0", 1), (wire.rx, "h0", 2)):
        ends = f"local 10.0.0.{number} remote 10.0.0.{3 - number} dev {device}"
        space.ip(f"link add tunnel0 {tunnel.format(ends=ends)}")
        space.up_without_ipv6("tunnel0", f"10.7.0.{number}/24")
    transfer(wire, "10.7.0.2")
    stats = wire.qdisc.check_conservation()
    assert stats["gso"]["split"] > 20 and stats["gso"]["whole"] == 0
    queue = stats["c-queue"]
    assert queue["bytes-in"] / queue["packets-in"] <= FRAME_MAX


def test_directions_for_a_tunnel_are_kept(wire):
    """On a device that takes the address of the tunnel's end from each packet's metadata,
    GSO packets pass whole: on the way round they would lose it."""
    for space, number in ((wire.tx, 1), (wire.rx, 2)):
        other = 3 - number
        space.ip(f"link add vx0 mtu 1450 address 02:00:00:00:07:0{number} type vxlan external "
                 "dstport 4789")
        space.up_without_ipv6("vx0", f"10.7.0.{number}/32")
        space.ip(f"route add 10.7.0.{other}/32 encap ip id 7 dst 10.0.0.{other} dev vx0")
        space.ip(f"neigh add 10.7.0.{other} lladdr 02:00:00:00:07:0{other} dev vx0")
    qdisc = Qdisc(wire.tx, "vx0")
    qdisc.load("--rate", "200mbit", *CALM)
    transfer(wire, "10.7.0.2")
    stats = qdisc.check_conservation()
    assert stats["gso"]["whole"] > 0 and stats["gso"]["split"] == 0
    qdisc.load("--unload")


def test_an_ifb_gets_them_whole(wire):
    """An ifb that somebody redirects to: it throws away what came back from a detour."""
    wire.rx.ip("link add ifbh type ifb")
    wire.rx.up("ifbh")
    wire.rx.run("tc", "qdisc", "add", "dev", "h0", "clsact")
    wire.rx.run("tc", "filter", "add", "dev", "h0", "ingress", "matchall", "action", "mirred",
                "egress", "redirect", "dev", "ifbh")
    qdisc = Qdisc(wire.rx, "ifbh")
    assert qdisc.load(*CALM).stdout.count("\n") == 1
    assert "nothing changed" in qdisc.load().stdout
    transfer(wire, "10.0.0.2")
    stats = qdisc.check_conservation()
    assert stats["gso"]["whole"] > 0 and stats["gso"]["split"] == 0
    qdisc.load("--unload")
    wire.rx.run("tc", "qdisc", "del", "dev", "h0", "clsact")


TUNSETOFFLOAD = 0x400454D0
TUN_F_ALL = 0x01 | 0x02 | 0x04  # checksums, TSO over IPv4 and IPv6


def test_device_without_link_header(registered, new_space):
    """A tun device that takes GSO packets: what comes out of it are segments."""
    space = new_space("tunnel")
    tun = injectors.tap(space, "tun0", injectors.IFF_VNET_HDR, kind=injectors.IFF_TUN)
    fcntl.ioctl(tun, TUNSETOFFLOAD, TUN_F_ALL)
    space.ip("addr add 10.0.0.1/24 dev tun0")
    qdisc = Qdisc(space, "tun0")
    qdisc.load(*CALM)
    sock = space.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("10.0.0.1", superpackets.PORTS[0]))
    sock.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, MSS)
    sock.sendto(payload_of(SEGMENTS), ("10.0.0.2", superpackets.PORTS[1]))
    packets = []
    wait_until(lambda: packets.extend(packet[VIRTIO_LEN:] for packet in injectors.drained(tun)) or
               len(packets) >= SEGMENTS, "the segments have come out")
    segments = [superpackets.parse(packet, link_header=0) for packet in packets]
    assert b"".join(segment.payload for segment in segments) == payload_of(SEGMENTS)
    assert qdisc.check_conservation()["gso"] == {"split": 1, "whole": 0}
    qdisc.load("--unload")
    sock.close()
    os.close(tun)


@pytest.mark.parametrize("make, place", [
    ("lo", "the loopback device"),
    ("tunnel0 type ipip local 10.0.0.1 remote 10.0.0.2", "a tunnel"),
])
def test_where_they_cannot_be_split_is_told(registered, new_space, make, place):
    space = new_space("whole")
    name = make.split()[0]
    if name != "lo":
        space.ip(f"link add {make}")
    space.up(name)
    qdisc = Qdisc(space, name)
    assert f"cannot be split on {place}: " in qdisc.load("--check").stdout
    assert f"cannot be split on {place}: " in qdisc.load().stdout
    qdisc.load("--unload")


def test_helper_device_that_somebody_removes_at_the_same_time(box, tmp_path):
    """While dualpi2-load waits for the packets that may be in it: gone is gone."""
    trace = tmp_path / "trace"
    box.run(LOADER, "one")
    loader = box.popen("strace", "-o", trace, "-e", "trace=membarrier",
                       "-e", "inject=membarrier:delay_exit=2000000", LOADER, "one",
                       "--no-split-gso")
    wait_until(lambda: trace.exists() and "membarrier" in trace.read_text(), "it waits")
    box.ip("link del gso-one")
    output, _ = loader.communicate(timeout=60)
    assert (loader.returncode, output) == (0, "one: bpf_dualpi2 changed, no-split-gso\n")
    box.run(LOADER, "one", "--unload")


# ---- other programs, and the helper device in other hands --------------------------


def test_other_programs_see_each_packet_once(wire, foreign_program):
    """A program that was there before ours sees the segments, and only these."""
    wire.tx.run("bpftool", "net", "attach", "tcx_egress", "pinned", foreign_program, "dev", "g0")
    wire.load(*CALM)
    before = foreign_count(foreign_program)
    wire.send(SEGMENTS)
    wire.segments(SEGMENTS)
    assert foreign_count(foreign_program) - before == SEGMENTS
    assert wire.programs() == ["dualpi2_split", "foreign", "dualpi2_mark"]
    wire.load("--unload")
    assert wire.programs() == ["foreign"]


def test_no_program_can_make_it_loop(wire, foreign_program):
    """One in front of ours scribbles over skb->cb and skb->mark each time."""
    wire.load(*CALM)
    attach_in_front(wire.tx, "g0", foreign_program)
    assert wire.programs() == ["foreign", "dualpi2_mark"]
    before = foreign_count(foreign_program)
    wire.send(SEGMENTS)
    assert [segment.length for segment in wire.segments(SEGMENTS)] == [MSS + 54] * SEGMENTS
    assert foreign_count(foreign_program) - before == SEGMENTS + 1
    assert wire.qdisc.stats()["bypassed-tcx"] == 0
    wire.load()
    assert wire.programs() == ["dualpi2_split", "foreign", "dualpi2_mark"], "mended"
    wire.send(SEGMENTS)
    wire.segments(SEGMENTS)
    assert foreign_count(foreign_program) - before == 2 * SEGMENTS + 1


def foreign_count(pin):
    """Packets that the foreign program has seen."""
    program = json.loads(run("bpftool", "-j", "prog", "show", "pinned", pin).stdout)
    [number] = program["map_ids"]
    [entry] = json.loads(run("bpftool", "-j", "map", "dump", "id", number).stdout)
    return entry["formatted"]["value"]


# include/uapi/linux/bpf.h
BPF_TCX_EGRESS, BPF_F_BEFORE = 47, 1 << 3


def attach_in_front(space, device, pin):
    """Attach a pinned tcx program before all others, which bpftool cannot."""
    path = ctypes.create_string_buffer(str(pin).encode())
    program = bpf(BPF_OBJ_GET, struct.pack("<QII", ctypes.addressof(path), 0, 0))
    with space.entered():
        index = socket.if_nametoindex(device)
        bpf(BPF_PROG_ATTACH, struct.pack("<IIIIIIQ", index, program, BPF_TCX_EGRESS,
                                         BPF_F_BEFORE, 0, 0, 0))
    os.close(program)


SPOILERS = {
    "it takes GSO packets": "link set gso-g0 gso_max_segs 65535 gso_max_size 65536",
    "it is down": "link set gso-g0 down",
    "its other end is down": "link set gsx-g0 down",
    "it is gone": "link del gso-g0",
    "its other end is gone": "link del gsx-g0",
    "it has a queue": "",
}


def spoil(wire, how):
    if SPOILERS[how]:
        wire.tx.ip(SPOILERS[how])
    else:
        wire.tx.run("tc", "qdisc", "add", "dev", "gso-g0", "root", "pfifo", "limit", 1)


@pytest.mark.parametrize("how", SPOILERS)
def test_without_its_device_packets_pass_whole_until_the_next_run(wire, how):
    wire.load(*CALM)
    spoil(wire, how)
    wire.send_local(payload_of(SEGMENTS))
    [segment] = wire.segments(1)
    assert segment.payload == payload_of(SEGMENTS)
    assert wire.qdisc.stats()["gso"] == {"split": 0, "whole": 1}
    if how != "it has a queue":  # which is somebody's
        assert "GSO packets are split again" in wire.load().stdout
        assert "nothing changed" in wire.load().stdout
        wire.send(SEGMENTS)
        assert len(wire.segments(SEGMENTS)) == SEGMENTS


def test_among_many_devices(wire):
    """Its device is found behind those that came later into the same bucket of the kernel's table
    (NETDEV_HASHENTRIES: 256)."""
    wire.load(*CALM)
    number = wire.tx.links()["gso-g0"]["ifindex"]
    later = [f"later{count}" for count in range(1, 13)]
    for count, name in enumerate(later, start=1):
        wire.tx.ip(f"link add {name} index {number + 256 * count} type dummy")
    wire.send(SEGMENTS)
    assert len(wire.segments(SEGMENTS)) == SEGMENTS
    assert wire.qdisc.stats()["gso"] == {"split": 1, "whole": 0}
    for name in later:
        wire.tx.ip(f"link del {name}")


def test_strangers_packets_end_in_the_device(wire):
    """What somebody sends through gso-g0 does not leave through g0."""
    wire.load(*CALM)
    stranger = superpackets.sender(wire.tx, "gso-g0")
    with contextlib.suppress(OSError):  # up to 6.18 it is told
        stranger.send(super_frame(payload_of(2)))
    stranger.close()
    wire.send(1)
    assert len(wire.segments(1)) == 1
    assert wire.qdisc.stats()["c-queue"]["packets-in"] == 1


CHANGES = {
    "off and on again": (("load", "--no-split-gso"), ("load", "--split-gso")),
    "device deleted and made again": (("ip", "link del gso-g0"), ("load",)),
    "device down and up": (("ip", "link set gso-g0 down"), ("load",)),
    "device takes GSO packets": (("ip", SPOILERS["it takes GSO packets"]), ("load",)),
}


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_changes_under_load_lose_and_reorder_nothing(wire, changes):
    """Traffic runs while the way of GSO packets changes, again and again."""
    wire.load("--limit", 1_000_000, *CALM)
    number = itertools.count(step=FEW)
    sent = bytearray()

    def send():
        payload = payload_of(FEW, next(number))
        wire.send_local(payload)
        sent.extend(payload)

    with steadily(send):
        for _ in range(4):
            for what, *arguments in changes:
                if what == "load":
                    wire.load(*arguments)
                else:
                    wire.tx.ip(*arguments)
    send()
    received = bytearray()

    def all_arrived():
        for data, _ in frames.received(wire.receiver):
            if wire.is_test(data):
                received.extend(superpackets.parse(data).payload)
        return len(received) >= len(sent)

    wait_until(all_arrived, "all bytes have arrived", 60)
    assert received == sent
    gso = wire.qdisc.check_conservation()["gso"]
    assert gso["split"] > 0 and gso["whole"] > 0


def test_link_down_throws_away_what_waits_and_no_more(wire):
    wire.load("--rate", "1mbit", *CALM)
    wire.send(SEGMENTS)
    wire.tx.ip("link set g0 down")
    stats = wire.qdisc.check_conservation()
    queue = stats["c-queue"]
    assert queue["packets-in"] == SEGMENTS and queue["backlog-packets"] == 0
    assert queue["drop-reset"] == SEGMENTS - queue["packets-out"] > 0
    wire.tx.up("g0")
    wire.load("--rate", 0)
    wire.segments(queue["packets-out"])
    wire.send(SEGMENTS)
    assert len(wire.segments(SEGMENTS)) == SEGMENTS


WINDOW = 1000  # packets
SMALL_QUEUE = 1 << 17  # bytes of memory


def highest_memory(wire, option, source=None):
    """Bytes that one flow with a wide window has had in the qdisc."""
    wire.load("--rate", "20mbit", option, *CALM)
    transfer(wire, "10.0.0.2", source=source, count=2_000_000)
    highest = wire.qdisc.stats()["max-memory-used"]
    wire.load("--unload")
    return highest


def test_sender_feels_the_queue(wire, host):
    """TCP small queues: a local socket has no more in the qdisc than the kernel's limit and one
    GSO packet, split or not. A flow that is forwarded fills its window."""
    connect_host(wire, host)
    wire.tx.sysctl("net.ipv4.tcp_limit_output_bytes", SMALL_QUEUE)
    for space, route in ((wire.tx, "10.0.0.0/24 dev g0"), (host, "default via 10.1.0.2"),
                         (wire.rx, "10.0.0.0/24 dev h0"),
                         (wire.rx, "10.1.0.0/24 via 10.0.0.1")):
        space.ip(f"route replace {route} initcwnd {WINDOW} initrwnd {WINDOW}")
    seen = {(option, name): highest_memory(wire, option, source)
            for option in ("--split-gso", "--no-split-gso")
            for name, source in (("local", None), ("forwarded", host))}
    print(seen)  # for docs/gso.md: pytest -s
    for option in ("--split-gso", "--no-split-gso"):
        assert 0 < seen[option, "local"] < 2 * SMALL_QUEUE, seen
        assert seen[option, "forwarded"] > 10 * SMALL_QUEUE, seen


# ---- only the longer ones ---------------------------------------------------------------

SEGMENT_LEN = MSS + frames.ETHER_LEN + frames.IPV4_LEN + superpackets.UDP_LEN


def comes_whole(wire, length):
    """Does the longest GSO packet of up to so many bytes come in one piece?"""
    before = wire.qdisc.stats()["gso"]["whole"]
    payload = payload_of(length // SEGMENT_LEN)
    wire.send_local(payload)
    whole = wire.qdisc.stats()["gso"]["whole"] - before
    arrived = wire.segments(1 if whole else len(payload) // MSS)
    assert b"".join(segment.payload for segment in arrived) == payload
    return whole


@pytest.mark.parametrize(("options", "above"), [
    (("--rate", "100mbit"), 3125),
    (("--rate", "1gbit"), 31250),
    (("--rate", "1gbit", "--step-thresh", "500us"), 15625),
    (("--rate", "1gbit", "--ethernet"), 31250 * FRAME_MAX // 1538),
    (("--step-thresh", "40p"), 10 * FRAME_MAX)])
def test_auto_splits_what_takes_a_quarter_of_the_step(wire, options, above):
    wire.load("--auto-split-gso", *options)
    options = wire.qdisc.stats()["options"]
    assert options["split-gso"] == "auto" and options["split-gso-above"] == above
    assert comes_whole(wire, above)
    assert not comes_whole(wire, above + SEGMENT_LEN)


def test_auto_splits_all_where_the_rate_is_unknown(wire):
    """A veth says 10 Gbit/s, but has no speed of its own."""
    assert wire.load("--auto-split-gso").stdout.count("\n") == 1
    options = wire.qdisc.stats()["options"]
    assert options["split-gso"] == "auto" and "split-gso-above" not in options
    assert not comes_whole(wire, 2 * SEGMENT_LEN)


def test_auto_follows_the_rate(wire):
    wire.load("--rate", "100mbit")
    assert not comes_whole(wire, 3125)
    assert wire.load("auto_split_gso").stdout == (
        "g0: bpf_dualpi2 changed, auto-split-gso\n"
        "  GSO packets of more than 3125 bytes are split\n")
    assert comes_whole(wire, 3125) and not comes_whole(wire, 31250)
    assert wire.load("--rate", "1gbit").stdout == (
        "g0: bpf_dualpi2 changed, rate 1gbit\n"
        "  GSO packets of more than 31250 bytes are split\n")
    assert comes_whole(wire, 31250)
    assert "not default: auto-split-gso" in wire.qdisc.table()
    assert "GSO packets of up to 31250 bytes may queue whole\n" in wire.qdisc.table()
    assert "auto_split_gso" in wire.tx.run(BIN / "dualpi2-stats", "g0", "--tc").stdout
    assert ("gso-g0 splits GSO packets of more than 31250 bytes already"
            in wire.tx.run(LOADER, "g0", "--check").stdout)
    wire.load("--target", "20ms")
    assert comes_whole(wire, 31250)
    wire.load("--split-gso")
    assert not comes_whole(wire, 2 * SEGMENT_LEN)


def test_auto_in_front_of_the_programs_of_others(wire, foreign_program):
    wire.tx.run("bpftool", "net", "attach", "tcx_egress", "pinned", foreign_program, "dev", "g0")
    wire.load("--rate", "1gbit", "--auto-split-gso")
    assert wire.programs() == ["dualpi2_split", "foreign", "dualpi2_mark"]
    assert comes_whole(wire, 31250) and not comes_whole(wire, 31250 + SEGMENT_LEN)


def test_whole_by_auto_counts_and_is_marked_as_its_segments(wire):
    """As with --no-split-gso. 20 segments of 1.2 ms each, 8 times, and a step of 100 ms."""
    wire.load("--auto-split-gso", "--rate", "10mbit", "--step-thresh", "100ms")
    wire.local.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, ECT_1)
    for _ in range(8):
        wire.send_local(payload_of(20))
    wire.local.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, NOT_ECT)
    arrived = wire.segments(8)
    marked = sum(packet.ecn == CE for packet in arrived)
    low = wire.qdisc.check_conservation()["l-queue"]
    assert low["packets-in"] == 8 * 20 and 0 < marked < 8
    assert low["mark-native"] + low["mark-coupled"] == 20 * marked


def test_auto_for_each_queue_of_an_mq(registered, box):
    box.ip("link add wide numtxqueues 3 mtu 3986 type dummy")
    box.run(LOADER, "wide", "--mq", "--auto-split-gso", "--step-thresh", "40p")
    shown = json.loads(box.run(BIN / "dualpi2-stats", "wide", "--json").stdout)
    assert [queue["options"]["split-gso-above"] for queue in shown if "options" in queue] == (
        3 * [40_000])
    box.run(LOADER, "wide", "--unload")


# ---- devices on top of ours, and below -------------------------------------------------


def stack(space, device, count):
    """So many devices on top of each other, each with the address of the lowest: bridges, which
    take no bridge as a port, and MACVLANs. The uppermost."""
    address = space.links()[device]["address"]
    for number in range(count):
        above = f"up{number}"
        if number % 2:
            space.ip(f"link add link {device} name {above} type macvlan mode passthru")
        else:
            space.ip(f"link add {above} address {address} type bridge mcast_snooping 0")
            space.ip(f"link set {device} master {above}")
        space.up_without_ipv6(above)
        device = above
    return device


# XMIT_RECURSION_LIMIT of include/linux/netdevice.h is 8, and our way round takes two.
@pytest.mark.parametrize(("count", "split"), [(1, 1), (6, 1), (7, 0)])
def test_devices_on_top(wire, count, split):
    """Where the way round would be too deep packets stay whole; none is lost."""
    wire.load(*CALM)
    top = stack(wire.tx, "g0", count)
    with contextlib.closing(superpackets.sender(wire.tx, top)) as sender:
        for number in range(10):
            sender.send(super_frame(payload_of(SEGMENTS), seq=number))
    arrived = wire.segments(10 * SEGMENTS if split else 10)
    assert b"".join(segment.payload for segment in arrived) == 10 * payload_of(SEGMENTS)
    stats = wire.qdisc.stats()
    assert stats["gso"] == {"split": 10 * split, "whole": 10 * (1 - split)}
    assert sum(stats[queue]["packets-in"] for queue in ("l-queue", "c-queue")) == 10 * SEGMENTS


@pytest.mark.parametrize(("count", "split"), [(6, 1), (7, 0)])
def test_devices_below(wire, count, split):
    """The qdisc is on the uppermost."""
    top = stack(wire.tx, "g0", count)
    qdisc = Qdisc(wire.tx, top)
    qdisc.load(*CALM)
    with contextlib.closing(superpackets.sender(wire.tx, top)) as sender:
        sender.send(super_frame(payload_of(SEGMENTS)))
    arrived = wire.segments(SEGMENTS if split else 1)
    assert b"".join(segment.payload for segment in arrived) == payload_of(SEGMENTS)
    assert qdisc.stats()["gso"] == {"split": split, "whole": 1 - split}
    if split:
        qdisc.check_conservation()
    qdisc.load("--unload")


# ---- the device's life -----------------------------------------------------------------


def test_device_explains_itself_and_goes_with_the_instance(wire):
    wire.load(*CALM)
    devices = wire.devices()
    assert set(devices) == {"gso-g0", "gsx-g0"}
    number = wire.tx.links()["g0"]["ifindex"]
    assert devices["gso-g0"]["ifalias"] == (
        f"splits GSO packets of interface {number} in network namespace {wire.tx.cookie()}, for "
        "bpf_dualpi2")
    assert devices["gsx-g0"]["ifalias"] == "other end of gso-g0, carries nothing"
    assert wire.tx.run("ip", "-j", "-6", "addr", "show", "dev", "gso-g0").stdout.count("inet6") == 0
    wire.load("--unload")
    assert wire.devices() == {}


def split_pin(space, device):
    """Of the interface's tcx program."""
    with space.entered():
        return PI2_PINS / f"split-{space.cookie()}-{socket.if_nametoindex(device)}"


@pytest.mark.parametrize("name", ["gso-g0", "gsx-g0"])
def test_somebody_elses_device_is_left_alone(wire, name):
    """Ours takes another name."""
    wire.tx.ip(f"link add {name} type dummy")
    stranger = wire.devices()
    wire.load(*CALM)
    number = wire.tx.links()["g0"]["ifindex"]
    assert set(wire.devices()) == {name, f"gso-{number}", f"gsx-{number}"}
    wire.send_local(payload_of(SEGMENTS))
    wire.segments(SEGMENTS)
    wire.load("--unload")
    assert wire.devices() == stranger
    wire.tx.ip(f"link del {name}")


def test_check_tells(wire):
    assert "will split GSO packets" in wire.tx.run(LOADER, "g0", "--check").stdout
    wire.load()
    assert "gso-g0 splits GSO packets already" in wire.tx.run(LOADER, "g0", "--check").stdout


@pytest.mark.parametrize("end", ["the qdisc", "the interface"])
def test_device_without_instance_goes_with_the_next_run(space, foreign_program, end):
    space.run("bpftool", "net", "attach", "tcx_egress", "pinned", foreign_program, "dev", "one")
    space.run(LOADER, "one")
    pin = split_pin(space, "one")
    if end == "the qdisc":
        space.run("tc", "qdisc", "del", "dev", "one", "root")
    else:
        space.ip("link del one")
    assert "gso-one" in space.links() and pin.exists()
    space.run(LOADER, "two")
    assert "gso-one" not in space.links() and not pin.exists()
    if end == "the qdisc":  # our tcx program has stayed on the interface, and goes with it
        space.ip("link del one")
        space.run(LOADER, "two")


def test_live_change_shows_as_native_shows_it(wire):
    wire.load()
    assert wire.qdisc.stats()["options"]["split-gso"] is None
    done = wire.load("no_split_gso")
    assert done.stdout == "g0: bpf_dualpi2 changed, no-split-gso\n"
    assert "split-gso" not in wire.qdisc.stats()["options"]
    assert wire.devices() == {}
    assert "not default: no-split-gso" in wire.qdisc.table()
    wire.load("split_gso")
    assert set(wire.devices()) == {"gso-g0", "gsx-g0"}
