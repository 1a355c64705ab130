#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compare the types of vmlinux.h, as compiled into the BPF object, with a kernel's BTF.

Every struct whose members the programs access by CO-RE must exist in the kernel with
members of the same names and sizes. Order and offsets do not matter: libbpf looks
them up when it loads the object.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

VMLINUX_H = Path(__file__).resolve().parents[2] / "vmlinux.h"
POINTER_SIZE = 8


class Btf:
    """The types in a file, by `bpftool btf dump`."""

    def __init__(self, path):
        dump = subprocess.run(["bpftool", "-j", "btf", "dump", "file", str(path)],
                              capture_output=True, text=True, check=True).stdout
        self.types = {entry["id"]: entry for entry in json.loads(dump)["types"]}
        self.structs = {}
        for entry in self.types.values():
            if entry["kind"] == "STRUCT" and entry["name"] != "(anon)":
                self.structs.setdefault(entry["name"], entry)

    def size(self, type_id):
        """Bytes of a type; None for one that has no size (a forward declaration)."""
        entry = self.types.get(type_id)
        if entry is None:
            return None
        kind = entry["kind"]
        if kind == "PTR":
            return POINTER_SIZE
        if kind == "ARRAY":
            element = self.size(entry["type_id"])
            return None if element is None else element * entry["nr_elems"]
        if kind in ("TYPEDEF", "CONST", "VOLATILE", "RESTRICT", "TYPE_TAG"):
            return self.size(entry["type_id"])
        return entry.get("size")

    def is_aggregate(self, type_id):
        entry = self.types[type_id]
        while entry["kind"] in ("TYPEDEF", "CONST", "VOLATILE", "TYPE_TAG"):
            entry = self.types[entry["type_id"]]
        return entry["kind"] in ("STRUCT", "UNION")

    def members(self, struct):
        """name -> type id, through anonymous members."""
        found = {}
        for member in struct["members"]:
            if member["name"] == "(anon)":
                inner = self.types[member["type_id"]]
                while inner["kind"] in ("TYPEDEF", "CONST", "VOLATILE", "TYPE_TAG"):
                    inner = self.types[inner["type_id"]]
                found.update(self.members(inner))
            else:
                found[member["name"]] = member["type_id"]
        return found


def named_in_header():
    """The structs that vmlinux.h declares."""
    text = re.sub(r"/\*.*?\*/", "", VMLINUX_H.read_text(), flags=re.S)
    return {match[1] for match in re.finditer(r"^struct (\w+) \{", text, re.M)}


def differences(kernel_path, object_path):
    """One line for each thing that does not fit; [] if all does."""
    kernel, ours = Btf(kernel_path), Btf(object_path)
    wrong = []
    for name in sorted(named_in_header() & set(ours.structs)):
        if name not in kernel.structs:
            wrong.append(f"struct {name}: not in the kernel")
            continue
        theirs = kernel.members(kernel.structs[name])
        for member, type_id in ours.members(ours.structs[name]).items():
            if member not in theirs:
                wrong.append(f"struct {name}: the kernel has no member {member}")
            elif ours.is_aggregate(type_id):
                if not kernel.is_aggregate(theirs[member]):
                    wrong.append(f"struct {name}.{member}: not a struct in the kernel")
            elif ours.size(type_id) != kernel.size(theirs[member]):
                wrong.append(f"struct {name}.{member}: {ours.size(type_id)} bytes here, "
                             f"{kernel.size(theirs[member])} in the kernel")
    return wrong


def main():
    if len(sys.argv) != 3:
        print("usage: check_vmlinux.py KERNEL_BTF BPF_OBJECT", file=sys.stderr)
        return 2
    wrong = differences(Path(sys.argv[1]), Path(sys.argv[2]))
    print("\n".join(wrong) or "vmlinux.h fits this kernel")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
