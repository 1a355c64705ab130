# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Which DualQ a host has (include/hosts.h): what a host is and how evenly hosts come to sets, and
the sets against a model that keeps their DualQs in a list, the longest idle first."""

import collections
import ipaddress
import math
import random

import pytest
from clib import C, ffi, new
from hypothesis import given
from hypothesis import strategies as st
from model import SECOND

WAYS = C.HOSTS_WAYS
START = 7 * SECOND
OWN = "own"
NEW, FOREIGN = C.HOSTS_NEW, C.HOSTS_FOREIGN
keys = st.integers(0, 2**64 - 1)


def law(key=0x0123456789abcdef, prefix=64):
    return new("hosts_law", C.hosts_make(key, prefix))


def host(made, address):
    """As a program finds it: the bytes of the address in memory."""
    octets = ipaddress.ip_address(address).packed
    if len(octets) == 4:
        return C.hosts_of_v4(made, ffi.from_buffer("__u32 *", octets)[0])
    return C.hosts_of_v6(made, *ffi.from_buffer("__u64[2]", octets))


# ---- what a host is --------------------------------------------------------------


@given(keys, st.integers(1, 128), st.integers(0, 2**128 - 1), st.integers(0, 127))
def test_a_host_is_a_prefix(key, prefix, address, bit):
    """Bits behind it do not count, and each in it does."""
    made, other = law(key, prefix), address ^ 1 << (127 - bit)
    one, another = (host(made, ipaddress.IPv6Address(number)) for number in (address, other))
    assert (one == another) == (bit >= prefix)


@given(keys, st.integers(0, 2**32 - 1), st.integers(0, 31))
def test_an_ipv4_host_is_an_address(key, address, bit):
    made = law(key, 1)
    one, another = (host(made, ipaddress.IPv4Address(number))
                    for number in (address, address ^ 1 << bit))
    assert one != another


def test_a_v4_address_is_not_the_v6_prefix_with_its_bits():
    made = law()
    assert len({host(made, at) for at in ("10.0.0.1", "a00:1::", "::10.0.0.1",
                                          "::ffff:10.0.0.1", "0:0:a00:1::")}) == 4
    assert host(made, "::ffff:10.0.0.1") == host(made, "::")


def test_the_key_chooses_who_shares():
    """Sixteen hosts that one key puts into a set are in several with another one."""
    sets = {}
    for n in range(4000):
        sets.setdefault(C.hosts_set_of(host(law(1), v4("10.0.0.0")(n)), 250), []).append(n)
    together = max(sets.values(), key=len)
    assert len(together) >= 16
    assert len({C.hosts_set_of(host(law(2), v4("10.0.0.0")(n)), 250) for n in together}) > 8


def test_no_host_is_none():
    """Of all keys one makes a host of this address the number of none. It takes another one."""
    one = 0xff51afd7ed558ccd
    back = pow(one, -1, 2**64)

    def unfold(word):
        return word ^ word >> 32

    first = unfold(5 * back % 2**64) ^ (2**64 - 1)  # then the second product is 5
    key = unfold(first * back % 2**64)
    assert host(law(key), "0.0.0.0") == 1 != C.HOSTS_NONE


@pytest.mark.parametrize("kind, bits", [(ipaddress.IPv4Address, range(32)),
                                        (ipaddress.IPv6Address, range(64, 128))])
def test_every_bit_of_an_address_changes_every_bit_of_a_host(kind, bits):
    """In half of all cases, that is, but for 7 standard deviations. So no two hosts that differ in
    their last byte only come to neighbouring sets whatever the key."""
    draw, rounds = random.Random(41), 400
    width = 32 if len(bits) == 32 else 128
    for bit in bits:
        changed = collections.Counter()
        for _ in range(rounds):
            made, address = law(draw.getrandbits(64)), draw.getrandbits(width)
            both = host(made, kind(address)) ^ host(made, kind(address ^ 1 << bit))
            changed.update(at for at in range(32) if both >> at & 1)
        assert all(abs(changed[at] - rounds / 2) < 7 * math.sqrt(rounds) / 2 for at in range(32))


def v4(first, step=1):
    return lambda n: ipaddress.IPv4Address(int(ipaddress.IPv4Address(first)) + n * step)


def v6(first, behind):
    return lambda n: ipaddress.IPv6Address(int(ipaddress.IPv6Address(first)) + (n << behind))


@pytest.mark.parametrize("address", [
    v4("10.0.0.0"), v4("100.64.0.1", 256), v4("10.0.0.0", 65536 + 7),
    v6("2001:db8::", 64), v6("2001:db8::1", 72), v6("2a00::", 80),
], ids=["in a row", "a /24 each", "one in 65543", "a /64 each", "a /56 each", "a /48 each"])
@pytest.mark.parametrize("sets", [2048, 3001])
def test_few_share(address, sets):
    """As many as if their sets were chosen at random (Poisson), give or take a third and 15."""
    for key in (0, 1, 0x9e3779b97f4a7c15):
        for hosts in (sets * WAYS // 3, sets * WAYS * 3 // 4):
            made = law(key)
            found = collections.Counter(C.hosts_set_of(host(made, address(n)), sets)
                                        for n in range(hosts))
            mean = hosts / sets
            beyond = sets * sum((n - WAYS) * math.exp(-mean) * mean**n / math.factorial(n)
                                for n in range(WAYS + 1, 60))
            share = sum(max(n - WAYS, 0) for n in found.values())
            assert abs(share - beyond) < beyond / 3 + 15
            assert max(found) < sets


# ---- homes -----------------------------------------------------------------------


def test_homes_follow_the_one_of_no_host():
    homes = [C.hosts_home(number, way) for number in range(5) for way in range(WAYS)]
    assert homes == list(range(C.HOSTS_HOME + 1, C.HOSTS_HOME + 1 + 5 * WAYS))


# ---- a set -----------------------------------------------------------------------


class Set:
    """The DualQs of a set, the one first to which none has come for longest, and what waits."""

    def __init__(self):
        self.of, self.waits = {}, collections.Counter()
        self.order = list(range(WAYS))

    def come(self, host):
        got, way = OWN, next((way for way, of in self.of.items() if of == host), None)
        if way is None:
            way = next((way for way in self.order if not self.waits[way]), None)
            got = NEW if way is not None else FOREIGN
        if got == FOREIGN:
            way = host % WAYS
        else:
            self.of[way] = host
        self.order.remove(way)
        self.order.append(way)
        return got, way

    def busy(self):
        return sum(1 << way for way in range(WAYS) if self.waits[way])


def come(made, number, busy=0, start=START):
    """A packet of a host: what it got, and where it goes."""
    at, got = C.hosts_own(made, start, number), OWN
    if at == WAYS:
        way = ffi.new("__u32 *")
        got, at = C.hosts_claim(made, number, busy, way), way[0]
    C.hosts_note(made, at)
    return got, at


def garbage():
    """What another qdisc has left behind."""
    made = new("hosts_set", start_ns=START - 1, packets=77)
    for way in range(WAYS):
        made.host[way], made.last[way] = way + 1, 2**32 - 5
    return made


@given(before=st.booleans(), packets=st.sampled_from([0, 2**31 - 3, 2**32 - 3]), steps=st.lists(
    st.one_of(st.tuples(st.just("arrive"), st.integers(1, 12)),
              st.tuples(st.just("refused"), st.integers(1, 12)),
              st.tuples(st.just("leave"), st.integers(0, WAYS - 1))), max_size=200))
def test_a_set(before, packets, steps):
    """Against the model, also where the count of packets wraps."""
    made, model = garbage() if before else new("hosts_set"), Set()
    for number in range(1, WAYS + 1):  # in each of them somebody was
        assert come(made, number) == model.come(number)
    made.packets = packets
    for number in range(1, WAYS + 1):
        assert come(made, number) == model.come(number)
    for what, which in steps:
        if what == "leave":
            model.waits[which] = max(0, model.waits[which] - 1)
            continue
        found = C.hosts_find(made, START, which)
        got, way = come(made, which, model.busy())
        assert (got, way) == model.come(which)
        assert found == (way if got == OWN else WAYS)
        if what == "arrive":
            model.waits[way] += 1


def test_what_another_qdisc_left_is_nobodys():
    made = garbage()
    assert all(C.hosts_find(made, START, number) == WAYS for number in range(1, WAYS + 1))
    assert C.hosts_find(made, START - 1, 3) == 2
    assert [come(made, number) for number in (9, 9)] == [(NEW, 0), (OWN, 0)]
    assert made.start_ns == START and not made.host[2]


def test_a_host_that_shares_meets_the_same_one():
    """And others than the next one does."""
    made, all_busy = new("hosts_set"), 2**WAYS - 1
    for number in range(1, WAYS + 1):
        come(made, number)
    for number in range(100, 120):
        assert {come(made, number, all_busy) for _ in range(3)} == {(FOREIGN, number % WAYS)}
    assert come(made, 119, all_busy ^ 1 << 5) == (NEW, 5)
    assert C.hosts_find(made, START, 6) == WAYS, "whose it was"
