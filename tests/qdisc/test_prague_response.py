# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a socket of Prague's does about CE, losses, timeouts and idle times, as the kernel reports
them. The arithmetic behind it is in tests/unit/test_prague.py.
"""

import json
import re

import pytest
from conftest import BIN
from frames import CE, ECT_1
from netns import wait_until
from prague_pair import PORT, RIGHT, UPLOAD, needs_accecn

pytestmark = needs_accecn
RTT_MS = 100
ROOM = 60_000  # bytes that the receiver takes in a window


def delay_acks(pair, milliseconds, verb="add"):
    pair.right.run("tc", "qdisc", verb, "dev", "c0", "root", "netem", "delay",
                   f"{milliseconds}ms", "limit", 10000)


def filter_packets(space, name, hook, rule):
    """What a rule does to the packets that go to the receiver's port."""
    family, _ = name.split()
    space.run("nft", "-f", "-", input=f"""table {name} {{
        chain c {{
            type filter hook {hook} priority 0
            tcp dport {PORT} {rule}
        }}
    }}""")
    return lambda: int(re.search(r"counter packets (\d+)", space.run(
        "nft", "list", "table", family, name.split()[1]).stdout)[1])


def steady(pair):
    """A connection whose window stays as it is: the receiver has no room for more than half."""
    pair.accept(room=ROOM)
    delay_acks(pair, RTT_MS)
    pair.tool("on", "--netns", "left")
    pair.send()
    seen = []

    def stays():
        seen.extend(one["window"] for one in pair.sockets())
        return len(seen) > 2 and seen[-1] > 15 and seen[-1] == seen[-3]

    wait_until(stays, "the receiver's room is the limit", step=0.5)
    return seen[-1]


def window(pair):
    [one] = pair.sockets()
    return one["window"]


def told(pair, name):
    """What ss shows of the connection, milliseconds."""
    shown = pair.left.run("ss", "-tinH", "dport", f"= :{PORT}").stdout
    return int(re.search(rf"{name}:(\d+)", shown)[1])


def timeouts(pair):
    return int(re.search(r"TcpExtTCPTimeouts +(\d+)", pair.left.run(
        "nstat", "-asz", "TcpExtTCPTimeouts").stdout)[1])


# ---- CE ------------------------------------------------------------------------------------

def test_alpha_follows_the_share_of_ce(pair):
    """And each mark is counted once."""
    pair.accept()
    delay_acks(pair, 10)
    pair.tool("on", "--netns", "left")
    marked = filter_packets(pair.right, "ip marks", "prerouting",
                            "ip ecn ect1 numgen inc mod 20 0 ip ecn set ce counter")
    child = pair.send(client=UPLOAD)
    pair.upload([child], 10_000_000)
    wait_until(lambda: pair.sockets()[0]["delivered-ce"] == marked(), "each mark is known")
    [one] = pair.sockets()
    assert one["mode"] == "prague" and one["delivered-ce"] > 300
    assert one["alpha"] == pytest.approx(1 / 20, rel=0.4)
    # 2.7 (1 - p) / p packets in 25 ms at most, and not below half of that.
    assert 10 < one["window"] < 2.7 * 19 * 10 / 25


def test_marks_of_the_queue_are_those_that_the_senders_know(pair):
    """Of several, because the kernel lets one alone have hardly two packets in a queue of its own
    host."""
    pair.accept()
    delay_acks(pair, 10)
    pair.left.run(BIN / "dualpi2-load", "s0", "--rate", "10mbit")
    pair.tool("on", "--netns", "left")
    pair.upload([pair.send(client=UPLOAD) for _ in range(5)], 2_000_000)
    [stats] = json.loads(pair.left.run(BIN / "dualpi2-stats", "s0", "--json").stdout)
    marks = stats["ecn-mark"]
    assert marks > 1000

    def known():
        return sum(one["delivered-ce"] for one in pair.sockets())

    wait_until(lambda: known() > 0.99 * marks, "marks are known")
    assert known() <= 1.01 * marks
    assert set(pair.wire.of(PORT)) <= {ECT_1, CE}
    pair.left.run(BIN / "dualpi2-load", "s0", "--unload")


# ---- losses: half, once for what was out ----------------------------------------------------

def test_losses_in_a_window_count_once(pair):
    before = steady(pair)
    lost = filter_packets(pair.right, "ip losses", "prerouting",
                          "quota until 5000 bytes counter drop")
    wait_until(lambda: lost() >= 2, "packets are lost")
    wait_until(lambda: window(pair) < before, "it is noticed")
    assert before / 2 <= window(pair) < before / 2 + 6


@pytest.mark.parametrize("route, most", [("cwnd lock 20", 20), ("initcwnd 8000000", 2**18)])
def test_a_route_that_sets_the_window(pair, route, most):
    """W ends where the kernel's window does, so the first CE halves what is sent."""
    pair.accept()
    pair.left.ip(f"route add {RIGHT} dev s0 {route}")
    delay_acks(pair, RTT_MS)
    # The kernel takes it over from the route when a connection ends (net/ipv4/tcp_metrics.c).
    pair.end(pair.send())
    pair.tool("on", "--netns", "left")
    child = pair.send(client=UPLOAD)
    pair.upload([child], 3_000_000)
    [before] = pair.sockets()
    assert before["window"] <= most and before["cwnd"] <= most
    assert before["window"] > most * 0.9
    mark = filter_packets(pair.right, "ip t", "prerouting",
                          "limit rate 1/day burst 1 packets ip ecn set ce counter")
    pair.upload([child], 30_000)
    assert mark() == 1
    wait_until(lambda: window(pair) <= before["window"] * 0.7, "it was cut, and grows again")


def test_a_timeout(pair):
    """All packets of some RTTs are lost, and retransmissions with them."""
    before = steady(pair)
    filter_packets(pair.right, "ip losses", "prerouting", "counter drop")
    wait_until(lambda: timeouts(pair) >= 2, "timeouts")
    assert window(pair) == before / 2
    pair.right.run("nft", "delete", "table", "ip", "losses")
    count = pair.received
    wait_until(lambda: pair.received > count + 3 * ROOM, "it goes on")
    assert window(pair) >= before / 2


def test_a_timeout_in_recovery(pair):
    """One packet is lost, and all its retransmissions: one window, one reduction."""
    before = steady(pair)
    begin = (pair.wire.seq + 3 * ROOM) % 2**32
    filter_packets(pair.right, "ip losses", "prerouting",
                   f"@th,32,32 {begin}-{min(begin + 1000, 2**32 - 1)} counter drop")
    wait_until(lambda: window(pair) < before, "Recovery")
    wait_until(lambda: timeouts(pair) >= 1, "a timeout")
    assert before / 2 <= window(pair) < before / 2 + 3


def test_the_senders_own_qdisc_has_no_room(pair):
    """Nothing is lost on the way, and there is no CE: the kernel enters CWR."""
    before = steady(pair)
    refused = filter_packets(pair.left, "netdev own", "egress device s0",
                             "quota until 1600 bytes counter drop")
    wait_until(refused, "a packet is refused")
    wait_until(lambda: window(pair) < before, "it is noticed")
    assert before / 2 <= window(pair) < before / 2 + 6


def test_a_needless_timeout_is_undone(pair):
    """Acknowledgements come late, but they come: at once the window is what it was. (It does not
    grow before that.)"""
    before = steady(pair)
    delay_acks(pair, 1500, "change")
    wait_until(lambda: timeouts(pair) >= 1, "a timeout")
    assert window(pair) == before / 2
    delay_acks(pair, RTT_MS, "change")
    wait_until(lambda: window(pair) != before / 2, "they come", step=0.01)
    assert window(pair) == pytest.approx(before, abs=2)


# ---- idle times ---------------------------------------------------------------------------

@pytest.mark.parametrize("restarts", [1, 0])
def test_after_an_idle_time(pair, restarts):
    pair.accept()
    delay_acks(pair, RTT_MS)
    pair.left.sysctl("net.ipv4.tcp_slow_start_after_idle", restarts)
    pair.tool("on", "--netns", "left")
    child = pair.send(client=UPLOAD)
    pair.upload([child], 500_000)
    rto = told(pair, "rto")
    wait_until(lambda: told(pair, "lastsnd") > 4.5 * rto, "it is idle", step=0.05)
    before = window(pair)
    assert before > 200
    pair.upload([child], 1000)
    assert window(pair) == pytest.approx(before / 16 if restarts else before, abs=1)


# ---- long connections ----------------------------------------------------------------------

def test_after_two_gigabytes_it_is_still_prague(pair):
    """Sequence numbers that were ahead once are ahead again then."""
    pair.accept()
    pair.left.run("ethtool", "-K", "s0", "tso", "on", "gso", "on")
    pair.left.ip("link set s0 gso_max_segs 65535")
    pair.tool("on", "--netns", "left")
    pair.upload([pair.send(client=UPLOAD)], 2200 << 20)
    [one] = pair.sockets()
    assert one["mode"] == "prague"
