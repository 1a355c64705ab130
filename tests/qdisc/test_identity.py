# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Names, numbers of interfaces and inodes of namespaces are reused: none of them says whose a
device, a program or a parameter is."""

import itertools
import json
import re

import pytest
import superpackets
from bpfcall import BPF_PROG_TYPE_SCHED_CLS, pinned_verdict
from conftest import LOADER, PIN_DIR, Qdisc, one_line
from findings import findings, of_kind
from frames import NOT_ECT, ipv4_frame, send
from netns import Namespace, dummy, run, veth, wait_until
from superpackets import super_frame

NUMBER = 100  # of interfaces that come again
SEGMENTS = 8
PAYLOAD = SEGMENTS * superpackets.MSS * b"x"


@pytest.fixture
def space(registered):
    space = Namespace("again")
    yield space
    for name in space.links():
        for direction in (), ("--ingress",):
            space.run(LOADER, name, *direction, "--unload", check=False)
    space.delete()


def send_super(space, device):
    """One GSO packet."""
    with superpackets.sender(space, device) as sender:
        sender.send(super_frame(PAYLOAD))


def sent(space, device):
    """What the device has sent."""
    return space.links("-s")[device]["stats64"]["tx"]


def is_split(space, device):
    """Do GSO packets queue as segments there? Each segment is counted in either case."""
    qdisc = Qdisc(space, device)
    before = qdisc.stats()
    send_super(space, device)
    after = qdisc.stats()
    assert sum(after["gso"].values()) == sum(before["gso"].values()) + 1
    queues = after["c-queue"], before["c-queue"]
    for counter in ("packets-in", "packets-out"):
        assert queues[0][counter] == queues[1][counter] + SEGMENTS
    return after["gso"]["split"] > before["gso"]["split"]


def numbers(space):
    return {name: link["ifindex"] for name, link in space.links().items()}


def helpers(space):
    return {name: number for name, number in numbers(space).items()
            if name.startswith(("gso-", "gsx-", "in-"))}


def rename(space, old, new):
    space.ip(f"link set {old} down")
    space.ip(f"link set {old} name {new}")
    space.up(new)


# ---- names -----------------------------------------------------------------------------


def test_splitter_of_a_renamed_interface(space):
    dummy(space, "eth0")
    space.run(LOADER, "eth0")
    rename(space, "eth0", "wan0")
    dummy(space, "eth0")
    space.run(LOADER, "eth0")
    assert is_split(space, "wan0") and is_split(space, "eth0")
    space.run(LOADER, "eth0", "--unload")
    assert is_split(space, "wan0")
    assert set(helpers(space)) == {"gso-eth0", "gsx-eth0"}
    space.run(LOADER, "wan0", "--unload")
    assert helpers(space) == {}


def test_ifb_of_a_renamed_interface(space):
    dummy(space, "eth0")
    space.run(LOADER, "eth0", "--ingress", "--rate", "50mbit")
    rename(space, "eth0", "wan0")
    dummy(space, "eth0")
    number = space.links()["eth0"]["ifindex"]
    done = space.run(LOADER, "eth0", "--ingress", "--rate", "77mbit")
    assert done.stdout.startswith(f"eth0, ingress (in-{number}): bpf_dualpi2 attached")
    rates = {name: Qdisc(space, name).stats()["options"]["rate"] for name in helpers(space)}
    assert rates == {"in-eth0": 50_000_000, f"in-{number}": 77_000_000}
    space.run(LOADER, "eth0", "--ingress", "--unload")
    assert set(helpers(space)) == {"in-eth0"}
    space.run(LOADER, "wan0", "--ingress", "--rate", "51mbit")
    assert Qdisc(space, "in-eth0").stats()["options"]["rate"] == 51_000_000
    space.run(LOADER, "wan0", "--ingress", "--unload")
    assert helpers(space) == {}


def test_interface_named_like_a_number(space):
    """What is named by its number, and what is called so."""
    names = "abcdefghijklmno", str(NUMBER)
    dummy(space, names[0], "index", NUMBER)
    dummy(space, names[1])
    for count, name in enumerate(names, start=1):
        space.run(LOADER, name)
        space.run(LOADER, name, "--ingress", "--rate", "50mbit")
        assert len(helpers(space)) == 3 * count
        assert {f"gso-{NUMBER}", f"gsx-{NUMBER}", f"in-{NUMBER}"} <= set(helpers(space))
    for name in names:
        assert is_split(space, name)
        space.run(LOADER, name, "--unload")
    assert helpers(space) == {}


def test_helper_with_another_address_and_name(space):
    """Its alias is left, and the next run mends it."""
    dummy(space, "eth0")
    space.run(LOADER, "eth0")
    rename(space, "gso-eth0", "mine")
    assert is_split(space, "eth0"), "a name means nothing"
    space.ip("link set mine address 02:00:00:00:00:77")
    assert not is_split(space, "eth0")
    space.run(LOADER, "eth0")
    assert is_split(space, "eth0")
    assert set(space.links()) == {"lo", "eth0", "gso-eth0", "gsx-eth0"}


# ---- numbers ---------------------------------------------------------------------------


def stranger(space, number, kind):
    """Somebody's device in the place of one of ours; it passes packets on as ours would."""
    peer = ("peer", "name", "other") if kind == "netkit" else ()
    space.run("ip", "link", "add", "theirs", "index", number, "type", kind, *peer)
    for name in ("other", "theirs") if peer else ("theirs",):
        space.up_without_ipv6(name)
        space.ip(f"link set {name} gso_max_segs 1 gso_max_size 512")


def test_number_of_a_deleted_splitter(space):
    """The programs send nothing to whoever has its number, and the tools leave it alone."""
    dummy(space, "eth0")
    space.run(LOADER, "eth0")
    number = helpers(space)["gso-eth0"]
    space.ip("link del gso-eth0")
    stranger(space, number, "netkit")
    assert not is_split(space, "eth0")
    assert sent(space, "theirs")["packets"] == sent(space, "theirs")["dropped"] == 0
    space.run(LOADER, "eth0")
    assert is_split(space, "eth0")
    space.run(LOADER, "eth0", "--unload")
    assert set(space.links()) == {"lo", "eth0", "theirs", "other"}


def test_number_of_a_deleted_ifb(space, new_space):
    """Nor by what arrives, though that device has a bpf_dualpi2 of its own."""
    peer = new_space("peer")
    veth(space, "eth0", peer, "p0")
    space.run(LOADER, "eth0", "--ingress", "--rate", "50mbit")
    number = helpers(space)["in-eth0"]
    space.ip("link del in-eth0")
    stranger(space, number, "dummy")
    space.run(LOADER, "theirs", "--no-split-gso")
    before = Qdisc(space, "theirs").stats()["packets"]
    send(peer, "p0", *(ipv4_frame(serial, NOT_ECT, 200) for serial in range(5)))
    assert space.links("-s")["eth0"]["stats64"]["rx"]["packets"] == 5
    assert Qdisc(space, "theirs").stats()["packets"] == before
    space.run(LOADER, "eth0", "--ingress", "--rate", "50mbit")
    space.run(LOADER, "eth0", "--ingress", "--unload")
    assert Qdisc(space, "theirs").is_attached()


def test_interface_with_the_number_of_a_deleted_one(space):
    """It has neither its parameters nor its ifb."""
    dummy(space, "eth0", "index", NUMBER)
    dummy(space, "other")
    space.run(LOADER, "other")
    space.run(LOADER, "eth0", "--target", "9ms")
    space.run(LOADER, "eth0", "--ingress", "--rate", "50mbit")
    space.ip("link del eth0")
    dummy(space, "eth1", "index", NUMBER)
    space.run("tc", "qdisc", "add", "dev", "eth1", "root", "bpf_dualpi2")
    assert Qdisc(space, "eth1").stats()["options"]["target"] == 15_000
    assert "eth1: removed in-eth0: " in space.run(LOADER, "eth1").stdout
    assert "in-eth0" not in space.links()
    assert "--rate" in one_line(space.run(LOADER, "eth1", "--ingress", check=False), 2)
    one_line(space.run(LOADER, "eth1", "--ingress", "--unload", check=False), 1)


def test_parameters_of_a_deleted_interface_with_another_qdisc(space):
    """There was none of ours on it to end with it."""
    dummy(space, "eth0", "index", NUMBER)
    space.run(LOADER, "eth0", "--target", "9ms")
    space.run("tc", "qdisc", "replace", "dev", "eth0", "root", "handle", "7:", "pfifo")
    space.ip("link del eth0")
    dummy(space, "eth1", "index", NUMBER)
    space.run("tc", "qdisc", "add", "dev", "eth1", "root", "bpf_dualpi2")
    assert Qdisc(space, "eth1").stats()["options"]["target"] == 15_000


def test_interface_with_the_number_of_one_that_went(space, new_space):
    """To another namespace, where its program goes on."""
    elsewhere = new_space("elsewhere")
    dummy(space, "eth0", "index", NUMBER)
    space.run(LOADER, "eth0", "--target", "9ms")
    space.ip(f"link set eth0 netns {elsewhere.name}")
    dummy(space, "eth0", "index", NUMBER)
    space.run("tc", "qdisc", "add", "dev", "eth0", "root", "bpf_dualpi2")
    assert Qdisc(space, "eth0").stats()["options"]["target"] == 15_000
    done = space.run(LOADER, "eth0")
    assert "repaired: its tcx program is attached again" in done.stdout
    assert Qdisc(space, "eth0").stats()["tcx-attached"] is True
    assert is_split(space, "eth0")


def test_alias_of_another_namespace(space, new_space):
    """A container's device may have the alias of ours, if its interface has the same number."""
    elsewhere = new_space("elsewhere")
    for where in space, elsewhere:
        dummy(where, "eth0", "index", NUMBER)
    space.run(LOADER, "eth0")
    space.run(LOADER, "eth0", "--ingress", "--rate", "50mbit")
    aliases = {name: space.links()[name]["ifalias"] for name in helpers(space)}
    elsewhere.ip("link add name mine type netkit peer name other")
    elsewhere.run("ip", "link", "set", "mine", "alias", aliases["gso-eth0"])
    elsewhere.ip("link add name arrives type ifb")
    elsewhere.run("ip", "link", "set", "arrives", "alias", aliases["in-eth0"])
    before = numbers(elsewhere)
    elsewhere.run(LOADER, "eth0", "--unload", "--if-attached")
    one_line(elsewhere.run(LOADER, "eth0", "--unload", check=False), 1)
    elsewhere.run(LOADER, "eth0", "--ingress", "--rate", "50mbit")
    elsewhere.run(LOADER, "arrives")
    for device in "arrives", "eth0":
        elsewhere.run(LOADER, device, "--unload")
    assert numbers(elsewhere) == before


# ---- inodes ----------------------------------------------------------------------------


def inode(space):
    return int(space.run("stat", "-Lc", "%i", "/proc/self/ns/net").stdout)


def former_spaces(kind):
    """Namespaces that had a loaded interface, and are deleted: {inode: number of its helper}. The
    kernel gives an inode out again, but files in /proc take some of them, too."""
    spaces = [Namespace(f"former{number}") for number in range(6)]
    formers = {}
    for space in spaces:
        dummy(space, "eth0", "index", NUMBER)
        space.run(LOADER, "eth0", "--target", "9ms")
        space.run(LOADER, "eth0", "--ingress", "--rate", "50mbit")
        formers[inode(space)] = helpers(space)["gso-eth0" if kind == "netkit" else "in-eth0"]
    for space in spaces:
        space.delete()
    return formers


@pytest.mark.parametrize("kind", ["netkit", "ifb"])
def test_namespace_with_the_inode_of_a_deleted_one(registered, new_space, kind):
    """Its devices are its own, though all their numbers are those of the former's."""
    formers = former_spaces(kind)
    counter = itertools.count()

    def found():
        spare = new_space(f"spare{next(counter)}")
        return spare if inode(spare) in formers else None

    space = wait_until(found, f"a namespace has one of the inodes {set(formers)}", 60)
    dummy(space, "eth0", "index", NUMBER)
    stranger(space, formers[inode(space)], kind)
    before = numbers(space)
    space.run("tc", "qdisc", "add", "dev", "eth0", "root", "bpf_dualpi2")
    assert Qdisc(space, "eth0").stats()["options"]["target"] == 15_000
    space.run(LOADER, "eth0")
    assert is_split(space, "eth0")
    space.run(LOADER, "eth0", "--unload")
    one_line(space.run(LOADER, "eth0", "--ingress", "--unload", check=False), 1)
    assert numbers(space) == before


def test_nothing_of_a_deleted_namespace_is_kept(registered):
    """Its entries go with the next run, those of a namespace that lives stay."""
    spaces = [Namespace(name) for name in ("ends", "lives", "here")]
    try:
        for space in spaces:
            dummy(space, "eth0")
            space.run(LOADER, "eth0")
            space.run(LOADER, "eth0", "--ingress", "--rate", "50mbit")
        ends, lives, here = spaces
        gone, kept = ends.cookie(), lives.cookie()
        lives.ip("link del eth0")
        ends.delete()
        spaces.remove(ends)
        wait_until(lambda: here.run(LOADER, "eth0") and gone not in entries(), "it is forgotten")
        assert kept in entries()
        assert set(helpers(lives)) == {"gso-eth0", "gsx-eth0", "in-eth0"}
        one_line(lives.run(LOADER, "eth0", "--unload", check=False), 1)
        assert helpers(lives) == {}
    finally:
        for space in spaces:
            for direction in (), ("--ingress",):
                space.run(LOADER, "eth0", *direction, "--unload", check=False)
            space.delete()


def entries():
    """Cookies of the namespaces that have helper devices."""
    dump = run("bpftool", "-j", "map", "dump", "name", "dualpi2_devices").stdout
    return {entry["formatted"]["key"]["netns"] for entry in json.loads(dump)}


# ---- programs ---------------------------------------------------------------------------


def egress_programs(space, device):
    """Their names, in order."""
    return [program["name"] for program in space.programs(device)]


@pytest.mark.parametrize("name", ["dualpi2_mark", "dualpi2_split"])
def test_a_program_with_our_name(space, name):
    """Neither is in the way of the other."""
    dummy(space, "one")
    pin = PIN_DIR.parent / "strangers"
    with pinned_verdict(BPF_PROG_TYPE_SCHED_CLS, -1, pin, name.encode()):
        space.run("bpftool", "net", "attach", "tcx_egress", "pinned", pin, "dev", "one")
        assert not of_kind(findings(space, "one"), "MISSING")
        space.run(LOADER, "one")
        assert Qdisc(space, "one").stats()["tcx-attached"] is True
        assert sorted(egress_programs(space, "one")) == sorted(
            [name, "dualpi2_mark", "dualpi2_split"])
        space.run(LOADER, "one", "--unload")
        assert egress_programs(space, "one") == [name]


ELSEWHERE = ("unshare", "--mount", "sh", "-c",
             'umount /sys/fs/bpf && mount -t bpf bpf /sys/fs/bpf && exec "$@"', "sh")


def test_a_program_of_ours_that_is_pinned_elsewhere(space):
    """Seen from another mount namespace. Attach, unload and check all say that it is in the way."""
    dummy(space, "one")
    space.run(LOADER, "one")
    told = "is attached, but its link is not pinned"
    for options in [], ["--unload"]:
        assert told in one_line(space.run(*ELSEWHERE, LOADER, "one", *options, check=False), 1)
    checked = space.run(*ELSEWHERE, LOADER, "--check", "one", check=False)
    assert checked.returncode == 1 and checked.stderr == ""
    assert re.search(f"^MISSING  one: our tcx program .* {told}", checked.stdout, re.MULTILINE)
    assert Qdisc(space, "one").stats()["tcx-attached"] is True
    space.run(LOADER, "one", "--unload")


def test_a_program_that_cannot_be_looked_at(space):
    """It may be ours for all that is known."""
    dummy(space, "one")
    space.run(LOADER, "one")
    line = one_line(space.run(*ELSEWHERE, "strace", "-o", "/dev/null",
                              "--inject=readlink:error=EIO", LOADER, "one", "--unload",
                              check=False), 1)
    assert "cannot look at the tcx programs of the interface: Input/output error" in line
    space.run(LOADER, "one", "--unload")
