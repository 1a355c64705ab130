# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A kernel that is locked down (lockdown=confidentiality), so that no program may call
bpf_probe_read_kernel(): run in a guest of its own (tests/run), with other tests."""

from pathlib import Path

import pytest
from findings import findings, of_kind
from netns import run


@pytest.fixture
def locked_down():
    run("mount", "-t", "securityfs", "none", "/sys/kernel/security")
    yield Path("/sys/kernel/security/lockdown").read_text(encoding="ascii").split()
    run("umount", "/sys/kernel/security")


def test_nothing_is_missing(box, locked_down):
    assert "[confidentiality]" in locked_down
    assert not of_kind(findings(box), "MISSING")
