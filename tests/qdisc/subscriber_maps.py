# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Subscribers of a live qdisc, through maps that are put in the place of the loader's
(include/subscribers.h)."""

import contextlib
import ipaddress
import json
import os
import struct
import tempfile
from pathlib import Path

import bpfcall
from netns import run

DIRECTORY = Path("/sys/fs/bpf/dualpi2/pi2-subscribers")
PARENT_SIZE, PLAN_SIZE = 56, 16  # SUBSCRIBERS_PARENT_SIZE, struct plan
KEY, NUMBER = struct.Struct("=I16s"), struct.Struct("=I")  # struct ip_prefix, and whose it is
PLAN = struct.Struct("=QII")
OTHERS = "*"
BY_TARGET = ("--per-host", "dst")


def one_subscriber():
    """A file of one, with all addresses."""
    path = Path(tempfile.gettempdir()) / "one-subscriber"
    path.write_text("anybody * 1mbit 1mbit\n")
    return path


def key_of(prefix):
    """Of the trie."""
    if prefix == OTHERS:
        return KEY.pack(0, bytes(16))
    network = ipaddress.ip_network(prefix)
    if network.version == 4:
        return KEY.pack(96 + network.prefixlen,
                        bytes(10) + b"\xff\xff" + network.network_address.packed)
    return KEY.pack(network.prefixlen, network.network_address.packed)


def dumped(name):
    return json.loads(run("bpftool", "-j", "map", "dump", "pinned",
                          DIRECTORY / f"dualpi2_{name}").stdout)


def number_on(dev):
    """Of the qdisc."""
    [number] = [value["number"] for entry in dumped("stats")
                if (value := entry["formatted"]["value"])["ifname"] == dev]
    return number


def dualq_type():
    """Its types as a file, those of an array of them, and its size."""
    qdiscs = json.loads(run("bpftool", "-j", "map", "show", "pinned",
                            DIRECTORY / "dualpi2_qdiscs").stdout)
    types = json.loads(run("bpftool", "-j", "btf", "dump", "id", qdiscs["btf_id"]).stdout)["types"]
    found = {(each["kind"], each["name"]): each for each in types if "name" in each}
    key, value = found["INT", "unsigned int"], found["STRUCT", "dualq"]
    file = bpfcall.by_id(bpfcall.BPF_BTF_GET_FD_BY_ID, qdiscs["btf_id"])
    return (file, key["id"], value["id"]), value["size"]


class Subscribers:
    """Of one qdisc. Numbers are from 1 on; those of parents, too."""

    def __init__(self, dev, room):
        self.number, self.files = number_on(dev), {}
        types, size = dualq_type()
        array = bpfcall.BPF_MAP_TYPE_ARRAY, 4
        self.put("prefixes", bpfcall.BPF_MAP_TYPE_LPM_TRIE, KEY.size, NUMBER.size, 16 * room,
                 bpfcall.BPF_F_NO_PREALLOC)
        for name, size_of, of in (("plans", PLAN_SIZE, (0, 0, 0)),
                                  ("parents", PARENT_SIZE, (0, 0, 0)),
                                  ("plan_dualqs", size, types)):
            self.put(name, *array, size_of, room + 1, bpfcall.BPF_F_INNER_MAP, of)
        os.close(types[0])
        self.changes = 0

    def put(self, name, *shape):
        self.files[name] = file = bpfcall.create(*shape)
        with bpfcall.opened(DIRECTORY / f"dualpi2_{name}") as outer:
            bpfcall.update(outer, NUMBER.pack(self.number), NUMBER.pack(file))

    def close(self):
        for file in self.files.values():
            os.close(file)

    def plan(self, number, mbit, parent=0, owner=None):
        """Mbit/s; 0: no limit."""
        bpfcall.update(self.files["plans"], NUMBER.pack(number),
                       PLAN.pack(round(mbit * 125_000), parent, owner or number))

    def own(self, number, *prefixes):
        for prefix in prefixes:
            bpfcall.update(self.files["prefixes"], key_of(prefix), NUMBER.pack(number))
        self.changed()

    def disown(self, *prefixes):
        for prefix in prefixes:
            bpfcall.delete(self.files["prefixes"], key_of(prefix))
        self.changed()

    def changed(self):
        self.changes += 1
        with bpfcall.opened(DIRECTORY / "dualpi2_generations") as generations:
            bpfcall.update(generations, NUMBER.pack(self.number), NUMBER.pack(self.changes))

    def take_away(self, *names):
        """By hand, while packets wait."""
        for name in names:
            with bpfcall.opened(DIRECTORY / f"dualpi2_{name}") as outer:
                bpfcall.delete(outer, NUMBER.pack(self.number))


def load(cable, *options):
    """Change parameters."""
    return cable.load(*BY_TARGET, *options)


@contextlib.contextmanager
def subscribed(cable, *options, dev="d0", room=64):
    """The cable with subscribers."""
    load(cable, "--subscribers", one_subscriber(), *options)
    subscribers = Subscribers(dev, room)
    try:
        yield subscribers
    finally:
        subscribers.close()
