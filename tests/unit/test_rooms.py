# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The rooms of user/: no include runs from a lower one to a higher one. Nor does one in user/ or
bpf/ run in a circle. And how long files may become."""

import graphlib
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
USER = ROOT / "user"
# The lowest first. What is in user/ itself, the mains, stands above all.
ROOMS = ["cli", "subscribers", "aqm", "kernel", "pinned", "check", "interface", "attach", "sample",
         "show", "watch", "prague", "base_rtt", "mark_values", ""]


def room(module):
    return module.rpartition("/")[0]


def included():
    """What each module (a .c with its .h) includes of the others: "attach/gso" and the like."""
    modules = {}
    for file in USER.rglob("*.[ch]"):
        module = str(file.relative_to(USER).with_suffix(""))
        headers = re.findall(r'^\s*#include "(.+)\.h"', file.read_text(), re.MULTILINE)
        others = {header for header in headers if (USER / f"{header}.h").exists()}
        modules.setdefault(module, set()).update(others - {module})
    return modules


def test_every_room_has_its_place():
    assert {room(module) for module in included()} == set(ROOMS)


def test_no_include_runs_upwards():
    assert not [
        f"user/{module} includes {other}.h"
        for module, others in included().items()
        for other in others
        if ROOMS.index(room(other)) > ROOMS.index(room(module))
    ]


def test_no_includes_run_in_a_circle():
    graphlib.TopologicalSorter(included()).prepare()


def test_no_includes_of_programs_run_in_a_circle():
    """By files: what is in bpf/ and include/ is all headers, but for the programs."""
    places = ROOT / "bpf", ROOT / "include"
    files = {file for place in places for file in place.rglob("*.[ch]")}
    graph = {file: {place / name for place in places for name in
                    re.findall(r'^\s*#\s*include "(.+)"', file.read_text(), re.MULTILINE)} & files
             for file in files}
    assert any(graph.values())
    graphlib.TopologicalSorter(graph).prepare()


def longer(files, most):
    lines = {file: file.read_text().count("\n") for file in files if file.is_file()}
    return {str(file): count for file, count in lines.items() if count > most}


def test_no_file_is_long():
    assert not longer(USER.rglob("*"), 450)


def test_an_aqm_is_its_law_and_nothing_else():
    """VDQ-CSAQM has two virtual queues and rates of flows beside its law."""
    plugs = set((ROOT / "bpf/aqm").glob("*.bpf.h"))
    assert not longer(plugs - {ROOT / "bpf/aqm/vdq.bpf.h"}, 150)
