# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The virtual queues of VDQ-CSAQM, as the program has them."""

import json
import struct

from netns import run


def check(pins, number):
    """Of instance `number`: the bins of both hold the bytes in the ring, to the byte."""
    key = [str(byte) for byte in struct.pack("=I", number)]
    shown = run("bpftool", "-j", "map", "lookup", "pinned", pins / "dualpi2_qdiscs", "key",
                *key).stdout
    aqm = json.loads(shown)["formatted"]["value"]["dualq"]["aqm"]
    for queue in (aqm["l"], aqm["all"]):
        ring = [queue["ring"][place % len(queue["ring"])]
                for place in range(queue["first"], queue["end"])]
        bins = [0] * len(queue["bin"])
        for entry in ring:
            bins[entry["bin"]] += entry["len"]
        assert queue["bin"] == bins
        assert queue["backlog"] == sum(bins)
