# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Files of subscribers (user/subscribers/): what they say, and what is refused in which words. That
what is read and printed reads as the same tests/fuzz/fuzz_subscribers.c shows."""

import json
import re
import textwrap
import time
from pathlib import Path

import pytest
from clib import C, ffi

MBIT = 125_000  # bytes/s
PROGRAM = ffi.new("char[]", b"test")

HEADER = ("Circuit ID,Circuit Name,Device ID,Device Name,Parent Node,MAC,IPv4,IPv6,"
          "Download Min Mbps,Upload Min Mbps,Download Max Mbps,Upload Max Mbps,Comment\n")
# As LibreQoS has it since its version 2.
NEW_HEADER = HEADER.replace("Parent Node,", "Parent Node,Parent Node ID,Anchor Node ID,")
TREE = {
    "Site 1": {
        "downloadBandwidthMbps": 1000, "uploadBandwidthMbps": 500, "type": "site", "children": {
            "AP_A": {"downloadBandwidthMbps": 300.5, "uploadBandwidthMbps": 600},
            "Sector": {"virtual": True, "downloadBandwidthMbps": 10, "uploadBandwidthMbps": 10,
                       "children": {"AP_B": {"downloadBandwidthMbps": 0}}}}},
    "Free": {"type": "site"},
}


class Subscribers:
    """A list, freed with it."""

    def __init__(self, path):
        self.list = ffi.new("struct subscribers *")
        C.message_begin()
        self.is_read = C.subscribers_read(str(path).encode(), self.list)

    def __del__(self):
        C.subscribers_free(self.list)

    def __iter__(self):
        return (self.list.of[place] for place in range(self.list.count))

    def prefixes(self):
        room = ffi.new("char[]", C.PREFIX_TEXT_MAX)
        return [(ffi.string(C.subscriber_prefix_text(ffi.addressof(entry.prefix), room)).decode(),
                 name_of(entry.owner))
                for entry in self.list.prefixes[0:self.list.prefix_count]]

    def plans(self):
        """By name: Mbit/s down, up, and the parent or None; or just the rates of a parent."""
        plans = {}
        for each in self:
            rates = each.plan.down / MBIT, each.plan.up / MBIT
            parent = name_of(each.plan.parent) if each.plan.parent else None
            plans[name_of(each)] = rates if each.is_parent else (*rates, parent)
        return plans


def name_of(subscriber):
    return ffi.string(subscriber.name).decode()


@pytest.fixture
def write(tmp_path):
    def write(text, name="subscribers", **more):
        path = tmp_path / name
        path.write_bytes(text.encode())
        for other, content in more.items():
            (tmp_path / f"{other}.json").write_text(content)
        return path

    return write


@pytest.fixture
def read(write):
    def read(*given, **more):
        made = Subscribers(write(*given, **more))
        assert made.is_read
        return made

    return read


@pytest.fixture
def refused(write, capfd):
    """What is said of a file, behind its path."""
    def refused(*given, **more):
        path = write(*given, **more)
        C.message_init(PROGRAM)
        capfd.readouterr()
        made = Subscribers(path)
        said = capfd.readouterr().err
        assert not made.is_read and not made.list.count and not made.list.of
        assert said.count("\n") == 1
        return said.removeprefix("test: ").removeprefix(str(path.parent) + "/").rstrip("\n")

    return refused


# ---- our own format ----------------------------------------------------------------


def test_own_format(read):
    made = read("""\ufeff# a site, and who is below it
tower-1  -                              500mbit   200mbit   # both directions
alice    192.0.2.7,2001:db8:1::/48      100mbit   2.5mbit   tower-1\r
bob\t192.0.2.0/24\t1gbit\t40mbps
Žižkov/7 ::ffff:198.51.100.0/120 8kbit 1tbit

rest     *,203.0.113.1                  1mbit 500kbit tower-1""")
    assert made.plans() == {
        "tower-1": (500, 200), "alice": (100, 2.5, "tower-1"), "bob": (1000, 320, None),
        "Žižkov/7": (.008, 1e6, None), "rest": (1, .5, "tower-1")}
    assert made.prefixes() == [
        ("192.0.2.7/32", "alice"), ("203.0.113.1/32", "rest"), ("192.0.2.0/24", "bob"),
        ("198.51.100.0/24", "Žižkov/7"), ("2001:db8:1::/48", "alice"), ("*", "rest")]


@pytest.mark.parametrize("text, said", [
    ("a", "1: a: a line is NAME PREFIX[,PREFIX...] DOWN UP [PARENT]"),
    ("a 192.0.2.1 1mbit", "1: a: a line is NAME PREFIX[,PREFIX...] DOWN UP [PARENT]"),
    ("p - 1mbit 1mbit\na 192.0.2.1 1mbit 1mbit p b", "2: b: a line is NAME PREFIX"),
    ("a 192.0.2.1 0 1mbit", "1: down 0: out of range (for example 40mbit; 8kbit to 1tbit)"),
    ("a 192.0.2.1 1mbit 7kbit", "1: up 7kbit: out of range (for example 40mbit; 8kbit to 1tbit)"),
    ("a 192.0.2.1 1mbit 1.1tbit", "1: up 1.1tbit: out of range"),
    ("a 192.0.2.1 40 1mbit", "1: down 40: 40bit/s is out of range"),
    ("a 192.0.2.1 fast 1mbit", "1: down fast: not a rate (for example 40mbit; 8kbit to 1tbit)"),
    ("# 1\na 192.0.2.1/33 1mbit 1mbit", "2: 192.0.2.1/33: not a prefix (for example 192.0.2.7 or"),
    ("a 192.0.2.1,,192.0.2.2 1mbit 1mbit", "1: '': not a prefix"),
    ("a example.org 1mbit 1mbit", "1: example.org: not a prefix"),
    ("a 192.0.2.1/24 1mbit 1mbit",
     "1: 192.0.2.1/24: more than the prefix: write 192.0.2.0/24, or the address alone"),
    ("a 2001:db8::1/48 1mbit 1mbit", "1: 2001:db8::1/48: more than the prefix: write 2001:db8:"),
    ("a ::/0 1mbit 1mbit", "1: ::/0: too short for IPv6: write 2000::/3 for all of it, or *"),
    ("a ::fffe:0:0/95 1mbit 1mbit", "1: ::fffe:0:0/95: too short for IPv6"),
    ("a 192.0.2.1,192.0.2.1 1mbit 1mbit", "1: 192.0.2.1/32: a has it already: give it to"),
    ("a 192.0.2.0/24 1mbit 1mbit\nb ::ffff:192.0.2.0/120 1mbit 1mbit",
     "2: 192.0.2.0/24: a has it already: give it to one, once"),
    ("a * 1mbit 1mbit\nb * 1mbit 1mbit", "2: *: a has it already: give it to one, once"),
    ("a 192.0.2.1 1mbit 1mbit\na 192.0.2.2 1mbit 1mbit",
     "2: a: there is one of this name already: give each a name of its own"),
    ("a 192.0.2.1 1mbit 1mbit p\np - 1mbit 1mbit",
     "1: p: no such parent: it needs a line above this one, `p - DOWN UP`"),
    ("a 192.0.2.1 1mbit 1mbit\nb 192.0.2.2 1mbit 1mbit a", "2: a: no such parent"),
    ("p - 1mbit 1mbit\nq - 1mbit 1mbit p", "2: p: q is a parent, and has none itself"),
    ("n" * 64 + " 192.0.2.1 1mbit 1mbit",
     "1: " + "n" * 64 + ": not a name: 1 to 63 bytes of UTF-8 without blanks, commas and #"),
    ("a,b 192.0.2.1 1mbit 1mbit", "1: a,b: not a name"),
    ("a\x1b[2J 192.0.2.1 1mbit 1mbit", "1: a\\x1b[2J: not a name"),
    ("a 192.0.2.1 1mbit 1mbit\n\0", "2: contains a NUL byte: not a text file"),
])
def test_own_format_refused(refused, text, said):
    assert refused(text).startswith(f"subscribers:{said}")


def test_a_name_has_63_bytes(read):
    assert list(read("n" * 63 + " * 1mbit 1mbit").plans()) == ["n" * 63]


@pytest.mark.parametrize("text", ["", "# nobody\n\n", HEADER, HEADER + ",,,,,,,,,,,,\n"])
def test_a_file_without_subscribers_is_refused(refused, text):
    """Half a file, or none, would end all plans."""
    assert refused(text) == "subscribers: has no subscribers"


@pytest.mark.parametrize("text", [b"\xff\xfea\0 \0", b"caf\xe9 192.0.2.1 1mbit 1mbit"])
def test_other_encodings_are_refused(tmp_path, text):
    (tmp_path / "file").write_bytes(text)
    assert not Subscribers(tmp_path / "file").is_read


def test_no_such_file(tmp_path, capfd):
    assert not Subscribers(tmp_path / "none").is_read
    assert "none: cannot be read: No such file or directory" in capfd.readouterr().err


def numbered(count, each=1):
    return "".join(
        f"s{number} " + ",".join(f"10.{number >> 8}.{number & 255}.{more}" for more in range(each))
        + " 10mbit 2mbit\n" for number in range(count))


def test_limits(read, refused):
    most, prefixes = C.SUBSCRIBERS_MAX, C.SUBSCRIBER_PREFIXES_MAX
    assert len(list(read(numbered(most)))) == most
    assert refused(numbered(most + 1)) == (
        f"subscribers:{most + 1}: s{most}: too many: at most {most} subscribers and parents")
    lines = prefixes // 160
    assert len(read(numbered(lines, 160)).prefixes()) == prefixes
    assert refused(numbered(lines, 160) + "a 192.0.2.1 1mbit 1mbit").startswith(
        f"subscribers:{lines + 1}: 192.0.2.1/32: too many prefixes: at most {prefixes}")
    assert refused("#" * (C.SUBSCRIBERS_SIZE_MAX + 1)).startswith(
        f"subscribers: longer than {C.SUBSCRIBERS_SIZE_MAX} bytes")


# ---- LibreQoS ----------------------------------------------------------------------


def test_shaped_devices(read):
    made = read(
        "\ufeff# made by hand\n\n" + NEW_HEADER.replace("\n", ",sqm\r\n") +
        '10001,"968 Circle St., Gurnee # 5, ""IL""\nsecond line",1,Device 1,AP_A,,,, '
        '"100.64.0.1, 100.64.0.2" ,fdd7:b724:0:100::/56,1,1,155,20.25,,\r\n'
        '# 10009,no,,,,,,,192.0.2.9,,1,1,1,1,,\n'
        '10002,B,2,5" pipe,none,,,02:00:00:00:00:01,,fdd7:b724:0:200::/56,0.5,0.5,2.5,1,,cake\n'
        '10001 ,A,3,Device 3, AP_A\t,,,," 100.64.0.3 ",,9,9,155.0 ,20.25 \r\n'
        '10003,without addresses,4,,No such node,,,,,,,,,,\n'
        ',,,,,,,,,,,,,,,\n'
        '10004,C,5,,Site 1,site:1,,,100.64.1.0/24,,1,1,10,10,end', network=json.dumps(TREE))
    assert made.plans() == {
        "AP_A": (300.5, 500), "10001": (155, 20.25, "AP_A"), "10002": (2.5, 1, None),
        "Site_1": (1000, 500), "10004": (10, 10, "Site_1")}
    assert made.prefixes() == [
        ("100.64.0.1/32", "10001"), ("100.64.0.2/32", "10001"), ("100.64.0.3/32", "10001"),
        ("100.64.1.0/24", "10004"), ("fdd7:b724:0:100::/56", "10001"),
        ("fdd7:b724:0:200::/56", "10002")]


def circuit(parent="", number=1, ipv4="192.0.2.1", rates="10,2"):
    return f"{number},,,,{parent},,{ipv4},,1,1,{rates},\n"


@pytest.mark.parametrize("parent, tree, plan", [
    ("Site 1", TREE, (1000, 500)), ("AP_A", TREE, (300.5, 500)),
    ("Sector", TREE, (1000, 500)), ("AP_B", TREE, (1000, 500)), ("Free", TREE, (1e6, 1e6)),
    ("AP", {"AP": {"downloadBandwidthMbps": "20", "uploadBandwidthMbps": -1}}, (20, 1e6)),
    ("AP", {}, None), ("none", None, None), ("", TREE, None)])
def test_parent_nodes(read, parent, tree, plan):
    """Theirs and those above them limit their rate; without a tree nobody has a parent."""
    more = {} if tree is None else {"network": json.dumps(tree, indent=4) + "\n"}
    made = read(HEADER + circuit(parent), **more)
    name = parent.replace(" ", "_")
    assert made.plans() == ({"1": (10, 2, name), name: plan} if plan else {"1": (10, 2, None)})


@pytest.mark.parametrize("text, said", [
    (HEADER.replace("Upload Max Mbps", "Upload"), "1: Upload Max Mbps: there is no column of this"),
    (NEW_HEADER + '10001,"968 Circle St., Gurnee",1,Device 1,,,"100.64.0.1",fdd7::/56,1,1,9,9,\n',
     "2: Upload Max Mbps: this row has 13 cells, and the header 15"),
    (HEADER + "1,,,,,,192.0.2.1,,1,1,0,1,", "2: Download Max Mbps 0mbit: out of range (for ex"),
    (HEADER + "1,,,,,,192.0.2.1,,1,1,1,,", "2: Upload Max Mbps mbit: not a rate (for example"),
    (HEADER + "1,,,,,,192.0.2.1,,1,1,1," + "1" * 60 + ",", "2: Upload Max Mbps " + "1" * 60),
    (HEADER + circuit() + circuit(ipv4="192.0.2.2", rates="10,3"),
     "3: 1: another rate or parent node than in a row before: give all devices of a circuit"),
    (HEADER + circuit() + circuit(number=2), "3: 192.0.2.1/32: 1 has it already: give it to one"),
    (HEADER + circuit(ipv4='"192.0.2.1,"'), "2: '': not a prefix"),
    (HEADER + circuit(ipv4="192.0.2.1/24"), "2: 192.0.2.1/24: more than the prefix: write"),
    (HEADER + circuit(number=""), "2: '': not a name: 1 to 63 bytes"),
    (HEADER + circuit(number="a b"), "2: a b: not a name: 1 to 63 bytes"),
    (HEADER + '\n1,"two\nlines",,,,,192.0.2.1,,1,1,1,1,\n2,"open', "5: a quote that begins in"),
    (HEADER + circuit("AP_A"), "2: AP_A: no network.json beside this file has its rates: copy it"),
    (HEADER + "\0", " contains a NUL byte: not a text file"),
])
def test_shaped_devices_refused(refused, text, said):
    assert refused(text).startswith(f"subscribers:{said}")


@pytest.mark.parametrize("tree, said", [
    (json.dumps(TREE), "subscribers:2: AP_9: no such node in {}network.json"),
    ('{\n"AP_9": {},\n}', "network.json:3: not a tree of nodes in JSON: unexpected character"),
    ("[]", "network.json:1: not a tree of nodes in JSON: it is no object"),
    ("", "network.json:1: not a tree of nodes in JSON: unexpected end of data"),
    ("{}\n{}", "network.json:2: not a tree of nodes in JSON: unexpected character"),
    ('{"AP_9": {}, "A": {"children": {"AP_9": {}}}}',
     "network.json: AP_9: AP_9: there is one of this name already"),
    ('{"AP 9": {}, "AP_9": {}}', "network.json: AP_9: AP_9: there is one of this name already"),
    ('{"AP_9": {"downloadBandwidthMbps": 1e9}}',
     "network.json: AP_9: downloadBandwidthMbps 1e9mbit: not a rate"),
    ('{"AP_9": {"uploadBandwidthMbps": 0.001}}',
     "network.json: AP_9: uploadBandwidthMbps 0.001mbit: out of range"),
    (json.dumps({"n" * 64: {}}), "network.json: " + "n" * 64 + ": " + "n" * 64 + ": not a name"),
])
def test_network_refused(refused, tmp_path, tree, said):
    assert refused(HEADER + circuit("AP_9"), network=tree).startswith(
        said.format(f"{tmp_path}/"))


@pytest.mark.parametrize("target, said", [
    (".", "it is not a regular file"), ("network.json", "Too many levels of symbolic links")])
def test_network_that_cannot_be_looked_at(write, capfd, target, said):
    path = write(HEADER + circuit())
    path.with_name("network.json").symlink_to(target)
    assert not Subscribers(path).is_read
    assert f"network.json: cannot be read: {said}" in capfd.readouterr().err


def test_a_circuit_cannot_have_the_name_of_a_parent(refused):
    parent = HEADER + circuit("AP", number="AP"), HEADER + circuit(number="AP") + circuit("AP", 2)
    for line, text in enumerate(parent, start=2):
        assert refused(text, network='{"AP": {}}').startswith(
            f"subscribers:{line}: AP: there is one of this name already")


@pytest.mark.parametrize("header", [
    HEADER, HEADER.upper(), '"' + HEADER.strip().replace(",", '","') + '"\n',
    HEADER.replace(" ", "_")])
def test_headers(read, header):
    """Only letters and digits count, as for LibreQoS."""
    assert read(header + circuit()).plans() == {"1": (10, 2, None)}


def test_what_looks_like_a_header_is_not(read):
    made = read("circuit-id 192.0.2.1,192.0.2.2 1mbit 1mbit")
    assert made.plans() == {"circuit-id": (1, 1, None)}


# ---- the page ----------------------------------------------------------------------

PAGE = Path(__file__).resolve().parents[2] / "docs/subscribers.md"


def block(begin):
    """The block of the page that begins so."""
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", PAGE.read_text(encoding="utf-8"), re.M)
    return next(text for text in map(textwrap.dedent, blocks) if text.lstrip().startswith(begin))


def test_examples_of_the_page(read, refused):
    own = read(block("# site"))
    assert own.plans()["c1002"] == (2.5, .5, "north-roof") and len(own.plans()) == 6
    devices = read(block("Circuit ID"), network=block("{"))
    assert devices.plans() == {"AP_North": (300, 100), "1001": (155, 20, "AP_North"),
                               "1002": (2.5, 1, None)}
    said = refused("\n\na 192.0.2.7/24 1mbit 1mbit", "customers")
    assert block("customers:").strip() == said


def test_limits_of_the_page():
    assert (f"{C.SUBSCRIBERS_MAX} subscribers and parents, {C.SUBSCRIBER_PREFIXES_MAX} prefixes, "
            f"{C.SUBSCRIBERS_SIZE_MAX >> 20} MiB") in PAGE.read_text(encoding="utf-8")


# ---- scale -------------------------------------------------------------------------


def test_ten_thousand_subscribers_are_read_at_once(write):
    """Bounded by ten times what it takes, which it prints."""
    path = write(numbered(10_000, 10))
    begin = time.monotonic()
    made = Subscribers(path)
    seconds = time.monotonic() - begin
    assert made.list.count == 10_000 and made.list.prefix_count == 100_000
    print(f"read in {1000 * seconds:.0f} ms")
    assert seconds < 2
