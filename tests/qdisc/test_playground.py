# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The prompt of `lab shell`: traffic starts and stops by a key, and can be watched."""

import os
from pathlib import Path

import pytest
from conftest import BIN
from netns import run, wait_until
from terminal import Terminal

pytestmark = pytest.mark.oldest_kernel

TESTS = Path(__file__).resolve().parents[1]
RC = TESTS / "lab/shell.rc"
CTRL_X = "\x18"


@pytest.fixture
def prompt():
    run(TESTS / "traffic/playground", "up")
    bash = "nsenter", "--net=/run/netns/router", "bash", "--rcfile", RC
    with Terminal(bash, PATH=f"{BIN}:{os.environ['PATH']}") as shown:
        shown.wait_for_word("router#")
        yield shown
        shown.press("dualpi2-load r1 --unload\n")
        shown.wait_for_word("r1: unloaded")
    for name in ("sender", "router", "receiver"):
        run("ip", "netns", "delete", name)


def test_traffic_starts_and_stops_while_it_is_watched(prompt):
    for key in "lcw":
        prompt.press(f"{CTRL_X}{key}")
    prompt.wait_for_word("the bottleneck")
    prompt.press("q")
    prompt.wait_for_word("router#")
    prompt.press(f"{CTRL_X}s")
    wait_until(lambda: run("pgrep", "-x", "iperf3", check=False).returncode, "iperf3 has ended")
