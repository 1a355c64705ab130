# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A kernel that lets no BPF program read its memory (lockdown=confidentiality): run in a guest
of its own (tests/run)."""

from conftest import LOADER, PIN_DIR, one_line
from findings import findings, of_kind


def test_it_is_told(box):
    [told] = of_kind(findings(box), "MISSING")
    assert told.startswith("BPF programs may read the kernel's memory: ")
    assert "confidentiality" in told and "lockdown=integrity" in told
    assert one_line(box.run(LOADER, "one", check=False), 1) == f"dualpi2-load: {told}\n"
    assert not PIN_DIR.exists()
