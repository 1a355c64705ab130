# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""tcp-prague is killed at, or refused, its system calls, as dualpi2-load in test_killed.py and
test_refused.py."""

import json
import os
import re

import pytest
from cgroups import CGROUPS
from conftest import WITHOUT_CMPXCHG, one_line
from faults import FIRST_ONE_IN, calls_of, disturb, refuse_at_each_step
from netns import run, wait_until
from prague_pair import PINS, TOOL, needs_accecn

pytestmark = needs_accecn
ON = (TOOL, "on", "--netns", "left", "--default")
OFF = (TOOL, "off")
SYSCTL = "/proc/sys/net/ipv4/tcp_congestion_control"


def shown(space, *argv):
    return json.loads(space.run(*argv).stdout)


def state(pair):
    """All that tcp-prague may change. Not by names of programs: libbpf does without them if it is
    refused what tells it that the kernel has names."""
    registered = shown(pair.left, "bpftool", "-j", "struct_ops", "show")
    [net] = shown(pair.left, "bpftool", "-j", "net", "show")
    tree = run("bpftool", "-j", "cgroup", "show", CGROUPS, check=False).stdout.strip() or "[]"
    return {"registered": len(registered),
            "devices": sorted((program["devname"], program["kind"]) for program in net["tc"]),
            "control groups": len(json.loads(tree)),
            "default": pair.left.run("cat", SYSCTL).stdout,
            "pins": sorted(re.sub(r"\d+", "N", str(pin)) for pin in PINS.rglob("*"))}


@pytest.fixture
def states(pair):
    """Before, and with it on."""
    before = state(pair)
    pair.left.run(*ON)
    after = state(pair)
    pair.left.run(*OFF)
    wait_until(lambda: state(pair) == before, "all is gone")
    return before, after


def test_a_machine_that_keeps_nothing_with_a_socket(pair):
    before = state(pair)
    done = pair.left.run(*ON, check=False, env={**os.environ, "LD_PRELOAD": str(WITHOUT_CMPXCHG)})
    assert "no memory to keep with a socket" in one_line(done, 1)
    assert state(pair) == before


def test_on_is_killed_at_each_step(pair, states, tmp_path, long):
    """Once more, and it is on; or `off`, and nothing is left."""
    before, after = states
    calls = calls_of(pair.left, ON, tmp_path, long, FIRST_ONE_IN)
    pair.left.run(*OFF)
    for number, call in enumerate(calls):
        assert disturb(pair.left, ON, call, "signal=KILL").returncode == -9, call
        if number % 2:
            pair.left.run(*ON)
            assert state(pair) == after, call
        pair.left.run(*OFF, "--if-on")
        wait_until(lambda: state(pair) == before, f"all is gone: {call}")


def test_off_is_killed_at_each_step(pair, states, tmp_path, long):
    before, _ = states
    pair.left.run(*ON)
    for call in calls_of(pair.left, OFF, tmp_path, long):
        pair.left.run(*ON)
        assert disturb(pair.left, OFF, call, "signal=KILL").returncode == -9, call
        pair.left.run(*OFF, "--if-on")
        wait_until(lambda: state(pair) == before, f"all is gone: {call}")


def test_on_is_refused_at_each_step(pair, tmp_path, long):
    refuse_at_each_step(pair.left, ON, OFF, lambda: state(pair), tmp_path, long, FIRST_ONE_IN,
                        seconds=30)
