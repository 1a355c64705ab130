# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""dualpi2-mark-values: values as flow labels, by policies, and that nothing stays."""

import json
import re
import socket
import struct
import time
from pathlib import Path

import pytest
import virtual_queues
from conftest import AQMS, BIN, one_line
from faults import kill_at_each_step, refuse_at_each_step
from frames import (
    CE,
    ECT_0,
    ECT_1,
    ETHER_LEN,
    NOT_ECT,
    VLAN_LEN,
    ipv4_frame,
    ipv6_frame,
    other_frame,
    received,
)
from netns import veth, wait_until
from test_vdq import LENGTH, STEADY, of_label, offer

pytestmark = pytest.mark.skipif("vdq" not in AQMS, reason="built without VDQ=1")

TOOL = BIN / "dualpi2-mark-values"
PINS = Path("/sys/fs/bpf/dualpi2-mark-values")
FLOWS_MAX = 8192
VALUE_MAX = 2**20 - 1
AF41, EF = 34, 46
VLAN = 0x8100
ALSO_REGISTERED = ("vdq",)


SOON = ("--rate-memory", "30ms")


@pytest.fixture
def cable(registered, wire, cable):  # which pytest else sets up as late as itself
    yield cable
    virtual_queues.look(cable)


@pytest.fixture
def marked(cable):
    """The cable, whose sender marks values; the tool is run with more arguments by it."""
    def tool(*arguments, check=True):
        return cable.tx.run(TOOL, "d0", *arguments, check=check)
    cable.mark = tool
    tool(*SOON)
    yield cable
    tool("--unload", check=False)
    assert not PINS.exists()


def policy(tmp_path, *lines):
    path = tmp_path / "policy"
    path.write_text("\n".join(lines) + "\n")
    return *SOON, "--policy", path


def programs(space, dev="d0"):
    """Those that see what it sends, in their order."""
    [shown] = json.loads(space.run("bpftool", "-j", "net", "show", "dev", dev).stdout)
    return [one.get("name") for one in shown["tc"] if one["kind"] == "tcx/egress"]


def counters(marked):
    return json.loads(marked.mark("--show", "--json").stdout)


def arrivals(cable, count):
    """So many packets, as they came."""
    seen = []
    wait_until(lambda: seen.extend(data for data, _ in received(cable.receiver)) or
               len(seen) >= count, f"{count} packets have arrived")
    return seen


def label(data):
    return struct.unpack_from("!I", data, ETHER_LEN)[0] & VALUE_MAX


def without_label(data):
    place = ETHER_LEN + 1
    return data[:place] + bytes([data[place] & 0xF0, 0, 0]) + data[place + 3:]


def rate(value):
    """V^-1, bytes/s (include/vdq/packet_value.h)"""
    above = (VALUE_MAX - value) * 25 / VALUE_MAX
    return 2**10 * 2**int(above) * (1 + above % 1)


# ---- values ------------------------------------------------------------------------------

def test_values_are_spread_up_to_the_rate(marked):
    """A quarter of the packets has values of rates up to a quarter of the flow's, and so on."""
    sent, begin = list(map(of_label(NOT_ECT, 7), range(2000))), time.monotonic()
    for data in sent:
        time.sleep(LENGTH * 8 / 4e6)
        marked.send(data)
    flow = len(sent) * LENGTH / (time.monotonic() - begin)
    seen = arrivals(marked, len(sent))
    assert list(map(without_label, seen)) == list(map(without_label, sent))
    rates = sorted(rate(label(data)) for data in seen[len(seen) // 2:])
    for share in (0.25, 0.5, 0.75, 1):
        assert rates[int(share * len(rates)) - 1] == pytest.approx(share * flow, rel=0.1)
    shown = counters(marked)
    assert shown["labelled"] == len(sent) and shown["unlabelled"] == 0
    assert shown["flows"] == 1 and shown["flows-evicted"] == 0


@pytest.mark.parametrize("ecn", [NOT_ECT, ECT_0, ECT_1, CE])
def test_all_else_stays(marked, ecn):
    plain, tagged = ipv6_frame(1, ecn), ipv6_frame(2, ecn, vlans=((VLAN, 5),))
    others = [ipv4_frame(3, ecn), other_frame(4)]
    marked.send(plain, tagged, *others)
    seen = arrivals(marked, 4)
    assert without_label(seen[0]) == without_label(plain) and label(seen[0]) != label(plain)
    sent = tagged[:12] + tagged[12 + VLAN_LEN:]  # the receiver's kernel takes the tag out
    assert without_label(seen[1]) == without_label(sent) and label(seen[1]) != label(sent)
    assert seen[2:] == others
    assert counters(marked)["others"] == 2


def test_the_bottleneck_shares_by_the_labels(marked):
    """The oracle of the paper, a tenth of it; it measures nothing itself."""
    marked.load("--aqm", "vdq", "--rate", "10mbit", "--values", "flow-label", *STEADY)
    flows = marked.qdisc.stats()["flows"]  # of former qdiscs
    seen, _ = offer(marked, [(8, of_label(NOT_ECT, 1)), (5, of_label(NOT_ECT, 2))])
    assert seen == pytest.approx([4.9, 4.9], rel=0.05)
    stats = marked.qdisc.stats()
    assert (stats["flows"], stats["without-value"]) == (flows, 0)
    assert programs(marked.tx)[-1] == "dualpi2_mark"


def test_a_bottleneck_that_was_there_before(cable):
    """The marker still comes first."""
    cable.load("--aqm", "vdq", "--rate", "10mbit", "--values", "flow-label", *STEADY)
    cable.tx.run(TOOL, "d0", *SOON)
    seen, _ = offer(cable, [(8, of_label(NOT_ECT, 1)), (5, of_label(NOT_ECT, 2))])
    assert seen == pytest.approx([4.9, 4.9], rel=0.05)
    cable.tx.run(TOOL, "d0", "--unload")


@pytest.fixture
def host(cable, new_space):
    """The cable's sender is a router now, and this what is behind it: where packets begin."""
    host, router = new_space("host"), cable.tx
    veth(host, "h0", router, "t0")
    router.run("nft", "-f", "-", input="""table ip6 quiet {
        chain c { type filter hook output priority 0; policy drop; }
    }""")  # no packets of its own
    for dev in ("t0", "d0"):
        router.sysctl(f"net.ipv6.conf.{dev}.disable_ipv6", 0)
    router.sysctl("net.ipv6.conf.all.forwarding", 1)
    router.ip("-6 route add fd00::1 dev d0")
    router.ip("-6 neigh add fd00::1 lladdr 02:00:00:00:00:02 dev d0 nud permanent")
    with host.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as sender:
        sender.bind(("h0", 0))
        usual, cable.sender = cable.sender, sender
        yield host
        cable.sender = usual
    router.sysctl("net.ipv6.conf.d0.disable_ipv6", 1)
    router.run("nft", "delete", "table", "ip6", "quiet")


def test_labels_pass_a_router(cable, host):
    """Marked on one host, they share the bottleneck of another one."""
    host.run(TOOL, "h0", *SOON)
    cable.load("--aqm", "vdq", "--rate", "10mbit", "--values", "flow-label", *STEADY)
    flows = cable.qdisc.stats()["flows"]  # of former qdiscs
    seen, _ = offer(cable, [(8, of_label(NOT_ECT, 1)), (5, of_label(NOT_ECT, 2))])
    assert seen == pytest.approx([4.9, 4.9], rel=0.05)
    stats = cable.qdisc.stats()
    assert (stats["flows"], stats["without-value"]) == (flows, 0)
    host.run(TOOL, "h0", "--unload")


# ---- policies ------------------------------------------------------------------------------

def test_gold_gets_twice_as_much(marked, tmp_path):
    marked.mark(*policy(tmp_path, "dscp af41 gold"))
    marked.load("--aqm", "vdq", "--rate", "6mbit", "--values", "flow-label", *STEADY)
    seen, _ = offer(marked, [(8, of_label(NOT_ECT, 1, dscp=AF41)), (8, of_label(NOT_ECT, 2))])
    assert seen == pytest.approx([3.92, 1.96], rel=0.05)


def test_a_share_of_ones_own(marked, tmp_path):
    marked.mark(*policy(tmp_path, "policy low share 25%", "default low  # all but",
                        "dscp 46 silver"))
    marked.load("--aqm", "vdq", "--rate", "6mbit", "--values", "flow-label", *STEADY)
    seen, _ = offer(marked, [(8, of_label(NOT_ECT, 1, dscp=EF)), (8, of_label(NOT_ECT, 2))])
    assert seen == pytest.approx([4.7, 1.18], rel=0.05)


def test_a_table_of_rates_and_values(marked, tmp_path):
    """Up to 2 Mbit/s before all others, then nothing."""
    marked.mark(*policy(tmp_path, "policy video 2mbit=1000000 2100kbit=1", "dscp ef video"))
    marked.load("--aqm", "vdq", "--rate", "6mbit", "--values", "flow-label", *STEADY)
    seen, _ = offer(marked, [(4, of_label(NOT_ECT, 1, dscp=EF)), (8, of_label(NOT_ECT, 2))])
    assert seen == pytest.approx([2, 3.88], rel=0.05)


def test_other_policies_without_a_gap(marked, tmp_path):
    """Counters and flows stay, and there is one program."""
    marked.send(*(ipv6_frame(serial, NOT_ECT) for serial in range(20)))
    before = counters(marked)
    marked.mark(*policy(tmp_path, "policy flat 1mbit=77", "default flat"))
    assert counters(marked) == before and before["flows"] == 1
    arrivals(marked, 20)
    marked.send(ipv6_frame(21, NOT_ECT))
    [data] = arrivals(marked, 1)
    assert label(data) == 77
    assert counters(marked)["labelled"] == before["labelled"] + 1
    assert programs(marked.tx) == ["mark_values"]
    marked.mark()
    marked.send(ipv6_frame(22, NOT_ECT))
    assert label(arrivals(marked, 1)[0]) != 77, "all are silver again"


# ---- bounds ---------------------------------------------------------------------------------

def test_flows_make_room_for_others(marked):
    marked.send(*(of_label(NOT_ECT, 1 + number)(number) for number in range(FLOWS_MAX + 1000)))
    arrivals(marked, FLOWS_MAX + 1000)
    shown = counters(marked)
    assert shown["labelled"] == FLOWS_MAX + 1000
    assert shown["flows"] <= FLOWS_MAX
    assert shown["flows"] + shown["flows-evicted"] == pytest.approx(FLOWS_MAX + 1000, abs=5)
    text = marked.mark("--show").stdout
    assert re.search(rf"^ +{shown['flows-evicted']}  flows that made room", text, re.M)


# ---- life and death ----------------------------------------------------------------------------

def test_unload_leaves_others_alone(cable, foreign_program):
    cable.tx.run("bpftool", "net", "attach", "tcx_egress", "pinned", foreign_program, "dev", "d0")
    before = programs(cable.tx)
    cable.tx.run(TOOL, "d0")
    assert programs(cable.tx) == ["mark_values", *before]
    cable.tx.run(TOOL, "d0", "--unload")
    assert programs(cable.tx) == before and not PINS.exists()
    cable.send(ipv6_frame(1, NOT_ECT))
    assert arrivals(cable, 1) == [ipv6_frame(1, NOT_ECT)]
    cable.tx.run("bpftool", "net", "detach", "tcx_egress", "dev", "d0")


def test_an_interface_that_goes(box):
    """What was pinned for it goes with the next run, also if another one has its number."""
    box.run(TOOL, "one")
    number = json.loads(box.run("ip", "-j", "link", "show", "one").stdout)[0]["ifindex"]
    box.ip("link del one")
    box.ip(f"link add one index {number} type dummy")
    assert "no values are marked" in one_line(box.run(TOOL, "one", "--show", check=False), 1)
    box.run(TOOL, "two")
    assert len(list(PINS.glob("link-*"))) == 1
    one_line(box.run(TOOL, "one", "--unload", check=False), 1)
    box.run(TOOL, "two", "--unload")
    assert not PINS.exists()


def test_an_interface_that_moves(box, new_space):
    """Its program moves with it, and is found there; one with its number here has none."""
    other = new_space("elsewhere")
    box.run(TOOL, "one")
    number = json.loads(box.run("ip", "-j", "link", "show", "one").stdout)[0]["ifindex"]
    box.ip("link set one netns elsewhere")
    box.ip(f"link add one index {number} type dummy")
    one_line(box.run(TOOL, "one", "--unload", check=False), 1)
    other.run(TOOL, "one")
    assert programs(other, "one") == ["mark_values"], "it did not get a second one"
    other.run(TOOL, "one", "--unload")
    assert programs(other, "one") == [] and not PINS.exists()


def test_pins_that_go(marked):
    for pin in PINS.iterdir():
        pin.unlink()
    wait_until(lambda: not programs(marked.tx), "the program is gone")
    one_line(marked.mark("--unload", check=False), 1)
    marked.mark()
    assert programs(marked.tx) == ["mark_values"]


def test_another_version_is_left_alone(marked):
    """What its maps mean is not known; --unload ends it."""
    for pin in PINS.glob("*-1-*"):
        pin.rename(PINS / pin.name.replace("-1-", "-2-", 1))
    for arguments in ((), ("--show",)):
        assert "another version" in one_line(marked.mark(*arguments, check=False), 1)
    assert programs(marked.tx) == ["mark_values"]
    marked.mark("--unload")
    assert not programs(marked.tx) and not PINS.exists()


def state(space):
    """Not by names of programs: libbpf does without them if it is refused what tells it that the
    kernel has names."""
    pins = sorted(re.sub(r"\d+$", "N", pin.name) for pin in PINS.glob("*"))
    return len(programs(space, "one")), pins


ATTACH = (TOOL, "one")
UNLOAD = (TOOL, "one", "--unload")


@pytest.mark.oldest_kernel
def test_it_is_killed_at_each_step(box, tmp_path, long):
    kill_at_each_step(box, ATTACH, UNLOAD, lambda: state(box), tmp_path, long)


@pytest.mark.oldest_kernel
@pytest.mark.parametrize("again", [False, True])
def test_attach_is_refused_at_each_step(box, tmp_path, long, again):
    """`again`: where it is attached already."""
    if again:
        box.run(*ATTACH)
    back = None if again else UNLOAD
    refuse_at_each_step(box, ATTACH, back, lambda: state(box), tmp_path, long)
    box.run(*UNLOAD, check=False)


# ---- who may, and wrong usage -------------------------------------------------------------------

@pytest.mark.parametrize("missing", ["net_admin", "bpf"])
def test_without_rights(box, missing):
    bare = ("setpriv", f"--bounding-set=-sys_admin,-{missing}", *ATTACH)
    one_line(box.run(*bare, check=False), 1)
    assert not programs(box, "one") and not PINS.exists()
    box.run(*ATTACH)
    stranger = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    for argv in (ATTACH, UNLOAD, (*ATTACH, "--show")):
        one_line(box.run(*stranger, *argv, check=False), 1)
    assert programs(box, "one") == ["mark_values"]
    box.run(*UNLOAD)


@pytest.mark.oldest_kernel
@pytest.mark.parametrize("arguments, told", [
    (["nosuch"], "nosuch"), (["one", "--unload"], "one: nothing to unload"),
    (["one", "--show"], "one: no values are marked there")])
def test_there_is_nothing(box, arguments, told):
    assert told in one_line(box.run(TOOL, *arguments, check=False), 1)
    assert not PINS.exists()
