# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--ingress --mq: what arrives on several queues shares one rate in an ifb that has as many."""

import itertools
import json

import pytest
from conftest import BIN, LOADER, PI2_PINS, check_law, one_line
from frames import CE, ECT_1, NOT_ECT, ipv4_frame
from netns import wait_until
from test_ingress import CALM, Path
from test_mq import FLOWS, QUEUES, from_flow

pytestmark = pytest.mark.oldest_kernel

KIND = "bpf_dualpi2_mq"
FRAME_NS = 1514 * 8 * 1000  # at 1 Mbit/s


class SharedPath(Path):
    """Flows are spread over the receive queues by the sender's transmit queues; but a packet that
    did not wait for NAPI tells of the next lower one, so that the last one is not used."""

    def __init__(self):
        super().__init__(words=("numtxqueues", QUEUES, "numrxqueues", QUEUES))
        self.rx.ip("route add 10.0.1.0/24 dev t0")

    def send(self, ecn, count, length=1514):
        serials = list(itertools.islice(self.serials, count))
        for serial, flow in zip(serials, itertools.cycle(range(FLOWS)), strict=False):
            self.sender.send(from_flow(ipv4_frame(serial, ecn, length), flow))
        return serials

    def stats(self, dev="in-t0"):
        """The link, and its queues; each keeps the law."""
        link, *queues = json.loads(self.rx.run(BIN / "dualpi2-stats", "t0", "--json",
                                               "--queues").stdout)
        shown = json.loads(self.rx.run("tc", "-j", "-s", "qdisc", "show", "dev", dev).stdout)
        children = {entry["parent"]: entry for entry in shown if "parent" in entry}
        for queue in queues:
            check_law(queue, children[queue["parent"]])
        return link, queues

    def backlog(self):
        shown = json.loads(self.rx.run("tc", "-j", "-s", "qdisc", "show", "dev", "in-t0").stdout)
        return sum(entry["qlen"] for entry in shown if "parent" in entry)

    def root(self):
        [root] = [entry for entry in json.loads(
            self.rx.run("tc", "-j", "qdisc", "show", "dev", "in-t0").stdout) if entry.get("root")]
        return root


@pytest.fixture
def path(registered):
    path = SharedPath()
    yield path
    path.load("--unload", "--if-attached")
    path.close()


def frames_took(arrived, mbit):
    """In frames of that rate."""
    return (arrived[-1][2] - arrived[0][2]) * mbit / FRAME_NS


def test_all_queues_share_the_rate(path):
    assert f"{KIND} attached to each transmit queue (mq)" in path.load(
        "--mq", "--rate", "20mbit", *CALM).stdout
    serials = path.send(NOT_ECT, 300)
    arrived = path.expect(300)
    assert sorted(serial for serial, _, _ in arrived) == serials
    assert frames_took(arrived, 20) == pytest.approx(299, rel=0.01)
    link, queues = path.stats()
    assert (link["kind"], link["interface"], link["direction"]) == (KIND, "t0", "ingress")
    assert [queue["c-queue"]["packets-in"] > 0 for queue in queues] == [True, True, True, False]
    assert link["c-queue"]["packets-out"] == 300
    assert link["bypassed-tcx"] == link["mispredicted"] == 0
    assert path.rx.run(BIN / "dualpi2-stats", "t0").stdout.startswith(
        f"t0, ingress (in-t0): {KIND} over all transmit queues (mq), rate 20mbit")


def test_l4s_is_marked_by_the_one_link(path):
    path.load("--mq", "--rate", "20mbit")
    path.send(ECT_1, 100)
    path.send(NOT_ECT, 20)
    arrived = path.expect(120)
    low = path.stats()[0]["l-queue"]
    assert low["packets-in"] == 100
    marked = sum(ecn == CE for _, ecn, _ in arrived)
    assert marked == low["mark-native"] + low["mark-coupled"] > 50


def test_what_is_dropped_has_used_the_link(path):
    """It came through it: all take as long as if none were dropped."""
    path.load("--mq", "--rate", "20mbit", "--aqm", "fixed", "--fixed-prob", "45%")
    for _ in range(8):
        path.send(NOT_ECT, 40)
        wait_until(lambda: path.backlog() < 60, "some have left", step=0.0005)
    wait_until(lambda: not path.backlog(), "all have left")
    arrived = path.receive()
    link, _ = path.stats()
    assert link["c-queue"]["drop-aqm"] == 320 - len(arrived) == pytest.approx(64, abs=15)
    assert frames_took(arrived, 20) == pytest.approx(319, rel=0.03)


def test_live_change_and_unload(path):
    """Nothing is lost, and nothing is left."""
    path.load("--mq", "--rate", "1mbit", *CALM)
    path.send(NOT_ECT, 40)
    path.load("--rate", "50mbit")
    path.expect(40)
    path.send(NOT_ECT, 100)
    assert frames_took(path.expect(100), 50) == pytest.approx(99, rel=0.02)
    path.load("--rate", "100kbit")
    path.unload_under_backlog()


def test_another_handle_and_another_aqm(path):
    """The first queue, which tells that the ifb is in service, has another place."""
    path.load("--mq", "--rate", "20mbit")
    for options in ("--handle", "77:"), ("--aqm", "fixed"):
        path.load(*options)
        path.send(NOT_ECT, 20)
        path.expect(20)
        assert path.stats()[0]["c-queue"]["packets-in"] == 20
    assert path.root()["handle"] == "77:" and path.root()["kind"] == "mq"
    assert path.stats()[0]["kind"] == "bpf_mq_fixed"


@pytest.mark.parametrize("mishap", [
    ("ip", "link", "del", "in-t0"),
    ("ip", "link", "set", "in-t0", "down"),
    ("tc", "qdisc", "replace", "dev", "in-t0", "root", "handle", "9:", "pfifo"),
    ("tc", "qdisc", "replace", "dev", "in-t0", "parent", "1:1", "handle", "9:", "pfifo"),
])
def test_without_the_queues_packets_arrive_all_the_same(path, mishap):
    path.load("--mq", "--rate", "1mbit", "--handle", "1:", *CALM)
    path.rx.run(*mishap)
    path.send(NOT_ECT, 50)
    assert frames_took(path.expect(50), 10) < 50, "faster than 1 Mbit/s"
    path.load("--mq", "--rate", "20mbit", "--replace", *CALM)
    path.send(NOT_ECT, 100)
    assert frames_took(path.expect(100), 20) == pytest.approx(99, rel=0.02)
    assert path.stats()[0]["c-queue"]["packets-out"] == 100


def test_one_qdisc_for_all_is_not_taken_apart(path):
    """The ifb has one queue."""
    path.load("--rate", "20mbit")
    assert ("is attached as one qdisc for all queues: first `dualpi2-load t0 --ingress --unload`"
            in one_line(path.load("--mq", "--rate", "5mbit", check=False), 1))
    path.send(NOT_ECT, 5)
    path.expect(5)


def test_an_ifb_that_was_made_for_one_queue(path):
    """Left unfinished: another one takes its place."""
    path.leave_half_made_ifb()
    path.load("--mq", "--rate", "20mbit")
    assert path.devices() == {"in-t0"}
    assert len(path.stats()[1]) == QUEUES
    path.load("--unload")
    path.check_nothing_left()


def test_what_cannot_share_is_refused_before_anything_is_made(path):
    for options, why in ((("--guard",), "--guard: not with --rate and an mq"),
                         (("--aqm", "codel"), "--rate: not with an mq and the AQM codel"),
                         ((), "--ingress: needs --rate")):
        rate = ("--rate", "5mbit") if options else ()
        assert why in one_line(path.load("--mq", *rate, *options, check=False), 2)
        path.check_nothing_left()


def test_check(path):
    assert f"{QUEUES} queues of its ifb will share the rate" in path.load(
        "--mq", "--check", "--rate", "5mbit").stdout
    path.rx.ip("link add single type dummy")
    done = path.rx.run(LOADER, "single", "--ingress", "--mq", "--rate", "5mbit", check=False)
    assert "has one receive queue and the host one CPU" in one_line(done, 1)
    path.rx.ip("link del single")
    assert not list(PI2_PINS.glob("ingress-*"))
