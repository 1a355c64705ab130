#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Write what the fuzzers start from: `seeds.py DIRECTORY` makes a directory for each target,
with a file for each seed. Well-formed inputs all: what is wrong the fuzzers find by themselves.
"""

import struct
import sys
from pathlib import Path

VALUES = ("10000", "-4", "40mbit", "1.5gibit", "5mbps", "15ms", "0.25s", "64k", "32mb", "10%",
          "25%", "0.16", "5p", "1ms", "ef,cs5,45", "none")

ADDRESSES = ("10.0.0.0/8", "2001:db8::/32", "::ffff:192.0.2.1", "host:443", "[2001:db8::1]:443")

COMMAND_LINES = (
    "eth0 --rate 40mbit --target 10ms --classic-protection 20%",
    "eth0 target 15ms coupling_factor 2 any_ect drop_enqueue no_split_gso overflow",
    "eth0 --max-rtt 100ms --typical-rtt 20ms --limit 1000 --memlimit 32mb",
    "eth0 --docsis --overhead 18 --mpu 64 --l4s-dscp nqb,ef --classic-dscp cs1",
    "eth0 --alpha 0.16 --beta 3.2 --tupdate 16ms --step-thresh 5p --min-qlen-step 2",
    "eth0 --l-aqm ramp:1ms --p-cmax 25% --no-l4s",
    "-- eth0 --raw",
    "--help",
    "--help all",
    "status",
    "off --if-attached",
)

FILES = (
    "# uplink\nrate 40mbit\n--docsis\t# cable\n\nclassic_protection 20%\n",
    "target 10ms\r\nany-ect\r\nlimit 1000",
    "--max-rtt 100ms\n--typical-rtt 20ms\nl4s-dscp nqb,ef\nclassic-dscp cs1\nno-split-gso\n",
)

SUBSCRIBERS = (
    "# site, and those below it\ntower - 500mbit 200mbit\n"
    "alice 192.0.2.7,2001:db8:1::/48 100mbit 2.5mbit tower\nbob 192.0.2.0/24 1gbit 1gbit\n",
    "rest\t* 1mbit 500kbit\r\nv6 2000::/3 8kbit 1tbit\n",
    "Circuit ID,Circuit Name,Device ID,Device Name,Parent Node,MAC,IPv4,IPv6,Download Min Mbps,"
    'Upload Min Mbps,Download Max Mbps,Upload Max Mbps,Comment\n1,"A ""B"", C",1,D,,,'
    '"192.0.2.1, 192.0.2.2",2001:db8::/56,1,1,155,20.5,\n1,A,2,D,none,,192.0.2.3,,1,1,155,20.5,\n',
)

NETWORKS = (
    '{"Site 1": {"downloadBandwidthMbps": 1000, "uploadBandwidthMbps": 2.5, "children": '
    '{"AP": {"virtual": true}}}}', "{}\n",
)

# include/uapi/linux/netlink.h, rtnetlink.h, if_link.h, gen_stats.h
NLMSG_ERROR, NLMSG_DONE, RTM_NEWLINK = 2, 3, 16
RTM_NEWROUTE, RTM_NEWQDISC, RTM_NEWTFILTER = 24, 36, 44
RTA_OIF, RTA_MULTIPATH = 4, 9
NLM_F_MULTI, NLM_F_DUMP_INTR, NLM_F_ACK_TLVS, NLMSGERR_ATTR_MSG = 2, 0x10, 0x200, 1
TCA_KIND, TCA_OPTIONS, TCA_STATS2, TCA_STAB = 1, 2, 7, 8
TCA_STATS_BASIC, TCA_STATS_QUEUE, TCA_STATS_PKT64, TCA_STAB_BASE = 1, 3, 8, 1
IFLA_IFNAME, IFLA_LINK, IFLA_LINKINFO, IFLA_IFALIAS = 3, 5, 18, 20
IFLA_NUM_TX_QUEUES, IFLA_GSO_MAX_SEGS, IFLA_INFO_KIND = 31, 40, 1
IFLA_GRO_MAX_SIZE, IFLA_GRO_IPV4_MAX_SIZE = 58, 64
ROOT = 0xFFFFFFFF
# fuzz_netlink.c
ASK_QDISCS, ASK_LINK, ASK_ROOT, ASK_FILTERS, ORDER, ASK_LINKS, ASK_ROUTES = range(7)


def attribute(kind, payload):
    return struct.pack("=HH", 4 + len(payload), kind) + payload + bytes(-len(payload) % 4)


def message(kind, payload, flags=NLM_F_MULTI):
    return struct.pack("=IHHII", 16 + len(payload), kind, flags, 0, 0) + payload


def qdisc(kind, handle, parent):
    stats = attribute(TCA_STATS_BASIC, struct.pack("=QQ", 1000, 10)) + \
        attribute(TCA_STATS_PKT64, struct.pack("=Q", 10)) + \
        attribute(TCA_STATS_QUEUE, struct.pack("=IIIII", 1, 2, 3, 4, 5))
    stab = attribute(TCA_STAB_BASE, bytes(24))
    return message(RTM_NEWQDISC, struct.pack("=BxHiIII", 0, 0, 1, handle, parent, 2) +
                   attribute(TCA_KIND, kind + b"\0") + attribute(TCA_OPTIONS, bytes(8)) +
                   attribute(TCA_STAB, stab) + attribute(TCA_STATS2, stats))


def link():
    return message(RTM_NEWLINK, struct.pack("=BxHiII", 0, 1, 1, 0x41, 0) +
                   attribute(IFLA_IFNAME, b"eth0\0") + attribute(IFLA_IFALIAS, b"uplink\0") +
                   b"".join(attribute(kind, struct.pack("=I", 4)) for kind in (
                       IFLA_LINK, IFLA_NUM_TX_QUEUES, IFLA_GSO_MAX_SEGS, IFLA_GRO_MAX_SIZE,
                       IFLA_GRO_IPV4_MAX_SIZE)) +
                   attribute(IFLA_LINKINFO, attribute(IFLA_INFO_KIND, b"veth\0")), 0)


def route(*attributes):
    """A default route."""
    return message(RTM_NEWROUTE, struct.pack("=BBBBBBBBI", 2, 0, 0, 0, 254, 3, 0, 1, 0) +
                   b"".join(attributes))


def next_hop(ifindex):
    return struct.pack("=HBBi", 8, 0, 0, ifindex)


def error(errno, text=b""):
    tail = attribute(NLMSGERR_ATTR_MSG, text + b"\0") if text else b""
    return message(NLMSG_ERROR, struct.pack("=i", -errno) + bytes(16) + tail,
                   NLM_F_ACK_TLVS if text else 0)


def datagrams(question, *each):
    return bytes((question,)) + b"".join(struct.pack("<H", len(data)) + data for data in each)


def netlink():
    done = message(NLMSG_DONE, bytes(4))
    dump = qdisc(b"mq", 0x80010000, ROOT) + qdisc(b"bpf_dualpi2", 0x80020000, 0x80010001)
    yield datagrams(ASK_QDISCS, dump, done)
    yield datagrams(ASK_LINK, link(), error(0))
    # Its root, all qdiscs, the queue that the dump lacks, and what hangs inside.
    yield datagrams(ASK_ROOT, qdisc(b"mq", 0x80010000, ROOT), error(0), dump, done,
                    qdisc(b"fq", 0, 0x80010002), error(0), error(2), dump, done, done)
    yield datagrams(ASK_LINKS, message(NLMSG_DONE, bytes(4), NLM_F_DUMP_INTR), link(), done)
    yield datagrams(ASK_FILTERS, message(RTM_NEWTFILTER, bytes(20)), done)
    yield datagrams(ORDER, error(22, b"Device does not exist"))
    yield datagrams(ORDER, error(0))
    yield datagrams(ASK_ROUTES, route(attribute(RTA_OIF, struct.pack("=i", 2))) +
                    route(attribute(RTA_MULTIPATH, next_hop(3) + next_hop(1))), done, done)


def event(ended):
    return struct.pack("=QQIIII16sQQQ", 1 + ended, 1, 1, ROOT, ended, 1, b"eth0", 10**9,
                       10**8 * ended, 1 + ended)


def conviction(number):
    """Of a flow of UDP in IPv6."""
    return struct.pack("=QQIIQQQQIII16s16s16sIIHHBBBBIQ", number, 1, 1, ROOT, 10**8, 10**9,
                       10**9 + 10**8, 10**7, 1, 1, 1, b"eth0", bytes(16), bytes(16), 0, 0, 1, 2,
                       6, 17, 1, 0, 0, number)


SEEDS = {
    "value": [value.encode() for value in VALUES],
    "address": [address.encode() for address in ADDRESSES],
    "options": [line.replace(" ", "\0").encode() for line in COMMAND_LINES],
    "config": [text.encode() for text in FILES],
    "subscribers": [text.encode() for text in SUBSCRIBERS],
    "network": [text.encode() for text in NETWORKS],
    "netlink": list(netlink()),
    # Nothing is laid over the figures, and there is room for all of them to change.
    "figures": [bytes(4096)],
    "events": [bytes((switches,)) + each for switches in range(4)
               for each in (event(0) + event(1), bytes(144) + conviction(1))],
    "histogram": [bytes(192 * 8 + 16) + struct.pack("=4Q", 0, 1, 10**6, 2**64 - 1)],
}


def main():
    for target, seeds in SEEDS.items():
        directory = Path(sys.argv[1], target)
        directory.mkdir(parents=True)
        for number, seed in enumerate(seeds):
            (directory / str(number)).write_bytes(seed)


if __name__ == "__main__":
    main()
