# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A kernel from before there were BPF qdiscs: run in a guest of its own (tests/run)."""

import os

from conftest import LOADER, PIN_DIR, one_line, root
from findings import findings, of_kind


def test_it_is_told(box):
    before = root(box, "one")
    [told] = of_kind(findings(box), "MISSING")
    assert told == (f"qdiscs in BPF: Linux {os.uname().release} is too old: boot 6.17 or newer "
                    "with CONFIG_NET_SCH_BPF=y; trixie-backports has linux-image-amd64")
    assert one_line(box.run(LOADER, "one", check=False), 1) == f"dualpi2-load: {told}\n"
    assert root(box, "one") == before and not PIN_DIR.exists()
