# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The layout of what is pinned, by ABI: a tool trusts the maps of another build that has its own.

If a test fails, a layout has changed. Raise the ABI, unless no release has had the present one, and
note what the failure shows."""

import hashlib
import json
import re

import pytest
from programs import BIN, PROJECT, output

# Of each object: the header and the name of its ABI, and for an ABI the digest of its layouts.
OBJECTS = {
    "aqm/pi2": ("dualpi2.h", "DUALPI2_ABI", {7: "ce985e70bd9c7086"}),
    "prague": ("tcp_prague.h", "PRAGUE_ABI", {2: "6fa95bab54c78db8"}),
}
# Maps of programs among themselves, which no tool opens.
INNER = ("dualpi2_qdiscs", "dualpi2_handover")


class Types:
    """The type information (BTF) of an object."""

    def __init__(self, name):
        dump = json.loads(output("bpftool", "-j", "btf", "dump", "file", BIN / f"{name}.bpf.o"))
        self.by_id = {one["id"]: one for one in dump["types"]}

    def named(self, kind, name):
        [found] = [one for one in self.by_id.values() if (one["kind"], one["name"]) == (kind, name)]
        return found["id"]

    def layout(self, number):
        """Of a type, with those in it."""
        one = self.by_id[number]
        if one["kind"] in ("STRUCT", "UNION"):
            return one["kind"], one["size"], [
                (member["name"], member["bits_offset"], self.layout(member["type_id"]))
                for member in one["members"]]
        if one["kind"] == "ARRAY":
            return one["nr_elems"], self.layout(one["type_id"])
        if one["kind"] == "PTR":
            return "pointer"
        return one["size"] if "size" in one else self.layout(one["type_id"])

    def member(self, member):
        """Of the declaration of a map: a pointer to a type, or to an array of so many."""
        pointed = self.by_id[self.by_id[member["type_id"]]["type_id"]]
        is_number = member["name"] not in ("key", "value")
        return pointed["nr_elems"] if is_number else self.layout(pointed["id"])

    def maps(self):
        section = self.by_id[self.named("DATASEC", ".maps")]
        for variable in (self.by_id[one["type_id"]] for one in section["vars"]):
            if variable["name"] not in INNER:
                yield variable["name"], [
                    (member["name"], self.member(member))
                    for member in self.by_id[variable["type_id"]]["members"]]


@pytest.mark.parametrize("name", OBJECTS)
def test_a_layout_belongs_to_its_abi(name):
    header, macro, digests = OBJECTS[name]
    [abi] = re.findall(rf"#define {macro} (\d+)", (PROJECT / "include" / header).read_text())
    layouts = json.dumps(dict(Types(name).maps()), sort_keys=True)
    digest = hashlib.sha256(layouts.encode()).hexdigest()[:16]
    assert digests.get(int(abi)) == digest, f"{macro} {abi}: {layouts}"
