# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What tcp-prague refuses on any kernel, and all that it refuses on an old one."""

import os

import pytest
from conftest import one_line
from prague_pair import KERNEL, PINS


@pytest.mark.skipif(KERNEL >= (6, 18), reason="for kernels without Accurate ECN")
def test_an_old_kernel_is_refused(pair):
    told = (f"Linux {os.uname().release} has no Accurate ECN for a congestion control: boot 6.18 "
            "or later (Debian trixie-backports has it)\n")
    for command in (["on"], ["run", "--", "true"]):
        assert one_line(pair.tool(*command, check=False), 1) == f"tcp-prague: {told}"
    assert not pair.programs()
    assert "MISSING" in pair.tool("check", check=False).stdout


@pytest.mark.parametrize("arguments, status, told", [
    ([], 2, "a command is missing"), (["fly"], 2, "fly: no such command"),
    (["run"], 2, "run: a command is missing"),
    (["off", "now"], 2, "now: tcp-prague off takes no argument"),
    (["on", "--to", "10.0.0.0/8"], 2, "--to: only with"),
    (["on", "--cgroup", "a", "--unit", "b"], 2, "give one of them"),
    (["on", "--cgroup", "a", "--to", "10.0.0.0/33"], 2, "--to 10.0.0.0/33: not a prefix"),
    (["on", "--netns", "nosuch"], 1, "--netns nosuch: no such network namespace"),
    (["on", "--netns", "/etc/passwd"], 1, "--netns /etc/passwd: is not a network namespace"),
    (["on", "--netns", ".."], 1, "--netns ..: is not a network namespace"),
    (["sink", "ninety"], 2, "ninety: not a port"), (["sink", "0"], 2, "0: not a port"),
    (["sink", "65536"], 2, "65536: not a port"),
    (["on", "--unit", "a", "--default"], 2, "--unit: excludes --default"),
    (["status", "--yaml"], 2, "--yaml: no such")])
def test_wrong_usage(pair, arguments, status, told):
    assert told in one_line(pair.tool(*arguments, check=False), status)
    assert not PINS.exists() and not pair.programs()
