# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Ethernet frames to send through the qdisc, and what of them arrives.

Each frame carries a serial number at its end, by which the receiver knows it.
"""

import dataclasses
import socket
import struct

NOT_ECT, ECT_1, ECT_0, CE = range(4)
ECN_NAMES = {NOT_ECT: "Not-ECT", ECT_1: "ECT(1)", ECT_0: "ECT(0)", CE: "CE"}

SO_SNDBUFFORCE, SO_RCVBUFFORCE, SO_TIMESTAMPNS = 32, 33, 35
ROOM = 1 << 30  # of a socket, bytes: what waits in a qdisc is on its sender's account

ETH_P_ALL = 0x0003
ETH_P_IP = 0x0800
ETH_P_8021Q = 0x8100
ETH_P_IPV6 = 0x86DD
ETH_P_MPLS = 0x8847
ETH_P_PPP_SES = 0x8864
ETH_P_8021AD = 0x88A8
ETH_P_TEST = 0x88B5  # IEEE 802 local experimental: neither IP nor VLAN

ETHER_LEN, VLAN_LEN, IPV4_LEN, IPV6_LEN, SERIAL_LEN = 14, 4, 20, 40, 8
PPPOE_LEN = 8  # with the PPP protocol
IPPROTO_6IN4 = 41
MAC = bytes.fromhex("020000000002" "020000000001")


def internet_checksum(header):
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(ecn, payload, *, checksum=None, protocol=253, source="10.0.0.1", target="10.0.0.2"):
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0x28 << 2 | ecn, IPV4_LEN + len(payload), 0, 0x4000,
                       64, protocol, 0, socket.inet_aton(source), socket.inet_aton(target))
    value = internet_checksum(head) if checksum is None else checksum
    return head[:10] + struct.pack("!H", value) + head[12:] + payload


def ipv6(ecn, payload, *, next_header=253, label=0x12345, dscp=0x28, source="fd00::1",
         target="fd00::1"):
    addresses = [socket.inet_pton(socket.AF_INET6, address) for address in (source, target)]
    return struct.pack("!IHBB16s16s", 6 << 28 | (dscp << 2 | ecn) << 20 | label, len(payload),
                       next_header, 64, *addresses) + payload


def frame(protocol, packet, vlans=()):
    tags = b""
    for tpid, vid in vlans:
        tags += struct.pack("!HH", tpid, vid)
    return MAC + tags + struct.pack("!H", protocol) + packet


def numbered(serial, total_len, overhead):
    """A payload that fills the frame up to `total_len` and ends in the serial."""
    return bytes(total_len - overhead - SERIAL_LEN) + struct.pack("!Q", serial)


def ipv4_frame(serial, ecn, length=1514, vlans=(), **options):
    overhead = ETHER_LEN + VLAN_LEN * len(vlans) + IPV4_LEN
    return frame(ETH_P_IP, ipv4(ecn, numbered(serial, length, overhead), **options), vlans)


def ipv6_frame(serial, ecn, length=1514, vlans=(), **options):
    overhead = ETHER_LEN + VLAN_LEN * len(vlans) + IPV6_LEN
    return frame(ETH_P_IPV6, ipv6(ecn, numbered(serial, length, overhead), **options), vlans)


def other_frame(serial, length=1514, vlans=()):
    overhead = ETHER_LEN + VLAN_LEN * len(vlans)
    return frame(ETH_P_TEST, numbered(serial, length, overhead), vlans)


PPP_PROTOCOLS = {4: 0x0021, 6: 0x0057}


def pppoe_frame(serial, ecn, length=1514, vlans=(), *, version=4, ppp_protocol=None):
    """IP in a PPPoE session (RFC 2516)."""
    overhead = ETHER_LEN + VLAN_LEN * len(vlans) + PPPOE_LEN
    maker, header = (ipv4, IPV4_LEN) if version == 4 else (ipv6, IPV6_LEN)
    packet = maker(ecn, numbered(serial, length, overhead + header))
    session = struct.pack("!BBHHH", 0x11, 0, 0x1234, len(packet) + 2,
                          ppp_protocol or PPP_PROTOCOLS[version])
    return frame(ETH_P_PPP_SES, session + packet, vlans)


def mpls_frame(serial, ecn, length=1514, vlans=()):
    """IP behind one MPLS label, the last of its stack."""
    overhead = ETHER_LEN + VLAN_LEN * len(vlans) + 4 + IPV4_LEN
    return frame(ETH_P_MPLS, struct.pack("!I", 100 << 12 | 1 << 8 | 64) +
                 ipv4(ecn, numbered(serial, length, overhead)), vlans)


def sixin4_frame(serial, ecn, inner_ecn, length=1514):
    """IPv6 in IPv4 (RFC 4213); `ecn` is that of the outer header."""
    overhead = ETHER_LEN + IPV4_LEN + IPV6_LEN
    inner = ipv6(inner_ecn, numbered(serial, length, overhead))
    return frame(ETH_P_IP, ipv4(ecn, inner, protocol=IPPROTO_6IN4))


def ipv6_options_frame(serial, ecn, length=1514, vlans=()):
    """IPv6 with a hop-by-hop and a destination options header before the payload."""
    overhead = ETHER_LEN + VLAN_LEN * len(vlans) + IPV6_LEN + 16
    options = struct.pack("!BBBB4x", 60, 0, 1, 4) + struct.pack("!BBBB4x", 253, 0, 1, 4)
    return frame(ETH_P_IPV6, ipv6(ecn, options + numbered(serial, length, overhead),
                                  next_header=0), vlans)


def check_order(arrived, sent):
    """`arrived` has those of `sent` that were not dropped in the order of sending."""
    of_these = set(sent)
    passed = [serial for serial in arrived if serial in of_these]
    assert passed == sorted(passed)


def raw_sender(space, dev):
    """A packet socket that sends frames to a device."""
    sender = space.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    sender.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, ROOM)
    sender.bind((dev, 0))  # protocol 0: the kernel reads it from each frame
    return sender


def send(space, dev, *batch):
    with raw_sender(space, dev) as sender:
        for data in batch:
            sender.send(data)


def stamp_arrivals(receiver):
    """Have the kernel say when a packet came: for received()."""
    receiver.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
    receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    receiver.setblocking(False)


def raw_receiver(space, dev):
    """A packet socket that has every frame of a device, for received()."""
    receiver = space.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    stamp_arrivals(receiver)
    receiver.bind((dev, ETH_P_ALL))
    return receiver


def received(receiver):
    """(packet, time in ns) of all that waits in a socket."""
    while True:
        try:
            data, ancillary, _, _ = receiver.recvmsg(65536, 256)
        except BlockingIOError:
            return
        seconds, nanoseconds = next(
            struct.unpack("qq", value) for level, kind, value in ancillary
            if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS))
        yield data, seconds * 10**9 + nanoseconds


@dataclasses.dataclass(frozen=True)
class Arrived:
    """A frame as the receiver saw it."""

    serial: int
    time_ns: int
    version: int | None  # of IP
    ecn: int | None
    checksum_ok: bool  # of the IPv4 header; True for others
    data: bytes  # without VLAN tags that the kernel took out


def parse(data, time_ns):
    offset = 12
    while (protocol := struct.unpack_from("!H", data, offset)[0]) in (ETH_P_8021Q, ETH_P_8021AD):
        offset += VLAN_LEN
    offset += 2
    if protocol == ETH_P_PPP_SES:
        protocol = {0x0021: ETH_P_IP, 0x0057: ETH_P_IPV6}.get(
            struct.unpack_from("!H", data, offset + PPPOE_LEN - 2)[0])
        offset += PPPOE_LEN
    serial = struct.unpack("!Q", data[-SERIAL_LEN:])[0]
    if protocol == ETH_P_IP:
        header = data[offset:offset + IPV4_LEN]
        return Arrived(serial, time_ns, 4, header[1] & 3, internet_checksum(header) == 0, data)
    if protocol == ETH_P_IPV6:
        return Arrived(serial, time_ns, 6, data[offset + 1] >> 4 & 3, True, data)
    return Arrived(serial, time_ns, None, None, True, data)
