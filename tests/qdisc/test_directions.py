# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Both directions of an interface by one file, and all or one of them with --unload."""

import contextlib
import json
import re
import struct

import pytest
from conftest import BIN, KINDS, LOADER, PUBLIC_PIN_DIR, one_line, root
from netns import dummy
from test_privilege import BPFFS, as_nobody, mode

pytestmark = pytest.mark.oldest_kernel

STATS = BIN / "dualpi2-stats"
BOTH = "rate 40mbit\ntarget 10ms\n\ningress\nrate 100mbit\n"


class Interface:
    """The interface `one`, in both directions."""

    def __init__(self, space, path):
        self.space, self.path = space, path

    def load(self, *options, check=True):
        return self.space.run(LOADER, "one", *options, check=check)

    def configure(self, text, check=True):
        self.path.write_text(text, encoding="utf-8")
        return self.load("--config", self.path, check=check)

    def state(self):
        """{direction: (kind, options)}; of what is not attached nothing."""
        shown = {}
        for direction, dev in ("egress", "one"), ("ingress", "in-one"):
            if dev in self.space.links() and root(self.space, dev)["kind"] in KINDS.values():
                entries = json.loads(self.space.run(STATS, dev, "--json").stdout)
                [entry] = [entry for entry in entries if entry["dev"] == dev]
                shown[direction] = entry["kind"], entry["options"]
        return shown

    def rates(self):
        return {direction: options["rate"] // 10 ** 6
                for direction, (_, options) in self.state().items()}


@pytest.fixture
def one(registered, box, tmp_path):
    yield Interface(box, tmp_path / "one.conf")
    box.run(LOADER, "one", "--unload", "--if-attached")


def test_file_has_both(one):
    assert one.configure(BOTH).stdout == (
        "one: bpf_dualpi2 attached, rate 40mbit, target 10ms\n"
        "one, ingress (in-one): bpf_dualpi2 attached, rate 100mbit, target 15ms\n")
    assert one.rates() == {"egress": 40, "ingress": 100}
    one.configure("rate 50mbit\ningress\nrate 90mbit\ntarget 9ms\n")
    state = one.state()
    assert one.rates() == {"egress": 50, "ingress": 90}
    assert [state[direction][1]["target"] for direction in state] == [15000, 9000]
    assert one.load("--unload").stdout == "one: unloaded\n"
    assert one.state() == {} and set(one.space.links()) == {"lo", "one", "two"}


def test_what_the_file_no_longer_has_is_taken_away(one):
    one.configure(BOTH)
    assert one.configure("ingress\nrate 80mbit\n").stdout.endswith("one, egress: unloaded\n")
    assert one.rates() == {"ingress": 80}
    assert one.configure("").stdout.endswith("one, ingress: unloaded\n")
    assert one.rates() == {"egress": 0}
    one.configure("egress\ningress\nrate 70mbit\n")
    assert one.rates() == {"egress": 0, "ingress": 70}


def test_each_direction_can_be_unloaded(one):
    one.configure(BOTH)
    one.load("--unload", "--egress")
    assert one.rates() == {"ingress": 100}
    one_line(one.load("--unload", "--egress", check=False), 1)
    one.configure(BOTH)
    one.load("--unload", "--ingress")
    assert one.rates() == {"egress": 40}
    one_line(one.load("--unload", "--ingress", check=False), 1)
    one.load("--unload")
    one_line(one.load("--unload", check=False), 1)


@pytest.mark.parametrize("text", ["rate 50mbit\ningress\n", "rate 50mbit\ningress\nrate 0\n",
                                  "rate 50mbit\ningress\nrate 5parsecs\n"])
def test_bad_file_changes_neither(one, text):
    one.configure(BOTH)
    before = one.state()
    one_line(one.configure(text, check=False), 2)
    assert one.state() == before


@contextlib.contextmanager
def room(one, count):
    """So many more qdiscs of PI2 can be attached: that shows when everything else is done."""
    kinds = [kind for kind, _ in one.state().values()]
    # With the one that keeps the kind registered: 256.
    queues = 256 - 1 - kinds.count("bpf_dualpi2") - count
    dummy(one.space, "wide", "numtxqueues", queues)
    one.space.run(LOADER, "wide", "--mq", "--no-split-gso")
    try:
        yield
    finally:
        one.space.run(LOADER, "wide", "--unload")
        one.space.ip("link del wide")


@pytest.mark.parametrize("former", ["tc qdisc replace dev one root handle 7: pfifo limit 77",
                                    f"{LOADER} one --rate 30mbit --target 7ms",
                                    f"{LOADER} one --aqm fixed --rate 30mbit --handle 8:"])
def test_second_that_fails_takes_the_first_back(one, former):
    one.space.run(*former.split())
    before, root_before, links = one.state(), root(one.space, "one"), set(one.space.links())
    # Enough for what leaves, and not for what arrives.
    with room(one, 0 if "--target" in former else 1):
        done = one.configure("replace\naqm pi2\nhandle 7:\n" + BOTH, check=False)
        assert done.returncode == 1 and done.stderr.count("\n") == 1 and "free" in done.stderr
        assert one.state() == before and set(one.space.links()) == links | {"wide"}
    assert root(one.space, "one") == root_before


def test_check_looks_at_both(one):
    shown = one.configure(BOTH)
    shown = one.load("--check", "--config", one.path).stdout
    assert "its root qdisc is bpf_dualpi2 already" in shown
    assert "in-one is its ifb already" in shown


def test_options_beside_a_file_with_both(one):
    """For which direction they would be nobody can tell."""
    one.path.write_text(BOTH, encoding="utf-8")
    line = one_line(one.load("--config", one.path, "--rate", "5mbit", check=False), 2)
    assert f"--rate: not beside {one.path}" in line
    one_line(one.load("--config", one.path, "--ingress", check=False), 2)
    assert one.state() == {}


# ---- what dualpi2-stats calls them -------------------------------------------------------------


def places(shown):
    return [(entry["interface"], entry["direction"], entry["dev"]) for entry in json.loads(shown)]


def test_statistics_of_both(one):
    """By the name that the interface has, whatever its ifb is called."""
    one.configure(BOTH)
    one.space.run(LOADER, "two")
    both = [("one", "egress", "one"), ("one", "ingress", "in-one")]
    try:
        assert places(one.space.run(STATS, "one", "--json").stdout) == both
        assert places(one.space.run(STATS, "in-one", "--json").stdout) == both[1:]
        assert places(one.space.run(STATS, "--json").stdout) == [*both, ("two", "egress", "two")]
        table = one.space.run(STATS, "one").stdout
        assert re.findall("^one.*?:", table, re.M) == ["one:", "one, ingress (in-one):"]
        assert re.findall(r"dev (\S+)", one.space.run(STATS, "one", "--tc").stdout) == [
            "one", "in-one"]
        metrics = one.space.run(STATS, "--prometheus").stdout
        rates = re.findall(r'rate_bytes_per_second{device="(\w+)",direction="(\w+)".*} (\d+)',
                           metrics)
        assert rates == [("one", "egress", "5000000"), ("one", "ingress", "12500000"),
                         ("two", "egress", "0")]
        with mode(BPFFS, 0o711), mode(PUBLIC_PIN_DIR, 0o755):
            assert places(one.space.run(*as_nobody(STATS, "one", "--json")).stdout) == both
        one.space.ip("link set in-one name other")
        assert places(one.space.run(STATS, "one", "--json").stdout)[1] == (
            "one", "ingress", "other")
        one.space.run("tc", "qdisc", "del", "dev", "one", "root")
        assert places(one.space.run(STATS, "one", "--json").stdout) == [
            ("one", "ingress", "other")]
    finally:
        one.space.run(LOADER, "two", "--unload")


# ---- what is left over -------------------------------------------------------------------------


def told(one):
    """What dualpi2-stats and --check say of devices of ours."""
    lines = [line for line in one.space.run(STATS, check=False).stdout.splitlines()
             if "removes it" in line]
    checked = one.space.run(LOADER, "--check").stdout
    for line in lines:
        assert f"hint     {line}\n" in checked
    assert checked.count("removes it") == len(lines)
    return lines


def run_told(one, line):
    one.space.run(*re.search("`(.*)`", line)[1].replace("dualpi2-load", str(LOADER)).split())


def test_ifb_of_an_interface_that_is_gone(one):
    one.configure(BOTH)
    one.space.ip("link add in-foreign type ifb")
    one.space.run(LOADER, "in-foreign")  # its own qdisc is no reason
    one.space.ip("link add gone type dummy")
    one.space.run(LOADER, "gone", "--ingress", "--rate", "5mbit")
    try:
        assert told(one) == []
        number = one.space.links()["gone"]["ifindex"]
        one.space.ip("link del gone")
        one.space.ip(f"link add other index {number} type dummy")
        [line] = told(one)
        assert line == ("in-gone gets no packets: its interface is gone, or somebody detached our "
                        "program from it: `dualpi2-load other --ingress --unload` "
                        "removes it")
        assert ("in-gone", "ingress", "in-gone") in places(one.space.run(STATS, "--json").stdout)
        run_told(one, line)
        assert told(one) == [] and one.rates() == {"egress": 40, "ingress": 100}
    finally:
        one.space.run(LOADER, "in-foreign", "--unload")


@pytest.mark.parametrize("name, remedy", [
    ("in-one", "`dualpi2-load one --ingress`"), ("gso-one", "`dualpi2-load one`"),
    ("gsx-one", "`dualpi2-load one`")])
def test_helper_is_no_interface_to_attach_to(one, name, remedy):
    """Whatever is asked of it; --check says so as well."""
    one.configure(BOTH)
    before, links = one.state(), set(one.space.links())
    for options in ("", "--rate 9mbit", "--ingress --rate 9mbit", "--mq", "--aqm codel",
                    "--replace", "--unload", "--unload --ingress", "--unload --if-attached"):
        line = one_line(one.space.run(LOADER, name, *options.split(), check=False), 1)
        assert line.startswith(f"dualpi2-load: {name}: ") and remedy in line
    checked = one.space.run(LOADER, name, "--check", check=False)
    assert checked.returncode == 1 and f"MISSING  {name}: " in checked.stdout
    assert (one.state(), set(one.space.links())) == (before, links)


@pytest.mark.parametrize("file", ["one.conf", "another.conf", "an*.conf"])
@pytest.mark.parametrize("name", ["one", "another"])
def test_file_of_an_alternative_name(one, tmp_path, name, file):
    """By whatever name the interface is given, and for dualpi2-stats as well."""
    assert one.state() == {}
    one.space.ip("link property add dev one altname another")
    (tmp_path / file).write_text("rate 7mbit\n")
    (tmp_path / "a*.conf").write_text("rate 8mbit\n")
    found = one.space.run(LOADER, name, "--config", tmp_path, "--find-config").stdout
    assert found == f"{tmp_path / file}\n"
    for attached in 0, 1:
        shown = one.space.run(STATS, name, "--openmetrics", "--config", tmp_path).stdout
        assert (f'\ndualpi2_configured_attached{{device="one",direction="egress"}} {attached}\n'
                in shown)
        if not attached:
            one.space.run(LOADER, name, "--config", tmp_path)
    assert one.rates() == {"egress": 7}


def test_any_number_of_alternative_names(one, tmp_path):
    names = [f"another{number}" for number in range(40)]
    one.space.ip(f"link property add dev one {' '.join(f'altname {name}' for name in names)}")
    (tmp_path / f"{names[-1]}.conf").write_text("rate 7mbit\n")
    found = one.space.run(LOADER, "one", "--config", tmp_path, "--find-config").stdout
    assert found == f"{tmp_path / names[-1]}.conf\n"
    shown = one.space.run(STATS, "--prometheus", "--config", tmp_path, check=False).stdout
    assert '\ndualpi2_configured_attached{device="one",direction="egress"} 0\n' in shown


def test_name_as_ip_link_shows_it(one):
    for name in ("one@if5", "one@two"):
        line = one_line(one.space.run(LOADER, name, check=False), 1)
        assert line.endswith("give one\n")


def test_splitter_of_an_interface_that_is_gone(one):
    one.load()
    one.space.ip("link add gone type dummy")
    one.space.run(LOADER, "gone")
    assert told(one) == [] and {"gso-one", "gso-gone"} <= set(one.space.links())
    one.space.ip("link del gone")
    [line] = told(one)
    assert line == ("gso-gone is left over of an interface that is gone: `ip link del gso-gone` "
                    "removes it")
    with mode(BPFFS, 0o711), mode(PUBLIC_PIN_DIR, 0o755):
        shown = one.space.run(*as_nobody(STATS)).stdout
    assert shown.endswith(f"\n{line}\n")
    run_told(one, line)
    assert told(one) == [] and "gso-one" in one.space.links()


def test_splitter_of_a_qdisc_that_is_gone(one):
    """As of a loader that was killed before it attached one."""
    one.load()
    one.space.run("tc", "qdisc", "del", "dev", "one", "root")
    [line] = told(one)
    assert line == ("gso-one splits GSO packets for no qdisc: "
                    "`dualpi2-load one --unload --if-attached` removes it")
    run_told(one, line)
    assert told(one) == [] and "gso-one" not in one.space.links()


def test_ifb_of_a_loader_that_was_killed(one):
    """Between making it and noting its number, or before its qdisc."""
    one.load("--ingress", "--rate", "5mbit")
    one.space.run("tc", "qdisc", "replace", "dev", "in-one", "root", "handle", "9:", "pfifo")
    [line] = told(one)
    assert line.startswith("in-one is unfinished")
    run_told(one, line)
    key = struct.pack("=QII", one.space.cookie(), one.space.links()["one"]["ifindex"], 0xFFFFFFF1)
    one.space.ip("link add in-one address 02:c0:ff:ee:00:01 type ifb")
    one.space.ip("link add in-two address 02:c0:ff:ee:00:02 type ifb")
    one.space.run("bpftool", "map", "update", "pinned",
                  "/sys/fs/bpf/dualpi2/ledger/dualpi2_devices", "key", *key,
                  "value", *bytes.fromhex("02c0ffee0001"), *bytes(10))
    [line] = told(one)
    assert line.startswith("in-one is unfinished")
    run_told(one, line)
    assert told(one) == [] and "in-two" in one.space.links()
