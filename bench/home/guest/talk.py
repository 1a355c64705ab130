#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One end of a game or a call: small packets at a steady pace, and how long those of the other
end took.

    talk.py ADDRESS PEER PORT PAYLOAD INTERVAL_MS SECONDS TOS

Both ends share the guest's clock. A packet has the time when it was sent; the kernel says when it
arrived. Prints {"sent": [ns of each], "got": [[sent at ns, took ns]]}.
"""

import json
import select
import socket
import struct
import sys
import time

SO_TIMESTAMPNS = 35  # and the type of what the kernel says: SCM_TIMESTAMPNS
STAMP = struct.Struct("!Q")
LINGER_S = 3  # for what is still under way at the end


def received(link):
    """(when it was sent, when it arrived) in ns."""
    data, ancillary, _, _ = link.recvmsg(2048, 256)
    [(seconds, nanoseconds)] = [struct.unpack("qq", value) for level, kind, value in ancillary
                                if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS)]
    return STAMP.unpack_from(data)[0], seconds * 10**9 + nanoseconds


def talk(link, peer, payload, interval_s, seconds):
    """`peer`: its address and port. Unconnected: nobody tells that the other end is not there
    yet."""
    sent, got = [], []
    began = time.monotonic()
    while (elapsed := time.monotonic() - began) < seconds + LINGER_S:
        due = len(sent) * interval_s
        if elapsed >= due and due < seconds:
            sent.append(time.time_ns())
            link.sendto(STAMP.pack(sent[-1]).ljust(payload, b"\0"), peer)
            continue
        wait_s = (due if due < seconds else seconds + LINGER_S) - elapsed
        if select.select([link], [], [], wait_s)[0]:
            sent_ns, arrived_ns = received(link)
            got.append([sent_ns, arrived_ns - sent_ns])
    return {"sent": sent, "got": got}


def within(said, heard, begin_ns, end_ns):
    """Of what one end sent in that time: how many packets, and the delays in us of those that the
    other end got."""
    return {"sent": sum(begin_ns <= when < end_ns for when in said["sent"]),
            "delays_us": sorted(round(took / 1000) for when, took in heard["got"]
                                if begin_ns <= when < end_ns)}


def main():
    address, peer, port, payload, interval_ms, seconds, tos = sys.argv[1:]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, int(tos))
        link.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        link.bind((address, int(port)))
        print(json.dumps(talk(link, (peer, int(port)), int(payload), float(interval_ms) / 1000,
                              float(seconds))))


if __name__ == "__main__":
    main()
