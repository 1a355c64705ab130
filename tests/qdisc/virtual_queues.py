# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The virtual queues of VDQ-CSAQM, as the program has them."""

import json
import struct

from conftest import KINDS, PIN_DIR, published
from netns import run


def check(dev):
    """The bins of both hold the bytes in the ring, to the byte. It takes half a second to look."""
    key = [str(byte) for byte in struct.pack("=I", published(dev)["number"])]
    shown = run("bpftool", "-j", "map", "lookup", "pinned", PIN_DIR / "vdq/dualpi2_qdiscs", "key",
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


def look(cable):
    """At those of a cable, once its queues are empty, if its qdisc has any."""
    if cable.qdisc.is_attached() and cable.qdisc.stats()["kind"] == KINDS.get("vdq"):
        cable.load("--rate", 0)
        cable.drain()
        check("d0")
