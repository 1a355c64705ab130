# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Whose sockets tcp-prague makes Prague's: of a control group, those that are accepted, and
those of IPv6."""

import contextlib

import pytest
from cgroups import CGROUPS, clear
from conftest import one_line, pinned_program
from frames import CE, ECT_1
from netns import run, wait_until
from prague_pair import LEFT, PINS, PORT, RIGHT, RIGHT6, SENDS, client, needs_accecn

pytestmark = needs_accecn
BY_IPV6 = client("sock.connect(peer)", made_by="socket.socket(socket.AF_INET6)")
# Sends to whoever connects.
SERVER = f"""
import socket, time
with socket.create_server(("", {PORT + 1})) as listener:
    print("connected", flush=True)
    sock, _ = listener.accept()
""" + SENDS


@pytest.fixture
def group():
    """A control group, as a service has one."""
    path = CGROUPS / "service"
    path.mkdir()
    yield path
    clear(path)


def inside(group):
    """A command that runs another one in it."""
    return "sh", "-c", f'echo 0 > {group}/cgroup.procs; exec "$@"', "sh"


def test_of_a_control_group(pair, group):
    """And of nobody else."""
    pair.accept()
    pair.tool("on", "--cgroup", group)
    pair.send(*inside(group))
    pair.send()
    wait_until(lambda: pair.congestion() == {"prague", "cubic"}, "one is Prague's")
    pair.wait_for_mode("prague")
    assert len(pair.sockets()) == 1


def test_what_a_control_group_accepts(pair, group):
    """The listener began after `on`, so the handshake has Accurate ECN; the other side asks for
    it."""
    with contextlib.suppress(OSError):
        pair.right.sysctl("net.ipv4.tcp_ecn", 3)
    pair.tool("on", "--cgroup", group)
    # Before 7.0 only Prague's sockets ask.
    pair.tool("on", "--netns", "right")
    pair.send(*inside(group), client=SERVER)
    with pair.right.socket() as sock:
        sock.connect((LEFT, PORT + 1))
        wait_until(lambda: len(sock.recv(1 << 16)) and pair.mode() == "prague", "it is Prague's")
        pair.wire.reset()
        for _ in range(300):
            sock.recv(1 << 16)
    seen = {ecn for (_, source, _, ecn) in pair.wire.counts if source == PORT + 1}
    assert ECT_1 in seen and seen <= {ECT_1, CE}


@pytest.mark.parametrize("outer, inner, is_prague", [
    ("10.8.0.0/16", RIGHT, True), (RIGHT, "10.8.0.0/16", True),
    ("10.8.0.0/16", "10.7.0.0/16", False)])
def test_what_one_of_two_nested_ones_accepts(pair, group, outer, inner, is_prague):
    """One that does not want the peer leaves it to the other."""
    with contextlib.suppress(OSError):
        pair.right.sysctl("net.ipv4.tcp_ecn", 3)
    pair.tool("on", "--netns", "left", "--to", outer)
    pair.tool("on", "--cgroup", group, "--to", inner)
    pair.tool("on", "--netns", "right")
    pair.send(*inside(group), client=SERVER)
    with pair.right.socket() as sock:
        sock.connect((LEFT, PORT + 1))
        for _ in range(300):
            sock.recv(1 << 16)
        shown = pair.left.run("ss", "-tinH", "sport", f"= :{PORT + 1}").stdout
    assert ("prague" in shown) == is_prague, shown


@pytest.fixture
def service():
    """Directories of a unit by this name: of the system manager, a user's and a container's."""
    name = "nginx.service"
    paths = {"user": CGROUPS / "user.slice/user-1000.slice/user@1000.service/app.slice" / name,
             "container": CGROUPS / "machine.slice/web.scope/system.slice" / name,
             "system": CGROUPS / "system.slice" / name,
             "own slice": CGROUPS / "own.slice/own-web.slice" / name}
    made = []

    def make(*kinds):
        for kind in kinds:
            path = paths[kind]
            new = [parent for parent in (path, *path.parents)
                   if not parent.exists() and CGROUPS in parent.parents]
            path.mkdir(parents=True)
            made.extend(new)
        return [paths[kind] for kind in kinds]

    yield make
    for path in sorted(made, reverse=True):
        path.rmdir()


@pytest.mark.parametrize("kind", ["system", "own slice"])
def test_a_unit_is_the_system_managers(pair, service, kind):
    """Whoever else has one of this name; and it is said where it is."""
    *_, own = service("user", "container", kind)
    assert f"  nginx is {own}\n" in pair.tool("on", "--unit", "nginx").stdout
    shown = run("bpftool", "cgroup", "show", own).stdout
    assert "prague_opt_in" in shown


def test_a_unit_of_a_user_is_none_of_the_systems(pair, service):
    service("user", "container")
    line = one_line(pair.tool("on", "--unit", "nginx", check=False), 1)
    assert "nginx.service: no running unit of the system" in line and "by --cgroup" in line


def test_a_unit_with_two_places_is_refused(pair, service):
    places = service("system", "own slice")
    line = one_line(pair.tool("on", "--unit", "nginx", check=False), 1)
    assert all(str(place) in line for place in places) and "choose one by --cgroup" in line


def test_namespaces_that_have_ended_leave_no_program(pair):
    """The root's list has room for 64."""
    for number in range(3):
        run("ip", "netns", "add", f"late{number}")
        pair.tool("on", "--netns", f"late{number}", "--default")
        run("ip", "netns", "delete", f"late{number}")
    pair.tool("on", "--netns", "left")
    assert [pin.name for pin in (PINS / "on").iterdir()] == [f"netns-{pair.left.cookie()}"]
    assert not list(PINS.glob("defaults/*"))
    assert run("bpftool", "cgroup", "show", CGROUPS).stdout.count("prague_opt_in") == 1


def test_a_full_list_is_named(pair, group):
    """Of somebody else's programs."""
    with contextlib.ExitStack() as pinned:
        for number in range(64):
            copy = pinned.enter_context(pinned_program("foreign_sockops", f"full{number}"))
            run("bpftool", "cgroup", "attach", group, "sock_ops", "pinned", copy, "multi")
        line = one_line(pair.tool("on", "--cgroup", group, check=False), 1)
    assert "the control group is full: it has the 64 programs of this kind" in line


@pytest.mark.parametrize("prefix, is_prague", [("10.9.0.0/24", True), ("10.8.0.0/16", False)])
def test_ipv4_by_an_ipv6_socket(pair, prefix, is_prague):
    pair.accept()
    pair.tool("on", "--netns", "left", "--to", prefix)
    pair.send(to=f"::ffff:{RIGHT}", client=BY_IPV6)
    pair.wire.wait_for(300)
    assert pair.congestion() == {"prague" if is_prague else "cubic"}
    assert (ECT_1 in pair.wire.of(PORT)) == is_prague


@pytest.mark.parametrize("prefix, is_prague", [
    ("fd00::/64", True), ("fd00::2", True), ("fd00::3", False), ("0.0.0.0/0", False)])
def test_destinations_of_ipv6(pair, prefix, is_prague):
    pair.add_ipv6()
    pair.accept(address=RIGHT6)
    pair.tool("on", "--netns", "left", "--to", prefix)
    pair.send(to=RIGHT6)
    pair.wire.wait_for(300)
    assert pair.congestion() == {"prague" if is_prague else "cubic"}
    assert (ECT_1 in pair.wire.of(PORT)) == is_prague
