# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The table of devices (docs/reliability.md): bpf_dualpi2 on each kind of device, or below it,
under traffic. Then the conservation law holds, what arrived is what was forwarded, and the
device has counted what the qdisc says it forwarded.
"""

import contextlib
import ctypes
import fcntl
import json
import mmap
import os
import re
import socket
import struct
import threading
from pathlib import Path

import pytest
import tunnels
from bpfcall import BPF_PROG_TYPE_XDP, pinned_verdict
from conftest import LOADER, PIN_DIR, Qdisc, drops, needs, written
from frames import CE, ECT_1, ETHER_LEN, IPV4_LEN, IPV6_LEN, NOT_ECT, ipv4_frame, other_frame, send
from genl import set_team_mode
from gso_wire import NO_ICMPV6
from netns import Namespace, run, switch_off_offloads, veth, wait_until
from superpackets import TCP_LEN, UDP_SEGMENT

RATE = ("--rate", "30mbit")
TRANSFER_BYTES = 1_500_000
SEGMENT, SEGMENTS, CALLS = 1000, 12, 25  # UDP: bytes, of a call, and calls
PORT = 5001


# ---- traffic --------------------------------------------------------------------------


def connected(near, far, address):
    """Both ends of a TCP connection."""
    server = far.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    client = near.socket(server.family)
    with server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.settimeout(60)
        server.bind((address, PORT))
        server.listen()
        client.settimeout(60)
        client.connect((address, PORT))
        connection, _ = server.accept()
    connection.settimeout(60)
    return client, connection


def transfer(near, far, address, count=TRANSFER_BYTES):
    """TCP from one host to the other; what arrives is what was sent."""
    client, connection = connected(near, far, address)
    data = os.urandom(1 << 15) * -(-count // (1 << 15))

    def send():
        with client:
            client.sendall(data)

    sender = threading.Thread(target=send)
    sender.start()
    received = bytearray()
    with connection:
        while part := connection.recv(1 << 20):
            received += part
    sender.join()
    assert received == data


class Datagrams:
    """UDP from one host to the other: what arrived, by ECN field."""

    def __init__(self, near, far, address):
        self.address = address
        self.receiver = far.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.receiver.setsockopt(socket.SOL_SOCKET, 33, 1 << 28)  # SO_RCVBUFFORCE
        self.receiver.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
        self.receiver.bind((address, PORT))
        self.receiver.setblocking(False)
        self.sender = near.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sender.setsockopt(socket.SOL_SOCKET, 32, 1 << 28)  # SO_SNDBUFFORCE
        self.sent = 0
        self.arrived = {NOT_ECT: 0, ECT_1: 0, CE: 0}

    def send(self, ecn, calls=CALLS, *, gso=True):
        """So many calls of SEGMENTS each."""
        self.sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, ecn)
        self.sender.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, SEGMENT if gso else 0)
        for _ in range(calls):
            parts = ([bytes(SEGMENT * SEGMENTS)] if gso else
                     [bytes(SEGMENT)] * SEGMENTS)
            for part in parts:
                # What the qdisc drops at once is refused: still it has arrived there.
                with contextlib.suppress(BlockingIOError):
                    self.sender.sendto(part, (self.address, PORT))
            self.sent += SEGMENTS

    def receive(self):
        """How many have arrived till now."""
        with contextlib.suppress(BlockingIOError):
            while True:
                data, ancillary, _, _ = self.receiver.recvmsg(2048, 64)
                assert len(data) == SEGMENT
                [(_, _, tos)] = ancillary
                self.arrived[tos[0] & 3] += 1
        return sum(self.arrived.values())

    def close(self):
        self.sender.close()
        self.receiver.close()


def tx_counters(space, dev):
    """(packets, bytes, dropped) that a device says it sent."""
    counted = space.links("-s")[dev]["stats64"]["tx"]
    return counted["packets"], counted["bytes"], counted["dropped"]


class Watched:
    """bpf_dualpi2 on a device, and what the device has counted since."""

    def __init__(self, space, dev, *options):
        space.run(LOADER, dev, *options)
        # With --ingress the qdisc is the ifb's.
        self.space, self.dev = space, f"in-{dev}" if "--ingress" in options else dev
        self.qdisc = Qdisc(space, self.dev)
        self.before = tx_counters(self.space, self.dev)
        assert self.qdisc.stats()["packets"] == 0, "something is sent without our doing"

    def finish(self):
        """The law; the statistics, with what was forwarded and what the device sent as
        (packets, bytes)."""
        wait_until(lambda: self.qdisc.tc()["qlen"] == 0, "the queues are empty", 60)
        stats = self.qdisc.check_conservation()
        queues = stats["l-queue"], stats["c-queue"]
        stats["forwarded"] = tuple(sum(queue[f"{unit}-out"] for queue in queues)
                                   for unit in ("packets", "bytes"))
        *stats["sent"], dropped = (now - before for now, before in
                                   zip(tx_counters(self.space, self.dev), self.before,
                                       strict=True))
        stats["sent"] = tuple(stats["sent"])
        assert dropped == 0, stats
        return stats

    def check(self):
        """The usual case: the device has counted the same, to the byte."""
        stats = self.finish()
        assert stats["sent"] == stats["forwarded"], stats
        return stats


def load_up(near, far, address, shaped, *, gso=True, check=Watched.check):
    """TCP, then UDP to both queues, through `shaped`; its statistics. Every datagram arrives or is
    counted as dropped, and so does every mark. `gso`: the packets of UDP are GSO
    packets."""
    transfer(near, far, address)
    datagrams = Datagrams(near, far, address)
    before = shaped.finish()
    for ecn in (NOT_ECT, ECT_1):
        datagrams.send(ecn, gso=gso)
    stats = check(shaped)
    dropped = stats["drops"] - before["drops"]
    wait_until(lambda: datagrams.receive() + dropped >= datagrams.sent,
               "the datagrams have arrived")
    assert datagrams.receive() + dropped == datagrams.sent, stats
    low = stats["l-queue"]
    marks = low["mark-native"] + low["mark-coupled"]
    assert 0 < datagrams.arrived[CE] <= marks <= datagrams.arrived[CE] + drops(low), stats
    assert stats["bypassed-tcx"] == 0, stats
    datagrams.close()
    return stats


def all_split(stats):
    """GSO packets came, and none of them waited whole."""
    return stats["gso"]["split"] > 2 * CALLS and not stats["gso"]["whole"]


# ---- hosts -----------------------------------------------------------------------------


class Hosts:
    """near n0 - f0 far: a cable that takes GSO packets; a second one where one is asked
    for. Other namespaces go with them."""

    def __init__(self, stack):
        self.stack = stack
        self.near, self.far = self.space("near"), self.space("far")
        self.cable(self.near, "n0", self.far, "f0", "10.0.0.")

    def space(self, name):
        space = Namespace(name)
        self.stack.callback(space.delete)
        return space

    def cable(self, left, left_name, right, right_name, net=None):
        veth(left, left_name, right, right_name, offload=True)
        if net:
            self.address(net, (left, left_name), (right, right_name))

    def both(self):
        return (self.near, 1), (self.far, 2)

    def address(self, net, *ends):
        for number, (space, dev) in enumerate(ends, start=1):
            space.up_without_ipv6(dev, f"{net}{number}/24")

    def watch(self, space, dev, *options):
        watched = Watched(space, dev, *options)
        ingress = ["--ingress"] if "--ingress" in options else []
        self.stack.callback(space.run, LOADER, dev, *ingress, "--unload")
        return watched

    def resolve(self, near, far, address):
        """Neighbours are known before something is counted."""
        near.run("ping", "-c", 1, "-W", 5, address)


@pytest.fixture
def hosts(registered):
    with contextlib.ExitStack() as stack:
        yield Hosts(stack)


# ---- devices above others --------------------------------------------------------------


def test_team(hosts):
    """Above two ports, each with a qdisc of its own."""
    needs("team", "team_mode_roundrobin")
    hosts.cable(hosts.near, "n1", hosts.far, "f1")
    for space, end in ((hosts.near, "n"), (hosts.far, "f")):
        space.run("ip", "addr", "flush", "dev", f"{end}0")
        space.ip("link add team0 type team")
        set_team_mode(space, "team0", "roundrobin")
        for dev in f"{end}0", f"{end}1":
            space.ip(f"link set {dev} down master team0")
            space.up(dev)
    hosts.address("10.3.0.", (hosts.near, "team0"), (hosts.far, "team0"))
    hosts.resolve(hosts.near, hosts.far, "10.3.0.2")
    above = hosts.watch(hosts.near, "team0", *RATE)
    ports = [hosts.watch(hosts.near, dev) for dev in ("n0", "n1")]
    assert all_split(load_up(hosts.near, hosts.far, "10.3.0.2", above))
    forwarded = [port.check()["forwarded"] for port in ports]
    assert tuple(map(sum, zip(*forwarded, strict=True))) == above.check()["forwarded"]


def test_ipvlan_l3(hosts):
    """In a container; its device shaped, the host's device below it not."""
    needs("ipvlan")
    inside = hosts.space("inside")
    hosts.near.ip("link add link n0 name v0 type ipvlan mode l3")
    hosts.near.run("ip", "link", "set", "v0", "netns", inside.name)
    inside.up_without_ipv6("v0", "10.5.0.1/24")
    inside.ip("route add default dev v0")
    hosts.far.ip("route add 10.5.0.0/24 via 10.0.0.1")
    hosts.resolve(inside, hosts.far, "10.0.0.2")
    above = hosts.watch(inside, "v0", *RATE)
    below = hosts.watch(hosts.near, "n0")
    assert all_split(load_up(inside, hosts.far, "10.0.0.2", above))
    assert below.check()["forwarded"] == above.check()["forwarded"]


# ---- what encrypts ---------------------------------------------------------------------

OUTER = "10.0.0.1", "10.0.0.2"


def wireguard(hosts):
    needs("wireguard")
    tunnels.wireguard((hosts.near, hosts.far), OUTER, "wg0", "10.6.0.0/24")
    hosts.address("10.6.0.", (hosts.near, "wg0"), (hosts.far, "wg0"))
    hosts.resolve(hosts.near, hosts.far, "10.6.0.2")  # the handshake is over


def test_wireguard(hosts):
    """On the tunnel itself, which counts what it encrypts: each packet with a header, with up to
    15 bytes of padding and an authenticator."""
    wireguard(hosts)
    shaped = hosts.watch(hosts.near, "wg0", *RATE)
    stats = load_up(hosts.near, hosts.far, "10.6.0.2", shaped, check=Watched.finish)
    assert all_split(stats)
    packets, octets = stats["sent"]
    assert packets == stats["forwarded"][0], stats
    assert 32 * packets <= octets - stats["forwarded"][1] <= (32 + 15) * packets, stats


def test_below_wireguard(hosts):
    """UDP with the ECN field of what it carries, and a mark comes through to that. WireGuard
    has segmented what it encrypts."""
    wireguard(hosts)
    below = hosts.watch(hosts.near, "n0", *RATE)
    stats = load_up(hosts.near, hosts.far, "10.6.0.2", below)
    assert stats["gso"] == {"split": 0, "whole": 0}, stats


def ipsec(*arguments, **options):
    needs("esp4", "xfrm_user")
    tunnels.ipsec(*arguments, **options)


def test_xfrm_interface(hosts):
    needs("xfrm_interface")
    ipsec((hosts.near, hosts.far), OUTER, "tunnel", "if_id", 7, inner=["10.8.0.0/24"] * 2)
    for space, _ in hosts.both():
        space.ip("link add xfrm0 mtu 1400 type xfrm if_id 7")
    hosts.address("10.8.0.", (hosts.near, "xfrm0"), (hosts.far, "xfrm0"))
    hosts.resolve(hosts.near, hosts.far, "10.8.0.2")
    shaped = hosts.watch(hosts.near, "xfrm0", *RATE)
    assert all_split(load_up(hosts.near, hosts.far, "10.8.0.2", shaped))


@pytest.fixture(params=[False, True], ids=["without", "with esp4_offload"])
def esp4_offload(request):
    """With this module packets are encrypted behind the qdisc."""
    run("modprobe", "-r", "esp4_offload", check=False)
    if request.param:
        needs("esp4_offload")
    yield request.param
    run("modprobe", "-r", "esp4_offload", check=False)


@pytest.mark.parametrize("mode", ["transport", "tunnel"])
def test_below_ipsec(hosts, mode, esp4_offload):
    """ESP with the ECN field of what it carries, to which a mark comes through."""
    ipsec((hosts.near, hosts.far), OUTER, mode, inner=[f"{end}/32" for end in OUTER])
    hosts.resolve(hosts.near, hosts.far, "10.0.0.2")
    # The guest encrypts no more than 20 Mbit/s or so, and packets have to wait.
    below = hosts.watch(hosts.near, "n0", "--rate", "8mbit")
    stats = load_up(hosts.near, hosts.far, "10.0.0.2", below, gso=False,
                    check=Watched.finish if esp4_offload else Watched.check)
    assert stats["gso"]["split"] == 0, stats
    if esp4_offload:
        # GSO packets wait whole: only the module can segment them. What stands behind the payload
        # (2 bytes, up to 3 of padding, 16 of authentication) comes behind the qdisc.
        assert stats["gso"]["whole"] > 0, stats
        packets, octets = stats["sent"]
        assert packets == stats["forwarded"][0], stats
        assert 18 * packets <= octets - stats["forwarded"][1] <= 21 * packets, stats
    else:
        assert stats["gso"]["whole"] == 0, stats


def forwarding(hosts):
    """A host o0 - i0 near, which forwards for it."""
    host = hosts.space("host")
    hosts.cable(host, "o0", hosts.near, "i0", "10.1.0.")
    host.ip("route add default via 10.1.0.2")
    hosts.far.ip("route add default via 10.0.0.1")
    hosts.near.sysctl("net.ipv4.ip_forward", 1)
    return host


SECURITY_PATH = """table ip paths {
    chain forward {
        type filter hook forward priority 0; policy accept;
        oifname n0 meta secpath exists counter
    }
}
"""


def decrypted(space):
    """(packets, bytes) that are forwarded with a security path."""
    shown = json.loads(space.run("nft", "-j", "list", "table", "ip", "paths").stdout)["nftables"]
    [counter] = [expression["counter"] for entry in shown if "rule" in entry
                 for expression in entry["rule"]["expr"] if "counter" in expression]
    return counter["packets"], counter["bytes"]


def test_decrypted_packets_stay_whole(hosts):
    """A router that has decrypted packets forwards them with their security path. The way round
    through the helper device would take it from them, and with it the order to encrypt
    them in the card (IPsec packet offload)."""
    host = forwarding(hosts)
    host.ip("addr add 10.7.0.1/32 dev lo")
    host.ip("route replace default via 10.1.0.2 src 10.7.0.1")
    hosts.far.ip("route add 10.7.0.0/24 via 10.0.0.1")
    hosts.near.ip("route add 10.7.0.0/24 via 10.1.0.1")
    # The host sends the segments of a GSO packet at once, the router merges them again.
    hosts.near.run("ethtool", "-K", "i0", "gro", "on")
    needs("esp4_offload")
    hosts.near.run("nft", "-f", "-", input=SECURITY_PATH)
    ipsec((host, hosts.near), ("10.1.0.1", "10.1.0.2"), "tunnel",
          inner=("10.7.0.1/32", "10.0.0.2/32"), ways=("in", "fwd"))
    hosts.resolve(host, hosts.far, "10.0.0.2")
    shaped = hosts.watch(hosts.near, "n0", "--rate", "200mbit")
    transfer(host, hosts.far, "10.0.0.2")
    stats = shaped.finish()  # the device counts GSO packets as one each
    packets, octets = decrypted(hosts.near)
    assert packets > 0 and octets / packets > 1500, "they are not GSO packets with a path"
    assert stats["gso"]["whole"] > 0 and stats["gso"]["split"] == 0, stats


# ---- ways around ----------------------------------------------------------------------

FLOWTABLE = """
table inet fast {
    flowtable short { hook ingress priority 0; devices = { i0, n0 }; }
    chain forward {
        type filter hook forward priority 0; policy accept;
        ip protocol { tcp, udp } flow add @short
    }
}
"""


def through_ip(space):
    """Packets that the IP stack has forwarded."""
    shown = json.loads(space.run("nstat", "-a", "-s", "-z", "-j").stdout)["kernel"]
    return shown["IpForwDatagrams"]


def test_flowtable(hosts):
    """Packets of known flows go from one interface to the other without the IP stack, and
    through the qdisc."""
    needs("nf_flow_table_inet", "nft_flow_offload")
    host = forwarding(hosts)
    hosts.near.run("nft", "-f", "-", input=FLOWTABLE)
    hosts.resolve(host, hosts.far, "10.0.0.2")
    shaped = hosts.watch(hosts.near, "n0", *RATE)
    stats = load_up(host, hosts.far, "10.0.0.2", shaped)
    assert all_split(stats)
    assert through_ip(hosts.near) < 50 < stats["forwarded"][0]


# include/uapi/linux/if_xdp.h
SOL_XDP = 283
XDP_MMAP_OFFSETS, XDP_TX_RING, XDP_UMEM_REG, XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING = (
    1, 3, 4, 5, 6)
XDP_PGOFF_TX_RING, XDP_COPY = 0x80000000, 1 << 1
FRAME_ROOM, FRAMES = 2048, 64


AF_XDP = 44


class Xsk:
    """An AF_XDP socket that sends from its memory, in copy mode."""

    def __init__(self, space, dev):
        self.socket = space.socket(AF_XDP, socket.SOCK_RAW, 0)
        self.memory = mmap.mmap(-1, FRAME_ROOM * FRAMES)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        # struct xdp_umem_reg
        self.socket.setsockopt(SOL_XDP, XDP_UMEM_REG, struct.pack(
            "QQIIIxxxx", address, FRAME_ROOM * FRAMES, FRAME_ROOM, 0, 0))
        for ring in XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_TX_RING:
            self.socket.setsockopt(SOL_XDP, ring, FRAMES)
        # struct xdp_mmap_offsets: of each ring its producer, consumer, descriptors and flags
        offsets = struct.unpack("16Q", self.socket.getsockopt(SOL_XDP, XDP_MMAP_OFFSETS, 128))
        self.producer, self.consumer, self.descriptors, _ = offsets[4:8]
        self.ring = mmap.mmap(self.socket.fileno(), self.descriptors + FRAMES * 16,
                              offset=XDP_PGOFF_TX_RING)
        with space.entered():
            index = socket.if_nametoindex(dev)
        libc = ctypes.CDLL(None, use_errno=True)
        # struct sockaddr_xdp
        name = struct.pack("HHIII", AF_XDP, XDP_COPY, index, 0, 0)
        assert not libc.bind(self.socket.fileno(), name, len(name)), os.strerror(
            ctypes.get_errno())

    def send(self, frames):
        for number, frame in enumerate(frames):
            start = number * FRAME_ROOM
            self.memory[start:start + len(frame)] = frame
            struct.pack_into("QII", self.ring, self.descriptors + 16 * number, start,
                             len(frame), 0)
        struct.pack_into("I", self.ring, self.producer, len(frames))

        def taken():
            with contextlib.suppress(BlockingIOError):
                self.socket.send(b"", socket.MSG_DONTWAIT)  # some at a time
            return struct.unpack_from("I", self.ring, self.consumer)[0] == len(frames)

        wait_until(taken, "the kernel has taken all frames")

    def close(self):
        self.socket.close()


def test_af_xdp(hosts):
    """What an AF_XDP socket sends goes around any qdisc: it leaves at once, the device counts
    it, and the qdisc does not."""
    hosts.resolve(hosts.near, hosts.far, "10.0.0.2")
    shaped = hosts.watch(hosts.near, "n0", *RATE)
    sender = Xsk(hosts.near, "n0")
    load_up(hosts.near, hosts.far, "10.0.0.2", shaped)
    stats = shaped.check()
    frames = [ipv4_frame(serial, ECT_1, 500) for serial in range(FRAMES)]
    sender.send(frames)
    after = shaped.finish()
    assert after["forwarded"] == stats["forwarded"]
    assert after["sent"] == (stats["sent"][0] + FRAMES, stats["sent"][1] + FRAMES * 500)
    sender.close()


XDP_PASS, XDP_TX = 2, 3


@contextlib.contextmanager
def xdp(space, dev, verdict):
    """A generic XDP program that says the same of each packet."""
    pin = PIN_DIR.parent / "xdp"
    with pinned_verdict(BPF_PROG_TYPE_XDP, verdict, pin):
        space.run("ip", "link", "set", "dev", dev, "xdpgeneric", "pinned", pin)
    try:
        yield
    finally:
        space.ip(f"link set dev {dev} xdpgeneric off")


@pytest.mark.parametrize("options", [(), ("--ingress",)], ids=["root", "ingress"])
def test_generic_xdp(hosts, options):
    """A program that lets all pass, at the interface whose qdisc it is: data leave it or, with
    --ingress, arrive."""
    hosts.resolve(hosts.near, hosts.far, "10.0.0.2")
    near, far, address = hosts.near, hosts.far, "10.0.0.2"
    if options:
        near, far, address = far, near, "10.0.0.1"
        switch_off_offloads(near, "f0")  # GSO packets that arrive as such wait whole
    with xdp(hosts.near, "n0", XDP_PASS):
        shaped = hosts.watch(hosts.near, "n0", *RATE, *options)
        stats = load_up(near, far, address, shaped)
    assert all_split(stats) or options


def test_xdp_tx(hosts):
    """What a program sends back goes around any qdisc, as it does from AF_XDP."""
    hosts.resolve(hosts.near, hosts.far, "10.0.0.2")
    shaped = hosts.watch(hosts.near, "n0", *RATE)
    load_up(hosts.near, hosts.far, "10.0.0.2", shaped)
    stats = shaped.check()
    with xdp(hosts.near, "n0", XDP_TX):
        send(hosts.far, "f0", *(other_frame(serial, 500) for serial in range(FRAMES)))
        wait_until(lambda: shaped.finish()["sent"][0] >= stats["sent"][0] + FRAMES,
                   "they have come back")
        after = shaped.finish()
    assert after["forwarded"] == stats["forwarded"]
    assert after["sent"] == (stats["sent"][0] + FRAMES, stats["sent"][1] + FRAMES * 500)


# ---- many packets in one ----------------------------------------------------------------

BIG = 300_000
BIG_TRANSFER_BYTES = 24_000_000
TIMESTAMPS = 12  # the TCP option, padded


@pytest.fixture
def long_backlog():
    """A veth hands each packet to a list of the receiving CPU, which takes 1000: fewer than a GSO
    packet of such segments has."""
    with written(Path("/proc/sys/net/core/netdev_max_backlog"), "100000"):
        yield


@pytest.mark.parametrize("version, mss", [(4, 1400), (4, 100), (6, 1400)])
@pytest.mark.parametrize("split", ["--split-gso", "--no-split-gso"])
def test_big_tcp(hosts, long_backlog, version, mss, split):
    """GSO packets of more than 64 kB. With an MSS of 100 bytes they have some 1500 segments, 3000
    at most."""
    address = "10.0.0.2" if version == 4 else "fd00::2"
    for (space, number), dev in zip(hosts.both(), ("n0", "f0"), strict=True):
        space.ip(f"link set {dev} gso_max_size {BIG} gso_ipv4_max_size {BIG}")
        space.ip(f"route change 10.0.0.0/24 dev {dev} src 10.0.0.{number} advmss {mss}")
        if version == 6:
            space.run("nft", "-f", "-", input=NO_ICMPV6)
            space.sysctl(f"net.ipv6.conf.{dev}.disable_ipv6", 0)
            space.ip(f"addr add fd00::{number}/64 dev {dev} nodad")
            space.ip(f"neigh add fd00::{3 - number} dev {dev} nud permanent lladdr "
                     f"02:00:00:00:00:0{3 - number}")
    hosts.resolve(hosts.near, hosts.far, "10.0.0.2")
    watched = hosts.watch(hosts.near, "n0", split)
    transfer(hosts.near, hosts.far, address, BIG_TRANSFER_BYTES)
    stats = watched.finish()
    packets = stats["gso"]["split" if split == "--split-gso" else "whole"]
    # On average; some are smaller, before the congestion window has opened. ACKs come in between
    # where the segments are many.
    segments = stats["forwarded"][0] / packets
    assert segments > (65536 / mss if mss == 1400 else 20), stats
    if split == "--split-gso":
        assert stats["sent"] == stats["forwarded"] and stats["gso"]["whole"] == 0, stats
    else:  # the device counts a GSO packet as one, with one header
        headers = ETHER_LEN + (IPV4_LEN if version == 4 else IPV6_LEN) + TCP_LEN + TIMESTAMPS
        others = stats["forwarded"][0] - stats["sent"][0]
        more = stats["forwarded"][1] - stats["sent"][1] - others * headers
        # Where IPv6 says the length in an option of 8 bytes (up to 6.18), the kernel
        # expects that in each segment, and no segment has it.
        assert 0 <= more <= 8 * others and more % 8 == 0 and (version == 6 or not more), stats
        assert stats["gso"]["split"] == 0, stats


# ---- pktgen -----------------------------------------------------------------------------

PKTGEN = Path("/proc/net/pktgen")
COUNT = 500


def pktgen(space, dev, *lines):
    """Send COUNT packets by the kernel's generator: (sent, refused)."""
    needs("pktgen")

    def command(name, line):
        (PKTGEN / name).write_text(line)

    with space.entered():
        for line in "rem_device_all", f"add_device {dev}":
            command("kpktgend_0", line)
        for line in (f"count {COUNT}", "pkt_size 500", "delay 0", "dst 10.9.0.2",
                     "dst_mac 02:00:00:00:00:99", *lines):
            command(dev, line)
        command("pgctrl", "start")  # returns when all is sent
        shown = (PKTGEN / dev).read_text()
        command("kpktgend_0", "rem_device_all")
    return tuple(int(re.search(rf"{word}: (\d+)", shown)[1]) for word in ("pkts-sofar", "errors"))


@pytest.mark.parametrize("tos", [NOT_ECT, ECT_1])
def test_pktgen_shares_packets(space, tos):
    """clone_skb with queue_xmit: one packet is handed over again and again while it waits. The
    kernel's own qdiscs chain packets by a pointer in them, and hang then; here each turn has its
    own place. (A mark is in all copies at once, so marks are not compared.)"""
    watched = Watched(space, "one", "--rate", "20mbit", "--limit", 100)
    sent, refused = pktgen(space, "one", "xmit_mode queue_xmit", "clone_skb 10", f"tos {tos:02x}")
    stats = watched.check()
    queue = stats["l-queue" if tos == ECT_1 else "c-queue"]
    assert queue["packets-in"] == sent + refused >= COUNT, stats
    assert queue["drop-limit"] == refused > 0, stats


def test_pktgen_goes_around(space):
    """start_xmit, with bursts of one packet, is the driver's alone."""
    watched = Watched(space, "one", *RATE)
    sent, refused = pktgen(space, "one", "xmit_mode start_xmit", "clone_skb 10", "burst 8")
    stats = watched.finish()
    assert stats["sent"][0] == sent >= COUNT and not refused
    assert stats["forwarded"] == (0, 0)


def test_pktgen_arrives(hosts):
    """netif_receive with bursts: one packet arrives again and again, and goes through the ifb."""
    watched = hosts.watch(hosts.near, "n0", *RATE, "--ingress")
    sent, _ = pktgen(hosts.near, "n0", "xmit_mode netif_receive", "burst 8")
    stats = watched.check()
    assert stats["c-queue"]["packets-in"] == sent == COUNT, stats


# ---- what the cloud flavour of the kernel has not -----------------------------------------

SUPERVISION_LEN = 60
AF_PPPOX, PX_PROTO_OE = 24, 0
PPPIOCGCHAN, PPPIOCATTCHAN = 0x80047437, 0x40047438
PPPIOCNEWUNIT, PPPIOCCONNECT, PPPIOCSNPMODE = 0xC004743E, 0x4004743A, 0x4008744B
PPP_IP, NPMODE_PASS = 0x21, 0


def pppoe(space, dev, remote):
    """ppp0 in a PPPoE session with a neighbour, negotiated by nobody; its files, which have to
    stay open."""
    session = space.socket(AF_PPPOX, socket.SOCK_STREAM, PX_PROTO_OE)
    # struct sockaddr_pppox
    name = struct.pack("=HI2s6s16s", AF_PPPOX, PX_PROTO_OE, struct.pack("!H", 7), remote,
                       dev.encode())
    libc = ctypes.CDLL(None, use_errno=True)
    assert not libc.connect(session.fileno(), name, len(name)), os.strerror(ctypes.get_errno())
    with space.entered():
        channel, unit = (open("/dev/ppp", "rb+", buffering=0) for _ in range(2))
        number = fcntl.ioctl(session, PPPIOCGCHAN, bytes(4))
        fcntl.ioctl(channel, PPPIOCATTCHAN, number)
        number = fcntl.ioctl(unit, PPPIOCNEWUNIT, struct.pack("i", -1))
        fcntl.ioctl(channel, PPPIOCCONNECT, number)
        fcntl.ioctl(unit, PPPIOCSNPMODE, struct.pack("ii", PPP_IP, NPMODE_PASS))
    return session, channel, unit


@pytest.mark.parametrize("dev", ["ppp0", "n0"])
def test_pppoe(hosts, dev):
    """On the ppp device, or below it, where the packets are in PPPoE."""
    needs("ppp_generic", "pppoe")
    for (space, number), below in zip(hosts.both(), ("n0", "f0"), strict=True):
        for file in pppoe(space, below, bytes([2, 0, 0, 0, 0, 3 - number])):
            hosts.stack.callback(file.close)
        space.ip(f"addr add 10.4.0.{number} peer 10.4.0.{3 - number} dev ppp0")
        space.ip("link set ppp0 up mtu 1492")
    hosts.resolve(hosts.near, hosts.far, "10.4.0.2")
    shaped = hosts.watch(hosts.near, dev, *RATE)
    stats = load_up(hosts.near, hosts.far, "10.4.0.2", shaped)
    # ppp takes no GSO packets: the kernel segments behind its qdisc, so none come to that below.
    assert all_split(stats) if dev == "ppp0" else stats["gso"] == {"split": 0, "whole": 0}, stats


def ring(hosts):
    """A ring of two."""
    needs("hsr")
    hosts.cable(hosts.near, "n1", hosts.far, "f1")
    for space, end in ((hosts.near, "n"), (hosts.far, "f")):
        space.run("ip", "addr", "flush", "dev", f"{end}0")
        space.ip(f"link add hsr0 type hsr slave1 {end}0 slave2 {end}1 supervision 45 version 1")
    hosts.address("10.3.0.", (hosts.near, "hsr0"), (hosts.far, "hsr0"))
    hosts.resolve(hosts.near, hosts.far, "10.3.0.2")


def test_hsr(hosts):
    """On the ring's device. That counts its own supervision frames, which go past it."""
    ring(hosts)
    shaped = hosts.watch(hosts.near, "hsr0", *RATE)
    stats = load_up(hosts.near, hosts.far, "10.3.0.2", shaped, check=Watched.finish)
    assert all_split(stats)
    packets, octets = (sent - forwarded for sent, forwarded in
                       zip(stats["sent"], stats["forwarded"], strict=True))
    assert packets >= 0 and octets == SUPERVISION_LEN * packets, stats


def test_port_of_hsr(hosts):
    """On one of its ports: behind the ring's tag no IP header is looked for, so all is Classic.
    What is dropped here comes by the other port."""
    ring(hosts)
    shaped = hosts.watch(hosts.near, "n0", *RATE)
    transfer(hosts.near, hosts.far, "10.3.0.2")
    datagrams = Datagrams(hosts.near, hosts.far, "10.3.0.2")
    for ecn in NOT_ECT, ECT_1:
        datagrams.send(ecn)
    stats = shaped.check()
    wait_until(lambda: datagrams.receive() == datagrams.sent, "the datagrams have arrived")
    assert stats["c-queue"]["drop-aqm"] > 0, stats
    assert stats["l-queue"]["packets-in"] == datagrams.arrived[CE] == 0, stats
    datagrams.close()
