# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`dualpi2-load status` and `dualpi2-load off`, which are about all interfaces of a network
namespace."""

import pytest
from conftest import LOADER, PIN_DIR, one_line, root
from netns import dummy
from test_privilege import as_nobody

pytestmark = pytest.mark.oldest_kernel

NOWHERE = "bpf_dualpi2 is attached to no interface of this network namespace\n"
NOTHING = "dualpi2-load: nothing to unload: no interface of this network namespace has it\n"


def load(space, *words, check=True):
    return space.run(LOADER, *words, check=check)


def status(space):
    done = load(space, "status")
    assert not done.stderr
    return done.stdout


def test_status_of_nothing(space):
    assert status(space) == NOWHERE


def test_status_says_what_is_where(space):
    load(space, "one", "--rate", "9500kbit", "--sparse")
    load(space, "one", "--ingress", "--rate", "38mbit", "--target", "10ms")
    load(space, "two")
    assert status(space) == (
        "one: bpf_dualpi2, rate 9.5mbit, target 15ms, sparse\n"
        "one, ingress (in-one): bpf_dualpi2, rate 38mbit, target 10ms\n"
        "two: bpf_dualpi2, rate unlimited, target 15ms\n")


def test_status_of_an_mq(registered, box):
    dummy(box, "many", "numtxqueues", 4)
    load(box, "many", "--mq")
    assert "many: bpf_dualpi2 at each transmit queue (mq), rate unlimited" in status(box)
    load(box, "off")


def test_status_says_what_is_left_over(space):
    load(space, "two", "--ingress", "--rate", "38mbit")
    space.ip("link del two")
    assert status(space) == NOWHERE + (
        "in-two is left over of an interface that is gone: `ip link del in-two` removes it\n")
    load(space, "off", "--if-attached")


def test_status_changes_nothing(space):
    load(space, "one", "--rate", "40mbit")
    before = root(space, "one")
    assert status(space) == status(space)
    assert root(space, "one") == before


def test_status_without_the_pins(space):
    """They are elsewhere, as for another mount of bpffs: it is attached all the same."""
    load(space, "one", "--rate", "40mbit")
    away = PIN_DIR.with_name("dualpi2-away")
    PIN_DIR.rename(away)
    try:
        assert status(space) == (
            "one: bpf_dualpi2 is attached, its parameters cannot be seen: `dualpi2-load --check`\n")
    finally:
        away.rename(PIN_DIR)


def test_off_restores_all(space):
    space.run("tc", "qdisc", "add", "dev", "two", "root", "fq_codel", "limit", "99")
    load(space, "one", "--rate", "40mbit")
    load(space, "one", "--ingress", "--rate", "38mbit")
    load(space, "two", "--replace")
    done = load(space, "off")
    assert (done.stdout, done.stderr) == ("one: unloaded\ntwo: unloaded\n", "")
    assert {"one", "two"} <= set(space.links()) and "in-one" not in space.links()
    assert root(space, "one")["kind"] == "noqueue"
    assert root(space, "two")["options"]["limit"] == 99
    assert status(space) == NOWHERE


def test_off_leaves_other_namespaces(space, new_space):
    other = new_space("other")
    dummy(other, "three")
    load(other, "three", "--rate", "40mbit")
    load(space, "one")
    assert load(space, "off").stdout == "one: unloaded\n"
    assert status(other) == "three: bpf_dualpi2, rate 40mbit, target 15ms\n"
    assert load(other, "off").stdout == "three: unloaded\n"


def test_off_of_nothing(space):
    assert one_line(load(space, "off", check=False), 1) == NOTHING
    done = load(space, "off", "--if-attached")
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize("word", ["status", "off"])
def test_an_interface_of_that_name(space, word):
    """Then it is not for us to choose: behind a `--` it is the interface."""
    dummy(space, word)
    load(space, "one")
    assert one_line(load(space, word, check=False), 2) == (
        f"dualpi2-load: {word}: is a command, but here also an interface: for this, "
        f"`dualpi2-load -- {word}`; to unload all, each by its name\n")
    assert root(space, "one")["kind"] == "bpf_dualpi2"
    assert load(space, "--rate", "40mbit", "--", word).stdout == (
        f"{word}: bpf_dualpi2 attached, rate 40mbit, target 15ms\n")
    assert load(space, "--unload", "--", word).stdout == f"{word}: unloaded\n"


@pytest.mark.parametrize("words, option", [
    (("status", "--rate", "40mbit"), "rate"), (("off", "--ingress"), "ingress"),
    (("off", "rate", "40mbit"), "rate"), (("status", "--if-attached"), "if-attached"),
    (("--check", "off"), "check"), (("off", "--unload"), "unload"),
])
def test_other_options_are_refused(space, words, option):
    load(space, "one")
    [word] = {"status", "off"} & set(words)
    assert one_line(load(space, *words, check=False), 2) == (
        f"dualpi2-load: {word}: takes no --{option}: it is about all interfaces (for one of this "
        f"name: `dualpi2-load -- {word}`)\n")
    assert root(space, "one")["kind"] == "bpf_dualpi2"


@pytest.mark.parametrize("word", ["status", "off"])
def test_without_rights(space, word):
    """That it cannot be seen is not that there is nothing."""
    load(space, "one")
    done = space.run(*as_nobody(LOADER, word), check=False)
    assert "right" in one_line(done, 1)
    assert root(space, "one")["kind"] == "bpf_dualpi2"
