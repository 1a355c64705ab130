# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Qdiscs over rtnetlink, as far as the comparison needs them: Debian's tc does not know
the options and statistics of the kernel's dualpi2."""

import socket
import struct

NLMSG_ERROR = 2
NLM_F_REQUEST, NLM_F_ACK, NLM_F_ECHO, NLM_F_EXCL, NLM_F_CREATE = 0x1, 0x4, 0x8, 0x200, 0x400
RTM_NEWQDISC, RTM_DELQDISC, RTM_GETQDISC = 36, 37, 38
TC_H_ROOT = 0xFFFFFFFF
TCA_KIND, TCA_OPTIONS, TCA_STATS2 = 1, 2, 7
TCA_STATS_BASIC, TCA_STATS_QUEUE, TCA_STATS_APP = 1, 3, 4
NLA_F_NESTED = 0x8000

HEADER = struct.Struct("=IHHII")  # struct nlmsghdr
TCMSG = struct.Struct("=BxHiIII")  # struct tcmsg


def attribute(kind, payload):
    length = 4 + len(payload)
    return struct.pack("=HH", length, kind) + payload + bytes(-length % 4)


def attributes(data):
    """{type: payload} of a row of attributes."""
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        found[kind & ~NLA_F_NESTED] = data[4:length]
        data = data[length + 3 & ~3:]
    return found


class Qdiscs:
    """The qdiscs of this network namespace; at the root unless a parent is given."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self.socket.bind((0, 0))

    def request(self, kind, flags, dev, payload=b"", handle=0, parent=TC_H_ROOT):
        """Ask the kernel; what it answers before it acknowledges. OSError if it refuses."""
        body = TCMSG.pack(0, 0, socket.if_nametoindex(dev), handle, parent, 0) + payload
        self.socket.send(HEADER.pack(HEADER.size + len(body), kind,
                                     NLM_F_REQUEST | NLM_F_ACK | flags, 0, 0) + body)
        answers = []
        while True:
            data = self.socket.recv(1 << 16)
            while data:
                length, answer, _, _, _ = HEADER.unpack_from(data)
                message = data[HEADER.size:length]
                if answer == NLMSG_ERROR:
                    error = -struct.unpack_from("=i", message)[0]
                    if error:
                        raise OSError(error, f"the kernel refuses (qdisc of {dev})")
                    return answers
                answers.append(message)
                data = data[length + 3 & ~3:]

    def add(self, dev, kind, options, handle, parent=TC_H_ROOT):
        self.request(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, dev,
                     self.described(kind, options), handle, parent)

    def change(self, dev, kind, options):
        self.request(RTM_NEWQDISC, 0, dev, self.described(kind, options))

    def delete(self, dev):
        self.request(RTM_DELQDISC, 0, dev)

    @staticmethod
    def described(kind, options):
        return (attribute(TCA_KIND, kind.encode() + b"\0") +
                attribute(TCA_OPTIONS | NLA_F_NESTED, options))

    def get(self, dev):
        """(handle, options, counters, the kind's own statistics) of the root qdisc."""
        [message] = self.request(RTM_GETQDISC, NLM_F_ECHO, dev)
        handle = TCMSG.unpack_from(message)[3]
        found = attributes(message[TCMSG.size:])
        stats = attributes(found[TCA_STATS2])
        sent_bytes, packets = struct.unpack_from("=QI", stats[TCA_STATS_BASIC])
        qlen, backlog, drops, _, overlimits = struct.unpack("=5I", stats[TCA_STATS_QUEUE])
        counters = {"bytes": sent_bytes, "packets": packets, "qlen": qlen, "backlog": backlog,
                    "drops": drops, "overlimits": overlimits}
        return handle, found.get(TCA_OPTIONS, b""), counters, stats.get(TCA_STATS_APP, b"")
