# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Four CPUs send at once, parameters change and statistics are read all the time; after
that every counter is exact. Run in a guest of its own, with real threads (tests/run).
"""

import concurrent.futures
import contextlib
import errno
import itertools
import json
import multiprocessing
import os
import re
import socket
import threading
import time
from pathlib import Path

import pytest
import virtual_queues
from conftest import (
    AQMS,
    BIN,
    HOSTS_KINDS,
    KINDS,
    LOADER,
    SHARED_KINDS,
    SUBSCRIBERS_KINDS,
    check_law,
    written,
)
from frames import CE, ECT_0, ECT_1, NOT_ECT, ipv4_frame
from netns import dummy, run, veth, wait_until
from superpackets import UDP_SEGMENT

CPUS = 4
OURS = {*KINDS.values(), *SHARED_KINDS, *HOSTS_KINDS.values(), *SUBSCRIBERS_KINDS.values()}
QUEUES = 4
LIMIT = 10000  # packets, the default
PKTGEN = Path("/proc/net/pktgen")
SEGMENTS, SEGMENT = 10, 200  # of a GSO packet, and bytes of payload of each
# A CPU that does not get on for so long. (The lock watchdog waits for twice its threshold.)
STALL_SECONDS = 10
STALL_LIMITS = {"/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout": STALL_SECONDS,
                "/proc/sys/kernel/watchdog_thresh": STALL_SECONDS // 2}
# Packets that wait for the qdisc's lock; more are dropped in front of it, by the kernel (from
# 6.19 on; net/core/dev.c, __dev_xmit_skb()). A CPU of the lab may stand still while the others
# go on, which makes bursts that no machine has.
MAX_BURST = Path("/proc/sys/net/core/qdisc_max_burst")
COMPLAINTS = re.compile(r"WARNING|BUG|stall|lockup|blocked for more|refcount|Call Trace")

# Every parameter that has a state behind it, there and back: those of all AQMs, and PI2's.
SHARED_CHANGES = (
    ("--limit", 20),
    ("--classic-protection", "50%", "--coupling-factor", 4),
    ("--any-ect", "--step-thresh", "5p"),
    ("--limit", LIMIT, "--l-aqm", "ramp"),
    ("--overflow", "--l4s-dscp", "40", "--guard"),
    ("--sparse",),
    ("--drop-enqueue", "--classic-dscp", "ef"),
    ("--classic-protection", "10%", "--coupling-factor", 2, "--l4s-ect", "--step-thresh", "1ms",
     "--l-aqm", "step", "--drop-on-overload", "--drop-dequeue", "--l4s-dscp", "none",
     "--classic-dscp", "none", "--no-guard", "--no-sparse"),
)
CHANGES = (("--target", "1ms", "--tupdate", "1ms"), *SHARED_CHANGES,
           ("--target", "15ms", "--tupdate", "16ms"))
# Virtual queues of VDQ-CSAQM that overflow, and again all that there is room for.
RING_MAX = 4096  # VDQ_RING_MAX
VDQ_CHANGES = (("--ring", 64, "--rate-memory", "1ms"), *SHARED_CHANGES,
               ("--ring", RING_MAX, "--rate-memory", "1s"))
HOSTS_CHANGES = (*CHANGES, ("--per-host", "src", "--host-prefix", 56), ("--per-host", "dst"))
RATES = (("--rate", "50mbit"), ("--rate", "2mbit"), ("--rate", "10gbit"))
# Where all queues share a rate.
LINK_CHANGES = (("--target", "1ms", "--tupdate", "1ms", "--limit", 20),
                ("--classic-protection", "50%", "--coupling-factor", 4),
                ("--rate", 0), ("--any-ect", "--step-thresh", "5p"),
                ("--limit", LIMIT, "--l-aqm", "ramp"),
                ("--classic-protection", "10%", "--coupling-factor", 2, "--l4s-ect",
                 "--step-thresh", "1ms", "--l-aqm", "step", "--target", "15ms", "--tupdate",
                 "16ms"), *RATES)
# Of senders, which never rest: the tools shall have their turn soon.
NICE = 19


class Pktgen:
    """Senders within the kernel, a thread on each of some CPUs, through dev_queue_xmit()."""

    def __init__(self, space, dev, codepoints, queues):
        self.space = space
        self.names = [f"{dev}@{cpu}" for cpu in range(len(codepoints))]
        with space.entered():
            for cpu, (name, ecn) in enumerate(zip(self.names, codepoints, strict=True)):
                self.command(f"kpktgend_{cpu}", "rem_device_all", f"add_device {name}")
                self.command(name, "count 0", "pkt_size 200", "clone_skb 0", "delay 0",
                             "xmit_mode queue_xmit", "flag !SHARED", "flag QUEUE_MAP_RND",
                             "queue_map_min 0", f"queue_map_max {queues - 1}", "dst 10.9.0.2",
                             "dst_mac 02:00:00:00:00:99", f"tos {ecn:02x}")

    @staticmethod
    def command(name, *lines):
        for line in lines:
            (PKTGEN / name).write_text(line)

    def spread(self, cpu, *lines, last="10.9.1.200"):
        """The packets of this one go to many hosts, up to the last."""
        with self.space.entered():
            self.command(self.names[cpu], "flag IPDST_RND", "dst_min 10.9.0.2", f"dst_max {last}",
                         *lines)

    def start(self):
        run("renice", "-n", NICE, "-p", *run("pgrep", "kpktgend").stdout.split())
        # Returns when all have been stopped.
        self.starter = self.space.popen("sh", "-c", f"echo start >{PKTGEN}/pgctrl")

    def stop(self):
        """(accepted, refused) packets."""
        with self.space.entered():
            self.command("pgctrl", "stop")
            assert self.starter.wait(timeout=60) == 0
            shown = [(PKTGEN / name).read_text() for name in self.names]
            for cpu in range(len(self.names)):
                self.command(f"kpktgend_{cpu}", "rem_device_all")
        return tuple(sum(int(re.search(rf"{word}: (\d+)", text)[1]) for text in shown)
                     for word in ("pkts-sofar", "errors"))


class Program:
    """A sender that is a program on a CPU of its own. `send()` hands packets to the kernel."""

    def __init__(self, cpu, send):
        context = multiprocessing.get_context("fork")
        self.stopped = context.Event()
        self.results, report = context.Pipe(duplex=False)
        self.process = context.Process(target=self.work, args=(cpu, send, report))

    def work(self, cpu, send, report):
        os.sched_setaffinity(0, {cpu})
        os.nice(NICE)
        accepted = refused = 0
        while not self.stopped.is_set():
            try:
                send()
                accepted += 1
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise
                refused += 1
        report.send((accepted, refused))

    def start(self):
        self.process.start()

    def stop(self):
        """(accepted, refused) calls."""
        self.stopped.set()
        assert self.results.poll(60), "a sender hangs"
        self.process.join()
        return self.results.recv()


def raw_sender(space, dev):
    """Frames of all codepoints in turn, through a packet socket."""
    sock = space.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    sock.bind((dev, 0))
    batch = itertools.cycle([ipv4_frame(0, ecn, 200) for ecn in (NOT_ECT, ECT_1, ECT_0, CE)])
    return lambda: sock.send(next(batch))


def gso_sender(space, dev):
    """UDP in GSO packets, which the tcx program splits."""
    space.ip(f"addr add 10.9.0.1/24 dev {dev}")
    space.ip(f"neigh add 10.9.0.2 lladdr 02:00:00:00:00:99 dev {dev}")
    sock = space.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, SEGMENT)
    return lambda: sock.sendto(bytes(SEGMENTS * SEGMENT), ("10.9.0.2", 9))


class Place:
    """Where instances of the qdisc are: `dev` is what the loader is told, `below` the device
    that they send through."""

    def __init__(self, space, dev, *options, below=None):
        self.space, self.dev, self.options = space, dev, options
        self.below = below or dev

    def load(self, *options):
        self.space.run(LOADER, self.dev, *self.options, *options)

    def unload(self):
        ingress = ("--ingress",) if "--ingress" in self.options else ()
        self.space.run(LOADER, self.dev, *ingress, "--unload")

    def instances(self):
        """The statistics of each."""
        shown = json.loads(self.space.run(BIN / "dualpi2-stats", self.below, "--json",
                                          "--queues").stdout)
        return [entry for entry in shown if "parent" in entry] or shown

    def tc(self):
        """The same as tc sees them."""
        shown = json.loads(self.space.run("tc", "-j", "-s", "qdisc", "show", "dev",
                                          self.below).stdout)
        return {entry.get("parent", "root"): entry for entry in shown
                if entry["kind"] in OURS}

    def drain(self):
        wait_until(lambda: not any(entry["qlen"] for entry in self.tc().values()),
                   "the queues are empty")

    def transmitted(self):
        """Packets that the device has sent, by its own count."""
        [link] = json.loads(self.space.run("ip", "-j", "-s", "link", "show", "dev",
                                           self.below).stdout)
        return link["stats64"]["tx"]["packets"]


@pytest.fixture(autouse=True)
def all_come_to_the_qdisc():
    if not MAX_BURST.exists():
        yield
        return
    with written(MAX_BURST, str(2**31 - 1)):
        yield


@pytest.fixture
def space(registered, new_space):
    run("modprobe", "pktgen")
    return new_space("many")


@pytest.fixture(autouse=True)
def quiet_kernel():
    """No warning and no stall, of which it would tell soon."""
    with contextlib.ExitStack() as limits:
        for path, seconds in STALL_LIMITS.items():
            limits.enter_context(written(Path(path), str(seconds)))
        said = len(run("dmesg").stdout.splitlines())
        yield
        new = run("dmesg").stdout.splitlines()[said:]
    assert not [line for line in new if COMPLAINTS.search(line)], new


def torment(place, senders, changes, seconds):
    """All at once; what each sender says it sent, and the readings."""
    over = threading.Event()
    readings = []

    def read():
        while not over.is_set():
            readings.append(place.instances())
            place.tc()

    def change():
        rounds = 0
        while not over.is_set():
            for options in changes:
                place.load(*options)
            rounds += 1
        return rounds

    with concurrent.futures.ThreadPoolExecutor() as pool, contextlib.ExitStack() as stack:
        stack.callback(over.set)
        for sender in senders:
            sender.start()
        running = [pool.submit(read), pool.submit(change)]
        concurrent.futures.wait(running, timeout=seconds,
                                return_when=concurrent.futures.FIRST_EXCEPTION)
        over.set()
        _, rounds = (future.result() for future in running)
        sent = [sender.stop() for sender in senders]
    print(f"{rounds * len(changes)} changes, {len(readings)} readings, "
          f"senders (accepted, refused): {sent}")
    assert readings and all(accepted for accepted, _ in sent)
    return sent, readings


def packets_in(entries):
    return sum(entry[queue]["packets-in"] for entry in entries for queue in ("l-queue", "c-queue"))


def check_exact(place, sent, readings):
    """The law for each instance, and what arrived is what was sent."""
    # On its way to an ifb a packet waits for a CPU, which may stand still, after send() is done.
    wait_until(lambda: packets_in(place.instances()) >= sent, "all that was sent has arrived")
    place.drain()
    tc = place.tc()
    final = place.instances()
    queues = [queue for entry in final for queue in (entry["l-queue"], entry["c-queue"])]
    for entry in final:
        check_law(entry, tc[entry.get("parent", "root")])
    assert packets_in(final) == sent
    assert sum(queue["packets-out"] for queue in queues) == place.transmitted()
    for reading in readings:
        for entry, last in zip(reading, final, strict=True):
            for name in ("l-queue", "c-queue"):
                assert entry[name]["packets-in"] <= last[name]["packets-in"], (entry, last)
                assert entry[name]["packets-out"] <= last[name]["packets-out"], (entry, last)
                assert entry[name]["backlog-packets"] <= LIMIT, entry
    return final


@pytest.fixture
def seconds(long):
    """How long each of them lasts."""
    return 60 if long else 6


@pytest.mark.parametrize("queues, options, first, changes", [
    (1, (), (), CHANGES + RATES), (QUEUES, ("--mq",), (), CHANGES),
    (QUEUES, ("--mq",), ("--rate", "50mbit"), LINK_CHANGES),
    (1, (), ("--per-host", "dst", "--hosts", 64), HOSTS_CHANGES + RATES),
    pytest.param(1, ("--aqm", "vdq"), (), VDQ_CHANGES + RATES, marks=pytest.mark.skipif(
        "vdq" not in AQMS, reason="built without VDQ=1")),
], ids=["root", "mq", "link", "hosts", "vdq"])
def test_leaving(space, seconds, queues, options, first, changes):
    """Whatever the packet: refused on arrival it has still arrived."""
    dummy(space, "w0", "numtxqueues", queues)
    place = Place(space, "w0", *options)
    place.load(*first)
    generators = Pktgen(space, "w0", (ECT_1, NOT_ECT), queues)
    if "--per-host" in first:
        generators.spread(0)
        generators.spread(1)
    programs = Program(2, raw_sender(space, "w0")), Program(3, gso_sender(space, "w0"))
    sent, readings = torment(place, (generators, *programs), changes, seconds)
    calls = sent.pop()[0]
    arrived = sum(accepted + refused for accepted, refused in sent) + calls * SEGMENTS
    final = check_exact(place, arrived, readings)
    assert sum(entry["gso"]["split"] for entry in final) == calls
    assert sum(entry["gso"]["whole"] for entry in final) == 0
    assert sum(entry["bypassed-tcx"] for entry in final) == 0
    if "--per-host" in first:  # hosts, far more than DualQs, have claimed them from each other
        assert final[0]["hosts"]["claims"] > 500 and final[0]["hosts"]["waiting"] == 0
    if "vdq" in options:
        virtual_queues.check("w0")
    place.unload()


def test_arriving(space, new_space, seconds):
    """Through an ifb. What the interface refuses never gets there."""
    outside = new_space("outside")
    veth(outside, "o0", space, "w0")
    place = Place(space, "w0", "--ingress", below="in-w0")
    place.load("--rate", "50mbit")
    generators = Pktgen(outside, "o0", (ECT_1, NOT_ECT), 1)
    programs = [Program(cpu, raw_sender(outside, "o0")) for cpu in (2, 3)]
    sent, readings = torment(place, (generators, *programs), CHANGES + RATES, seconds)
    check_exact(place, sum(accepted for accepted, _ in sent), readings)
    place.unload()


def test_overload_of_one_host(space, seconds):
    """It is one event, whatever the clocks of those say who meet no overload."""
    dummy(space, "w0")
    place = Place(space, "w0")
    place.load("--per-host", "dst", "--hosts", 8192, "--rate", "20mbit", "--target", "1ms",
               "--tupdate", "1ms")
    generators = Pktgen(space, "w0", (NOT_ECT,) * 3, 1)
    for cpu in (1, 2):
        generators.spread(cpu, "delay 100000", last="10.9.30.200")
    readings, end = [], time.monotonic() + seconds
    generators.start()
    while time.monotonic() < end:
        readings.append(place.instances()[0]["overload"])
    generators.stop()
    assert readings[-1]["events"] == 1, readings
    assert readings[-1]["last-duration"] < 60 * seconds * 10**6, readings
    place.load("--rate", 0)
    place.drain()
    place.unload()
