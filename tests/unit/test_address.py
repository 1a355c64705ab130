# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Prefixes and peers as people write them (user/cli/prefix.c, user/cli/peer.c).
tests/fuzz/fuzz_address.c looks for what is read beyond their end.
"""

import ipaddress

import pytest
from clib import C, ffi, new


@pytest.mark.parametrize("text, shown, bits", [
    ("10.0.0.0/8", "10.0.0.0/8", 104), ("10.1.2.3/8", "10.0.0.0/8", 104),
    ("192.0.2.1", "192.0.2.1/32", 128), ("255.255.255.255/31", "255.255.255.254/31", 127),
    ("0.0.0.0/0", "0.0.0.0/0", 96), ("::/0", "::/0", 0), ("2001:db8::/32", "2001:db8::/32", 32),
    ("2001:db8:ffff::1/33", "2001:db8:8000::/33", 33), ("2001:db8::1", "2001:db8::1/128", 128),
    ("::ffff:10.0.0.0/104", "10.0.0.0/8", 104), ("::ffff:10.0.0.0/95", "::fffe:0:0/95", 95)])
def test_prefixes(text, shown, bits):
    """IPv4 is mapped, as the programs make the key of a peer (bpf/peer.bpf.h)."""
    prefix, room = new("ip_prefix"), ffi.new("char[]", C.PREFIX_TEXT_MAX)
    assert C.prefix_read(text.encode(), prefix)
    assert prefix.bits == bits
    assert ffi.string(C.prefix_format(prefix, room)).decode() == shown
    address = ipaddress.ip_address(shown.split("/")[0])
    expected = address.packed if ":" in shown else bytes(10) + b"\xff\xff" + address.packed
    assert bytes(prefix.address) == expected


@pytest.mark.parametrize("text", [
    "", "/", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/ 8",
    "10.0.0.0/8x", "10.0.0/8", "10.0.0.0/8/8", "2001:db8::/129", "2001:db8:::/32", "host/8",
    "10.0.0.0/99999999999999999999", "10.0.0.0,10.1.0.0",
    "1234:1234:1234:1234:1234:1234:1234:1234:1234:1234/8"])
def test_what_is_no_prefix_is_refused(text):
    assert not C.prefix_read(text.encode(), new("ip_prefix"))


def split(text):
    """(host, port or None); None: it is no peer."""
    given, host = ffi.new("char[]", text.encode()), ffi.new("char[]", C.PEER_HOST_MAX)
    port = ffi.new("const char **")
    if not C.peer_split(given, host, port):
        return None
    return ffi.string(host).decode(), ffi.string(port[0]).decode() if port[0] else None


LONGEST = "a" * (C.PEER_HOST_MAX - 1)


@pytest.mark.parametrize("text, peer", [
    ("192.0.2.1", ("192.0.2.1", None)), ("host", ("host", None)), ("host:443", ("host", "443")),
    ("2001:db8::1", ("2001:db8::1", None)), ("[2001:db8::1]", ("2001:db8::1", None)),
    ("[2001:db8::1]:1", ("2001:db8::1", "1")), ("host:65535", ("host", "65535")),
    (LONGEST, (LONGEST, None)), (f"{LONGEST}a", None),
    *((text, None) for text in (
        "", ":", ":443", "host:", "host:0", "host:65536", "host:x", "host:-1", "host: 1", "[", "[]",
        "[]:1", "[2001:db8::1", "[2001:db8::1]1", "[2001:db8::1]:"))])
def test_peers(text, peer):
    assert split(text) == peer
