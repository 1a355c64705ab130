# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A cable that takes GSO packets, and what is sent over it."""

import json
import os
import socket

import frames
import superpackets
from conftest import Qdisc
from netns import Namespace, veth, wait_until
from superpackets import MSS, UDP_SEGMENT, super_frame

CALM = ("--target", "4000s", "--step-thresh", "4000s")
FEW = 10  # segments
TRANSFER_BYTES = 4_000_000
NO_ICMPV6 = """table ip6 quiet {
    chain sent {
        type filter hook output priority 0; policy accept;
        meta l4proto icmpv6 drop
    }
}
"""


def payload_of(segments, start=0):
    """Bytes of which each segment's differ."""
    return b"".join(number.to_bytes(4, "big") * (MSS // 4)
                    for number in range(start, start + segments))


class Wire:
    """A cable that takes GSO packets. The qdisc is on g0; what arrives is seen on h0."""

    def __init__(self):
        self.tx, self.rx = Namespace("gtx"), Namespace("grx")
        veth(self.tx, "g0", self.rx, "h0", offload=True)
        for space, device, number in ((self.tx, "g0", 1), (self.rx, "h0", 2)):
            # Nothing but the tests' packets is on the cable.
            space.run("nft", "-f", "-", input=NO_ICMPV6)
            space.sysctl(f"net.ipv6.conf.{device}.disable_ipv6", 0)
            for net, length in (("10.0.0.", 24), ("fd00::", 64)):
                space.ip(f"addr add {net}{number}/{length} dev {device}"
                         f"{' nodad' if ':' in net else ''}")
                space.ip(f"neigh add {net}{3 - number} dev {device} nud permanent lladdr "
                         f"02:00:00:00:00:0{3 - number}")
        self.qdisc = Qdisc(self.tx, "g0")
        self.sender = superpackets.sender(self.tx, "g0")
        self.local = self.tx.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.local.bind(("10.0.0.1", superpackets.PORTS[0]))
        self.local.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, MSS)
        self.local.setsockopt(socket.SOL_SOCKET, frames.SO_SNDBUFFORCE, frames.ROOM)
        self.receiver = frames.raw_receiver(self.rx, "h0")

    def load(self, *options, check=True):
        return self.qdisc.load(*options, check=check)

    def send(self, segments, **options):
        """As from a virtual machine, which does not say how many segments it makes."""
        self.sender.send(super_frame(payload_of(segments), **options))

    def send_local(self, payload):
        """UDP_SEGMENT, as QUIC senders use it."""
        self.local.sendto(payload, ("10.0.0.2", superpackets.PORTS[1]))

    def arrived(self, count):
        """So many frames, as they came."""
        found = []

        def enough():
            found.extend(data for data, _ in frames.received(self.receiver)
                         if self.is_test(data))
            return len(found) >= count

        wait_until(enough, f"{count} frames have arrived", 60)
        assert len(found) == count
        return found

    @staticmethod
    def is_test(data):
        ether_type = int.from_bytes(data[12:14], "big")
        return (ether_type in (frames.ETH_P_IP, frames.ETH_P_IPV6) and
                superpackets.parse(data) is not None)

    def segments(self, count):
        return [superpackets.parse(data) for data in self.arrived(count)]

    def devices(self):
        """The helper devices."""
        return {name: link for name, link in self.tx.links().items()
                if name.startswith(("gso-", "gsx-"))}

    def programs(self):
        return [program["name"] for program in self.tx.programs("g0")]

    def restore(self):
        """As it was before the test."""
        if self.qdisc.is_attached():
            self.load("--unload")
        for space, device in ((self.tx, "g0"), (self.rx, "h0")):
            for name in space.links().keys() - {"lo", device}:
                space.run("ip", "link", "del", name, check=False)
            space.ip(f"link set {device} up gso_max_segs 65535 gso_max_size 65536")
        self.tx.run("tc", "qdisc", "del", "dev", "g0", "root", check=False)
        self.tx.run("bpftool", "net", "detach", "tcx_egress", "dev", "g0", check=False)
        for _ in frames.received(self.receiver):
            pass

    def close(self):
        self.sender.close()
        self.local.close()
        self.receiver.close()
        self.tx.delete()
        self.rx.delete()


def one_wire():
    """Yields a Wire, for the tests of a file."""
    wire = Wire()
    yield wire
    wire.close()


def checked(wire):
    """Yields it for one test; nothing was lost uncounted, and the next one finds it as it was."""
    yield wire
    try:
        if wire.qdisc.is_attached():
            wire.qdisc.check_conservation()
    finally:
        wire.restore()


def transfer(wire, address, *, source=None, count=TRANSFER_BYTES):
    """TCP from the sender's own stack; what arrives is what was sent."""
    server = wire.rx.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.settimeout(60)
    server.setsockopt(socket.SOL_SOCKET, frames.SO_RCVBUFFORCE, 1 << 24)
    server.bind((address, 5001))
    server.listen()
    client = (source or wire.tx).socket(server.family)
    client.settimeout(60)
    client.connect((address, 5001))
    connection, _ = server.accept()
    connection.settimeout(60)
    with server, client, connection:
        client.setblocking(False)
        connection.setblocking(False)
        data = os.urandom(1 << 16) * (count // (1 << 16))
        sent, received = 0, bytearray()

        def done():
            nonlocal sent
            progress = True
            while progress:
                progress = False
                try:
                    if sent < len(data):
                        sent += client.send(data[sent:sent + (1 << 18)])
                        progress = True
                except BlockingIOError:
                    pass
                try:
                    received.extend(connection.recv(1 << 20))
                    progress = True
                except BlockingIOError:
                    pass
            return len(received) == len(data)

        wait_until(done, f"{count} bytes have arrived", 120, step=0.005)
        assert received == data


def tcp_counters(space, *names):
    shown = json.loads(space.run("nstat", "-a", "-s", "-z", "-j").stdout)["kernel"]
    return [shown[name] for name in names]
