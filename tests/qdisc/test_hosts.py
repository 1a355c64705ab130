# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`dualpi2-load --per-host`: what it makes, keeps, takes away and refuses. (What hosts get of it:
test_per_host.py.)"""

import contextlib
import json
import re

import pytest
from conftest import (
    AQMS,
    HOSTS_KINDS,
    KINDS,
    LOADER,
    PIN_DIR,
    Qdisc,
    one_line,
    root,
)
from frames import NOT_ECT, ipv4_frame, send
from netns import dummy, run, veth

pytestmark = pytest.mark.oldest_kernel

ALSO_REGISTERED = ("pi2-hosts",)
KIND = HOSTS_KINDS["pi2-hosts"]
DIRECTORY = PIN_DIR / "pi2-hosts"
SETS, DUALQS = DIRECTORY / "dualpi2_host_sets", DIRECTORY / "dualpi2_host_dualqs"
WAYS = 8  # HOSTS_WAYS


def dumped(pin):
    return json.loads(run("bpftool", "-j", "map", "dump", "pinned", pin).stdout)


def number_of(key):
    return int.from_bytes(bytes(int(byte, 16) for byte in key), "little")


def slots(pin):
    """What stands in an array of maps: {number of the qdisc: number of the map}."""
    return {number_of(entry["key"]): number_of(entry["value"]) for entry in dumped(pin)
            if isinstance(entry.get("value"), list)}


def room(number):
    return json.loads(run("bpftool", "-j", "map", "show", "id", number).stdout)["max_entries"]


def maps():
    """Of each live qdisc: its sets and its DualQs, by number of the qdisc."""
    sets, dualqs = slots(SETS), slots(DUALQS)
    assert sets.keys() == dualqs.keys()
    return {number: (sets[number], dualqs[number]) for number in sets}


@contextlib.contextmanager
def news():
    """The maps that have come, and at the end the others are as before."""
    before, found = maps(), {}
    yield found
    after = maps()
    assert {number: after.get(number) for number in before} == before
    found.update({number: pair for number, pair in after.items() if number not in before})


def kind(space, dev="one"):
    return root(space, dev)["kind"]


def options(space, dev="one"):
    return Qdisc(space, dev).stats()["options"]


# ---- it comes and goes ------------------------------------------------------------------


def test_attached_and_gone_again(bare):
    """Nothing is left behind."""
    before = root(bare, "one")
    done = bare.run(LOADER, "one", "--per-host", "dst", "--rate", "50mbit")
    assert done.stdout.startswith(f"one: {KIND} attached, rate 50mbit, target 15ms, per-host dst\n")
    assert kind(bare) == KIND
    shown = options(bare)
    assert (shown["per-host"], shown["hosts"], shown["host-prefix"]) == ("dst", 4096, 64)
    [(sets, dualqs)] = maps().values()
    assert (room(sets), room(dualqs)) == (4096 // WAYS, 4096)
    send(bare, "one", *[ipv4_frame(serial, NOT_ECT, 200) for serial in range(3)])
    stats = Qdisc(bare, "one").check_conservation()
    assert stats["c-queue"]["packets-out"] == 3 and stats["bypassed-tcx"] == 0
    bare.run(LOADER, "one", "--unload")
    assert root(bare, "one") == before and not PIN_DIR.exists()


@pytest.mark.parametrize("aqm", [name for name in AQMS if f"{name}-hosts" in HOSTS_KINDS])
def test_with_each_aqm(bare, aqm):
    bare.run(LOADER, "one", "--aqm", aqm, "--per-host", "src", "--hosts", 8)
    assert kind(bare) == HOSTS_KINDS[f"{aqm}-hosts"]
    stats = Qdisc(bare, "one").stats()
    assert stats["options"]["per-host"] == "src" and stats["options"]["hosts"] == 8
    assert stats["kind"] == HOSTS_KINDS[f"{aqm}-hosts"]


def test_as_many_hosts_as_are_asked_for(space):
    """In full sets."""
    with news() as found:
        space.run(LOADER, "one", "--per-host", "dst", "--hosts", 65521)
    [(sets, dualqs)] = found.values()
    assert (room(sets), room(dualqs)) == (65528 // WAYS, 65528)
    assert options(space)["hosts"] == 65528


def test_each_qdisc_has_its_own(space):
    with news() as found:
        for dev in ("one", "two"):
            space.run(LOADER, dev, "--per-host", "dst", "--hosts", 16)
    assert len(found) == 2 and len({number for pair in found.values() for number in pair}) == 4
    for dev in ("one", "two"):
        space.run(LOADER, dev, "--unload")
    assert not found.keys() & maps().keys()


def test_of_an_interface_that_is_deleted(space):
    before = maps()
    dummy(space, "gone")
    space.run(LOADER, "gone", "--per-host", "dst", "--hosts", 16)
    assert len(maps()) == len(before) + 1
    space.ip("link del gone")
    space.run(LOADER, "one")
    assert maps() == before


def test_one_that_was_made_by_hand_gets_them(space):
    """As with net.core.default_qdisc."""
    space.run("tc", "qdisc", "replace", "dev", "one", "root", KIND)
    before = maps()
    done = space.run(LOADER, "one", "--per-host", "dst")
    assert "its hosts have their queues again" in done.stdout
    assert len(maps()) == len(before) + 1


# ---- live changes -----------------------------------------------------------------------


def test_side_and_prefix_change_live(space):
    space.run(LOADER, "one", "--per-host", "dst", "--rate", "7mbit")
    handle, before = root(space, "one")["handle"], maps()
    for words, told in (("--per-host src", "per-host src"), ("--host-prefix 56", "host-prefix 56"),
                        ("--per-host dst --hosts 4090", "per-host dst, hosts 4096")):
        done = space.run(LOADER, "one", *words.split())
        assert done.stdout.startswith(f"one: {KIND} changed, {told}\n"), done
    assert root(space, "one")["handle"] == handle and maps() == before
    shown = options(space)
    assert (shown["per-host"], shown["host-prefix"], shown["rate"]) == ("dst", 56, 7_000_000)


def test_room_does_not_change_live(space):
    space.run(LOADER, "one", "--per-host", "dst", "--rate", "7mbit")
    before = maps()
    for words in ("--hosts 100", "--hosts 100 --rate 8mbit", "--hosts 100 --handle 7:"):
        line = one_line(space.run(LOADER, "one", *words.split(), check=False), 2)
        assert "one: --hosts 104: it has 4096 as long as it is attached" in line
        assert "`dualpi2-load one --unload`" in line
    assert options(space)["rate"] == 7_000_000 and maps() == before


def test_off_and_on_replace_it(space):
    """Parameters that both have stay."""
    before = maps()
    space.run(LOADER, "one", "--rate", "7mbit", "--target", "5ms", "--limit", 500)
    done = space.run(LOADER, "one", "--per-host", "dst", "--hosts", 64)
    assert f"one: {KIND} attached in place of {KINDS['pi2']}" in done.stdout
    assert kind(space) == KIND and len(maps()) == len(before) + 1
    shown = options(space)
    assert (shown["rate"], shown["limit"], shown["target"]) == (7_000_000, 500, 5000)
    done = space.run(LOADER, "one", "--per-host", "off")
    assert f"one: {KINDS['pi2']} attached in place of {KIND}" in done.stdout
    assert kind(space) == KINDS["pi2"] and maps() == before
    shown = options(space)
    assert (shown["per-host"], shown["rate"], shown["target"]) == ("off", 7_000_000, 5000)


def test_it_stays_with_another_aqm(bare):
    bare.run(LOADER, "one", "--per-host", "src", "--hosts", 64)
    bare.run(LOADER, "one", "--aqm", "codel")
    assert kind(bare) == HOSTS_KINDS["codel-hosts"] and not DIRECTORY.exists()
    assert (options(bare)["per-host"], options(bare)["hosts"]) == ("src", 64)


def test_another_handle_takes_the_maps_along(space):
    space.run(LOADER, "one", "--per-host", "dst", "--handle", "7:")
    before = maps()
    space.run(LOADER, "one", "--handle", "8:")
    assert kind(space) == KIND and len(maps()) == len(before)


@pytest.mark.parametrize("lost", [(SETS,), (DUALQS,), (SETS, DUALQS)],
                         ids=["sets", "dualqs", "both"])
def test_what_is_missing_is_repaired(space, lost):
    with news() as found:
        space.run(LOADER, "one", "--per-host", "dst", "--hosts", 16)
    [number] = found
    for pin in lost:
        run("bpftool", "map", "delete", "pinned", pin, "key", number, 0, 0, 0)
    done = space.run(LOADER, "one")
    assert done.stdout == f"one: {KIND} repaired: its hosts have their queues again\n"
    sets, dualqs = maps()[number]
    assert (room(sets), room(dualqs)) == (16 // WAYS, 16)
    assert (sets == found[number][0]) == (SETS not in lost), "what is there stays"
    assert space.run(LOADER, "one").stdout == f"one: {KIND} is attached already, nothing changed\n"


def test_a_file_has_it(space, tmp_path):
    conf = tmp_path / "one.conf"
    conf.write_text("rate 7mbit\nper-host src\nhosts 16\n")
    for _ in range(2):
        space.run(LOADER, "one", "--config", conf)
        assert kind(space) == KIND and options(space)["hosts"] == 16
    conf.write_text("rate 7mbit\n")
    space.run(LOADER, "one", "--config", conf)
    assert kind(space) == KINDS["pi2"]


# ---- incoming traffic -------------------------------------------------------------------


def test_both_directions(registered, new_space):
    here, there = new_space("here"), new_space("there")
    veth(here, "eth0", there, "eth0")
    before = maps()
    here.run(LOADER, "eth0", "--per-host", "src", "--hosts", 16)
    done = here.run(LOADER, "eth0", "--ingress", "--rate", "9mbit", "--per-host", "dst",
                    "--hosts", 32)
    assert done.stdout.startswith(f"eth0, ingress (in-eth0): {KIND} attached, rate 9mbit")
    added = [maps()[number] for number in maps() if number not in before]
    assert sorted(room(dualqs) for _, dualqs in added) == [16, 32]
    line = one_line(here.run(LOADER, "eth0", "--ingress", "--hosts", 64, check=False), 2)
    assert "`dualpi2-load eth0 --ingress --unload`" in line
    here.run(LOADER, "eth0", "--unload")
    assert maps() == before


# ---- auto -------------------------------------------------------------------------------


@pytest.mark.parametrize("route", ["default dev one", "-6 default dev one metric 5",
                                   "default nexthop dev two nexthop dev one",
                                   "default dev one table 77"])
def test_auto_takes_a_default_route_for_the_wan(space, route):
    family, words = ("-6", route[3:]) if route.startswith("-6") else ("-4", route)
    space.sysctl("net.ipv6.conf.one.disable_ipv6", 0)
    space.run("ip", family, "route", "add", *words.split())
    done = space.run(LOADER, "one", "--per-host", "auto", "--hosts", 8)
    assert options(space)["per-host"] == "src"
    assert re.search("^hint +per-host auto is src: it has a default route", done.stdout, re.M)
    assert "attached, rate unlimited, target 15ms, per-host src" in done.stdout


def test_auto_takes_all_others_for_the_lan(space):
    space.run("ip", "route", "add", "198.51.100.0/24", "dev", "one")
    space.run("ip", "route", "add", "unreachable", "default")
    done = space.run(LOADER, "one", "--per-host", "auto", "--hosts", 8)
    assert "per-host auto is dst: it has no default route" in done.stdout
    assert options(space)["per-host"] == "dst"
    told = space.run(LOADER, "--check", "one", "--per-host", "auto").stdout
    assert "per-host auto is dst: it has no default route" in told


def test_auto_of_incoming_traffic_is_the_other_address(registered, new_space):
    here, there = new_space("here"), new_space("there")
    veth(here, "eth0", there, "eth0")
    words = ("eth0", "--ingress", "--rate", "9mbit", "--per-host", "auto", "--hosts", 8)
    assert "per-host auto is src: it has no default route" in here.run(LOADER, *words).stdout
    here.run("ip", "route", "add", "default", "dev", "eth0")
    assert "per-host auto is dst: it has a default route" in here.run(LOADER, *words).stdout
    here.run(LOADER, "eth0", "--unload")


# ---- what is refused --------------------------------------------------------------------


@pytest.fixture
def wide(registered, box):
    """The box, where `two` has two queues."""
    box.ip("link del two")
    box.ip("link add two numtxqueues 2 type dummy")
    box.up_without_ipv6("two")
    yield box
    box.run(LOADER, "two", "--unload", "--if-attached")


@pytest.mark.parametrize("words, told", [
    ("--mq --per-host dst", "two: --per-host: not with an mq: the packets of a host"),
    ("--mq --per-host dst --rate 9mbit", "two: --per-host: not with an mq"),
    ("--per-host both", "--per-host both: not one of them"),
    ("--per-host dst --hosts 7", "--hosts 7"),
    ("--per-host dst --hosts 65529", "--hosts 65529"),
    ("--per-host dst --host-prefix 0", "--host-prefix 0"),
    *([("--aqm vdq --per-host dst", "two: --per-host: not with the AQM vdq: its packet values")]
      if "vdq" in AQMS else [])])
def test_refused(wide, words, told):
    before = root(wide, "two"), maps()
    assert told in one_line(wide.run(LOADER, "two", *words.split(), check=False), 2)
    assert (root(wide, "two"), maps()) == before


@pytest.mark.skipif("vdq" not in AQMS, reason="built without VDQ=1")
def test_an_aqm_without_it_does_not_take_its_place(space):
    space.run(LOADER, "one", "--per-host", "dst")
    line = one_line(space.run(LOADER, "one", "--aqm", "vdq", check=False), 2)
    assert line.endswith("; --per-host off ends it\n") and kind(space) == KIND


def test_not_below_an_mq_that_is_there(wide):
    wide.run(LOADER, "two", "--mq")
    line = one_line(wide.run(LOADER, "two", "--per-host", "dst", check=False), 2)
    assert "--per-host: not with an mq" in line


def test_what_does_nothing_is_doubted(space):
    done = space.run(LOADER, "one", "--hosts", 16)
    assert "hosts and host-prefix do nothing without per-host" in done.stdout
    assert kind(space) == KINDS["pi2"]


# ---- no memory, no rights ---------------------------------------------------------------


def creating_maps(space, *words, error):
    """The loader, which is refused the last map that it makes: the DualQs."""
    trace = run("strace", "-f", "-e", "trace=bpf", *space.argv(LOADER, *words)).stderr
    calls = [line for line in trace.splitlines() if line.startswith("bpf(")]
    last = max(place for place, line in enumerate(calls, 1) if "BPF_MAP_CREATE" in line)
    space.run(LOADER, words[0], "--unload")
    return space.run("strace", "-o", "/dev/null", "-e", "trace=bpf",
                     f"--inject=bpf:error={error}:when={last}", LOADER, *words, check=False)


@pytest.mark.parametrize("error", ["ENOMEM", "E2BIG"])
def test_without_memory_nothing_has_happened(space, error):
    before = root(space, "one"), maps()
    done = creating_maps(space, "one", "--per-host", "dst", "--hosts", 65528, error=error)
    line = one_line(done, 1)
    assert re.search(r"no memory for the queues of 65528 hosts, \d+ MB: give fewer with --hosts",
                     line)
    assert (root(space, "one"), maps()) == before
    assert space.programs("one") == []


def test_without_memory_what_was_there_comes_back(space):
    space.run(LOADER, "one", "--rate", "7mbit", "--limit", 77)
    before = maps()
    refuse_all = ("strace", "-o", "/dev/null", "-e", "trace=bpf")
    trace = run("strace", "-e", "trace=bpf", *space.argv(LOADER, "one", "--per-host", "dst")).stderr
    calls = [line for line in trace.splitlines() if line.startswith("bpf(")]
    last = max(place for place, line in enumerate(calls, 1) if "BPF_MAP_CREATE" in line)
    space.run(LOADER, "one", "--per-host", "off")
    done = space.run(*refuse_all, f"--inject=bpf:error=ENOMEM:when={last}", LOADER, "one",
                     "--per-host", "dst", check=False)
    assert "no memory for the queues" in one_line(done, 1)
    assert kind(space) == KINDS["pi2"] and maps() == before
    assert (options(space)["rate"], options(space)["limit"]) == (7_000_000, 77)


NOT_ADMIN = ("setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin")


def test_the_first_one_takes_no_more_rights(bare):
    """But the second one does: the kernel shows types to CAP_SYS_ADMIN alone."""
    bare.run(*NOT_ADMIN, LOADER, "one", "--per-host", "dst", "--hosts", 8)
    line = one_line(bare.run(*NOT_ADMIN, LOADER, "two", "--per-host", "dst", check=False), 1)
    assert "CAP_SYS_ADMIN" in line and kind(bare, "two") != KIND
    bare.run(*NOT_ADMIN, LOADER, "one", "--per-host", "src")
    bare.run(LOADER, "two", "--per-host", "dst", "--hosts", 8)
    assert len(maps()) == 2


def test_an_interface_that_comes_again_takes_no_more_rights(bare):
    """As that of a line that dials in: nobody uses the programs that were loaded for it before. In
    the first network namespace: elsewhere it takes the same right to see the default qdisc."""
    assert not DIRECTORY.exists()
    for _ in range(2):
        run("ip", "link", "add", "again", "type", "dummy")
        try:
            run(*NOT_ADMIN, LOADER, "again", "--per-host", "dst", "--hosts", 8)
        finally:
            run("ip", "link", "del", "again")
    run(LOADER, "again", "--unload", "--if-attached")
    assert not PIN_DIR.exists()


def test_check_says_what_would_be(space):
    told = space.run(LOADER, "--check", "one", "--per-host", "dst", "--hosts", 16)
    assert "MISSING" not in told.stdout and KIND not in told.stdout
    space.run(LOADER, "one")
    told = space.run(LOADER, "--check", "one", "--per-host", "dst").stdout
    assert f"{KIND} will take the place of {KINDS['pi2']}" in told
