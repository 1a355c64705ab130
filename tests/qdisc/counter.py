# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Frames that arrive at a device, counted by the kernel: no program has to keep up."""

import ctypes
import socket
import struct

from frames import ETH_P_IP
from superpackets import SOL_PACKET

# include/uapi/linux/if_packet.h, asm-generic/socket.h, linux/filter.h
PACKET_STATISTICS = 6
SO_ATTACH_FILTER = 26
BPF_LDB_ABS, BPF_JEQ, BPF_RET = 0x30, 0x15, 0x06
IP_PROTOCOL_AT = 14 + 9
SNAP = 1 << 16


def attach_filter(sock, protocol):
    """The socket gets IPv4 packets of this protocol only."""
    program = [(BPF_LDB_ABS, 0, 0, IP_PROTOCOL_AT), (BPF_JEQ, 0, 1, protocol),
               (BPF_RET, 0, 0, SNAP), (BPF_RET, 0, 0, 0)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER,
                    struct.pack("HP", len(program), ctypes.addressof(code)))


class Counter:
    """Frames of one IP protocol that a device has received, behind its ingress hook and an ifb:
    the statistics of a packet socket, which count what finds no room, too."""

    def __init__(self, space, dev, protocol):
        self.socket = space.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        attach_filter(self.socket, protocol)
        self.socket.bind((dev, ETH_P_IP))
        self.total = 0

    def read(self):
        """All so far."""
        self.total += struct.unpack("II", self.socket.getsockopt(SOL_PACKET, PACKET_STATISTICS,
                                                                 8))[0]
        return self.total

    def close(self):
        self.socket.close()
