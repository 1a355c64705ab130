# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Senders of 64-byte UDP packets whose own work is the same for every packet."""

import array
import mmap
import re
import socket
import struct
import time
from pathlib import Path

import frames
from guest import ADDRESS6, PEER, PEER6, PEER_MAC, SO_SNDBUFFORCE

PACKETS = {"L": frames.ECT_1, "C": frames.NOT_ECT}
LENGTH = 64  # of a frame, bytes
PKTGEN = Path("/proc/net/pktgen")


def pktgen(dev, packet, count, ipv6=False, more=()):
    """Send from within the kernel; instructions for one packet (pktgen counts µs). Those of IPv6
    are longer, 78 bytes at least. `more`: commands for pktgen."""
    addresses, tos = ((f"src6 {ADDRESS6}", f"dst6 {PEER6}"), "traffic_class") if ipv6 else (
        (f"dst {PEER}",), "tos")

    def command(name, *lines):
        for line in lines:
            (PKTGEN / name).write_text(line)

    command("kpktgend_0", "rem_device_all", f"add_device {dev}")
    command(dev, f"count {count}", f"pkt_size {LENGTH}", "clone_skb 0", "delay 0",
            "xmit_mode queue_xmit", "flag !SHARED", *addresses, f"dst_mac {PEER_MAC}",
            f"{tos} {PACKETS[packet]:02x}", *more)
    command("pgctrl", "start")
    shown = (PKTGEN / dev).read_text()
    command("kpktgend_0", "rem_device_all")
    [took] = re.findall(r"Result: OK: (\d+)\(", shown)
    return int(took) * 1000 / count


# include/uapi/linux/if_packet.h
SOL_PACKET, PACKET_VERSION, PACKET_TX_RING, PACKET_VNET_HDR = 263, 10, 13, 15
TPACKET_V2 = 1
TP_STATUS_AVAILABLE, TP_STATUS_SEND_REQUEST = 0, 1
HEADER = struct.Struct("=II")  # of struct tpacket2_hdr: tp_status, tp_len
DATA_OFFSET = 32
# struct virtio_net_hdr: flags, gso_type, hdr_len, gso_size, csum_start, csum_offset
VNET_HDR = struct.Struct("=BBHHHH")
BLOCK, SLOT = 4096, 128  # bytes
SLOTS = 2048


class Ring:
    """Sends many frames by one system call, so that little besides the qdisc is counted and
    no time passes (a packet socket's ring)."""

    def __init__(self, dev, packet):
        self.next = 0
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.setsockopt(SOL_PACKET, PACKET_VERSION, TPACKET_V2)
        self.socket.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 30)
        self.socket.setsockopt(SOL_PACKET, PACKET_TX_RING, struct.pack(
            "=IIII", BLOCK, SLOTS * SLOT // BLOCK, SLOT, SLOTS))
        self.socket.bind((dev, frames.ETH_P_IP))
        self.memory = mmap.mmap(self.socket.fileno(), SLOTS * SLOT)
        # hdr_len: all of a packet is in its linear part, as of one that was received.
        data = VNET_HDR.pack(0, 0, LENGTH, 0, 0, 0) + frames.ipv4_frame(0, PACKETS[packet], LENGTH)
        for at in range(0, SLOTS * SLOT, SLOT):
            HEADER.pack_into(self.memory, at, TP_STATUS_AVAILABLE, len(data))
            self.memory[at + DATA_OFFSET:at + DATA_OFFSET + len(data)] = data
        self.statuses = memoryview(self.memory).cast("I")[::SLOT // 4]

    def send(self, count):
        """Instructions for `count` packets."""
        first, self.next = self.next, (self.next + count) % SLOTS
        if first + count <= SLOTS:
            self.fill(first, first + count)
        else:
            self.fill(first, SLOTS)
            self.fill(0, self.next)
        began = time.monotonic_ns()
        self.socket.send(b"", socket.MSG_DONTWAIT)
        return time.monotonic_ns() - began

    def fill(self, first, end):
        slots = self.statuses[first:end]
        assert not any(slots), "a slot of the ring is in use"
        slots[:] = array.array("I", [TP_STATUS_SEND_REQUEST]) * (end - first)

    def close(self):
        self.statuses.release()
        self.memory.close()
        self.socket.close()
