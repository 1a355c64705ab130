# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Ways for a frame to the qdisc, each of which makes another kind of skb of it, and the tap
devices that it comes out of, byte for byte as on a wire."""

import fcntl
import mmap
import os
import select
import socket
import struct

import superpackets
from ecn_rules import TAGS, TAGS_MAX, ether_type
from frames import ETH_P_8021AD, ETH_P_8021Q, ROOM, SO_SNDBUFFORCE, raw_sender
from netns import run
from superpackets import SOL_PACKET

# include/uapi/linux/if_tun.h
TUNSETIFF = 0x400454CA
IFF_TUN, IFF_TAP, IFF_NAPI, IFF_NAPI_FRAGS = 0x1, 0x2, 0x10, 0x20
IFF_NO_PI, IFF_VNET_HDR = 0x1000, 0x4000
FRAME_MAX = 1 << 17
NOT_GSO = bytes(10)  # struct virtio_net_hdr

# include/uapi/linux/if_packet.h
PACKET_VERSION, PACKET_TX_RING, TPACKET_V2 = 10, 13, 1
TP_STATUS_AVAILABLE, TP_STATUS_SEND_REQUEST = 0, 1
TPACKET_HEADER = 32  # struct tpacket2_hdr; what is sent starts behind it

QUIET_MS = 2000  # more than the largest packet takes at the rate of the tests


def tun_device(space, name, flags):
    """A device of the tun driver; its file."""
    run("modprobe", "tun")
    with space.entered():
        file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(file, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_NO_PI | flags))
    return file


def tap(space, name, flags=0, *, mtu=1500, kind=IFF_TAP):
    """One that is up; its file."""
    file = tun_device(space, name, kind | flags)
    space.sysctl(f"net.ipv6.conf.{name}.disable_ipv6", 1)
    # The queue of the driver: longer than all that a test sends before it reads.
    space.ip(f"link set {name} mtu {mtu} txqueuelen 30000 up")
    return file


def drained(file):
    """All frames that wait in a tap device."""
    while True:
        try:
            yield os.read(file, FRAME_MAX)
        except BlockingIOError:
            return


def until_quiet(file):
    """All frames that come, until none has come for a while. (In virtual time it costs
    nothing to wait.)"""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    while poll.poll(QUIET_MS):
        yield from drained(file)


class Way:
    """`sends` a batch; says which frames the kernel refused."""

    takes_gso = False
    tags_max = TAGS_MAX

    def flush(self):
        """Let go of all that is not on its way yet."""

    def passes(self, frame):
        """Does the kernel bring it as far as to the qdisc?"""
        return True


class PacketSocket(Way):
    """A linear skb, or with GSO one whose headers alone are."""

    title = "packet socket"
    takes_gso = True

    def __init__(self, space, device):
        self.socket = superpackets.sender(space, device)

    def send(self, frame):
        self.socket.send((frame.virtio or NOT_GSO) + frame.data)

    def close(self):
        self.socket.close()


class BareSocket(Way):
    """On a device without link headers; the protocol is what the sender says it is."""

    title = "packet socket without link header"

    def __init__(self, space, device):
        self.device = device
        self.socket = space.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, ROOM)

    def send(self, protocol, packet):
        self.socket.sendto(packet, (self.device, protocol))

    def close(self):
        self.socket.close()


class Ring(Way):
    """PACKET_TX_RING: only the Ethernet header is in the linear part, all else is in pages that
    we share with the kernel."""

    title = "ring"
    SLOT, BLOCK, BLOCKS = 2048, 1 << 16, 64
    SLOTS = BLOCK // SLOT * BLOCKS

    def __init__(self, space, device):
        self.socket = raw_sender(space, device)
        self.socket.setsockopt(SOL_PACKET, PACKET_VERSION, TPACKET_V2)
        self.socket.setsockopt(SOL_PACKET, PACKET_TX_RING,
                               struct.pack("IIII", self.BLOCK, self.BLOCKS, self.SLOT, self.SLOTS))
        self.memory = mmap.mmap(self.socket.fileno(), self.BLOCK * self.BLOCKS)
        self.next = 0
        self.held = []  # (slot, frame) since the last forget()

    def passes(self, frame):
        return len(frame.data) <= self.SLOT - TPACKET_HEADER

    def send(self, frame):
        start = self.next * self.SLOT
        assert len(self.held) < self.SLOTS
        self.memory[start + TPACKET_HEADER:start + TPACKET_HEADER + len(frame.data)] = frame.data
        struct.pack_into("II", self.memory, start, TP_STATUS_SEND_REQUEST, len(frame.data))
        self.held.append((start + TPACKET_HEADER, frame))
        self.next = (self.next + 1) % self.SLOTS

    def flush(self):
        self.socket.send(b"", socket.MSG_DONTWAIT)

    def check_memory(self):
        """A mark goes into the skb's own copy, not into pages that are not its own."""
        for start, frame in self.held:
            now = self.memory[start:start + len(frame.data)]
            assert now == frame.data, f"written into shared memory: {frame}\nnow {now.hex()}"
        self.held.clear()

    def close(self):
        self.memory.close()
        self.socket.close()


class Tap(Way):
    """Received from a tap device and redirected: the first VLAN tag is out of the frame, in
    skb->vlan_tci. `mirrored`: a clone has gone elsewhere before, and still shares the data."""

    takes_gso = True
    tags_max = TAGS_MAX + 1  # in the frame, and one that is not
    title = "tap"

    def __init__(self, space, name, device, *, mirror=None, flags=0):
        self.file = tap(space, name, IFF_VNET_HDR | flags)
        space.run("ethtool", "-K", name, "gro", "off")
        space.run("tc", "qdisc", "add", "dev", name, "clsact")
        mirrors = ("action", "mirred", "egress", "mirror", "dev", mirror, "pipe") if mirror else ()
        space.run("tc", "filter", "add", "dev", name, "ingress", "matchall", *mirrors,
                  "action", "mirred", "egress", "redirect", "dev", device)

    def passes(self, frame):
        """skb_vlan_untag() throws away what ends in a tag or right behind it."""
        return ether_type(frame.data) not in (ETH_P_8021Q, ETH_P_8021AD) or len(frame.data) >= 20

    def send(self, frame):
        os.write(self.file, (frame.virtio or NOT_GSO) + frame.data)

    def close(self):
        os.close(self.file)


class Cloned(Tap):
    title = "clone"


class Fragments(Tap):
    """napi_gro_frags(): pages from the first bytes of the IP header on, cut where the test
    cuts."""

    title = "fragments"
    PAGE = 4096

    def __init__(self, *args, **options):
        super().__init__(*args, flags=IFF_NAPI | IFF_NAPI_FRAGS, **options)

    def send(self, frame):
        data = frame.data
        # The number decides, so that a repetition cuts in the same places.
        first = min(14 + frame.number % 50, len(data))
        second = min(first + 1 + frame.number % 7, len(data))
        cuts = [first, second, *range(second + self.PAGE, len(data), self.PAGE), len(data)]
        parts = [data[start:end] for start, end in zip(cuts, cuts[1:], strict=False) if start < end]
        os.writev(self.file, [frame.virtio or NOT_GSO, data[:first], *parts])


assert set(TAGS) == {ETH_P_8021Q, ETH_P_8021AD}
