# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the way round through the splitting device takes from a packet, and costs its sender:
docs/gso.md has why. Tests of what is so, beside --no-split-gso; better would be welcome."""

import collections
import json
import socket
import struct
import time

import gso_wire
import pytest
from conftest import BIN, LOADER
from gso_wire import CALM, FEW, tcp_counters, transfer
from netns import veth, wait_until
from superpackets import MSS, UDP_SEGMENT

# include/uapi/asm-generic/socket.h, linux/net_tstamp.h, linux/errqueue.h
SO_TIMESTAMPING = 37
TX_SOFTWARE, SOFTWARE, OPT_ID, TX_SCHED, OPT_TSONLY = 1 << 1, 1 << 4, 1 << 7, 1 << 8, 1 << 11
MSG_ERRQUEUE = 0x2000
SO_EE_ORIGIN_TIMESTAMPING = 4
STAMPS = {0: "sent", 1: "queued"}  # SCM_TSTAMP_SND, SCM_TSTAMP_SCHED
SPLIT = pytest.mark.parametrize("option", ["--split-gso", "--no-split-gso"])


@pytest.fixture(scope="module")
def one_wire(registered):
    yield from gso_wire.one_wire()


@pytest.fixture
def wire(one_wire):
    yield from gso_wire.checked(one_wire)


def ask_for_stamps(sock):
    sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING,
                    TX_SOFTWARE | TX_SCHED | SOFTWARE | OPT_ID | OPT_TSONLY)
    sock.setblocking(False)


def stamps(sock, found):
    """Adds to `found`: how many stamps of each kind wait for the sender, by its call's number."""
    while True:
        try:
            _, ancillary, _, _ = sock.recvmsg(0, 1024, MSG_ERRQUEUE)
        except BlockingIOError:
            return found
        for _, _, data in ancillary:
            if len(data) >= 16:
                _, origin, _, _, _, kind, number = struct.unpack_from("=IBBBBII", data)
                if origin == SO_EE_ORIGIN_TIMESTAMPING:
                    found[STAMPS[kind], number] += 1


@SPLIT
def test_stamps_of_udp(wire, option):
    wire.load(option, *CALM)
    sender = wire.tx.socket(socket.AF_INET, socket.SOCK_DGRAM)
    ask_for_stamps(sender)
    sender.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, MSS)
    found = collections.Counter()
    with sender:
        for _ in range(2):
            sender.sendto(bytes(FEW * MSS), ("10.0.0.2", 9))
        wait_until(lambda: stamps(sender, found)["sent", 1], "both calls are stamped")
    queued = 3 if option == "--split-gso" else 1
    assert found == {("queued", 0): queued, ("queued", 1): queued,
                     ("sent", 0): 1, ("sent", 1): 1}


@SPLIT
def test_stamps_of_tcp(wire, option):
    wire.load(option, *CALM)
    listener = wire.rx.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("10.0.0.2", 5002))
    listener.listen()
    sender = wire.tx.socket(socket.AF_INET, socket.SOCK_STREAM)
    found = collections.Counter()
    with sender, listener:
        sender.connect(("10.0.0.2", 5002))
        ask_for_stamps(sender)
        sender.send(bytes(FEW * MSS))
        last = FEW * MSS - 1
        wait_until(lambda: stamps(sender, found)["sent", last], "the call is stamped")
    assert found == {("queued", last): 3 if option == "--split-gso" else 1, ("sent", last): 1}


# ---- the path MTU behind a tunnel ---------------------------------------------------------

NARROW, VXLAN_HEADERS = 1400, 50


@pytest.fixture
def narrow(wire, new_space):
    """A VXLAN with `df set` from tx to a host behind rx, to which only NARROW bytes pass."""
    far = new_space("far")
    veth(wire.rx, "n0", far, "f0", offload=True)
    for space, dev in ((wire.rx, "n0"), (far, "f0")):
        space.ip(f"link set {dev} mtu {NARROW}")
    wire.rx.ip("addr add 10.2.0.1/24 dev n0")
    far.ip("addr add 10.2.0.2/24 dev f0")
    wire.rx.sysctl("net.ipv4.ip_forward", 1)
    # However many messages too many at a time.
    wire.rx.sysctl("net.ipv4.icmp_ratelimit", 0)
    far.ip("route add default via 10.2.0.1")
    wire.tx.ip("route replace 10.2.0.0/24 via 10.0.0.2")
    for space, here, there, number in ((wire.tx, "10.0.0.1", "10.2.0.2", 1),
                                       (far, "10.2.0.2", "10.0.0.1", 2)):
        space.ip(f"link add vx0 mtu 1450 address 02:00:00:00:07:0{number} type vxlan id 7 "
                 f"local {here} remote {there} dstport 4789 df set")
        space.up_without_ipv6("vx0", f"10.7.0.{number}/24")
        space.ip(f"neigh add 10.7.0.{3 - number} lladdr 02:00:00:00:07:0{3 - number} dev vx0")
    yield far
    wire.tx.ip("link del vx0")
    wire.tx.ip("route del 10.2.0.0/24")
    wire.rx.sysctl("net.ipv4.ip_forward", 0)


class Ends:
    """What transfer() needs."""

    def __init__(self, tx, rx):
        self.tx, self.rx = tx, rx


def mtu_learned(space):
    """For the other end of the tunnel."""
    [route] = json.loads(space.run("ip", "-j", "route", "get", "10.7.0.2").stdout)
    return route["metrics"][0]["mtu"]


# (device of the qdisc, its option, retransmission timeouts)
@pytest.mark.parametrize("dev, option, timeouts", [
    ("vx0", "--split-gso", 1), ("vx0", "--no-split-gso", 0), ("g0", "--split-gso", 0),
])
def test_path_mtu(wire, narrow, dev, option, timeouts):
    """The tunnel tells the route of a packet that is too large. A segment that comes back from
    the splitting device has none any more: TCP learns it when it sends one packet again."""
    wire.tx.run(LOADER, dev, option, *CALM)
    before = tcp_counters(wire.tx, "TcpExtTCPTimeouts")
    began = time.monotonic()
    transfer(Ends(wire.tx, narrow), "10.7.0.2", count=1 << 20)
    print(f"\n{dev} {option}: {time.monotonic() - began:.3f} s")
    [now], [then] = tcp_counters(wire.tx, "TcpExtTCPTimeouts"), before
    assert now - then == timeouts
    assert mtu_learned(wire.tx) == NARROW - VXLAN_HEADERS
    assert json.loads(wire.tx.run(BIN / "dualpi2-stats", dev, "--json").stdout)[0]["gso"][
        "split" if option == "--split-gso" else "whole"] > 0
    wire.tx.run(LOADER, dev, "--unload")
