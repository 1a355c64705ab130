# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""tcp-prague on devices above others, and with TCP's relatives: only what is TCP in the socket's
own IP header becomes ECT(1).
"""

import contextlib

import pytest
import tunnels
from conftest import needs
from frames import CE, ECT_1
from netns import wait_until
from prague_pair import CLIENT, LEFT, PORT, RIGHT, RIGHT6, Wire, client, needs_accecn

pytestmark = needs_accecn
INNER = "10.8.0.1", "10.8.0.2"
DEVICE = "t0"
PROTOCOLS = {"ipip": 4, "gre": 47, "vxlan": 17, "wireguard": 17, "esp": 50}
MPTCP = 262


def make(pair, kind):
    """The two ends of a device t0, with addresses."""
    ends = pair.left, pair.right
    links = {"ipip": "type ipip local {0} remote {1}", "gre": "type gre local {0} remote {1}",
             "vlan": "link {2} type vlan id 5",
             "vxlan": "type vxlan id 5 local {0} remote {1} dstport 4789"}
    if kind == "wireguard":
        needs("wireguard")
        tunnels.wireguard(ends, (LEFT, RIGHT), DEVICE, "10.8.0.0/24")
    elif kind == "esp":
        needs("esp4", "xfrm_user", "xfrm_interface")
        tunnels.ipsec(ends, (LEFT, RIGHT), "tunnel", "if_id", 7, inner=["10.8.0.0/24"] * 2)
    for space, own, other, below, inner in ((pair.left, LEFT, RIGHT, "s0", INNER[0]),
                                            (pair.right, RIGHT, LEFT, "c0", INNER[1])):
        if kind == "esp":
            space.ip(f"link add {DEVICE} mtu 1400 type xfrm if_id 7")
        elif kind != "wireguard":
            space.ip(f"link add name {DEVICE} " + links[kind].format(own, other, below))
        space.up_without_ipv6(DEVICE, f"{inner}/24")


@contextlib.contextmanager
def watched(space, dev):
    wire = Wire(space, dev)
    try:
        yield wire
    finally:
        wire.close()


@pytest.mark.parametrize("kind", PROTOCOLS)
def test_below_a_tunnel_nothing_changes(pair, kind):
    """On the lower device the outer header is not the socket's."""
    protocol = PROTOCOLS[kind]
    make(pair, kind)
    pair.accept(address=INNER[1])
    pair.tool("on", "--netns", "left", "--dev", "s0")
    pair.send(to=INNER[1])
    pair.wait_for_mode("not-ect1")
    wait_until(lambda: sum(pair.wire.of(0, protocol).values()) > 300, "it sends")
    assert not {ECT_1, CE} & set(pair.wire.of(0, protocol))
    # On the tunnel's own device the header is.
    pair.tool("on", "--netns", "left", "--dev", DEVICE)
    pair.wait_for_mode("prague")
    with watched(pair.right, DEVICE) as inner:
        wait_until(lambda: sum(inner.of(PORT).values()) > 300, "it goes on")
        assert set(inner.of(PORT)) == {ECT_1}


@pytest.mark.parametrize("device", ["s0", DEVICE, None])
def test_a_vlan(pair, device):
    """Its device and the one below it have the same header."""
    make(pair, "vlan")
    pair.accept(address=INNER[1])
    pair.tool("on", "--netns", "left", *(["--dev", device] if device else []))
    with watched(pair.right, DEVICE) as inner:
        pair.send(to=INNER[1])
        pair.wait_for_mode("prague")
        wait_until(lambda: sum(inner.of(PORT).values()) > 300, "it goes on")
        assert set(inner.of(PORT)) == {ECT_1}


def test_data_in_the_syn(pair):
    """TCP Fast Open: the second connection sends before it knows of Accurate ECN."""
    for space in (pair.left, pair.right):
        space.sysctl("net.ipv4.tcp_fastopen", 3)
    sender = client("sock.sendto(bytes(1000), socket.MSG_FASTOPEN, peer)",
                    made_by="socket.socket()")
    pair.accept(fast_open=True)
    pair.tool("on", "--netns", "left")
    pair.end(pair.send(client=sender))
    pair.wire.reset()
    pair.send(client=sender)
    pair.wire.wait_for(300)
    data_in_syn = pair.left.run("nstat", "-asz", "TcpExtTCPFastOpenActive").stdout
    assert "TcpExtTCPFastOpenActive         1 " in data_in_syn
    pair.wait_for_mode("prague")
    assert set(pair.wire.of(PORT)) == {ECT_1}


def test_mptcp(pair):
    """A subflow is a TCP connection like others: either it is Prague's, or none of it is ECT(1)."""
    pair.accept(protocol=MPTCP)
    pair.tool("on", "--netns", "left")
    pair.send(client=client(
        "sock.connect(peer)",
        made_by=f"socket.socket(socket.AF_INET, socket.SOCK_STREAM, {MPTCP})"))
    pair.wire.wait_for(300)
    assert "MPTcpExtMPCapableSYNACKRX       1 " in pair.left.run(
        "nstat", "-asz", "MPTcpExtMPCapableSYNACKRX").stdout
    assert len(pair.sockets()) == 1 and pair.mode() == "prague"
    assert pair.wire.next_fields() == {ECT_1}


def over_ipv6(pair, sender):
    pair.add_ipv6()
    pair.accept(address=RIGHT6)
    pair.tool("on", "--netns", "left")
    pair.send(to=RIGHT6, client=sender)


def test_ipv6_with_an_extension_header(pair):
    """TCP does not follow at once: Reno, and nothing is ECT(1)."""
    padding = "bytes([0, 0, 1, 4, 0, 0, 0, 0])"
    over_ipv6(pair, client(
        f"sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_DSTOPTS, {padding})",
        "sock.connect(peer)", made_by="socket.socket(socket.AF_INET6)"))
    pair.wait_for_mode("not-ect1")


def test_ipv6(pair):
    over_ipv6(pair, CLIENT)
    pair.wait_for_mode("prague")
    assert pair.wire.next_fields() == {ECT_1}
