# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Fixtures: bpf_dualpi2 and sch_dualpi2 side by side, and the table of what was seen.

Runs in the lab's guest only, started by tests/compare/run: the modules are there.
"""

import json
import os
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "qdisc")]
from netns import run  # noqa: E402
from report import Report  # noqa: E402
from sides import BIN, Native, Ours  # noqa: E402

MODULES = Path("/lab/modules")
RESULT = Path("/results/compare.json")


class Pair:
    def __init__(self):
        self.native = Native("native0")
        self.ours = Ours("ours0")

    def both(self, script, **options):
        """Play a script on a fresh qdisc of either kind; what it returns: native's, ours."""
        results = []
        for side in (self.native, self.ours):
            side.passed()
            side.start(**options)
            try:
                results.append(script(side))
            finally:
                side.gate(0)
                side.stop()
        return results

    def close(self):
        self.native.close()
        self.ours.close()


@pytest.fixture(scope="session")
def pair():
    for module in ("sch_dualpi2", "gate"):
        run("insmod", MODULES / f"{module}.ko")
    run("modprobe", "dummy")
    # Keeps bpf_dualpi2 registered while qdiscs come and go.
    run("ip", "link", "add", "anchor", "type", "dummy")
    run(BIN / "dualpi2-load", "anchor")
    both = Pair()
    yield both
    both.close()
    run(BIN / "dualpi2-load", "anchor", "--unload")


@pytest.fixture(scope="session")
def report():
    seen = Report()
    yield seen
    RESULT.write_text(json.dumps({"kernel": os.uname().release, "rows": seen.rows}, indent=1))
