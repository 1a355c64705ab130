# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What tcp-prague works on goes away while it is on: a device, a network namespace, its pins."""

import contextlib
import json

import pytest
from cgroups import CGROUPS, clear
from conftest import LOADER, one_line, pinned_program
from faults import calls_of, disturb
from frames import CE, ECT_1
from netns import Namespace, run, veth, wait_until
from prague_pair import PINS, TOOL, needs_accecn

pytestmark = needs_accecn
RUN = (TOOL, "run", "--", "true")


def nothing_is_left(pair):
    """The kernel takes its time for programs."""
    assert not PINS.exists()
    wait_until(lambda: not pair.programs(), "no program is left")


def test_a_device(pair):
    veth(pair.left, "s1", pair.right, "c1")
    pair.begin()
    pair.left.ip("link del s1")
    assert pair.mode() == "prague"
    veth(pair.left, "s1", pair.right, "c1")  # the same name, perhaps the same number
    pair.tool("on", "--netns", "left")
    assert "off: 1 socket fell back" in pair.tool("off").stdout
    nothing_is_left(pair)


def test_a_device_that_moves(pair, new_space):
    """To another namespace, where its program stays, and one that has its number in its place gets
    one of its own."""
    other = new_space("other")
    veth(pair.left, "s1", pair.right, "c1")
    number = pair.left.links()["s1"]["ifindex"]
    pair.tool("on", "--netns", "left")
    pair.left.ip("link set s1 netns other")
    assert other.links()["s1"]["ifindex"] == number
    pair.left.ip(f"link add s2 index {number} type dummy")
    pair.tool("on", "--netns", "left")
    for space, dev in ((other, "s1"), (pair.left, "s2")):
        [shown] = json.loads(space.run("bpftool", "-j", "net", "show", "dev", dev).stdout)
        assert [program["name"] for program in shown["tc"]] == ["prague_ect1"], dev
    pair.tool("off")
    nothing_is_left(pair)


@pytest.mark.parametrize("tool", [(TOOL, "on", "--dev", "s0"), (LOADER, "s0")])
def test_a_device_with_as_many_programs_as_there_may_be(pair, tool):
    """Of somebody else's."""
    with contextlib.ExitStack() as pinned:
        for number in range(63):
            copy = pinned.enter_context(pinned_program("foreign", f"full{number}"))
            pair.left.run("bpftool", "net", "attach", "tcx_egress", "pinned", copy, "dev", "s0")
        line = one_line(pair.left.run(*tool, check=False), 1)
    assert "s0: has as many tcx programs there as the kernel takes" in line


def test_a_network_namespace(pair):
    other = Namespace("other")
    cookie = other.cookie()
    veth(other, "s1", pair.right, "c1")
    pair.tool("on", "--netns", "other", "--default")
    other.delete()
    assert pair.tool("status").stdout == "no socket uses Prague\n"
    # Another one of that name has nothing of it.
    other = Namespace("other")
    assert "prague" not in other.run("sysctl", "-n", "net.ipv4.tcp_congestion_control").stdout
    assert (f"the network namespace with the cookie {cookie} has ended, or only sockets are left "
            "of it\n") in pair.tool("off").stdout
    other.delete()
    nothing_is_left(pair)


def test_all_pins(pair):
    """The links end with them; the socket responds as Reno, without ECT(1). `on` begins anew."""
    child = pair.begin()
    run("rm", "-r", PINS)
    wait_until(lambda: "prague_ect1" not in pair.programs(), "the tcx program is gone")
    pair.wire.next_fields()
    assert not {ECT_1, CE} & pair.wire.next_fields()
    assert one_line(pair.tool("off", check=False), 1) == (
        "tcp-prague: nothing to undo: tcp-prague is not on\n")
    pair.tool("on", "--netns", "left")
    pair.end(child)
    pair.send()
    pair.wait_for_mode("prague")
    pair.tool("off")
    nothing_is_left(pair)


def test_run_is_killed_at_each_step(pair, tmp_path, long):
    """All that may stay is the directory of its control group, until the next one."""
    for call in calls_of(pair.left, RUN, tmp_path, long):
        assert disturb(pair.left, RUN, call, "signal=KILL").returncode == -9, call
        nothing_is_left(pair)
        # It may have reached the command, which then lives in there.
        for group in CGROUPS.rglob("tcp-prague-*"):
            clear(group)
    pair.tool("run", "--", "true")
    assert not list(CGROUPS.rglob("tcp-prague-*"))
