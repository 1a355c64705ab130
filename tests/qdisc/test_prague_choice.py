# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Whose sockets tcp-prague makes Prague's: of a control group, those that are accepted, and
those of IPv6."""

import contextlib

import pytest
from cgroups import CGROUPS, clear
from frames import CE, ECT_1
from netns import wait_until
from prague_pair import (
    LEFT,
    PORT,
    RIGHT,
    RIGHT6,
    SENDS,
    client,
    needs_accecn,
    prague_pair,
)

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
def pair():
    yield from prague_pair()


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
