# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The guard: a flow that makes L long goes to C, all of it and for a while; others stay. Flows are
told apart by their IP protocol here. At 20 Mbit/s a full frame takes 606 us."""

import json
import re
import struct
import time

import pytest
from bpfcall import fill, lookup, opened
from conftest import BIN, PI2_PINS, drops, following, next_line
from frames import (
    CE,
    ECT_1,
    ETH_P_8021AD,
    ETH_P_8021Q,
    ETH_P_IP,
    ETH_P_IPV6,
    NOT_ECT,
    frame,
    ipv4,
    ipv4_frame,
    ipv6,
    mpls_frame,
    numbered,
)
from netns import run, wait_until

pytestmark = pytest.mark.oldest_kernel

ALSO_REGISTERED = ("fixed",)
FLOOD, OTHER = 253, 254  # IP protocols
GUARDED = ("--rate", "20mbit", "--guard")
LONG = 100  # frames: 61 ms


def flood(cable, count=LONG, ecn=ECT_1, protocol=FLOOD):
    """As fast as it goes; the serials."""
    serials = [next(cable.serials) for _ in range(count)]
    cable.send(*(ipv4_frame(serial, ecn, protocol=protocol) for serial in serials))
    return serials


def guard(cable):
    return cable.qdisc.stats()["guard"]


def is_in_l(cable, ecn=ECT_1, protocol=FLOOD):
    """Is a frame of this flow let into L now?"""
    before = cable.qdisc.stats()["l-queue"]["packets-in"]
    flood(cable, 1, ecn, protocol)
    return cable.qdisc.stats()["l-queue"]["packets-in"] > before


def test_a_flood_goes_to_c(cable):
    cable.load(*GUARDED)
    flood(cable)
    stats = cable.qdisc.stats()
    assert stats["guard"]["convictions"] == 1
    assert stats["guard"]["redirected"] == stats["c-queue"]["packets-in"]
    # 62.5 kB of blame, which begins with the fifth frame and is full from the eighth on
    assert 44 <= stats["l-queue"]["packets-in"] <= 50
    assert not is_in_l(cable), "all of it, in its term"


def test_others_stay(cable):
    cable.load(*GUARDED)
    flood(cable)
    assert is_in_l(cable, protocol=OTHER)


def test_it_is_off_by_default(cable):
    cable.load("--rate", "20mbit")
    flood(cable)
    cable.drain()
    stats = cable.qdisc.stats()
    assert stats["l-queue"]["packets-in"] == LONG and not stats["guard"]["convictions"]


def test_another_qdisc_knows_nothing_of_it(cable):
    cable.load(*GUARDED)
    flood(cable)
    cable.drain()
    cable.qdisc.check_conservation()
    cable.load("--unload")
    cable.load(*GUARDED)
    cable.sent = cable.arrived = 0
    flood(cable, protocol=OTHER)  # so that the guard looks at every flow
    assert guard(cable)["convictions"] == 1
    assert is_in_l(cable)


def test_switched_off_it_lets_all_in(cable):
    cable.load(*GUARDED)
    flood(cable)
    cable.load("--no-guard")
    assert is_in_l(cable)


def test_a_burst_that_is_no_longer_than_the_step_is_nobodys_fault(cable):
    """Three frames at 4 Mbit/s take 9 ms, but the first leaves at once, and two are no queue: not
    even while the guard looks at every flow."""
    cable.load("--rate", "4mbit", "--guard")
    flood(cable, protocol=OTHER)
    cable.drain()
    assert guard(cable)["convictions"] == 1
    for _ in range(30):
        flood(cable, 3)
        cable.drain()
    assert guard(cable)["convictions"] == 1


def test_after_its_term_it_comes_back(cable):
    cable.load(*GUARDED)
    flood(cable)
    assert not is_in_l(cable)
    cable.drain()
    wait_until(lambda: is_in_l(cable), "it is in L again")


@pytest.mark.parametrize("protocol, target, convictions", [
    (FLOOD, "15ms", 2),
    (OTHER, "15ms", 1),  # it was not out
    (FLOOD, "500ms", 1),  # C is as long as it should be
])
def test_who_was_out_may_not_take_the_link_from_c(cable, protocol, target, convictions):
    """L is short meanwhile."""
    cable.load(*GUARDED, "--alpha", "0.01", "--beta", "0.01", "--target", target)
    flood(cable)
    cable.drain()
    wait_until(lambda: is_in_l(cable), "it is in L again")
    flood(cable, 1500, NOT_ECT, OTHER)  # 0.9 s
    wait_until(lambda: cable.qdisc.stats()["delay-c"] > 35_000, "C is long")
    for _ in range(40):
        flood(cable, 1, protocol=protocol)
        time.sleep(0.0008)  # longer than the link takes for it
    stats = cable.qdisc.stats()
    assert stats["delay-c"] > 30_000
    assert stats["guard"]["convictions"] == convictions
    if convictions > 1:
        shown = flows(cable)["flows"][0]
        assert 30_000 < shown["c-delay"] < stats["delay-c"] and shown["l-delay"] < 4000
        assert re.search(r" 2 C +[0-9.]+ms  10\.", cable.tx.run(STATS, "d0", "--flows").stdout)
    cable.drain()


def test_it_does_not_pass_its_own_packets(cable):
    """After its term, too, while C has some of them: they arrive in the order of sending."""
    cable.load(*GUARDED)
    flood(cable)
    cable.load("--rate", "100kbit", "--target", "4000s")  # none leaves for now
    flood(cable, 1)
    wait_until(lambda: cable.qdisc.stats()["delay-c"] > 300_000, "its term is over")
    assert not is_in_l(cable)


def test_what_it_sends_is_classic(cable):
    """Marked while C waits longer than the step; of those that are, some are dropped on arrival."""
    cable.load(*GUARDED, "--target", "4000s")
    flood(cable)
    cable.load("--rate", "2mbit")
    flood(cable, 20, NOT_ECT, OTHER)
    wait_until(lambda: cable.qdisc.stats()["delay-c"] > 25_000, "their share is free again")
    flood(cable, 2)
    arrived = cable.drain()
    stats = cable.qdisc.stats()
    marked = sum(packet.ecn == CE for packet in arrived)
    assert 2 <= marked - stats["l-queue"]["mark-native"] <= stats["c-queue"]["mark-guard"]
    assert stats["c-queue"]["mark-coupled"] == stats["l-queue"]["mark-guard"] == 0


def test_convicts_have_a_quarter_while_c_waits(cable):
    """Beside a Classic flow that fills C. A quarter of 36 ms is 9, and they may be 20 ms ahead."""
    cable.load(*GUARDED, "--target", "4000s")
    flood(cable)
    cable.drain()
    before = cable.qdisc.stats()
    flood(cable, 100, NOT_ECT, OTHER)
    flood(cable, 100)
    queue = cable.qdisc.stats()["c-queue"]
    policed = queue["drop-guard"] - before["c-queue"]["drop-guard"]
    cable.drain()
    # 20 ms at a quarter of 20 Mbit/s are 8 frames and one that begins
    assert 100 - policed == pytest.approx(9, abs=4)
    assert drops(queue) == queue["drop-guard"], "others lose nothing by it"


def test_what_comes_to_c_at_once_is_bounded(cable):
    """Also where C was empty: 2 ms, or 20 ms of the quarter."""
    cable.load(*GUARDED, "--target", "4000s")
    flood(cable)
    stats = cable.qdisc.stats()
    passed = stats["guard"]["redirected"] - stats["c-queue"]["drop-guard"]
    assert stats["guard"]["redirected"] > 45 and 8 <= passed <= 11
    cable.drain()


def test_a_new_rate_gives_the_whole_share(cable):
    """Whatever was sent at a much lower one before."""
    cable.load("--rate", "100kbit", "--guard", "--target", "4000s")
    flood(cable)
    cable.load("--rate", "20mbit")
    cable.drain()
    before = cable.qdisc.stats()["c-queue"]["drop-guard"]
    flood(cable, 40, NOT_ECT, OTHER)
    flood(cable, 8)
    assert cable.qdisc.stats()["c-queue"]["drop-guard"] == before
    cable.drain()


def test_the_aqm_drops_it(cable):
    """With p_C, although it is ECT."""
    cable.load("--aqm", "fixed", "--fixed-prob", "50%", *GUARDED)
    flood(cable)
    cable.drain()
    stats = cable.qdisc.stats()
    assert stats["c-queue"]["drop-aqm"] > 0 and stats["l-queue"]["drop-aqm"] == 0


# ---- who it is ----------------------------------------------------------------------------

STATS = BIN / "dualpi2-stats"
TCP, UDP, GRE, ESP, IN_IPV4, IN_IPV6, HOP_BY_HOP, OPTIONS = 6, 17, 47, 50, 4, 41, 0, 60
V4 = {"source": "10.0.0.1", "target": "10.0.0.2"}
V6 = {"source": "fd00::1", "target": "fd00::1"}


def send(cable, make, count=LONG):
    """Frames that `make` makes of their serials, as fast as it goes."""
    cable.send(*(make(next(cable.serials)) for _ in range(count)))


def ports(serial, source=5001, length=1400):
    """What TCP and UDP begin with, and the rest."""
    return struct.pack("!HH", source, 443) + numbered(serial, length, 4)


def spi(serial, number):
    return struct.pack("!I", number) + numbered(serial, 1400, 4)


def in_ipv4(payload, protocol, vlans=()):
    return frame(ETH_P_IP, ipv4(ECT_1, payload, protocol=protocol), vlans)


def in_ipv6(payload, header, label=0):
    return frame(ETH_P_IPV6, ipv6(ECT_1, payload, next_header=header, label=label))


def fragment_of(serial):
    packet = bytearray(ipv4(ECT_1, ports(serial), protocol=UDP))
    packet[6:8] = 0x2000.to_bytes(2, "big")  # more follow
    return frame(ETH_P_IP, bytes(packet))


def gre(payload, protocol, flags=0, options=b""):
    return struct.pack("!HH", flags, protocol) + options + payload


def options(following_header, length=1):
    return struct.pack("!BB6x", following_header, length - 1) + bytes(8 * (length - 1))


# Frames, and what `--flows` says of each but for the values below, which are those of most.
USUAL = {"source-port": None, "target-port": None, "tunnels": 0, "fragment": False}
PORTS = {"source-port": 5001, "target-port": 443}
NAMED = {
    "UDP": (lambda n: in_ipv4(ports(n), UDP), V4 | PORTS | {"protocol": "udp"}),
    "TCP, IPv6": (lambda n: in_ipv6(ports(n), TCP), V6 | PORTS | {"protocol": "tcp"}),
    "flow label": (lambda n: in_ipv6(ports(n), TCP, label=0x54321),
                   V6 | PORTS | {"protocol": "tcp", "flow-label": 0x54321}),
    "VLAN": (lambda n: in_ipv4(ports(n, 1), UDP, ((ETH_P_8021Q, 7),)),
             V4 | PORTS | {"source-port": 1, "protocol": "udp"}),
    # (Of another length: of a frame with tags from a packet socket the kernel hashes that.)
    "two VLANs": (lambda n: frame(ETH_P_IP, ipv4(ECT_1, ports(n, 2, 1300), protocol=UDP),
                                  ((ETH_P_8021AD, 1), (ETH_P_8021Q, 2))),
                  V4 | PORTS | {"source-port": 2, "protocol": "udp"}),
    "options of IPv6": (
        lambda n: in_ipv6(options(OPTIONS) + options(UDP, 2) + ports(n, 3), HOP_BY_HOP),
        V6 | PORTS | {"source-port": 3, "protocol": "udp"}),
    "IPv4 in IPv4": (lambda n: in_ipv4(ipv4(ECT_1, ports(n, 4), protocol=UDP), IN_IPV4),
                     V4 | PORTS | {"source-port": 4, "protocol": "udp", "tunnels": 1}),
    "IPv6 in IPv4": (lambda n: in_ipv4(ipv6(ECT_1, ports(n, 5), next_header=UDP, label=0),
                                       IN_IPV6),
                     V6 | PORTS | {"source-port": 5, "protocol": "udp", "tunnels": 1}),
    "GRE": (lambda n: in_ipv4(gre(ipv4(ECT_1, ports(n, 6), protocol=UDP), ETH_P_IP, 0x2000,
                                  bytes(4)), GRE),
            V4 | PORTS | {"source-port": 6, "protocol": "udp", "tunnels": 1}),
    "Ethernet in GRE": (lambda n: in_ipv4(gre(in_ipv4(ports(n, 7), UDP, ((ETH_P_8021Q, 7),)),
                                              0x6558), GRE),
                        V4 | PORTS | {"source-port": 7, "protocol": "udp", "tunnels": 1}),
    "GRE of a version that is unknown": (lambda n: in_ipv4(gre(ports(n), ETH_P_IP, 2), GRE),
                                         V4 | {"protocol": "gre"}),
    # The kernel's hash has the label in place of what is in the tunnel.
    "a tunnel with a flow label": (
        lambda n: in_ipv6(ipv4(ECT_1, ports(n, 8), protocol=UDP), IN_IPV4, label=0x77777),
        V6 | {"protocol": "4", "flow-label": 0x77777}),
    "ESP": (lambda n: in_ipv4(spi(n, 0xCAFE0001), ESP),
            V4 | {"protocol": "esp", "spi": 0xCAFE0001}),
    "ESP, IPv6": (lambda n: in_ipv6(spi(n, 0xCAFE0002), ESP),
                  V6 | {"protocol": "esp", "spi": 0xCAFE0002}),
    "a fragment": (fragment_of, V4 | {"protocol": "udp", "fragment": True}),
    "a protocol without ports": (lambda n: in_ipv4(numbered(n, 1400, 0), 253),
                                 V4 | {"protocol": "253"}),
}


def flows(cable):
    """All that is known of convicts, the latest first."""
    [shown] = json.loads(cable.tx.run(STATS, "d0", "--flows", "--json").stdout)
    return shown


def test_flows_are_named(cable):
    """By their innermost header, as far as the kernel's hash goes by it. What cannot be seen is
    null."""
    cable.load(*GUARDED)
    named = {}
    for name, (make, _) in NAMED.items():
        before = guard(cable)["convictions"]
        send(cable, make)
        cable.drain()
        assert guard(cable)["convictions"] == before + 1, name
        named[name] = flows(cable)["flows"][0]["flow"]
    assert named == {name: USUAL | expected for name, (_, expected) in NAMED.items()}


def test_what_is_no_ip_has_no_name(cable):
    """A class puts it into L."""
    cable.load(*GUARDED, "--handle", "1:")
    cable.sender.setsockopt(1, 12, 1 << 16 | 1)  # SOL_SOCKET, SO_PRIORITY: class 1
    try:
        send(cable, lambda serial: mpls_frame(serial, ECT_1))
    finally:
        cable.sender.setsockopt(1, 12, 0)
    [convict] = flows(cable)["flows"]
    assert convict["flow"] == USUAL | {"source": None, "target": None, "protocol": None}


def test_convicts_are_listed(cable):
    """Who is out, for how long, the how manieth time, and how long L was; and who was."""
    cable.load(*GUARDED)
    assert flows(cable) == {"dev": "d0", "interface": "d0", "direction": "egress", "guard": True,
                            "convicts": 0, "worst-score": 0, "flows": []}
    flood(cable)
    shown = flows(cable)
    [first] = shown["flows"]
    assert shown["convicts"] == guard(cable)["convicts"] == 1
    assert first["out"] and first["term"] == 1 and first["flow"]["protocol"] == str(FLOOD)
    assert 0 < first["left"] <= 256_000
    assert first["until"] - first["since"] == pytest.approx(0.256, abs=1e-5)
    # 62.5 kB of blame, the more of each frame the longer L is: 41 frames and more
    assert 20_000 < first["l-delay"] < 32_000
    cable.drain()
    flood(cable, protocol=OTHER)
    assert [convict["flow"]["protocol"] for convict in flows(cable)["flows"]] == [
        str(OTHER), str(FLOOD)]
    cable.drain()
    wait_until(lambda: is_in_l(cable), "the first one is in L again")
    shown = {convict["flow"]["protocol"]: convict for convict in flows(cable)["flows"]}
    assert not shown[str(FLOOD)]["out"] and shown[str(FLOOD)]["left"] == 0
    flood(cable)
    shown = flows(cable)["flows"][0]
    assert shown["term"] == 2 and shown["out"], "a longer term, and one line"
    assert len(flows(cable)["flows"]) == 2


def test_convicts_for_people(cable):
    cable.load(*GUARDED)
    table = (STATS, "d0", "--flows")
    assert cable.tx.run(*table).stdout == "d0: no flow is out of the L4S queue, and none was\n"
    flood(cable)
    text = cable.tx.run(*table).stdout
    head, columns, row = text.splitlines()
    assert head == "d0: 1 flow is out of the L4S queue"
    assert re.fullmatch(r" +[0-9.]+m?u?s +[0-9.]+ms +1 L +[23][0-9.]+ms  "
                        r"10\.0\.0\.1 > 10\.0\.0\.2, protocol 253", row), text
    assert columns.index("flow") == row.index("10.0.0.1")
    assert max(map(len, text.splitlines())) <= 80
    cable.drain()
    assert "\n    none is out now\n" in cable.qdisc.table()
    wait_until(lambda: is_in_l(cable), "it is in L again")
    assert re.fullmatch(r"d0: no flow is out of the L4S queue; the latest one was convicted \S+ "
                        r"ago:\n  10\.0\.0\.1 > 10\.0\.0\.2, protocol 253\n",
                        cable.tx.run(*table).stdout)
    cable.load("--no-guard")
    assert "the guard is off" in cable.tx.run(*table).stdout


def test_the_worst_score_grows_to_a_conviction(cable):
    """Blame that is less than too much, and it drains."""
    cable.load(*GUARDED)
    flood(cable, 25)
    now = guard(cable)
    assert now["convicts"] == now["convictions"] == 0 and 20 < now["worst-score"] < 100
    cable.drain()
    wait_until(lambda: guard(cable)["worst-score"] == 0, "it has drained")


def number_of(conviction):
    """It begins with it."""
    return struct.unpack_from("=Q", conviction)[0]


def test_convictions_are_events(cable):
    cable.load(*GUARDED)
    with following(cable.tx, STATS, "d0", "--events", "--json") as follower, \
            following(cable.tx, STATS, "--events") as reader:
        for protocol in FLOOD, OTHER:
            flood(cable, protocol=protocol)
            cable.drain()
            event = json.loads(next_line(follower))
            assert (event["event"], event["interface"], event["term"]) == ("convicted", "d0", 1)
            assert event["flow"] == USUAL | V4 | {"protocol": str(protocol)}
            assert event["until"] - event["time"] == pytest.approx(0.256, abs=1e-5)
            assert re.fullmatch(r"\S+ \S+ d0: out of the L4S queue for 256ms, which it made "
                                r"[0-9.]+ms long: 10\.0\.0\.1 > 10\.0\.0\.2, protocol "
                                rf"{protocol}\n", next_line(reader))


def test_a_conviction_that_nobody_told_holds_up_no_other(spent, cable):
    """The place of one was not free when it came: the next is told without it."""
    cable.load(*GUARDED)
    with following(cable.tx, STATS, "d0", "--events", "--json") as follower, \
            opened(PI2_PINS / "dualpi2_convictions") as told:
        flood(cable)
        first = next_line(follower)
        shown = run("bpftool", "-j", "map", "show", "pinned", PI2_PINS / "dualpi2_convictions")
        size = json.loads(shown.stdout)["bytes_value"]
        kept = [lookup(told, struct.pack("=I", place), size) for place in range(256)]
        latest = max(kept, key=number_of)
        number = struct.pack("=Q", number_of(latest) + 2)
        kept[(number_of(latest) + 2) % 256] = number + latest[8:-8] + number
        fill(told, kept)
        assert next_line(follower) == first


def test_security_associations_are_flows(cable):
    """ESP from one gateway to another: by the SPI."""
    cable.load(*GUARDED)
    send(cable, lambda serial: in_ipv4(spi(serial, 1), ESP))
    for number, is_let_in in (1, False), (2, True):
        before = cable.qdisc.stats()["l-queue"]["packets-in"]
        send(cable, lambda serial, number=number: in_ipv4(spi(serial, number), ESP), 1)
        assert (cable.qdisc.stats()["l-queue"]["packets-in"] > before) == is_let_in
    assert guard(cable)["convictions"] == 1


def test_who_finds_no_place_is_not_judged(spent, cable):
    """All places have flows that are not to be forgotten: the flood stays in L, and is counted."""
    cable.load(*GUARDED)
    with opened(PI2_PINS / "dualpi2_flows") as table:
        # id, qdisc, blamed_until_ns
        fill(table, [struct.pack("=IIQ48x", 1, 0, 2**63)] * 8192)
    flood(cable)
    stats = cable.qdisc.stats()
    assert stats["guard"]["convictions"] == stats["guard"]["convicts"] == 0
    assert stats["l-queue"]["packets-in"] == LONG
    # From the fifth frame on, with which L is long enough.
    assert 90 <= stats["guard"]["unjudged"] <= 97
