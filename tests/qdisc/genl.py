# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Generic netlink, as far as tests need it: the mode of a team device, which iproute2 cannot
set."""

import errno
import os
import socket
import struct

NETLINK_GENERIC = 16
NLM_F_REQUEST_ACK = 0x05
NLMSG_ERROR = 2
NESTED = 0x8000
STRING = 5
# include/uapi/linux/genetlink.h
ID_CTRL, GETFAMILY, FAMILY_ID, FAMILY_NAME = 16, 3, 1, 2
# include/uapi/linux/if_team.h
OPTIONS_SET, TEAM_IFINDEX, LIST_OPTION, ITEM_OPTION = 1, 1, 2, 1
OPTION_NAME, OPTION_TYPE, OPTION_DATA = 1, 3, 4


def attribute(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def ask(sock, family, command, attributes):
    """Send a request; the attributes of the answer."""
    body = struct.pack("=BBH", command, 1, 0) + attributes
    sock.send(struct.pack("=IHHII", 16 + len(body), family, NLM_F_REQUEST_ACK, 1, 0) + body)
    answer = sock.recv(1 << 16)
    kind = struct.unpack_from("=H", answer, 4)[0]
    if kind == NLMSG_ERROR:
        error = -struct.unpack_from("=i", answer, 16)[0]
        # Done, but nobody listens to the event that tells of it.
        assert error in (0, errno.ESRCH), os.strerror(error)
        return b""
    return answer[20:]


def family_number(sock, name):
    answer = ask(sock, ID_CTRL, GETFAMILY, attribute(FAMILY_NAME, name.encode() + b"\0"))
    sock.recv(1 << 16)  # the acknowledgement
    while answer:
        length, kind = struct.unpack_from("=HH", answer)
        if kind == FAMILY_ID:
            return struct.unpack_from("=H", answer, 4)[0]
        answer = answer[length + -length % 4:]
    raise AssertionError(f"no number of the family {name}")


def set_team_mode(space, dev, mode):
    with space.entered():
        index = socket.if_nametoindex(dev)
    with space.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC) as sock:
        sock.bind((0, 0))
        option = (attribute(OPTION_NAME, b"mode\0") + attribute(OPTION_TYPE, bytes([STRING])) +
                  attribute(OPTION_DATA, mode.encode() + b"\0"))
        ask(sock, family_number(sock, "team"), OPTIONS_SET,
            attribute(TEAM_IFINDEX, struct.pack("=I", index)) +
            attribute(LIST_OPTION | NESTED, attribute(ITEM_OPTION | NESTED, option)))
