# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""VDQ-CSAQM: fair shares by packet values, whatever the flows do. Each test ends with
a look at the histograms of the virtual queues."""

import itertools
import json
import re
import struct
import threading
import time

import bpfcall
import pytest
import virtual_queues
from conftest import AQMS, BIN, PIN_DIR, REGISTRATIONS, drops, published
from frames import (
    CE,
    ECT_0,
    ECT_1,
    ETH_P_IP,
    ETH_P_IPV6,
    ETHER_LEN,
    IPV4_LEN,
    IPV6_LEN,
    NOT_ECT,
    frame,
    ipv4,
    ipv6,
    numbered,
)
from netns import wait_until
from superpackets import IPPROTO_UDP, UDP_LEN

pytestmark = [pytest.mark.oldest_kernel,
              pytest.mark.skipif("vdq" not in AQMS, reason="built without VDQ=1")]

STATS = BIN / "dualpi2-stats"
ALSO_REGISTERED = ("vdq",)
LENGTH = 500  # of each frame, bytes
# A rate settles soon, and at a tenth of the rates the virtual queue has not too few packets.
STEADY = ("--rate-memory", "30ms", "--virtual-target", "15ms")
MIDDLE = 2**19
FLOWS_MAX = 8192  # VALUE_FLOWS_MAX
VALUES_SIZE = 2 * 32 * 8  # struct dualpi2_values, bytes


@pytest.fixture
def cable(registered, wire, cable):  # which pytest else sets up as late as itself
    yield cable
    virtual_queues.look(cable)


def udp(port, serial, ip_len):
    """A datagram, that makes the frame LENGTH long."""
    payload = numbered(serial, LENGTH, ETHER_LEN + ip_len + UDP_LEN)
    return struct.pack("!HHHH", port, 5000, UDP_LEN + len(payload), 0) + payload


def offer(cable, flows, seconds=3):
    """Send flows of constant rates: [(Mbit/s, frame of a serial)]. What arrived of each in Mbit/s,
    but for the first second, and how many of the packets with CE."""
    gaps = [LENGTH * 8 / rate / 1e6 for rate, _ in flows]
    begin = time.monotonic()
    due = [begin + gap * number / len(flows) for number, gap in enumerate(gaps)]
    owner, counted = {}, set()
    while (now := min(due)) < begin + seconds:
        number = due.index(now)
        if (ahead := now - time.monotonic()) > 0:
            time.sleep(ahead)
        serial = next(cable.serials)
        owner[serial] = number
        if now > begin + 1:
            counted.add(serial)
        cable.send(flows[number][1](serial))
        due[number] += gaps[number]
    bits = [0] * len(flows)
    marked = [0] * len(flows)
    for packet in cable.drain():
        if packet.serial in counted:
            bits[owner[packet.serial]] += LENGTH * 8
            marked[owner[packet.serial]] += packet.ecn == CE
    return [count / (seconds - 1) / 1e6 for count in bits], marked


def of_ipv4(ecn, port):
    """A flow for each port."""
    return lambda serial: frame(ETH_P_IP, ipv4(ecn, udp(port, serial, IPV4_LEN),
                                               protocol=IPPROTO_UDP))


def of_label(ecn, label, **options):
    """IPv6"""
    return lambda serial: frame(ETH_P_IPV6, ipv6(ecn, udp(1, serial, IPV6_LEN), label=label,
                                                 next_header=IPPROTO_UDP, **options))


@pytest.fixture(scope="module", autouse=True)
def table_of_flows(registered):
    """Is empty: the qdiscs of all files share one."""
    REGISTRATIONS.renew("vdq")


# ---- shares ------------------------------------------------------------------------------


@pytest.mark.parametrize("rate, shares, when", [
    ("10mbit", [4.9, 4.9], "--drop-enqueue"), ("10mbit", [4.9, 4.9], "--drop-dequeue"),
    ("6mbit", [2.94, 2.94], "--drop-enqueue"), ("20mbit", [8, 5], "--drop-enqueue"),
])
def test_oracle(cable, rate, shares, when):
    """80 and 50 into 100 and 60 of the paper, a tenth of it; the virtual link has 98 %."""
    cable.load("--aqm", "vdq", "--rate", rate, when, *STEADY)
    seen, _ = offer(cable, [(8, of_ipv4(NOT_ECT, 1)), (5, of_ipv4(NOT_ECT, 2))])
    assert seen == pytest.approx(shares, rel=0.05)
    stats = cable.qdisc.stats()
    assert stats["without-value"] == stats["virtual-overflows"] == 0
    assert stats["flows"] == 2


def test_link_rate_in_place_of_a_shaper(cable):
    cable.load("--aqm", "vdq", "--link-rate", "10mbit", *STEADY)
    seen, _ = offer(cable, [(8, of_ipv4(NOT_ECT, 1)), (5, of_ipv4(NOT_ECT, 2))])
    assert seen == pytest.approx([4.9, 4.9], rel=0.05)


def test_without_a_rate_all_passes(cable):
    cable.load("--aqm", "vdq")
    seen, _ = offer(cable, [(8, of_ipv4(NOT_ECT, 1)), (5, of_ipv4(ECT_1, 2))], 2)
    assert seen == pytest.approx([8, 5], rel=0.01)
    assert drops(cable.qdisc.stats()["c-queue"]) == 0


def test_ecn_capable_classic_packets_are_marked_not_dropped(cable):
    cable.load("--aqm", "vdq", "--rate", "20mbit", "--virtual-rate", "50")
    seen, marked = offer(cable, [(8, of_ipv4(ECT_0, 1)), (4, of_ipv4(NOT_ECT, 2))])
    assert seen[0] == pytest.approx(8, rel=0.01) and marked[0]
    stats = cable.qdisc.stats()
    assert stats["c-queue"]["mark-coupled"]
    # What marks do not tame takes all that the others could have had.
    assert seen[1] < 3


# ---- the L queue ---------------------------------------------------------------------------


def test_l4s_packets_are_marked_and_never_dropped(cable):
    """Below the capacity of its virtual queue a flow has no mark; above it, more and more."""
    cable.load("--aqm", "vdq", "--rate", "10mbit")
    _, marked = offer(cable, [(9, of_ipv4(ECT_1, 1))])
    assert marked == [0]
    seen, marked = offer(cable, [(9.8, of_ipv4(ECT_1, 1))])
    assert seen == pytest.approx([9.8], rel=0.01) and marked[0]
    stats = cable.qdisc.stats()
    assert drops(stats["l-queue"]) == 0
    assert stats["l-queue"]["mark-native"]


def test_the_larger_l4s_flow_has_the_marks(cable):
    """Fewer than one in fifty is the other's: what the sender catches up with is a burst. That is
    so while the virtual queue grows; without a response all are marked in the end."""
    cable.load("--aqm", "vdq", "--rate", "10mbit")
    _, marked = offer(cable, [(7, of_ipv4(ECT_1, 1)), (2.51, of_ipv4(ECT_1, 2))], 2)
    assert marked[0] > 20 and marked[1] < marked[0] / 50


def test_both_virtual_queues_count_for_l4s(cable):
    """L alone has room; with Classic traffic that is not dropped there is none."""
    cable.load("--aqm", "vdq", "--rate", "10mbit")
    _, marked = offer(cable, [(5, of_ipv4(ECT_1, 1)), (4.9, of_ipv4(ECT_0, 2))])
    assert marked[0] or marked[1]
    stats = cable.qdisc.stats()
    assert stats["l-queue"]["mark-native"] == 0
    assert stats["l-queue"]["mark-coupled"] + stats["c-queue"]["mark-coupled"]


def test_l4s_traffic_that_ignores_marks_leaves_the_others_their_share(cable):
    """That of the scheduler, 10 %, although the virtual queue of all has nothing for them. A flow
    that sends next to nothing loses nothing."""
    cable.load("--aqm", "vdq", "--rate", "4mbit")
    seen, marked = offer(cable, [(6, of_ipv4(ECT_1, 1)), (1, of_ipv4(NOT_ECT, 2)),
                                 (0.004, of_ipv4(NOT_ECT, 3))], 6)
    assert marked[0] > 100
    assert seen[1] == pytest.approx(0.4, rel=0.2)
    assert seen[2] == pytest.approx(0.004, rel=0.01)
    stats = cable.qdisc.stats()
    assert stats["c-queue"]["drop-aqm"] and stats["delay-c"] < 50_000
    assert stats["l-queue"]["drop-aqm"] == stats["l-queue"]["drop-overload"] == 0


def test_strict_priority_as_published(cable):
    """The L queue has all that it asks for; Classic packets share what that leaves."""
    cable.load("--aqm", "vdq", "--rate", "10mbit", "--classic-protection", 0, *STEADY)
    seen, _ = offer(cable, [(7, of_ipv4(ECT_1, 1)), (4, of_ipv4(NOT_ECT, 2)),
                            (4, of_ipv4(NOT_ECT, 3))])
    assert seen[0] == pytest.approx(7, rel=0.01)
    assert seen[1] == pytest.approx(seen[2], rel=0.15)
    stats = cable.qdisc.stats()
    assert stats["l-queue"]["drop-aqm"] == 0


# ---- values -------------------------------------------------------------------------------


def test_flow_label_is_the_value(cable):
    """The least value goes first; one without is in the middle, and is counted."""
    cable.load("--aqm", "vdq", "--rate", "6mbit", "--values", "flow-label", *STEADY)
    measured = cable.qdisc.stats()["flows"]  # of former tests
    seen, _ = offer(cable, [(4, of_label(NOT_ECT, MIDDLE + 100_000)), (4, of_label(NOT_ECT, 0)),
                            (4, of_label(NOT_ECT, MIDDLE - 100_000))])
    # A flow of one value passes for 10 ms, or it does not: shares are coarse.
    assert seen[0] == pytest.approx(4, rel=0.1)
    assert 0.8 > seen[2] < seen[1]
    assert sum(seen) == pytest.approx(5.88, rel=0.02)
    stats = cable.qdisc.stats()
    assert stats["without-value"] == pytest.approx(3000, rel=0.01)
    assert stats["flows"] == measured, "nothing is measured"


def test_ipv4_has_no_label_and_is_measured(cable):
    cable.load("--aqm", "vdq", "--rate", "10mbit", "--values", "flow-label", *STEADY)
    seen, _ = offer(cable, [(8, of_ipv4(NOT_ECT, 1)), (5, of_ipv4(NOT_ECT, 2))])
    assert seen == pytest.approx([4.9, 4.9], rel=0.05)


def test_a_packet_that_bypassed_tcx_has_the_middle_value(cable):
    cable.load("--aqm", "vdq", "--rate", "1mbit")
    cable.qdisc.lose_program("vdq")
    cable.burst(NOT_ECT, 50)
    cable.burst(ECT_1, 50)
    wait_until(lambda: cable.qdisc.stats()["ctv"], "the virtual queue is too long")
    stats = cable.qdisc.stats()
    assert stats["without-value"] == stats["bypassed-tcx"] == 100
    cable.drain()
    assert drops(cable.qdisc.stats()["l-queue"]) == 0


# ---- bounds -------------------------------------------------------------------------------


def test_full_ring_is_counted_and_harmless(cable):
    """What did not wait has come even so, and counts for the threshold: there is one."""
    cable.load("--aqm", "vdq", "--rate", "10mbit", "--ring", 2)
    seen, _ = offer(cable, [(8, of_ipv4(NOT_ECT, 1)), (5, of_ipv4(ECT_1, 2))], 2)
    assert cable.qdisc.stats()["virtual-overflows"] > 100
    assert 4.5 < seen[0] < 5.5 and seen[1] == pytest.approx(5, rel=0.01)
    wait_until(lambda: not cable.qdisc.stats()["overload"]["active"], "the event ends by itself")
    counted = cable.qdisc.stats()["virtual-overflows"]
    cable.tx.ip("link set d0 down")
    cable.tx.up("d0")
    assert cable.qdisc.stats()["virtual-overflows"] == counted


def test_the_virtual_queue_counts_what_the_link_carries(cable):
    """On Ethernet that is 5 % more than the qdisc counts of these frames. Without it 98 % of the
    rate would be more than the link has, and the queue would grow to its limit."""
    cable.load("--aqm", "vdq", "--rate", "10mbit", "--ethernet", *STEADY)
    seen, _ = offer(cable, [(8, of_ipv4(NOT_ECT, 1)), (5, of_ipv4(NOT_ECT, 2))])
    assert sum(seen) == pytest.approx(9.8 * LENGTH / (LENGTH + 24), rel=0.02)


def test_flows_make_room_for_others(cable):
    """A flow for each port, more than the table has room for."""
    cable.load("--aqm", "vdq", "--link-rate", "1gbit")
    for port in range(FLOWS_MAX + 1000):
        cable.send(of_ipv4(NOT_ECT, 1 + port)(next(cable.serials)))
    cable.drain()
    stats = cable.qdisc.stats()
    assert stats["flows"] <= FLOWS_MAX
    assert stats["flows"] + stats["flows-evicted"] == pytest.approx(FLOWS_MAX + 1000, abs=5)


def test_parameters_change_under_load(cable):
    """Other bins, a shorter ring, another rate: what is in the ring stays what it was."""
    cable.load("--aqm", "vdq", "--rate", "2mbit")
    for options in (["--bins", 16], ["--ring", 5], ["--bins", 1024], ["--ring", 4096],
                    ["--rate", "8mbit"], ["--virtual-rate", 50], ["--virtual-l-target", "5ms"]):
        for ecn, port in itertools.product((NOT_ECT, ECT_1), (1, 2)):
            cable.send(*map(of_ipv4(ecn, port), itertools.islice(cable.serials, 20)))
        cable.load(*options)
    assert cable.qdisc.stats()["options"]["bins"] == 1024
    cable.drain()


# ---- seen ------------------------------------------------------------------------------------


def shown(cable, *options):
    return cable.tx.run(STATS, "d0", *options).stdout


def test_histogram_of_values_is_shown_in_all_forms(cable):
    """While packets wait nothing is told to the virtual queues: what is shown stays the same."""
    cable.load("--aqm", "vdq", "--rate", "1mbit")
    for ecn, port in itertools.product((NOT_ECT, ECT_1), (1, 2)):
        cable.send(*map(of_ipv4(ecn, port), itertools.islice(cable.serials, 30)))
    [stats] = json.loads(shown(cable, "--json", "--histogram"))
    bins = {int(column["from"]): (column["l4s"], column["all"]) for column in stats["values"]}
    assert len(bins) > 2 and set(bins) <= set(range(0, 2**20, 2**15))
    for name, place, told in (("l4s", 0, 60), ("all", 1, 120)):
        column = {start: pair[place] for start, pair in bins.items()}
        total = sum(column.values())
        assert 0 < total <= told * LENGTH and total % LENGTH == 0
        metrics = re.findall(rf'^dualpi2_virtual_queue_bytes{{.*queue="{name}",value="(\d+)"}} '
                             r"(\d+)$", shown(cable, "--openmetrics"), re.M)
        assert {int(start): int(size) for start, size in metrics if size != "0"} == {
            start: size for start, size in column.items() if size}
        assert len(metrics) == 32
    plot = shown(cable, "--histogram").split("values in the virtual queues\n")[1].splitlines()
    assert len(plot) == len(range(min(bins), max(bins) + 1, 2**15)) + 1
    assert [int(line.split()[0]) for line in plot[1:]] == sorted(
        range(min(bins), max(bins) + 1, 2**15), reverse=True)


def test_histogram_that_the_timer_and_a_tool_publish_at_a_time(cable):
    """One of them interrupts the other, and neither adds to what the other has added."""
    cable.load("--aqm", "vdq", "--rate", "100kbit")
    for ecn, port in itertools.product((NOT_ECT, ECT_1), (1, 2)):
        cable.send(*map(of_ipv4(ecn, port), itertools.islice(cable.serials, 30)))
    number = struct.pack("=I", published("d0")["number"])
    pins = PIN_DIR / "vdq"
    with bpfcall.opened(pins / "dualpi2_refresh") as refresh, \
            bpfcall.opened(pins / "dualpi2_values") as values:
        seen = set()
        for _ in range(300):
            bpfcall.run_program(refresh)
            seen.add(bpfcall.lookup(values, number, VALUES_SIZE))
    assert len(seen) == 1 and any(seen.pop())


def test_words(cable):
    """What the thresholds mean for a flow."""
    done = cable.load("--aqm", "vdq")
    unknown = "the rate of the link is not known, so nothing is marked or dropped"
    assert f"WARNING  {unknown}" in done.stdout
    assert f"warning: {unknown}" in " ".join(shown(cable).split())
    assert max(map(len, shown(cable).splitlines())) <= 80
    assert "WARNING" not in cable.load("--rate", "2mbit").stdout

    def words():
        sending = threading.Thread(target=offer, args=(cable, [(4, of_ipv4(NOT_ECT, 1))], 2))
        sending.start()
        text = " ".join(shown(cable, "--interval", "1s", "--count", 1).split())
        sending.join()
        return re.search(r"the bottleneck: packets (.*) are marked or dropped", text)

    said = wait_until(words, "it is the bottleneck")[1]
    assert re.fullmatch(r"above [\d.]+[km]?bit of each flow", said)
    cable.load("--values", "flow-label")
    said = wait_until(words, "it is the bottleneck")[1]
    assert re.fullmatch(r"of a value up to \d+", said)
