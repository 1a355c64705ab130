# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""GSO packets, as a virtual machine hands them over (virtio_net_hdr), and what of them
arrives: whole, or as segments."""

import dataclasses
import socket
import struct

import frames

IPPROTO_TCP, IPPROTO_UDP = 6, 17
TCP_LEN, UDP_LEN = 20, 8
ACK, PSH, ECE, CWR = 0x10, 0x08, 0x40, 0x80

# include/uapi/linux/if_packet.h, include/uapi/linux/virtio_net.h
SOL_PACKET, PACKET_VNET_HDR = 263, 15
NEEDS_CSUM = 1
GSO_TCPV4, GSO_TCPV6, GSO_UDP_L4 = 1, 4, 5
UDP_SEGMENT = 103  # include/uapi/linux/udp.h
GSO_ECN = 0x80  # the first segment has CWR

ADDRESSES = {4: (socket.AF_INET, "10.0.0.1", "10.0.0.2"),
             6: (socket.AF_INET6, "fd00::1", "fd00::2")}
PORTS = (1000, 2000)
MSS = 1428  # full frames of IPv6 have no more


def addresses(version):
    family, *texts = ADDRESSES[version]
    return [socket.inet_pton(family, text) for text in texts]


def pseudo_checksum(version, protocol, length):
    """What the kernel completes (CHECKSUM_PARTIAL): the sum over the pseudo header."""
    pseudo = b"".join(addresses(version)) + struct.pack("!II", length, protocol)
    return ~frames.internet_checksum(pseudo) & 0xFFFF


def transport(version, protocol, payload, seq, flags):
    if protocol == IPPROTO_TCP:
        check = pseudo_checksum(version, protocol, TCP_LEN + len(payload))
        return struct.pack("!HHIIBBHHH", *PORTS, seq, 1, TCP_LEN // 4 << 4, flags, 0xFFFF,
                           check, 0) + payload
    check = pseudo_checksum(version, protocol, UDP_LEN + len(payload))
    return struct.pack("!HHHH", *PORTS, UDP_LEN + len(payload), check) + payload


def ip_packet(version, protocol, ecn, inner):
    source, destination = addresses(version)
    if version == 6:
        return struct.pack("!IHBB16s16s", 6 << 28 | ecn << 20, len(inner), protocol, 64, source,
                           destination) + inner
    head = struct.pack("!BBHHHBBH4s4s", 0x45, ecn, frames.IPV4_LEN + len(inner), 7, 0x4000, 64,
                       protocol, 0, source, destination)
    return head[:10] + struct.pack("!H", frames.internet_checksum(head)) + head[12:] + inner


def super_frame(payload, *, version=4, protocol=IPPROTO_TCP, ecn=frames.NOT_ECT, seq=0,
                flags=ACK | PSH, mss=MSS, vlans=()):
    """virtio_net_hdr and a frame of many segments."""
    ether_type = frames.ETH_P_IP if version == 4 else frames.ETH_P_IPV6
    ip_len = frames.IPV4_LEN if version == 4 else frames.IPV6_LEN
    start = frames.ETHER_LEN + frames.VLAN_LEN * len(vlans) + ip_len
    if protocol == IPPROTO_TCP:
        kind = (GSO_TCPV4 if version == 4 else GSO_TCPV6) | (GSO_ECN if flags & CWR else 0)
        header_len, check_offset = start + TCP_LEN, 16
    else:
        kind, header_len, check_offset = GSO_UDP_L4, start + UDP_LEN, 6
    virtio = struct.pack("<BBHHHH", NEEDS_CSUM, kind, header_len, mss, start, check_offset)
    packet = ip_packet(version, protocol, ecn, transport(version, protocol, payload, seq, flags))
    return virtio + frames.frame(ether_type, packet, vlans)


def sender(space, device):
    """A socket that takes super_frame()s."""
    sock = frames.raw_sender(space, device)
    sock.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    return sock


@dataclasses.dataclass(frozen=True)
class Segment:
    """What arrived in one piece."""

    length: int  # bytes, link header included
    ecn: int
    flags: int | None  # of TCP
    seq: int | None
    payload: bytes


def parse(data, *, link_header=frames.ETHER_LEN):
    """A frame, or with `link_header` 0 an IP packet; None if it is of somebody else."""
    offset = link_header
    version = data[offset] >> 4
    if version == 4:
        ecn, protocol, inner = data[offset + 1] & 3, data[offset + 9], offset + frames.IPV4_LEN
    elif version == 6:
        ecn = data[offset + 1] >> 4 & 3
        protocol, inner = data[offset + 6], offset + frames.IPV6_LEN
    else:
        return None
    if struct.unpack_from("!HH", data, inner) != PORTS:
        return None
    if protocol == IPPROTO_UDP:
        return Segment(len(data), ecn, None, None, data[inner + UDP_LEN:])
    seq, flags = struct.unpack_from("!I", data, inner + 4)[0], data[inner + 13]
    return Segment(len(data), ecn, flags, seq, data[inner + TCP_LEN:])
