# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What leads from the subscribers in force to those of a file (user/subscribers/changes.c), done
step by step on a model of the maps, which is looked at after each step."""

import ctypes
import time
from itertools import pairwise

import pytest
from clib import C, ffi
from hypothesis import given
from hypothesis import strategies as st

BITS = 128
PROGRAM = ffi.new("char[]", b"test")


def name_of(subscriber):
    return ffi.string(subscriber.name).decode()


class Subscribers:
    """Of a text; None: nobody is in force."""

    def __init__(self, text=None):
        self.list = ffi.new("struct subscribers *")
        if text is not None:
            given_text = ffi.new("char[]", text.encode())
            assert C.subscribers_parse(b"test", given_text, len(text.encode()), self.list)

    def __del__(self):
        C.subscribers_free(self.list)

    def __iter__(self):
        return (self.list.of[place] for place in range(self.list.count))

    def owners(self):
        """Names by prefix: (bits, address)."""
        return {key_of(entry.prefix): name_of(entry.owner)
                for entry in self.list.prefixes[0:self.list.prefix_count]}

    def numbers(self):
        """By name and role."""
        return {(name_of(each), each.is_parent): each.number for each in self}

    def plans(self):
        """By number."""
        return {each.number: plan_of(each) for each in self}


def key_of(prefix):
    return prefix.bits, int.from_bytes(bytes(prefix.address), "big")


def plan_of(subscriber):
    plan = subscriber.plan
    return plan.down, plan.up, plan.parent.number if plan.parent else None


def holds(prefix, address):
    bits, value = prefix
    return address >> (BITS - bits) == value >> (BITS - bits)


def look_up(prefixes, address):
    """What the longest one leads to; None: nowhere."""
    found = [prefix for prefix in prefixes if holds(prefix, address)]
    return prefixes[max(found)] if found else None


class Maps:
    """As the programs will have them, and who has a number."""

    def __init__(self):
        self.plans, self.prefixes, self.names = {}, {}, {}

    def do(self, change):
        kind, number = change.kind, change.subscriber.number
        if kind == C.SUBSCRIBER_ADDED:
            assert number not in self.names and number > 0
            self.names[number] = name_of(change.subscriber)
        if kind in (C.SUBSCRIBER_ADDED, C.SUBSCRIBER_CHANGED):
            assert self.names[number] == name_of(change.subscriber)
            assert self.plans.get(number) != plan_of(change.subscriber)
            self.plans[number] = plan_of(change.subscriber)
        elif kind == C.SUBSCRIBER_PREFIX_SET:
            assert self.prefixes.get(key_of(change.prefix[0])) != number
            self.prefixes[key_of(change.prefix[0])] = number
        elif kind == C.SUBSCRIBER_PREFIX_GONE:
            assert self.prefixes.pop(key_of(change.prefix[0])) == number
        elif kind == C.SUBSCRIBER_REMOVED:
            del self.plans[number], self.names[number]

    def owners(self):
        return {prefix: self.names[number] for prefix, number in self.prefixes.items()}

    def check_parents(self):
        for _, _, parent in self.plans.values():
            assert parent is None or parent in self.plans


def addresses(*prefixes):
    """The first and the last one of each."""
    return {address for prefix in set().union(*prefixes)
            for address in (prefix[1], prefix[1] | (1 << (BITS - prefix[0])) - 1)}


def compare(before, after, room):
    changes = ffi.new("struct subscriber_changes *")
    C.message_begin()
    if not C.subscribers_compare(before.list, after.list, room, changes):
        assert not changes.count
        return None
    return ffi.gc(changes, free)


def free_pointer(pointer):
    ctypes.CDLL(None).free(ctypes.c_void_p(int(ffi.cast("uintptr_t", pointer))))


def free(changes):
    free_pointer(changes.of)


def go(maps, before, after, room):
    """Do it, and look at each moment. Returns the counts by kind; None: no room."""
    changes = compare(before, after, room)
    if not changes:
        return None
    were, will = before.owners(), after.owners()
    looked_up = addresses(were, will)
    numbers = before.numbers().values()
    for (who, number) in before.numbers().items():
        assert after.numbers().get(who, number) == number, "who stays keeps the number"
    is_short = any(number in numbers for who, number in after.numbers().items()
                   if who not in before.numbers())
    for change in changes.of[0:changes.count]:
        maps.do(change)
        maps.check_parents()
        now = maps.owners()
        for prefix, owner in now.items():
            assert owner in (were.get(prefix), will.get(prefix))
        for address in looked_up:
            assert is_short or look_up(now, address) in (
                look_up(were, address), look_up(will, address))
    assert maps.owners() == will
    assert maps.plans == after.plans()
    assert maps.names == {number: name for (name, _), number in after.numbers().items()}
    return list(changes.counts)


PREFIXES = ["*", "2000::/3", "2001:db8::/32", "2001:db8::/48", "2001:db8::1", "0.0.0.0/0",
            "10.0.0.0/8", "10.0.0.0/9", "10.128.0.0/9", "10.0.0.0/24", "10.0.0.1", "10.0.0.2",
            "10.200.0.0/16", "10.200.1.0/24"]


@st.composite
def files(draw):
    """Names that change their role, prefixes that go from one to another, in any order."""
    names = draw(st.permutations("abcdefgh"))
    parents = names[:draw(st.integers(0, 3))]
    named = names[len(parents):draw(st.integers(len(parents) + 1, len(names)))]
    owners = draw(st.lists(st.sampled_from([*named, None]), min_size=len(PREFIXES),
                           max_size=len(PREFIXES)))
    rate = st.sampled_from(["1mbit", "2mbit"])
    lines = [f"{name} - {draw(rate)} {draw(rate)}\n" for name in parents]
    for name in named:
        own = [prefix for prefix, owner in zip(PREFIXES, owners, strict=True) if owner == name]
        if own:
            parent = draw(st.sampled_from(["", *parents]))
            lines.append(f"{name} {','.join(own)} {draw(rate)} {draw(rate)} {parent}\n")
    return "".join(lines) or "a * 1mbit 1mbit\n"


@given(st.lists(files(), min_size=1, max_size=4), st.integers(8, 16))
def test_each_moment(texts, room):
    """With 16 numbers for at most 8 names there is always one that nobody has; with 8 not."""
    maps, now = Maps(), Subscribers()
    for text in [*texts, texts[-1]]:
        after = Subscribers(text)
        counts = go(maps, now, after, room)
        if counts is None:
            assert room < 16
            break
        now = after
    else:
        assert not any(counts), "the same again changes nothing"


def steps(*texts, room=16):
    """The counts from the last but one to the last: added, changed, set, gone, removed."""
    maps, now = Maps(), Subscribers()
    for text in texts:
        after = Subscribers(text)
        counts = go(maps, now, after, room)
        now = after
    return counts


A, B = "a 10.0.0.0/8 1mbit 1mbit\n", "b 10.0.0.0/24,2001:db8::/48 1mbit 1mbit\n"
P = "p - 5mbit 5mbit\n"


@pytest.mark.parametrize("before, after, counts", [
    (A, A, [0, 0, 0, 0, 0]), (A, A + B, [1, 0, 2, 0, 0]), (A + B, B, [0, 0, 0, 1, 1]),
    (A + B, B + A, [0, 0, 0, 0, 0]),
    (A, A.replace("1mbit\n", "2mbit\n"), [0, 1, 0, 0, 0]),
    (A, A.replace("a", "c"), [1, 0, 1, 0, 1]),
    (A, A.replace(" 1mbit", ",*,10.1.0.0/16 1mbit", 1), [0, 0, 2, 0, 0]),
    (A + B, A.replace("a ", "b ") + B.replace("b 1", "a 1"), [0, 0, 3, 0, 0]),
    (P + A, P + A.replace("1mbit\n", "1mbit p\n"), [0, 1, 0, 0, 0]),
    (P + A.replace("1mbit\n", "1mbit p\n"), A, [0, 1, 0, 0, 1]),
    (P + A.replace("1mbit\n", "1mbit p\n"), P.replace("p", "q") + A.replace("1mbit\n", "1mbit q\n"),
     [1, 1, 0, 0, 1]),
    (P + A, "p 192.0.2.1 5mbit 5mbit\n" + A, [1, 0, 1, 0, 1])])
def test_what_changes(before, after, counts):
    assert steps(before, after) == counts


def test_numbers_of_those_that_go_when_there_is_no_other():
    """All of a full qdisc with other names: their prefixes lead nowhere meanwhile."""
    before = "".join(f"a{number} 10.0.0.{number} 1mbit 1mbit\n" for number in range(16))
    assert steps(before, before.replace("a", "b")) == [16, 0, 16, 16, 16]
    half = before.replace("a1", "b1")
    assert steps(before, half) == [7, 0, 7, 7, 7]
    # A parent does not wait: those that it has could not be changed.
    assert steps(A + B, P + A.replace("1mbit\n", "1mbit p\n") + B.replace("b", "c", 1),
                 room=3) == [2, 1, 2, 2, 1]


def test_no_room(capfd):
    C.message_init(PROGRAM)
    three = P + A + B
    assert steps(three, room=3) == [3, 0, 3, 0, 0]
    assert steps(three, room=2) is None
    assert capfd.readouterr().err == "test: 3 subscribers and parents, and room for 2\n"
    assert steps(three, three.replace("p", "q"), room=3) is None
    assert "q: no room for one more parent until others are gone" in capfd.readouterr().err


def numbered(count, each, rate):
    return "".join(
        f"s{number} " + ",".join(f"10.{number >> 8}.{number & 255}.{more}" for more in range(each))
        + f" {rate}mbit 2mbit\n" for number in range(count))


def test_ten_thousand_subscribers_are_compared_at_once():
    """Bounded by ten times what it takes, which it prints."""
    before, after = (Subscribers(numbered(10_000, 10, rate)) for rate in (10, 20))
    assert compare(Subscribers(), before, 10_000).count == 110_000
    begin = time.monotonic()
    changes = compare(before, after, 10_000)
    seconds = time.monotonic() - begin
    assert list(changes.counts) == [0, 10_000, 0, 0, 0]
    print(f"compared in {1000 * seconds:.0f} ms")
    assert seconds < 2


def test_who_stays_keeps_the_owner():
    """Of the number; who is new has none yet."""
    before, after = Subscribers(A + B), Subscribers(B + A.replace("a", "c").replace("10.", "11."))
    compare(Subscribers(), before, 4)
    for each in before:
        each.owner = 100 + each.number
    compare(before, after, 4)
    assert {name_of(each): each.owner for each in after} == {
        "b": 100 + before.numbers()["b", False], "c": 0}


@pytest.mark.parametrize("is_up, plans", [(False, {1: (2, 2), 2: (4, 4)}),
                                          (True, {1: (3, 3), 2: (5, 5)})])
def test_one_direction_alone_counts(is_up, plans):
    """So a changed rate of the other one changes nothing."""
    subscribers = Subscribers("p - 16mbit 24mbit\na * 32mbit 40mbit p\n")
    C.subscribers_keep_direction(subscribers.list, is_up)
    assert [(each.plan.down, each.plan.up) for each in subscribers] == [
        (down * 10**6, up * 10**6) for down, up in plans.values()]


def test_prefixes_by_owner():
    """In the order of the file, and of one the longest first."""
    subscribers = Subscribers(B + "c *,::1,10.0.0.0/9 1mbit 1mbit\n")
    sorted_ = C.subscribers_by_owner(subscribers.list)
    assert [(name_of(each.owner), each.prefix.bits)
            for each in sorted_[0:subscribers.list.prefix_count]] == [
                ("b", 120), ("b", 48), ("c", 128), ("c", 105), ("c", 0)]
    free_pointer(sorted_)


def test_pairs_of_names_and_roles():
    """A name that was a parent and now has addresses is somebody else, under another number."""
    texts = [P, "p 192.0.2.1 5mbit 5mbit\n", P]
    for before, after in pairwise(texts):
        first, second = Subscribers(before), Subscribers(after)
        compare(Subscribers(), first, 4)
        compare(first, second, 4)
        assert first.list.of[0].number != second.list.of[0].number
