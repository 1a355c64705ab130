# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`dualpi2-load --subscribers FILE`: what it makes, changes, takes away and refuses; one plan by
`--subscriber`; and what is shown of them. (What subscribers get of it: test_subscribers.py.)"""

import ipaddress
import json
import struct
import time

import pytest
from conftest import KINDS, LOADER, PIN_DIR, SUBSCRIBERS_KINDS, Qdisc, one_line, root
from faults import ONE_IN, calls_of, disturb
from frames import NOT_ECT, ipv4_frame, send
from netns import dummy, run, veth

pytestmark = pytest.mark.oldest_kernel

ALSO_REGISTERED = ("pi2-subscribers",)
KIND = SUBSCRIBERS_KINDS["pi2-subscribers"]
DIRECTORY = PIN_DIR / "pi2-subscribers"
OUTER = ("names", "plans", "prefixes", "parents", "plan_dualqs")
PINNED = ("names", "plans", "prefixes", "dualqs")

FILE = """\
north - 500mbit 200mbit
a 10.0.0.1,2001:db8:1::/48 100mbit 20mbit north
b 10.0.1.0/24 2.5mbit 500kbit
rest * 5mbit 1mbit
"""
BYTES = 1_000_000 // 8  # of a megabit


def dumped(pin):
    return json.loads(run("bpftool", "-j", "map", "dump", "pinned", pin).stdout)


def raw(words):
    return bytes(int(word, 16) for word in words)


def number_of(words):
    return int.from_bytes(raw(words), "little")


def maps():
    """Of each qdisc that has some, by its number: what stands in each array of maps."""
    found = {}
    for name in OUTER:
        for entry in dumped(DIRECTORY / f"dualpi2_{name}"):
            if isinstance(entry.get("value"), list):
                found.setdefault(number_of(entry["key"]), {})[name] = number_of(entry["value"])
    return found


def pins():
    return sorted(pin.name for pin in DIRECTORY.iterdir() if pin.name.startswith(PINNED))


def values(name, qdisc):
    return {entry["key"] if isinstance(entry["key"], int) else raw(entry["key"]):
            raw(entry["value"]) for entry in dumped(DIRECTORY / f"{name}-{qdisc}")}


def by_number(name, qdisc, layout):
    return {int.from_bytes(key, "little"): struct.unpack(layout, value)
            for key, value in values(name, qdisc).items()}


def prefix_text(key):
    bits, = struct.unpack("<I", key[:4])
    address = ipaddress.IPv6Address(key[4:])
    if not bits:
        return "*"
    return f"{address.ipv4_mapped}/{bits - 96}" if address.ipv4_mapped else f"{address}/{bits}"


class InForce:
    """What the maps of a qdisc say, in words."""

    def __init__(self, qdisc):
        names = by_number("names", qdisc, "<64sII")
        plans = by_number("plans", qdisc, "<QII")
        self.numbers = {name.rstrip(b"\0").decode(): number
                        for number, (name, _, _) in names.items() if name.strip(b"\0")}
        self.owners = {name: names[number][1] for name, number in self.numbers.items()}
        of = {number: name for name, number in self.numbers.items()}
        self.plans = {name: (plans[number][0] / BYTES, of.get(plans[number][1]))
                      for name, number in self.numbers.items()}
        self.prefixes = {prefix_text(key): of[int.from_bytes(value, "little")]
                         for key, value in values("prefixes", qdisc).items()}
        for name, number in self.numbers.items():
            assert plans[number][2] == names[number][1] > 0, name
        unused = set(names) - set(self.numbers.values())
        assert all(plans[number] == (0, 0, 0) for number in unused)

    def said(self):
        return self.plans, self.prefixes


def only(found):
    [one] = found
    return one


class Loaded:
    """A file in force on a device of a namespace."""

    def __init__(self, space, path, *options, dev="one"):
        self.space, self.path, self.options, self.dev = space, path, options, dev
        self.others = set(maps())

    def load(self, text, *options, check=True):
        self.path.write_text(text)
        return self.space.run(LOADER, self.dev, "--subscribers", self.path,
                              *(options or self.options), check=check)

    def qdisc(self):
        return only(set(maps()) - self.others)

    def now(self):
        return InForce(self.qdisc())

    def generation(self):
        entry = dumped(DIRECTORY / "dualpi2_generations")[self.qdisc()]
        return number_of(entry["value"])


@pytest.fixture
def loaded(space, tmp_path):
    return Loaded(space, tmp_path / "customers", "--per-host", "dst")


DOWN = ({"north": (500, None), "a": (100, "north"), "b": (2.5, None), "rest": (5, None)},
        {"10.0.0.1/32": "a", "2001:db8:1::/48": "a", "10.0.1.0/24": "b", "*": "rest"})
UP = ({"north": (200, None), "a": (20, "north"), "b": (.5, None), "rest": (1, None)}, DOWN[1])


# ---- it comes and goes ------------------------------------------------------------------


def test_attached_and_gone_again(bare, tmp_path):
    """Nothing is left behind, not even of a first load."""
    before = root(bare, "one")
    (tmp_path / "customers").write_text(FILE)
    done = bare.run(LOADER, "one", "--subscribers", tmp_path / "customers", "--rate", "50mbit",
                    "--per-host", "dst")
    assert done.stdout.startswith(f"one: {KIND} attached, rate 50mbit, target 15ms, per-host dst, "
                                  "subscribers and parents: 4\n")
    qdisc = only(maps())
    assert maps()[qdisc].keys() == set(OUTER)
    assert InForce(qdisc).said() == DOWN
    send(bare, "one", *[ipv4_frame(serial, NOT_ECT, 200) for serial in range(3)])
    stats = Qdisc(bare, "one").check_conservation()
    assert stats["c-queue"]["packets-out"] == 3 and stats["bypassed-tcx"] == 0
    bare.run(LOADER, "one", "--unload")
    assert root(bare, "one") == before and not PIN_DIR.exists()


def test_unloaded_or_deleted_its_maps_go(loaded):
    before, before_pins = maps(), pins()
    loaded.load(FILE)
    loaded.space.run(LOADER, "one", "--unload")
    assert (maps(), pins()) == (before, before_pins)
    dummy(loaded.space, "gone")
    loaded.space.run(LOADER, "gone", "--subscribers", loaded.path)
    assert len(maps()) == len(before) + 1
    loaded.space.ip("link del gone")
    loaded.space.run(LOADER, "one")
    assert (maps(), pins()) == (before, before_pins)


def test_by_direction(loaded):
    """A plan has two rates: those that go to a subscriber have the first."""
    loaded.load(FILE, "--per-host", "src")
    assert loaded.now().said() == UP
    loaded.load(FILE, "--per-host", "dst")
    assert loaded.now().said() == DOWN
    line = one_line(loaded.space.run(LOADER, "one", "--per-host", "src", check=False), 2)
    assert "the plans are those of the other direction: give --subscribers FILE, too" in line
    assert Qdisc(loaded.space, "one").stats()["options"]["per-host"] == "dst"
    loaded.load(FILE, "--rate", "70mbit")
    assert Qdisc(loaded.space, "one").stats()["options"]["per-host"] == "dst", "it stays"


def test_auto_is_where_nothing_is_said(loaded):
    done = loaded.load(FILE, "--rate", "70mbit")
    assert "per-host auto is dst: it has no default route" in done.stdout
    assert loaded.now().said() == DOWN
    loaded.space.run(LOADER, "one", "--unload")
    loaded.space.run("ip", "route", "add", "default", "dev", "one")
    assert "per-host auto is src" in loaded.load(FILE, "--rate", "70mbit").stdout
    assert loaded.now().said() == UP


def test_both_directions_of_an_interface(registered, new_space, tmp_path):
    here, there = new_space("here"), new_space("there")
    veth(here, "eth0", there, "eth0")
    others = set(maps())
    conf, customers = tmp_path / "eth0.conf", tmp_path / "customers"
    conf.write_text(f"rate 300mbit\nper-host dst\nsubscribers {customers}\n"
                    f"ingress\nrate 200mbit\nper-host src\nsubscribers {customers}\n")
    customers.write_text(FILE)
    here.run(LOADER, "eth0", "--config", conf)
    assert sorted((InForce(qdisc).said() for qdisc in set(maps()) - others),
                  key=str) == sorted((DOWN, UP), key=str)
    customers.write_text(FILE.replace("a 10", "c 10"))
    done = here.run(LOADER, "eth0", "--config", conf)
    assert done.stdout.count("subscribers: 1 new, 2 prefixes given, 1 gone") == 2, done
    conf.write_text("rate 300mbit\n")
    here.run(LOADER, "eth0", "--config", conf)
    assert set(maps()) == others and root(here, "eth0")["kind"] == KINDS["pi2"]
    here.run(LOADER, "eth0", "--unload")


# ---- a diff -----------------------------------------------------------------------------


def test_the_same_again_changes_nothing(loaded):
    loaded.load(FILE)
    before = loaded.now()
    done = loaded.load("".join(sorted(FILE.splitlines(True), key=lambda line: "-" not in line)))
    assert done.stdout == f"one: {KIND} changed, per-host dst\n"
    done = loaded.space.run(LOADER, "one", "--subscribers", loaded.path)
    assert done.stdout == f"one: {KIND} is attached already, nothing changed\n"
    assert vars(loaded.now()) == vars(before)


def test_a_diff_by_name(loaded):
    """Who stays keeps number and owner; who comes into a number has another owner."""
    loaded.load(FILE)
    before, handle = loaded.now(), root(loaded.space, "one")["handle"]
    generation, standing = loaded.generation(), maps()
    done = loaded.load(FILE.replace("b 10.0.1.0/24", "c 10.0.1.0/24,10.0.2.0/24")
                       .replace("100mbit", "60mbit").replace("20mbit north", "20mbit"))
    assert done.stdout == (f"one: {KIND} changed, per-host dst, subscribers: 1 new, 1 changed, "
                           "2 prefixes given, 1 gone\n")
    after = loaded.now()
    assert after.plans == {"north": (500, None), "a": (60, None), "c": (2.5, None),
                           "rest": (5, None)}
    assert after.prefixes == {**DOWN[1], "10.0.1.0/24": "c", "10.0.2.0/24": "c"}
    assert (after.numbers["a"], after.owners["a"]) == (before.numbers["a"], before.owners["a"])
    assert after.owners["c"] not in before.owners.values()
    assert loaded.generation() > generation
    loaded.load(FILE.replace("b ", "d "))
    assert loaded.now().owners["d"] not in {*before.owners.values(), *after.owners.values()}
    assert root(loaded.space, "one")["handle"] == handle and maps() == standing


def test_with_parameters_in_one_call(loaded):
    loaded.load(FILE)
    done = loaded.load(FILE.replace("5mbit 1mbit", "6mbit 1mbit"), "--rate", "77mbit")
    assert done.stdout == f"one: {KIND} changed, rate 77mbit, subscribers: 1 changed\n"
    assert loaded.now().plans["rest"] == (6, None)


@pytest.mark.parametrize("text, told", [
    (FILE + "c 10.0.0.1 1mbit 1mbit\n", ":5: 10.0.0.1/32: a has it already"),
    (FILE.replace("100mbit", "100mbps5"), ":2: down 100mbps5"),
    ("", ": has no subscribers")], ids=["twice", "rate", "empty"])
def test_a_bad_line_changes_nothing(loaded, text, told):
    loaded.load(FILE)
    before = vars(loaded.now())
    line = one_line(loaded.load(text, "--rate", "9mbit", check=False), 2)
    assert told in line
    assert vars(loaded.now()) == before
    assert Qdisc(loaded.space, "one").stats()["options"]["rate"] == 0
    loaded.space.run(LOADER, "one", "--unload")
    one_line(loaded.load(text, check=False), 2)
    assert root(loaded.space, "one")["kind"] != KIND


def many(count, name="s"):
    return "".join(f"{name}{number} 10.{number >> 8}.{number & 255}.0/24 1mbit 1mbit\n"
                   for number in range(count))


def test_beyond_room(loaded):
    """There is some for twice as many, and for 1024."""
    loaded.load(FILE)
    loaded.load(many(1024))
    line = one_line(loaded.load(many(1025), "--rate", "9mbit", check=False), 1)
    assert ("one: has room for 1024 subscribers and parents as long as it is attached, and the "
            "file has 1025: first `dualpi2-load one --unload`") in line
    assert len(loaded.now().plans) == 1024
    told = loaded.space.run(LOADER, "--check", "one", "--subscribers", loaded.path, check=False)
    assert told.returncode == 1 and "MISSING" in told.stdout and "has room for 1024" in told.stdout
    loaded.space.run(LOADER, "one", "--unload")
    loaded.load(many(1025))
    loaded.load(many(1025, "t"))
    loaded.load(many(2050))
    assert "room for 2050" in loaded.load(many(2051), check=False).stderr


def test_all_others_in_a_full_one(loaded):
    """Who comes has to wait for a number until somebody has gone."""
    loaded.load(many(1024))
    loaded.load(many(1024, "t"))
    now = loaded.now()
    assert set(now.plans) == {f"t{number}" for number in range(1024)}
    assert now.prefixes["10.1.2.0/24"] == "t258"


def test_another_handle_takes_them_along(loaded):
    loaded.load(FILE, "--per-host", "src", "--handle", "7:")
    loaded.space.run(LOADER, "one", "--handle", "8:")
    assert root(loaded.space, "one")["handle"] == "8:" and loaded.now().said() == UP


def test_in_place_of_others_and_back(loaded):
    """Parameters that both have stay."""
    loaded.space.run(LOADER, "one", "--rate", "7mbit", "--target", "5ms", "--per-host", "src",
                     "--hosts", 16)
    done = loaded.load(FILE, "--limit", 500)
    assert f"one: {KIND} attached in place of" in done.stdout
    assert loaded.now().said() == UP, "the side stays"
    options = Qdisc(loaded.space, "one").stats()["options"]
    assert (options["rate"], options["limit"], options["target"]) == (7_000_000, 500, 5000)
    loaded.space.run(LOADER, "one", "--per-host", "off")
    assert root(loaded.space, "one")["kind"] == KINDS["pi2"] and set(maps()) == loaded.others


def test_one_that_was_made_by_hand_gets_them(loaded):
    loaded.space.run("tc", "qdisc", "replace", "dev", "one", "root", KIND)
    done = loaded.load(FILE)
    assert "its subscribers have their queues again" in done.stdout
    assert loaded.now().said() == DOWN


@pytest.mark.parametrize("lost", OUTER)
def test_what_is_missing_is_repaired(loaded, lost):
    loaded.load(FILE)
    run("bpftool", "map", "delete", "pinned", DIRECTORY / f"dualpi2_{lost}", "key",
        loaded.qdisc(), 0, 0, 0)
    done = loaded.load(FILE)
    assert "its subscribers have their queues again" in done.stdout
    assert loaded.now().said() == DOWN


# ---- one plan ---------------------------------------------------------------------------


def test_one_plan(loaded):
    loaded.load(FILE)
    generation = loaded.generation()
    for name, parent in (("a", "north"), ("north", None)):
        done = loaded.space.run(LOADER, "one", "--subscriber", name, "--rate", "30mbit")
        assert done.stdout == f"one: {name}: rate 30mbit\n"
        assert loaded.now().plans[name] == (30, parent)
    assert loaded.generation() == generation
    done = loaded.load(FILE)
    assert "subscribers: 2 changed" in done.stdout and loaded.now().said() == DOWN


def test_one_plan_of_nobody(loaded):
    loaded.load(FILE)
    before = vars(loaded.now())
    for name in ("c", "A", "a ", "#1", ""):
        one_line(loaded.space.run(LOADER, "one", "--subscriber", name, "--rate", "30mbit",
                                  check=False), 1 if name else 2)
    assert "one: c: no subscriber or parent has this name" in loaded.space.run(
        LOADER, "one", "--subscriber", "c", "--rate", "30mbit", check=False).stderr
    assert vars(loaded.now()) == before
    line = one_line(loaded.space.run(LOADER, "two", "--subscriber", "a", "--rate", "30mbit",
                                     check=False), 1)
    assert "two: has no subscribers: `dualpi2-load two --subscribers FILE`" in line


def test_one_plan_of_incoming_traffic(registered, new_space, tmp_path):
    here, there = new_space("here"), new_space("there")
    veth(here, "eth0", there, "eth0")
    loaded = Loaded(here, tmp_path / "customers", "--ingress", "--rate", "200mbit", "--per-host",
                    "src", dev="eth0")
    loaded.load(FILE)
    here.run(LOADER, "eth0", "--ingress", "--subscriber", "a", "--rate", "7mbit")
    assert loaded.now().plans["a"] == (7, "north")
    one_line(here.run(LOADER, "eth0", "--subscriber", "a", "--rate", "7mbit", check=False), 1)
    here.run(LOADER, "eth0", "--unload")


# ---- what is refused --------------------------------------------------------------------


@pytest.mark.parametrize("words, told", [
    ("--subscribers FILE --per-host off", "one: --per-host off: not with --subscribers"),
    ("--subscribers FILE --hosts 64", "one: --hosts: not with subscribers"),
    ("--subscribers FILE --host-prefix 56", "one: --host-prefix: not with subscribers"),
    ("--subscribers FILE --aqm codel", "one: --subscribers: not with the AQM codel"),
    ("--subscribers FILE --guard", "--guard: not with subscribers"),
    ("--subscribers FILE --sparse", "--sparse: not with subscribers"),
    ("--subscribers FILE --unload", "--unload: takes no other option"),
    ("--subscribers /nowhere", "/nowhere: cannot be read"),
    ("--subscriber a", "--subscriber a: needs --rate, 8kbit to 1tbit"),
    ("--subscriber a --rate 0", "--subscriber a: needs --rate, 8kbit to 1tbit"),
    ("--subscriber a --rate 1mbit --target 5ms", "--target: not with --subscriber"),
    ("--subscriber a --rate 1mbit --subscribers FILE", "--subscribers: not with --subscriber"),
    ("--subscriber a --rate 1mbit --unload", "--unload: takes no other option"),
    ("--subscriber a --subscriber b --rate 1mbit", "given twice")])
def test_refused(loaded, words, told):
    loaded.path.write_text(FILE)
    before = root(loaded.space, "one"), maps()
    words = [loaded.path if word == "FILE" else word for word in words.split()]
    assert told in one_line(loaded.space.run(LOADER, "one", *words, check=False), 2)
    assert (root(loaded.space, "one"), maps()) == before


def test_not_with_an_mq(loaded):
    loaded.space.ip("link del two")
    loaded.space.ip("link add two numtxqueues 2 type dummy")
    loaded.space.up_without_ipv6("two")
    loaded.path.write_text(FILE)
    words = ("two", "--subscribers", loaded.path)
    assert "two: --subscribers: not with an mq" in one_line(
        loaded.space.run(LOADER, *words, "--mq", check=False), 2)
    loaded.space.run(LOADER, "two", "--mq")
    assert "two: --subscribers: not with an mq" in one_line(
        loaded.space.run(LOADER, *words, check=False), 2)


def test_another_aqm_does_not_take_its_place(loaded):
    loaded.load(FILE)
    line = one_line(loaded.space.run(LOADER, "one", "--aqm", "codel", check=False), 2)
    assert line.endswith("; --per-host off ends it\n") and loaded.now().said() == DOWN


# ---- killed, or without memory ----------------------------------------------------------

OTHER = """\
south - 300mbit 100mbit
a 10.0.0.1,10.0.3.0/24 90mbit 20mbit south
c 10.0.1.0/24 2.5mbit 500kbit
north 2001:db8:1::/48 5mbit 1mbit
rest * 5mbit 1mbit south
"""
AFTER = ({"south": (300, None), "a": (90, "south"), "c": (2.5, None), "north": (5, None),
          "rest": (5, "south")},
         {"10.0.0.1/32": "a", "10.0.3.0/24": "a", "10.0.1.0/24": "c", "2001:db8:1::/48": "north",
          "*": "rest"})


def whose(qdisc):
    """Names by prefix at this moment."""
    names = {number: name.rstrip(b"\0").decode()
             for number, (name, _, _) in by_number("names", qdisc, "<64sII").items()}
    return {prefix_text(key): names[int.from_bytes(value, "little")]
            for key, value in values("prefixes", qdisc).items()}


def disturbed(loaded, tmp_path, how, long):
    """A diff, disturbed at its calls one after the other; looked at and then done again."""
    loaded.load(FILE)
    loaded.path.write_text(OTHER)
    argv = [LOADER, "one", "--subscribers", loaded.path]
    calls = calls_of(loaded.space, argv, tmp_path, False, 1 if long else ONE_IN)
    assert calls
    for call in calls:
        loaded.load(FILE)
        loaded.path.write_text(OTHER)
        done = disturb(loaded.space, argv, call, how)
        found = whose(loaded.qdisc())
        for prefix, name in found.items():
            assert name in (DOWN[1].get(prefix), AFTER[1].get(prefix)), call
        assert set(DOWN[1]) & set(AFTER[1]) <= set(found), "no address is nobody's"
        yield call, done
        loaded.space.run(*argv)
        assert loaded.now().said() == AFTER, call


def test_killed_in_the_middle_of_a_diff(loaded, tmp_path, long):
    """Each address is of whom it was or of whom it will be, and the next call mends it."""
    for call, done in disturbed(loaded, tmp_path, "signal=KILL", long):
        assert done.returncode == -9, call


def test_refused_in_the_middle_of_a_diff(loaded, tmp_path, long):
    """All is as before."""
    for call, done in disturbed(loaded, tmp_path, "error=ENOMEM", long):
        if done.returncode:
            one_line(done, 1)
            assert loaded.now().said() == DOWN, call


def write(loaded, name, key, value):
    def words(data):
        return [f"0x{byte:02x}" for byte in data]

    run("bpftool", "map", "update", "pinned", DIRECTORY / f"{name}-{loaded.qdisc()}", "key",
        *words(key), "value", *words(value))


def name_value(name, owner, is_parent):
    return struct.pack("<64sII", name.encode(), owner, is_parent)


@pytest.mark.parametrize("what", ["address of nobody", "one name twice", "name without a plan",
                                  "another's plan", "plan of nobody", "no such parent"])
def test_what_a_killed_loader_may_leave_is_mended(loaded, what):
    """Or somebody else has written."""
    loaded.load(FILE)
    number = loaded.now().numbers
    key = {name: struct.pack("<I", place) for name, place in number.items()}
    if what == "address of nobody":
        write(loaded, "prefixes", struct.pack("<I", 120) + ipaddress.IPv6Address(
            "::ffff:10.9.9.0").packed, struct.pack("<I", 77))
    elif what == "one name twice":
        write(loaded, "names", struct.pack("<I", 77), name_value("a", 999, 1))
    elif what == "name without a plan":
        write(loaded, "plans", key["a"], bytes(16))
    elif what == "another's plan":
        write(loaded, "plans", key["a"], struct.pack("<QII", 100 * BYTES, number["north"], 9999))
    elif what == "plan of nobody":
        write(loaded, "names", key["b"], bytes(72))
    else:
        write(loaded, "plans", key["a"], struct.pack(
            "<QII", 100 * BYTES, 1000, loaded.now().owners["a"]))
    done = loaded.load(FILE)
    assert "subscribers: " in done.stdout
    assert loaded.now().said() == DOWN


# ---- what is shown ----------------------------------------------------------------------


def shown(loaded, *options, check=True):
    return loaded.space.run(LOADER.with_name("dualpi2-stats"), "one", *options, check=check)


def test_a_list(loaded):
    loaded.load(FILE)
    lines = shown(loaded, "--subscribers").stdout.splitlines()
    assert lines[0] == "one: subscribers and parents: 4, room for 1024"
    nothing = ["0bit", "-", "-", "0", "0"]
    assert {line.split()[0]: line.split()[1:] for line in lines[2:]} == {
        "north": ["500mbit", *nothing, "(parent)", "-"],
        "a": ["100mbit", *nothing, "north", "10.0.0.1/32,2001:db8:1::/48"],
        "b": ["2.5mbit", *nothing, "-", "10.0.1.0/24"], "rest": ["5mbit", *nothing, "-", "*"],
        "(nobody)": ["unlimited", *nothing, "-", "-"]}
    told = json.loads(shown(loaded, "--subscribers", "--json").stdout)
    assert told.pop()["name"] is None
    assert {each["name"]: (each["rate"] / 1e6, each["parent"]) for each in told} == DOWN[0]
    assert {prefix: each["name"] for each in told for prefix in each["prefixes"]} == DOWN[1]
    assert [each["name"] for each in told if each["is-parent"]] == ["north"]
    assert {(each["dev"], each["interface"], each["direction"]) for each in told} == {
        ("one", "one", "egress")}


def test_one_of_them(loaded):
    """A name that is a number is a name."""
    loaded.load(FILE.replace("b ", "7 "))
    _, line = shown(loaded, "--subscriber", "7").stdout.splitlines()
    assert line.split() == ["7", "2.5mbit", "0bit", "-", "-", "0", "0", "-", "10.0.1.0/24"]
    [north] = json.loads(shown(loaded, "--subscriber", "north", "--json").stdout)
    assert north["rate"] == 500_000_000 and north["is-parent"] and north["prefixes"] == []
    line = one_line(shown(loaded, "--subscriber", "c", check=False), 1)
    assert "c: no subscriber or parent has this name" in line
    assert json.loads(shown(loaded, "--subscriber", "c", "--json").stdout) == []


def test_nobody_is_shown(loaded):
    loaded.space.run(LOADER, "one")
    assert "no qdisc here has subscribers" in one_line(
        shown(loaded, "--subscribers", check=False), 1)
    assert json.loads(shown(loaded, "--subscribers", "--json").stdout) == []


# ---- how long it takes ------------------------------------------------------------------


def test_ten_thousand_are_reloaded_at_once(loaded):
    """Bounded by ten times what it takes, which it prints."""
    def seconds(text):
        begin = time.monotonic()
        loaded.load(text)
        return time.monotonic() - begin

    first = seconds(many(10_000))
    taken = {"the same": seconds(many(10_000)),
             "other plans": seconds(many(10_000).replace("1mbit 1mbit", "2mbit 2mbit")),
             "one other": seconds(many(10_000).replace("1mbit 1mbit", "2mbit 2mbit")
                                  .replace("2mbit", "3mbit", 1)),
             "other names": seconds(many(10_000, "t").replace("1mbit 1mbit", "2mbit 2mbit"))}
    begin = time.monotonic()
    loaded.space.run(LOADER, "one", "--subscriber", "t77", "--rate", "3mbit")
    taken["one plan"] = time.monotonic() - begin
    print(f"first {first:.3f} s,", ", ".join(f"{what} {time:.3f} s"
                                            for what, time in taken.items()))
    assert max(taken.values()) < 5
