# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""--mq: an instance for each transmit queue; live changes, repairs, and what is refused."""

import json
import socket
import struct

import frames
import pytest
import superpackets
from conftest import BIN, DEFAULT_QDISC, LOADER, Qdisc, drops, one_line, root, written
from frames import ECT_1, ETHER_LEN, IPV4_LEN, NOT_ECT, internet_checksum, ipv4_frame
from netns import dummy, run, wait_until

QUEUES = 4
SO_PRIORITY = 12
# Source addresses whose hashes choose the queue: none stays empty (chance 4e-8).
FLOWS = 64


def from_flow(frame, flow):
    """The same IPv4 frame with another source address."""
    header = bytearray(frame[ETHER_LEN:ETHER_LEN + IPV4_LEN])
    header[10:12] = bytes(2)
    header[12:16] = socket.inet_aton(f"10.0.1.{flow}")
    header[10:12] = struct.pack("!H", internet_checksum(bytes(header)))
    return frame[:ETHER_LEN] + bytes(header) + frame[ETHER_LEN + IPV4_LEN:]


class Multiqueue(Qdisc):
    """bpf_dualpi2 under mq on a cable with several queues."""

    def __init__(self, space, dev, peer):
        super().__init__(space, dev)
        self.sender = frames.raw_sender(space, dev)
        self.receiver = frames.raw_receiver(space, peer)

    def all_stats(self):
        """The sum and the queues, in the order of --json."""
        entries = json.loads(self.space.run(BIN / "dualpi2-stats", self.dev, "--json",
                                            "--queues").stdout)
        return entries[0], entries[1:]

    def shown(self):
        """What tc shows: the root, and its children by parent."""
        entries = json.loads(self.space.run("tc", "-j", "-s", "qdisc", "show", "dev",
                                            self.dev).stdout)
        [top] = [entry for entry in entries if entry.get("root")]
        return top, {entry["parent"]: entry for entry in entries if "parent" in entry}

    def kinds(self):
        return [child["kind"] for _, child in sorted(self.shown()[1].items())]

    def send(self, ecn):
        for flow in range(FLOWS):
            self.sender.send(from_flow(ipv4_frame(flow, ecn), flow))

    def received(self):
        """How many frames have arrived since the last call."""
        return sum(1 for _ in frames.received(self.receiver))

    def close(self):
        self.sender.close()
        self.receiver.close()


def receive_all(mq, count):
    received = []
    wait_until(lambda: received.append(mq.received()) or sum(received) == count,
               "all frames have arrived")


def add_cable(space):
    """One with several queues; its ends."""
    space.ip(f"link add m0 numtxqueues {QUEUES} numrxqueues {QUEUES} type veth "
             f"peer name m1 numtxqueues {QUEUES} numrxqueues {QUEUES}")
    for name in ("m0", "m1"):
        space.up_without_ipv6(name)
    return "m0", "m1"


@pytest.fixture
def mq(registered, new_space):
    space = new_space("mq")
    device = Multiqueue(space, *add_cable(space))
    yield device
    device.load("--unload", check=False)
    device.close()


def test_each_queue_has_its_own(mq):
    mq.load("--mq", "--limit", 99)
    top, children = mq.shown()
    assert top["kind"] == "mq"
    assert mq.kinds() == ["bpf_dualpi2"] * QUEUES
    total, queues = mq.all_stats()
    assert total["kind"] == "mq" and total["root"] is True and total["handle"] == top["handle"]
    assert [queue["parent"] for queue in queues] == sorted(children)
    assert [queue["options"]["limit"] for queue in queues] == [99] * QUEUES


def test_an_mq_without_a_queue_of_ours_is_not_shown(mq):
    """That of m1, the other end."""
    mq.space.run("tc", "qdisc", "add", "dev", "m1", "root", "mq")
    mq.load("--mq")
    entries = json.loads(mq.space.run(BIN / "dualpi2-stats", "--json").stdout)
    assert [entry["dev"] for entry in entries] == ["m0"] * (1 + QUEUES)
    assert json.loads(mq.space.run(BIN / "dualpi2-stats", "m1", "--json").stdout) == []


def test_packets_are_conserved_in_each_queue_and_in_the_sum(mq):
    mq.load("--mq")
    mq.send(ECT_1)
    mq.send(NOT_ECT)
    receive_all(mq, 2 * FLOWS)
    top, children = mq.shown()
    total, queues = mq.all_stats()
    for queue in queues:
        child = children[queue["parent"]]
        halves = queue["l-queue"], queue["c-queue"]
        assert all(half["packets-in"] > 0 for half in halves), "every queue is used"
        assert queue["bypassed-tcx"] == queue["mispredicted"] == 0, "the queue was foretold"
        for half in halves:
            assert half["packets-in"] == half["packets-out"] + drops(half), queue
        assert child["packets"] == sum(half["packets-out"] for half in halves)
        assert child["bytes"] == sum(half["bytes-out"] for half in halves)
    for half in ("l-queue", "c-queue"):
        assert total[half]["packets-in"] == FLOWS
        for key in ("packets-in", "bytes-in", "packets-out", "bytes-out", "drop-bytes"):
            assert total[half][key] == sum(queue[half][key] for queue in queues), key
        assert total[half]["delay"]["max"] == max(queue[half]["delay"]["max"] for queue in queues)
    for key in ("bytes", "packets", "drops", "qlen", "backlog"):
        assert total[key] == top[key] == sum(queue[key] for queue in queues), key


@pytest.mark.parametrize("with_cpu_0", [(2,), (1, 3)])
def test_the_choice_of_xps_is_foretold(mq, with_cpu_0):
    """XPS (Documentation/networking/scaling.rst) sends what this CPU sends to some queues."""
    mq.load("--mq")
    for queue in with_cpu_0:
        # ip-netns has the /sys of the namespace.
        run("ip", "netns", "exec", mq.space.name, "tee",
            f"/sys/class/net/m0/queues/tx-{queue}/xps_cpus", input="1")
    mq.send(ECT_1)
    receive_all(mq, FLOWS)
    _, queues = mq.all_stats()
    assert tuple(index for index, queue in enumerate(queues)
                 if queue["l-queue"]["packets-in"]) == with_cpu_0
    for queue in queues:
        assert queue["bypassed-tcx"] == queue["mispredicted"] == 0


def test_the_one_queue_in_use_is_foretold(mq):
    """The device could have more, and has an mq for that."""
    mq.space.run("ethtool", "-L", "m0", "tx", 1)
    mq.load("--mq")
    assert mq.kinds() == ["bpf_dualpi2"]
    mq.send(ECT_1)
    receive_all(mq, FLOWS)
    total, _ = mq.all_stats()
    assert total["l-queue"]["packets-in"] == FLOWS
    assert total["bypassed-tcx"] == total["mispredicted"] == 0


def test_a_queue_that_cannot_be_foretold_is_counted(mq):
    """Somebody's filter behind our program chooses: class and mark stay."""
    mq.load("--mq")
    mq.space.run("tc", "qdisc", "add", "dev", "m0", "clsact")
    mq.space.run("tc", "filter", "add", "dev", "m0", "egress", "matchall", "action", "skbedit",
                 "queue_mapping", 2)
    mq.send(ECT_1)
    receive_all(mq, FLOWS)
    queue = mq.all_stats()[1][2]
    assert queue["l-queue"]["packets-in"] == FLOWS
    assert queue["bypassed-tcx"] == 0
    assert 0 < queue["mispredicted"] < FLOWS
    mq.space.run("tc", "qdisc", "del", "dev", "m0", "clsact")


def test_live_change_reaches_every_queue(mq):
    mq.load("--mq", "--limit", 50)
    mq.send(NOT_ECT)
    before, _ = mq.all_stats()
    handles = {parent: child["handle"] for parent, child in mq.shown()[1].items()}
    for options in (("--target", "7ms"), ("--mq", "--step-thresh", "2ms")):
        mq.load(*options)
    after, queues = mq.all_stats()
    for queue in queues:
        assert queue["options"]["target"] == 7000
        assert queue["options"]["step-thresh-us"] == 2000
        assert queue["options"]["limit"] == 50
    assert {parent: child["handle"] for parent, child in mq.shown()[1].items()} == handles
    assert after["c-queue"]["packets-in"] == before["c-queue"]["packets-in"] == FLOWS


def test_unload_gives_back(mq):
    before = mq.shown()
    mq.load("--mq")
    mq.load("--unload")
    assert mq.shown() == before
    assert "bpf_dualpi2" not in mq.space.run("bpftool", "net", "show", "dev", "m0").stdout


def test_a_child_that_is_gone_is_repaired(mq):
    mq.load("--mq", "--limit", 50)
    top, _ = mq.shown()
    last = f"{top['handle']}{QUEUES}"
    mq.space.run("tc", "qdisc", "del", "dev", "m0", "parent", last)
    assert mq.kinds() == ["bpf_dualpi2"] * (QUEUES - 1)
    assert "1 of its queues" in mq.load().stdout
    assert mq.kinds() == ["bpf_dualpi2"] * QUEUES
    assert mq.all_stats()[1][-1]["options"]["limit"] == 50
    assert "nothing changed" in mq.load().stdout


def test_somebodys_child_stays_unless_replaced(mq):
    mq.load("--mq")
    top, _ = mq.shown()
    second = f"{top['handle']}2"
    mq.space.run("tc", "qdisc", "replace", "dev", "m0", "parent", second, "handle", "77:",
                 "pfifo", "limit", 5)
    line = one_line(mq.load("--limit", 50, check=False), 1)
    assert "pfifo 77:" in line and "--replace" in line
    assert mq.kinds()[1] == "pfifo"
    assert mq.all_stats()[1][0]["options"]["limit"] == 10000, "nothing is changed"
    mq.load("--limit", 50, "--replace")
    assert mq.kinds() == ["bpf_dualpi2"] * QUEUES
    assert [queue["options"]["limit"] for queue in mq.all_stats()[1]] == [50] * QUEUES


def test_queues_that_are_added_later(mq):
    mq.space.run("ethtool", "-L", "m0", "tx", 2)
    mq.load("--mq")
    assert mq.kinds() == ["bpf_dualpi2"] * 2
    mq.space.run("ethtool", "-L", "m0", "tx", 4)
    assert mq.kinds()[2] != "bpf_dualpi2"
    mq.load()
    assert mq.kinds() == ["bpf_dualpi2"] * 4


def test_somebodys_mq_is_replaced_and_put_back(mq):
    mq.space.run("tc", "qdisc", "add", "dev", "m0", "root", "handle", "7:", "mq")
    before = mq.shown()[0]["handle"], mq.kinds()
    line = one_line(mq.load("--mq", check=False), 1)
    assert "mq 7:" in line and "--replace" in line
    mq.load("--mq", "--replace")
    assert mq.kinds() == ["bpf_dualpi2"] * QUEUES
    mq.load("--unload")
    assert (mq.shown()[0]["handle"], mq.kinds()) == before


def test_somebodys_mq_with_children_is_left_alone(mq):
    mq.space.run("tc", "qdisc", "add", "dev", "m0", "root", "handle", "7:", "mq")
    mq.space.run("tc", "qdisc", "replace", "dev", "m0", "parent", "7:1", "handle", "8:", "pfifo")
    before = mq.shown()
    one_line(mq.load("--mq", "--replace", check=False), 1)
    assert mq.shown() == before


def test_handle_of_an_mq(mq):
    """Its classes 1 and 2 are those of every queue: which one a packet comes to, no rule knows."""
    before = mq.shown()
    mq.load("--mq", "--handle", "7:")
    for handle, options in (7, ()), (7, ("--aqm", "fixed")), (9, ("--handle", "9:")):
        mq.load(*options)
        assert mq.shown()[0]["handle"] == mq.all_stats()[0]["handle"] == f"{handle}:"
        mq.sender.setsockopt(socket.SOL_SOCKET, SO_PRIORITY, struct.pack("=I", handle << 16 | 1))
        mq.send(NOT_ECT)
        receive_all(mq, FLOWS)
        l_queues = [queue["l-queue"]["packets-in"] for queue in mq.all_stats()[1]]
        assert sum(l_queues) == FLOWS and all(l_queues)
    mq.load("--unload")
    assert mq.shown() == before


def test_handle_of_somebodys_queue(mq):
    mq.load("--mq")
    top, _ = mq.shown()
    mq.space.run("tc", "qdisc", "replace", "dev", "m0", "parent", f"{top['handle']}2", "handle",
                 "77:", "pfifo")
    line = one_line(mq.load("--handle", "77:", "--replace", check=False), 1)
    assert f"--handle 77:: is that of `qdisc pfifo 77: parent {top['handle']}2`: take" in line
    assert mq.shown()[0]["handle"] == top["handle"]


def test_size_table_of_a_queue(mq):
    """It is not known to another one in its place."""
    mq.load("--mq", "--handle", "7:")
    mq.space.run("tc", "qdisc", "replace", "dev", "m0", "parent", "7:2", "handle", "77:", "stab",
                 "overhead", 20, "bpf_dualpi2")
    line = one_line(mq.load("--aqm", "fixed", check=False), 1)
    assert "would lose the size table (stab) of a queue" in line
    assert mq.kinds() == ["bpf_dualpi2"] * QUEUES


def test_one_qdisc_does_not_become_many(mq):
    """The packets that wait would be lost."""
    mq.load()
    assert "--unload" in one_line(mq.load("--mq", check=False), 1)
    assert root(mq.space, "m0")["kind"] == "bpf_dualpi2"


def test_check(mq):
    assert mq.load("--check", "--mq").returncode == 0
    assert root(mq.space, "m0")["kind"] != "mq"
    mq.load("--mq")
    assert "under mq already" in mq.load("--check").stdout


def test_device_with_one_queue(registered, box):
    line = one_line(box.run(LOADER, "one", "--mq", check=False), 1)
    assert "one transmit queue" in line and "--mq" in line
    done = box.run(LOADER, "one", "--mq", "--check", check=False)
    assert done.returncode == 1 and "one transmit queue" in done.stdout


def test_more_queues_than_instances(registered, box):
    """The mq is there already when that shows: it goes again."""
    dummy(box, "wide", "numtxqueues", 300)
    before = root(box, "wide")
    assert "300" in one_line(box.run(LOADER, "wide", "--mq", check=False), 1)
    assert root(box, "wide") == before


def test_segments_take_the_queue_of_the_packet(mq):
    """Foretold for the GSO packet, and the same for each segment: what it knows of its
    queue (here from the device above) is not lost on the way round."""
    mq.load("--mq")
    space = mq.space
    space.ip(f"link add link m0 name above numtxqueues {QUEUES} type vlan id 5")
    space.up_without_ipv6("above", "10.9.0.1/24")
    space.ip("neigh add 10.9.0.2 lladdr 02:00:00:00:00:99 dev above")
    space.run("tc", "qdisc", "add", "dev", "above", "clsact")
    sock = space.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.IPPROTO_UDP, superpackets.UDP_SEGMENT, 1000)
    for number in range(1, QUEUES):
        space.run("tc", "filter", "del", "dev", "above", "egress", check=False)
        space.run("tc", "filter", "add", "dev", "above", "egress", "matchall", "action",
                  "skbedit", "queue_mapping", number)
        sock.sendto(bytes(10_000), ("10.9.0.2", 9))
        receive_all(mq, 10)
    total, queues = mq.all_stats()
    assert [queue["c-queue"]["packets-in"] for queue in queues] == [10, 10, 10, 0]
    assert total["gso"] == {"split": QUEUES - 1, "whole": 0} and total["mispredicted"] == 0
    sock.close()


def test_table_fits_the_screen(mq):
    mq.load("--mq")
    mq.send(ECT_1)
    lines = mq.table().splitlines()
    assert max(len(line) for line in lines) <= 80, lines
    assert sum(line.split()[:1] == [parent] for line in lines for parent in mq.shown()[1]) == QUEUES


def test_default_qdisc_makes_it_by_itself(registered, box):
    """The kernel's automatic mq has handle 0: and our children: that is ours already."""
    with written(DEFAULT_QDISC, "bpf_dualpi2"):
        box.ip(f"link add many numtxqueues {QUEUES} type ifb")
        box.up("many")
        box.run(LOADER, "many", "--limit", 33)
        entries = json.loads(box.run(BIN / "dualpi2-stats", "many", "--json").stdout)
        assert [entry["kind"] for entry in entries] == ["mq"] + ["bpf_dualpi2"] * QUEUES
        assert [entry["options"]["limit"] for entry in entries[1:]] == [33] * QUEUES
        one_line(box.run(LOADER, "many", "--unload", check=False), 1)
    box.run(LOADER, "many", "--unload")
    assert root(box, "many")["kind"] == "mq"
    assert "bpf_dualpi2" not in box.run("tc", "qdisc", "show", "dev", "many").stdout
    box.ip("link del many")


def test_one_qdisc_in_place_of_the_kernels_mq(registered, box):
    """Without --mq it is one for the whole device, and the message does not speak of queues."""
    box.ip(f"link add many numtxqueues {QUEUES} type ifb")
    box.up("many")
    assert root(box, "many")["kind"] == "mq"
    assert box.run(LOADER, "many").stdout.startswith("many: bpf_dualpi2 attached, ")
    entries = json.loads(box.run(BIN / "dualpi2-stats", "many", "--json").stdout)
    assert [entry["kind"] for entry in entries] == ["bpf_dualpi2"]
    box.run(LOADER, "many", "--unload")
    assert root(box, "many")["kind"] == "mq"
