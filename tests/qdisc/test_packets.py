# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Packets that hurt: whatever is sent comes out as it went in, once, but for what a CE mark is.

A generator (malformed.py) makes frames from a seed; five ways (injectors.py) bring them to
the qdisc as five kinds of skb; what comes out of the other end is held against the RFCs
(ecn_rules.py). p' is held where many packets are marked, and some dropped.

A failure prints the frame, and how to repeat its batch:

    tests/lab/lab run -- env DUALPI2_SEED=1 DUALPI2_BATCH=17 \\
        python3 -m pytest -p no:cacheprovider tests/qdisc/test_packets.py
"""

import collections
import errno
import json
import mmap
import os
import random
import socket
import time
from pathlib import Path

import frames
import injectors
import pytest
from conftest import Qdisc, drops
from ecn_rules import can_be_marked, ecn_field, ecn_field_of_ip, is_l4s, is_marked
from frames import CE, ECT_1
from held import hold_probability
from malformed import MTU, NEVER_MARKED, NUMBER, Frame, Generator
from netns import Namespace, dummy

pytestmark = pytest.mark.newest_kernel

SEED = os.environ.get("DUALPI2_SEED", "1")
BATCH = os.environ.get("DUALPI2_BATCH")  # that one only
IN_BATCH = 2000
IN_GSO_BATCH = 250
FRAMES, FRAMES_LONG = 48_000, 1_000_000
BARE, BARE_LONG = 4_000, 40_000
BEFORE_IP = (frames.ETH_P_8021Q, frames.ETH_P_8021AD, frames.ETH_P_PPP_SES, frames.ETH_P_MPLS)
GSO_FRAMES, GSO_FRAMES_LONG = 1_000, 10_000
PAGE_PACKETS, PAYLOAD, HEADERS = 100, 1400, 14 + 20 + 8
SO_ZEROCOPY, MSG_ZEROCOPY = 60, 0x4000000  # include/linux/socket.h
MARKS_MIN = 3  # of every trait that can be marked, in the short version
ODDS = 0.3  # of p', at least: 60 % of the L packets are marked, 9 % of the Classic ones
LOUD = 4  # a kernel message of this level or below is a warning at least


class Bench:
    """The qdisc on out0, of which what leaves it is read, frame by frame. Nothing has any
    business on `aside`. burst(), load() and drain() are what hold_probability() wants."""

    KIND = injectors.IFF_TAP

    def __init__(self):
        self.space = Namespace("packets")
        self.out = injectors.tap(self.space, "out0", mtu=MTU, kind=self.KIND)
        dummy(self.space, "aside")
        self.qdisc = Qdisc(self.space, "out0")

    def load(self, *options):
        return self.qdisc.load(*options)

    def drain(self):
        for _ in injectors.until_quiet(self.out):
            pass

    def counters(self):
        stats = self.qdisc.stats()
        return collections.Counter({
            "L": stats["l-queue"]["packets-in"], "C": stats["c-queue"]["packets-in"],
            "marks": sum(stats[queue][key] for queue in ("l-queue", "c-queue")
                         for key in ("mark-native", "mark-coupled")),
            "drops": drops(stats["l-queue"]) + drops(stats["c-queue"]),
            "backlog": stats["l-queue"]["backlog-packets"] + stats["c-queue"]["backlog-packets"],
            "bypassed-tcx": stats["bypassed-tcx"]})

    def elsewhere(self):
        """Packets that were sent where none belong."""
        links = json.loads(self.space.run("ip", "-j", "-s", "link", "show").stdout)
        return {link["ifname"]: link["stats64"]["tx"]["packets"] for link in links
                if not link["ifname"].startswith(("out0", "ref0", "gso-", "gsx-"))}

    def close(self):
        os.close(self.out)
        self.space.delete()


class Ethernet(Bench):
    """With all ways to the qdisc; ref0 is as out0, without a qdisc."""

    def __init__(self):
        super().__init__()
        self.ref = injectors.tap(self.space, "ref0", mtu=MTU)
        self.space.run("tc", "qdisc", "replace", "dev", "ref0", "root", "noqueue")
        self.socket = injectors.PacketSocket(self.space, "out0")
        self.ref_socket = injectors.PacketSocket(self.space, "ref0")
        self.ring = injectors.Ring(self.space, "out0")
        self.tap = injectors.Tap(self.space, "in0", "out0")
        self.cloned = injectors.Cloned(self.space, "in1", "out0", mirror="ref0")
        self.fragments = injectors.Fragments(self.space, "in2", "out0", mirror="ref0")
        self.ways = [self.socket, self.ring, self.tap, self.cloned, self.fragments]

    def burst(self, ecn, count):
        for serial in range(count):
            self.socket.send(Frame(serial, frames.ipv4_frame(serial, ecn), ()))

    def close(self):
        for way in (*self.ways, self.ref_socket):
            way.close()
        os.close(self.ref)
        super().close()


class Tunnel(Bench):
    """A device without link headers."""

    KIND = injectors.IFF_TUN

    def __init__(self):
        super().__init__()
        self.socket = injectors.BareSocket(self.space, "out0")

    def burst(self, ecn, count):
        for _ in range(count):
            self.socket.send(frames.ETH_P_IP, frames.ipv4(ecn, bytes(1480)))

    def close(self):
        self.socket.close()
        super().close()


def kernel_says():
    """Messages of the kernel so far, of those that are loud: [text]."""
    with open("/dev/kmsg", "rb", buffering=0) as file:
        os.set_blocking(file.fileno(), False)
        found = []
        while True:
            try:
                line = os.read(file.fileno(), 8192).decode(errors="replace")
            except BlockingIOError:
                return found
            prefix, _, text = line.partition(";")
            if int(prefix.split(",")[0]) & 7 <= LOUD:
                found.append(text)


@pytest.fixture
def held(request, registered):
    """A bench with a held p', and a link slow enough for a standing queue. In the end nothing
    is elsewhere, and the kernel has not complained."""
    before = kernel_says()
    bench = getattr(request, "param", Ethernet)()
    try:
        hold_probability(bench, ODDS, "--limit", 100000, "--memlimit", "1g")
        yield bench
        bench.drain()
        bench.qdisc.check_conservation()
        assert not any(bench.elsewhere().values()), bench.elsewhere()
    finally:
        bench.load("--unload")
        bench.close()
    assert kernel_says() == before


class Tally:
    """How many frames of each trait were sent, and marked."""

    def __init__(self):
        self.sent, self.marked = collections.Counter(), collections.Counter()
        self.dropped = 0

    def check(self, at_least):
        for trait in self.sent:
            if trait in NEVER_MARKED:
                assert not self.marked[trait], trait
            else:
                assert self.marked[trait] >= at_least, (trait, self.marked[trait])


class Batch:
    """Frames on their way at the same time."""

    def __init__(self, bench, name):
        self.bench = bench
        self.name = name
        self.sent = {}  # number: (frame, way)
        self.before = bench.counters()

    def fail(self, what, frame, arrived=None):
        seed, number = self.name
        text = f"{what}, seed {seed} batch {number}, frame {frame.number}\n{frame}"
        pytest.fail(text + (f"\narrived: {arrived.hex()}" if arrived else ""), pytrace=False)

    def changes(self):
        after = self.bench.counters()
        after.subtract(self.before)
        return after


class PlainBatch(Batch):
    """Without GSO: each frame is one packet."""

    def send(self, generator, count):
        for number in range(count):
            frame = generator.frame(number)
            way = self.bench.ways[number % len(self.bench.ways)]
            if not way.passes(frame):
                way = self.bench.socket
            way.send(frame)
            self.sent[number] = frame, way, ecn_field(frame.data, way.tags_max)
        for way in self.bench.ways:
            way.flush()

    def receive(self, tally):
        """Checks all but what the counters say."""
        missing = dict(self.sent)
        for arrived in injectors.until_quiet(self.bench.out):
            number = int.from_bytes(arrived[NUMBER])
            if number not in missing:
                self.fail("came out twice, or was never sent",
                          self.sent.get(number, (Frame(number, b"", ()),))[0], arrived)
            frame, way, field = missing.pop(number)
            tally.sent.update((*frame.traits, way.title))
            if arrived == frame.data:
                continue
            if not can_be_marked(field) or not is_marked(frame.data, field, arrived):
                self.fail(f"is not what was sent by {way.title}", frame, arrived)
            tally.marked.update((*frame.traits, way.title))
            tally.marked["all"] += 1
        self.check_clones()
        self.bench.ring.check_memory()
        return missing

    def check_clones(self):
        """A mark is not in the clone that shares the packet's data."""
        for arrived in injectors.drained(self.bench.ref):
            frame = self.sent[int.from_bytes(arrived[NUMBER])][0]
            if arrived != frame.data:
                self.fail("the clone has changed", frame, arrived)

    def run(self, generator, tally):
        marked = tally.marked["all"]
        self.send(generator, IN_BATCH)
        missing = self.receive(tally)
        changes = self.changes()
        l4s = sum(is_l4s(field) for _, _, field in self.sent.values())
        expected = {"L": l4s, "C": len(self.sent) - l4s, "marks": tally.marked["all"] - marked,
                    "drops": len(missing), "backlog": 0, "bypassed-tcx": 0}
        if changes != expected:
            self.blame(expected, changes)
        tally.dropped += len(missing)
        for frame, _, field in missing.values():
            # L4S is marked and Classic ECT too; dropped are those that no mark tells.
            if can_be_marked(field):
                self.fail("was dropped, not marked", frame)

    def blame(self, expected, changes):
        """Which frame it is that the counters disagree on: sent once more, half of them, half
        of that half, and so on."""
        suspects = list(self.sent.values())
        while len(suspects) > 1:
            half = suspects[:len(suspects) // 2]
            suspects = half if self.is_miscounted(half) else suspects[len(half):]
        [(frame, way, _)] = suspects
        if self.is_miscounted(suspects):
            self.fail(f"is counted for the wrong queue ({way.title})", frame)
        self.fail(f"counted {dict(changes)}, not {expected}; not repeatable", frame)

    def is_miscounted(self, sent):
        before = self.bench.counters()
        for frame, way, _ in sent:
            way.send(frame)
            way.flush()
        change = self.bench.counters()
        change.subtract(before)
        self.bench.drain()
        self.bench.ring.held.clear()
        l4s = sum(is_l4s(field) for _, _, field in sent)
        return (change["L"], change["C"]) != (l4s, len(sent) - l4s)


class GsoBatch(Batch):
    """What comes out are the segments that the kernel makes of the same packet when there is
    no qdisc."""

    def __init__(self, bench, name, *, sound):
        super().__init__(bench, name)
        self.sound = sound

    def send(self, generator, count):
        for number in range(count):
            frame = generator.gso_frame(number, sound=self.sound)
            way = (self.bench.socket, self.bench.cloned, self.bench.fragments)[number % 3]
            refused = self.is_refused(way, frame)
            if way is self.bench.socket and refused != self.is_refused(self.bench.ref_socket,
                                                                       frame):
                self.fail("is refused by one device only", frame)
            if not refused:
                self.sent[number] = frame, way

    @staticmethod
    def is_refused(way, frame):
        """As no packet at all. (The other two: it was one, and was dropped.)"""
        try:
            way.send(frame)
        except OSError as error:
            return error.errno not in (errno.ENOBUFS, errno.ENOMEM)
        return False

    def by_number(self, file, collect):
        found = collections.defaultdict(list)
        for arrived in collect(file):
            found[int.from_bytes(arrived[NUMBER])].append(arrived)
        return found

    def run(self, generator, tally):
        self.send(generator, IN_GSO_BATCH)
        out = self.by_number(self.bench.out, injectors.until_quiet)
        ref = self.by_number(self.bench.ref, injectors.drained)
        classes = collections.Counter()
        missing = marked = 0
        for number, (frame, way) in self.sent.items():
            segments = ref.pop(number, [])
            marks = self.compare(frame, way, out.pop(number, []), segments)
            missing += len(segments) - len(marks)
            marked += sum(marks)
            tally.sent.update((*frame.traits, way.title))
            tally.marked.update((*frame.traits, way.title) if any(marks) else ())
            classes.update("L" if is_l4s(ecn_field(segment, way.tags_max)) else "C"
                           for segment in segments)
        assert not out and not ref, (out, ref)
        changes = self.changes()
        expected = {"L": classes["L"], "C": classes["C"], "marks": marked, "drops": missing,
                    "backlog": 0, "bypassed-tcx": 0}
        tally.dropped += missing
        if self.sound:
            assert changes == expected, (self.name, changes, expected)
        else:
            # A GSO packet that the kernel fails to segment behind the qdisc is lost there.
            assert changes["backlog"] == 0 and missing <= changes["drops"], (changes, expected)

    def compare(self, frame, way, arrived, segments):
        """The segments in their order, some of them missing. Which of those that arrived are
        marked."""
        marks = []
        rest = iter(segments)
        for data in arrived:
            for segment in rest:
                if data == segment:
                    marks.append(False)
                    break
                field = ecn_field(segment, way.tags_max)
                if can_be_marked(field) and is_marked(segment, field, data):
                    marks.append(True)
                    break
            else:
                self.fail(f"by {way.title}: is no segment that the kernel makes, or out of order",
                          frame, data)
        return marks


def batches(count, size):
    return [int(BATCH)] if BATCH else range(count // size)


def report(what, count, tally, began):
    print(f"\n{what}: seed {SEED}, {count} frames in {time.monotonic() - began:.0f} s of the "
          f"guest, {tally.dropped} dropped; marked of those that came out, for each trait:")
    for trait, sent in sorted(tally.sent.items()):
        print(f"    {trait:28} {tally.marked[trait]:7} of {sent}")


def test_malformed_frames(held, long):
    tally, began = Tally(), time.monotonic()
    numbers = batches(FRAMES_LONG if long else FRAMES, IN_BATCH)
    for number in numbers:
        batch = PlainBatch(held, (SEED, number))
        batch.run(Generator(f"{SEED}/{number}"), tally)
    report("malformed frames", len(numbers) * IN_BATCH, tally, began)
    assert tally.dropped
    if not BATCH:
        tally.check(MARKS_MIN)


def without_mark(packet):
    """The same for a packet of IP before and after a mark."""
    version = packet[0] >> 4 if packet else None
    if version == 4 and len(packet) >= 20:
        return packet[:1] + bytes((packet[1] & ~CE,)) + packet[2:10] + packet[12:]
    if version == 6 and len(packet) >= 40:
        return packet[:1] + bytes((packet[1] & ~(CE << 4),)) + packet[2:]
    return packet


def bare_packet(generator, number):
    """What is behind an Ethernet header; or all of a frame, to be taken for what is behind."""
    if generator.below(4):
        return generator.network()[:2]
    return generator.pick(BEFORE_IP), generator.frame(number).data


@pytest.mark.parametrize("held", [Tunnel], indirect=True)
def test_without_link_header(held, long):
    """There are no VLAN tags and no PPPoE where there is no Ethernet header before them."""
    marked = 0
    for number in batches(BARE_LONG if long else BARE, IN_BATCH):
        generator = Generator(f"bare/{SEED}/{number}")
        sent = collections.defaultdict(list)
        before, l4s = held.counters(), 0
        for index in range(IN_BATCH):
            protocol, packet = bare_packet(generator, index)
            if not packet:
                continue
            held.socket.send(protocol, packet)
            field = ecn_field_of_ip(packet, protocol)
            sent[without_mark(packet)].append((packet, field))
            l4s += is_l4s(field)
        count, missing = sum(map(len, sent.values())), 0
        marks = 0
        for arrived in injectors.until_quiet(held.out):
            same = sent[without_mark(arrived)]
            found = next((one for one in same if one[0] == arrived), None)
            if not found:
                found = next((one for one in same if can_be_marked(one[1]) and
                              is_marked(*one, arrived)), None)
                marks += 1
            assert found, (SEED, number, arrived.hex(), [one[0].hex() for one in same])
            same.remove(found)
        missing = sum(map(len, sent.values()))
        change = held.counters()
        change.subtract(before)
        assert change == {"L": l4s, "C": count - l4s, "marks": marks, "drops": missing,
                          "backlog": 0, "bypassed-tcx": 0}, (SEED, number)
        marked += marks
    assert marked >= MARKS_MIN


def test_pages_of_others(held, tmp_path):
    """MSG_ZEROCOPY and sendfile(): what is sent lies in the sender's memory, and in that of a
    file. A mark changes neither."""
    held.space.ip("addr add 10.0.0.1/24 dev out0")
    held.space.ip("neigh add 10.0.0.2 dev out0 nud permanent lladdr 02:00:00:00:00:02")
    content = random.Random(SEED).randbytes(PAGE_PACKETS * PAYLOAD)
    memory = mmap.mmap(-1, len(content))
    memory[:] = content
    (tmp_path / "file").write_bytes(content)
    with held.space.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender, \
            open(tmp_path / "file", "rb") as file, memoryview(memory) as view:
        sender.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
        sender.setsockopt(socket.SOL_SOCKET, injectors.SO_SNDBUFFORCE, 1 << 30)
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, ECT_1)
        sender.connect(("10.0.0.2", 2000))
        for start in range(0, len(content), PAYLOAD):
            sender.send(view[start:start + PAYLOAD], MSG_ZEROCOPY)
            os.sendfile(sender.fileno(), file.fileno(), start, PAYLOAD)
        arrived = list(injectors.until_quiet(held.out))
    sent = [content[start:start + PAYLOAD] for start in range(0, len(content), PAYLOAD)]
    assert sorted(data[HEADERS:] for data in arrived) == sorted(2 * sent)
    fields = [ecn_field(data) for data in arrived]
    assert sum(field.ecn == CE for field in fields) >= PAGE_PACKETS
    assert all(frames.internet_checksum(data[14:34]) == 0 for data in arrived)
    assert memory[:] == content
    assert (tmp_path / "file").read_bytes() == content


def kernel_counts_segments():
    """Of GSO packets whose sender leaves that to others (SKB_GSO_DODGY). Kernels that do not
    count none of them in `tc -s`, and ours is an estimate: count_segments(), bpf/kernel.bpf.h."""
    return " qdisc_pkt_len_segs_init\n" in Path("/proc/kallsyms").read_text(encoding="ascii")


@pytest.mark.skipif(not kernel_counts_segments(),
                    reason="this kernel does not count the segments of such packets")
@pytest.mark.parametrize("sound", [True, False], ids=["sound", "malformed"])
def test_gso(held, long, sound):
    tally, began = Tally(), time.monotonic()
    numbers = batches(GSO_FRAMES_LONG if long else GSO_FRAMES, IN_GSO_BATCH)
    for number in numbers:
        batch = GsoBatch(held, (SEED, number), sound=sound)
        batch.run(Generator(f"GSO/{sound}/{SEED}/{number}"), tally)
    report("GSO", len(numbers) * IN_GSO_BATCH, tally, began)
    assert tally.dropped
