# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Frames as nobody should send them, from a seed.

Each frame is put together from one choice of every kind: tags, what is in them, a
network header, what is wrong with it, its size. `traits` names the choices, so that
a test can tell that none was left out. The source address has the frame's number,
by which it is known when it arrives.
"""

import random
import struct

import frames
import superpackets
from frames import CE, ECT_0, ECT_1, NOT_ECT
from superpackets import ACK, CWR, ECE, IPPROTO_TCP, IPPROTO_UDP, PSH

DESTINATION = bytes.fromhex("02000000fffe")  # nobody's
NUMBER = slice(8, 12)
MTU = 9216
ETHER_LEN = frames.ETHER_LEN
POOL = 1 << 17
ECN = (NOT_ECT, ECT_1, ECT_1, ECT_1, ECT_0, ECT_0, ECT_0, CE)

TAG_TYPES = (frames.ETH_P_8021Q, frames.ETH_P_8021AD)
UNDERSTOOD = (*TAG_TYPES, frames.ETH_P_IP, frames.ETH_P_IPV6, frames.ETH_P_PPP_SES)
PROTOCOLS = (1, 6, 17, 41, 47, 50, 58, 132, 253)
EXTENSIONS = (0, 43, 44, 51, 60, 135, 139)

IPV4 = struct.Struct("!BBHHHBBH8s")
IPV6 = struct.Struct("!IHBB32s")

# What may be wrong with an IP header. The choices that name another version or protocol make
# it none, and then there is nothing to mark.
IPV4_DEFECTS = ("sound", "wrong IHL", "wrong total length", "wrong checksum", "checksum 0 or ~0",
                "checksum near 0", "fragment", "IPv4 options", "other version", "cut short",
                "cut in the header", "no byte of it", "some bytes turned over")
IPV6_DEFECTS = ("sound", "wrong payload length", "extension headers", "fragment header",
                "other version", "cut short", "cut in the header", "no byte of it",
                "some bytes turned over")
GSO_DEFECTS = ("gso_size 0", "gso_size 1", "gso_size of all", "header length", "checksum start",
               "other GSO type", "ECN flag", "no checksum wanted", "wrong IHL", "wrong length",
               "other version", "wrong checksum", "fragment", "other protocol",
               "transport header", "cut short")
VIRTIO = struct.Struct("<BBHHHH")
FLAGS, GSO_TYPE, HEADER_LEN, GSO_SIZE, CSUM_START, _ = range(6)
NEVER_MARKED = {"MPLS", "no EtherType of IP", "802.3", "4 tags", "other version",
                "cut in the header", "cut in a tag", "no byte of it", "PPPoE, not IP"}


class Frame:
    """A frame to send."""

    __slots__ = ("number", "data", "traits", "virtio")

    def __init__(self, number, data, traits, virtio=None):
        self.number = number
        self.data = data
        self.traits = traits
        self.virtio = virtio  # struct virtio_net_hdr of a GSO packet

    def __str__(self):
        virtio = f"virtio_net_hdr {self.virtio.hex()} and " if self.virtio else ""
        return f"({', '.join(self.traits)}): {virtio}{self.data.hex()}"


class Generator:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.pool = self.rng.randbytes(POOL)

    def below(self, limit):
        """Much faster than randrange()."""
        return int(self.rng.random() * limit)

    def pick(self, choices):
        return choices[self.below(len(choices))]

    def noise(self, length):
        start = self.below(POOL - length)
        return self.pool[start:start + length]

    def payload_length(self):
        """Bytes; most are short, for the sake of the number of frames."""
        dice = self.below(40)
        if not dice:
            return "jumbo", 8000 + self.below(MTU - 8200)
        return ("short", self.below(200)) if dice < 37 else ("long", self.below(1400))

    # -- network headers ---------------------------------------------------------

    def ipv4(self, payload):
        defect = self.pick(IPV4_DEFECTS)
        tos = self.below(64) << 2 | self.pick(ECN)
        ihl, total, fragment, options = 5, 20 + len(payload), 0x4000, b""
        if defect == "wrong IHL":
            ihl = self.pick((0, 1, 2, 3, 4, 6, 7, 10, 14, 15))
        elif defect == "IPv4 options":
            ihl = 6 + self.below(10)
            options = self.noise(4 * (ihl - 5))
            total += len(options)
        elif defect == "wrong total length":
            total = self.pick((0, 1, 19, 20, total - 1, total + 1, 0xFFFF))
        elif defect == "fragment":
            fragment = self.below(1 << 16)
        head = IPV4.pack(4 << 4 | ihl, tos, total, self.below(1 << 16), fragment,
                         self.below(256), self.pick(PROTOCOLS), 0, self.noise(8)) + options
        if defect == "wrong checksum":
            checksum = self.below(1 << 16)
        elif defect == "checksum 0 or ~0":
            checksum = self.pick((0, 0xFFFF))
        elif defect == "checksum near 0":
            checksum = self.pick((1, 2, 3, 0xFFFC, 0xFFFD, 0xFFFE))
        else:
            checksum = frames.internet_checksum(head)
        packet = head[:10] + checksum.to_bytes(2) + head[12:] + payload
        return ("IPv4", defect), self.damage(packet, defect, 20, self.pick((0, 5, 6, 15)))

    def ipv6(self, payload):
        defect = self.pick(IPV6_DEFECTS)
        next_header, length = self.pick(PROTOCOLS), len(payload)
        if defect == "extension headers":
            next_header = self.pick(EXTENSIONS)
            payload = bytes((self.pick(EXTENSIONS), self.below(256))) + payload
        elif defect == "fragment header":
            next_header = 44
            payload = bytes((17, 0)) + self.noise(6) + payload
        elif defect == "wrong payload length":
            length = self.pick((0, 1, length + 1, 0xFFFF))
        first = 6 << 28 | (self.below(64) << 2 | self.pick(ECN)) << 20 | self.below(1 << 20)
        packet = IPV6.pack(first, length, next_header, self.below(256), self.noise(32)) + payload
        return ("IPv6", defect), self.damage(packet, defect, 40, self.pick((0, 4, 5, 7, 15)))

    def damage(self, packet, defect, header_len, other_version):
        if defect == "cut short":
            return packet[:header_len + self.below(12)]
        if defect == "cut in the header":
            return packet[:1 + self.below(header_len - 1)]
        if defect == "no byte of it":
            return b""
        if defect == "other version":
            return bytes((other_version << 4 | packet[0] & 15,)) + packet[1:]
        if defect == "some bytes turned over":
            turned = bytearray(packet)
            for _ in range(1 + self.below(4)):
                turned[self.below(len(turned))] = self.below(256)
            return bytes(turned)
        return packet

    # -- link headers ---------------------------------------------------------------

    def network(self):
        """An EtherType, what is behind it, and their traits."""
        size, length = self.payload_length()
        payload = self.noise(length)
        dice = self.below(32)
        if dice == 0:
            return frames.ETH_P_TEST, payload, ("no EtherType of IP", size)
        if dice == 1:  # a length instead of an EtherType
            return self.below(1536), payload, ("802.3", size)
        if dice == 2:
            return self.pick((frames.ETH_P_IP, frames.ETH_P_IPV6)), payload, (
                "random bytes as IP", size)
        if dice == 3:
            ether_type = self.below(1 << 16)
            known = ether_type in UNDERSTOOD
            return frames.ETH_P_TEST if known else ether_type, payload, (
                "no EtherType of IP", size)
        version4 = self.below(2)
        traits, packet = self.ipv4(payload) if version4 else self.ipv6(payload)
        if dice == 4:
            labels = 1 + self.below(4)
            stack = b"".join(struct.pack("!I", self.below(1 << 20) << 12 | (n == 1) << 8 | 64)
                             for n in range(labels, 0, -1))
            return self.pick((0x8847, 0x8848)), stack + packet, ("MPLS", size)
        if dice <= 8:
            ppp = 0x0021 if version4 else 0x0057
            if not self.below(6):
                ppp, traits = self.pick((0xC021, 0x8021, 0x0000, 0x0121)), ("PPPoE, not IP",)
            head = struct.pack("!BBHHH", self.pick((0x11, 0x11, 0x21, 0)), self.pick((0, 0, 9)),
                               self.below(1 << 16), self.pick((len(packet) + 2, 0, 0xFFFF)), ppp)
            return frames.ETH_P_PPP_SES, head + packet, ("PPPoE", size, *traits)
        return (frames.ETH_P_IP if version4 else frames.ETH_P_IPV6), packet, (size, *traits)

    def tags(self):
        depth = self.pick((0, 0, 0, 1, 1, 2, 2, 3, 4))
        return [(self.pick(TAG_TYPES), self.below(1 << 16)) for _ in range(depth)]

    def address(self, number):
        return DESTINATION + b"\x02\x00" + number.to_bytes(4)

    def frame(self, number):
        ether_type, packet, traits = self.network()
        tags = self.tags()
        data = self.address(number) + b"".join(struct.pack("!HH", *tag) for tag in tags) + \
            ether_type.to_bytes(2) + packet
        if tags and not self.below(12):
            data = data[:ETHER_LEN + self.below(4 * len(tags) + 2)]
            traits = ("cut in a tag",)
        return Frame(number, data[:MTU + ETHER_LEN],
                     (f"{len(tags)} tag{'s' * (len(tags) != 1)}", *traits))

    # -- GSO ------------------------------------------------------------------------

    def gso_frame(self, number, *, sound):
        """A frame of many segments, as a virtual machine hands it over."""
        version, protocol = self.pick((4, 6)), self.pick((IPPROTO_TCP, IPPROTO_UDP))
        defect = "sound" if sound else self.pick(GSO_DEFECTS)
        mss = self.pick((88, 536, 1000, 1400))
        length = 1 + self.below(50) if defect == "gso_size 1" else mss + self.below(20 * mss)
        flags = ACK | self.pick((0, PSH)) | self.pick((0, 0, CWR, ECE))
        tags = [(self.pick(TAG_TYPES), self.below(1 << 12)) for _ in range(self.below(3))]
        whole = superpackets.super_frame(
            self.noise(length), version=version, protocol=protocol, ecn=self.pick(ECN),
            seq=self.below(1 << 32), flags=flags, mss=mss, vlans=tags)
        virtio = list(VIRTIO.unpack(whole[:VIRTIO.size]))
        data = bytearray(whole[VIRTIO.size:])
        data[:12] = self.address(number)
        self.spoil(defect, virtio, data, ETHER_LEN + 4 * len(tags))
        name = "UDP_L4" if protocol == IPPROTO_UDP else f"TCPv{version}"
        return Frame(number, bytes(data), (name, f"GSO: {defect}", f"GSO, {len(tags)} tags",
                                           *(["GSO: CWR"] if flags & CWR else [])),
                     VIRTIO.pack(*virtio))

    def spoil(self, defect, virtio, data, ip):
        """`ip`: where the IP header is."""
        v4 = data[ip] >> 4 == 4
        if defect == "gso_size 0":
            virtio[GSO_SIZE] = 0
        elif defect == "gso_size 1":
            virtio[GSO_SIZE] = 1
        elif defect == "gso_size of all":
            virtio[GSO_SIZE] = self.pick((len(data), 0xFFFF, 0x7FFF))
        elif defect == "header length":
            virtio[HEADER_LEN] = self.pick((0, 14, ip, len(data), 0xFFFF))
        elif defect == "checksum start":
            virtio[CSUM_START] = self.pick((virtio[CSUM_START] + 4, len(data) - 2, 0xFFFF))
        elif defect == "other GSO type":
            virtio[GSO_TYPE] = self.below(256)
        elif defect == "ECN flag":
            virtio[GSO_TYPE] ^= superpackets.GSO_ECN
        elif defect == "no checksum wanted":
            virtio[FLAGS] = 0
        elif defect == "wrong IHL" and v4:
            data[ip] = 4 << 4 | self.below(16)
        elif defect == "wrong length":
            place = ip + (2 if v4 else 4)
            data[place:place + 2] = self.noise(2)
        elif defect == "other version":
            data[ip] ^= 2 << 4
        elif defect == "wrong checksum" and v4:
            data[ip + 10:ip + 12] = self.noise(2)
        elif defect == "fragment" and v4:
            data[ip + 6:ip + 8] = self.noise(2)
        elif defect == "other protocol":
            data[ip + (9 if v4 else 6)] = self.pick(PROTOCOLS)
        elif defect == "transport header":
            place = ip + (20 if v4 else 40)
            data[place:place + 20] = self.noise(20)
        elif defect == "cut short":
            del data[ETHER_LEN + self.below(len(data) - ETHER_LEN):]
