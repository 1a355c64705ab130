# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the RFCs say about the ECN field of a frame and a CE mark in it: the oracle of
test_packets.py, written from them and not from bpf/.

    RFC 791, 3.1; RFC 8200, 3    an IPv4 header has 20 bytes or more, an IPv6 header 40
    RFC 2474, 3; RFC 3168, 5     ECN is the last two bits of the TOS byte or Traffic Class
    RFC 1624, 3 (equation 3)     HC' = ~(~HC + ~m + m')
    RFC 2516, 4; RFC 1661, 2     PPPoE, and the PPP protocol number behind it
    IEEE 802.1Q, 802.1ad         tags of four bytes, the EtherType behind the last
"""

from typing import NamedTuple

from frames import CE, ECT_0, ECT_1, ETH_P_8021AD, ETH_P_8021Q, ETH_P_IP, ETH_P_IPV6, ETH_P_PPP_SES

TAGS = (ETH_P_8021Q, ETH_P_8021AD)
TAGS_MAX = 2  # that we promise to look behind (README.md)
ETHER_TYPES_OF_PPP = {0x0021: ETH_P_IP, 0x0057: ETH_P_IPV6}
HEADER_MIN = {ETH_P_IP: 20, ETH_P_IPV6: 40}
VERSION = {ETH_P_IP: 4, ETH_P_IPV6: 6}


class Field(NamedTuple):
    """An ECN field: where its IP header starts, of what version, and what it says."""

    offset: int
    version: int
    ecn: int


def ether_type(frame, offset=12):
    return frame[offset] << 8 | frame[offset + 1] if len(frame) >= offset + 2 else None


def ecn_field(frame, tags_max=TAGS_MAX):
    """That of an Ethernet frame; None if it has none."""
    protocol, offset = ether_type(frame), 14
    while protocol in TAGS and tags_max:
        protocol = ether_type(frame, offset + 2)
        offset += 4
        tags_max -= 1
    if protocol == ETH_P_PPP_SES:
        protocol = ETHER_TYPES_OF_PPP.get(ether_type(frame, offset + 6))
        offset += 8
    return ecn_field_of_ip(frame, protocol, offset)


def ecn_field_of_ip(packet, protocol, offset=0):
    """That of an IP header at `offset`, if `protocol` (an EtherType) says that there is one."""
    if protocol not in VERSION or len(packet) < offset + HEADER_MIN[protocol]:
        return None
    first, second = packet[offset], packet[offset + 1]
    if first >> 4 != VERSION[protocol]:
        return None
    traffic_class = second if protocol == ETH_P_IP else (first & 15) << 4 | second >> 4
    return Field(offset, VERSION[protocol], traffic_class & 3)


def is_l4s(field):
    """RFC 9331, 5.1: ECT(1) and CE are for the L queue."""
    return field is not None and field.ecn in (ECT_1, CE)


def can_be_marked(field):
    return field is not None and field.ecn in (ECT_0, ECT_1)


def checksum_after(checksum, old, new):
    """RFC 1624, equation 3, for one 16 bit word."""
    total = (~checksum & 0xFFFF) + (~old & 0xFFFF) + new
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def is_marked(sent, field, arrived):
    """Is `arrived` what `sent` is with CE in its field, and nothing else?"""
    offset, version, _ = field
    expected = bytearray(sent)
    if version == 6:
        expected[offset + 1] |= CE << 4
        return expected == arrived
    expected[offset + 1] |= CE
    old, new = (int.from_bytes(data[offset:offset + 2]) for data in (sent, expected))
    checksum = int.from_bytes(sent[offset + 10:offset + 12])
    value = checksum_after(checksum, old, new)
    # Zero has two forms in one's complement. The kernel's IP_ECN_set_ce() leaves the one
    # that RFC 1624 avoids; to a receiver, who adds, they are the same.
    for zero in {value, value or 0xFFFF}:
        expected[offset + 10:offset + 12] = zero.to_bytes(2)
        if expected == arrived:
            return True
    return False
