# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""All at once, for a while, as a seed has it: interfaces are renamed, moved, deleted and made
again, namespaces too, tc replaces qdiscs, `dualpi2-load` attaches, changes and unloads, and
traffic never rests. Then nothing is left, and every frame is accounted for.

Run in a guest of its own, with real threads (tests/run). Each of four places has a process of
its own; what it does is drawn from the seed, when it does it is up to the machine.

    make soak SECONDS=600 SEED=7
    tests/lab/lab run --races -- env DUALPI2_SEED=7 DUALPI2_SECONDS=60 \\
        python3 -m pytest -q -s -p no:cacheprovider tests/qdisc/soak.py
"""

import collections
import contextlib
import errno
import json
import multiprocessing
import os
import random
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

import pytest
from conftest import BIN, LOADER, PIN_DIR, PUBLIC_PIN_DIR, check_law, drops, written
from counter import Counter
from frames import CE, ECT_0, ECT_1, NOT_ECT, ROOM, SO_SNDBUFFORCE, ipv4_frame, raw_sender
from many_cpus import CHANGES, all_come_to_the_qdisc, quiet_kernel  # noqa: F401
from netns import Namespace, dummy, run, veth, wait_until
from superpackets import UDP_SEGMENT
from test_leaks import bpf_objects

SEED = os.environ.get("DUALPI2_SEED", "1")
SECONDS = os.environ.get("DUALPI2_SECONDS")
SHORT, LONG = 40, 600  # seconds, if nothing is said
HANG_SECONDS = 120  # longer than anything takes on a busy host
TRIES = 6  # of a loader, while others work
SETTLE_SECONDS = 90  # what waits has left, at the lowest rate

SPLITS = ("--split-gso", "--no-split-gso", "--auto-split-gso")
RATES = ("500kbit", "2mbit", "10mbit", "50mbit", "10gbit")
ROLES = ("here", "there", "away")  # of network namespaces
NAMES = ("w", "wan", "uplink-to-isp-2")  # the last one is too long to be part of another's
FOREIGN = ("pfifo limit 100", "fq_codel", "bpf_dualpi2", "tbf rate 5mbit burst 10k latency 9ms")
HELPERS = ("gso-", "gsx-", "in-")
LENGTH = 200
SEGMENTS, SEGMENT = 10, 200
RAW, UDP = 253, socket.IPPROTO_UDP
PATTERN = bytes(range(251)) * 300  # what a TCP flow carries: a byte tells its place
BACKLOG = Path("/proc/sys/net/core/netdev_max_backlog")


class Transmitted:
    """Frames that a device has sent since, whatever its name is."""

    def __init__(self, space, number):
        self.space, self.number = space, number
        self.before = self.sent()

    def sent(self):
        [sent] = [link["stats64"]["tx"]["packets"] for link in self.space.links("-s").values()
                  if link["ifindex"] == self.number]
        return sent

    def read(self):
        return self.sent() - self.before

    def close(self):
        """Nothing is open."""


# ---- traffic ----------------------------------------------------------------------------


class Flow(threading.Thread):
    """Sends all the time, as long as there is a way. Between pause() and go() it has no socket,
    for a socket keeps its namespace alive."""

    PACE_SECONDS = 0.002

    def __init__(self):
        super().__init__(daemon=True)
        self.lock = threading.Lock()
        self.runs = self.over = False
        self.sent = 0
        self.finding = None

    def run(self):
        try:
            while not self.over:
                with self.lock:
                    if self.runs:
                        self.turn()
                time.sleep(self.PACE_SECONDS)
        except AssertionError as error:  # told by check()
            self.finding = error

    def turn(self):
        try:
            self.send()
        except OSError:
            # The device is down or gone, the address, or the namespace: try again.
            self.close()

    def go(self):
        with self.lock:
            self.runs = True

    def pause(self):
        with self.lock:
            self.runs = False
            self.close()

    def check(self):
        if self.finding:
            raise self.finding
        assert self.is_alive()

    def send(self):
        raise NotImplementedError

    def close(self):
        raise NotImplementedError


class Datagrams(Flow):
    """`opened()` gives a socket, `handed(socket)` hands some frames to the kernel, one a call."""

    def __init__(self, opened, frames_a_call):
        super().__init__()
        self.opened = opened
        self.frames_a_call = frames_a_call
        self.socket = None

    def send(self):
        if not self.socket:
            self.socket, self.calls = self.opened()
            self.socket.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, ROOM)
        for call in self.calls:
            try:
                call()
            except OSError as error:
                # Refused by the qdisc, or dropped by the kernel while it changes qdiscs.
                if error.errno != errno.ENOBUFS:
                    raise
            self.sent += self.frames_a_call

    def close(self):
        if self.socket:
            self.socket.close()
            self.socket = None


class Stream(Flow):
    """TCP from `here` to `there`: what arrives is what was sent."""

    STALLED_SECONDS = 3.0

    def __init__(self, here, there, address):
        super().__init__()
        self.here, self.there, self.address = here, there, address
        self.sockets = []

    def connect(self):
        listener = self.there().socket(socket.AF_INET, socket.SOCK_STREAM)
        self.sockets = [listener]
        listener.bind((self.address, 0))
        listener.listen()
        client = self.here().socket(socket.AF_INET, socket.SOCK_STREAM)
        self.sockets.append(client)
        for sock in (listener, client):
            sock.settimeout(0.5)
            # Closing resets: a connection that ends in good order lives on, and so does its
            # namespace.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.connect(listener.getsockname())
        self.sockets.append(listener.accept()[0])
        for sock in self.sockets[1:]:
            sock.setblocking(False)
        self.out = self.arrived = 0
        self.moved = time.monotonic()

    def send(self):
        if not self.sockets:
            self.connect()
        _, client, server = self.sockets
        with contextlib.suppress(BlockingIOError):
            begin = self.out % len(PATTERN)
            self.out += client.send(PATTERN[begin:begin + 30000])
        with contextlib.suppress(BlockingIOError):
            data = server.recv(1 << 16)
            begin = self.arrived % 251
            assert data == PATTERN[begin:begin + len(data)], "TCP: other bytes than were sent"
            self.arrived += len(data)
            self.sent += len(data)
            self.moved = time.monotonic()
        if time.monotonic() > self.moved + self.STALLED_SECONDS:
            raise TimeoutError

    def close(self):
        for sock in self.sockets:
            sock.close()
        self.sockets = []


def raw_frames(space, dev):
    """A flow of frames of all codepoints through a packet socket. `space()`, `dev()`: as they
    are called now."""
    batch = [ipv4_frame(0, ecn, LENGTH) for ecn in (NOT_ECT, ECT_1, ECT_0, CE)]

    def opened():
        sock = raw_sender(space(), dev())
        return sock, [lambda data=data: sock.send(data) for data in batch]
    return Datagrams(opened, 1)


def gso_packets(space, address):
    """A flow of UDP in GSO packets, counted in segments."""
    def opened():
        sock = space().socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, SEGMENT)
        return sock, [lambda: sock.sendto(bytes(SEGMENTS * SEGMENT), (address, 9))]
    return Datagrams(opened, SEGMENTS)


# ---- places -----------------------------------------------------------------------------


class Place:
    """A device under test in a namespace, a peer in another one, and a third namespace for the
    device to go to."""

    # Whether `sent` has all packets that come to the qdisc.
    is_exact = True
    options = ()
    rates = ("0", *RATES)

    def __init__(self, number, rng):
        self.number, self.rng = number, rng
        self.name = NAMES[0]
        self.tally = collections.Counter()
        self.messages = collections.Counter()
        self.said = []
        self.flows = []
        for role in ROLES:
            self.make_space(role)
        self.make()

    # -- what it is made of

    def make_space(self, role):
        setattr(self, role, Namespace(f"{role}{self.number}"))
        if role == "away":
            dummy(self.away, "left", "numtxqueues", 4)

    def make(self, *words):
        """The devices. `words`: more for `ip link add` of the one under test."""
        veth(self.here, self.name, self.there, "p", words=words)
        self.dress()

    def dress(self):
        """What a device loses on its way through another namespace."""
        self.here.sysctl(f"net.ipv6.conf.{self.name}.disable_ipv6", 1)
        self.here.up(self.name)

    def remove(self):
        """The devices, and all of them."""
        self.here.ip(f"link del {self.name}")

    def counters(self):
        """Of what arrives, opened now."""
        return [Counter(self.there, "p", RAW)]

    def qdisc_devices(self):
        return [self.name]

    # -- its traffic

    def start(self, *flows):
        self.flows = list(flows)
        for flow in flows:
            flow.start()

    def go(self):
        for flow in self.flows:
            flow.go()

    def pause(self):
        for flow in self.flows:
            flow.pause()

    def sent(self):
        return sum(flow.sent for flow in self.flows if isinstance(flow, Datagrams))

    # -- commands

    def note(self, *words):
        self.said.append(f"{time.monotonic():.2f} {self.number}: {' '.join(map(str, words))}")

    def command(self, dev, *options, space=None):
        place = [option for option in self.options if option == "--ingress" or
                 "--unload" not in options]
        return (space or self.here).argv(LOADER, dev, *place, *options)

    def ended(self, argv, process):
        """A loader's end: 0, 1 or 2, and at most one line on stderr. The status, and that line."""
        try:
            output, error = process.communicate(timeout=HANG_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError(f"hangs: {argv}") from None
        told = " ".join(map(str, argv[2:]))
        self.note(told, "->", process.returncode, error.strip() or output.splitlines()[:1])
        assert process.returncode in (0, 1, 2), (told, process.returncode, output, error)
        assert error.count("\n") == bool(process.returncode), (told, error)
        self.tally[f"loader: {process.returncode}"] += 1
        if error:
            self.messages[error.strip()] += 1
        return process.returncode, error

    def loader(self, *options, dev=None, space=None, must=None):
        """`must`: the status. On a busy host the other places may take longer than it waits for
        them; then it says what to do, and that is done."""
        argv = self.command(dev or self.name, *options, space=space)
        for _ in range(TRIES):
            status, error = self.ended(argv, popen(argv))
            if "another dualpi2-load has been working" not in error:
                break
        assert must is None or status == must, (argv, error)
        return status

    def drawn_options(self):
        """Parameters for a load or a change."""
        options = list(self.rng.choice(CHANGES))
        if "--mq" not in self.options:
            options += ["--rate", self.rng.choice(self.rates)]
        options.append(self.rng.choice(SPLITS))
        return options

    def least_options(self):
        """Without which there is no load."""
        return ()

    # -- gentle: whatever comes is counted

    def change(self):
        self.loader(*self.drawn_options(), must=0)

    def change_rates(self):
        if "--mq" in self.options:
            return
        for rate in self.rng.choices(self.rates, k=3):
            self.loader("--rate", rate, must=0)

    def rename(self):
        old, self.name = self.name, self.rng.choice([name for name in NAMES if name != self.name])
        self.note("rename", old, self.name)
        self.here.ip(f"link set {old} name {self.name}")

    def namesake(self):
        """Another device takes the name that this one had."""
        old = self.name
        self.rename()
        dummy(self.here, old, "numtxqueues", 4)
        self.loader(*self.drawn_options(), dev=old)
        if self.rng.random() < 0.5:
            self.loader("--unload", dev=old)
        self.note("delete", old)
        self.here.ip(f"link del {old}")
        self.change()

    def look(self):
        for argv in ([BIN / "dualpi2-stats", "--json"], [BIN / "dualpi2-stats", self.name],
                     [LOADER, "--check", self.name]):
            done = self.here.run(*argv, check=False, timeout=HANG_SECONDS)
            assert done.returncode in (0, 1), done
            assert done.stderr.count("\n") == (done.returncode and argv[0] != LOADER), done

    GENTLE = ("change", "change_rates", "rename", "namesake", "look")

    # -- rough: frames die with their queue or device, which nobody counts

    def replace_by_tc(self):
        qdisc = self.rng.choice(FOREIGN)
        self.note("tc replace", qdisc)
        self.here.run("tc", "qdisc", "replace", "dev", self.name, "root", *qdisc.split(),
                      check=False)

    def delete_by_tc(self):
        self.note("tc del")
        self.here.run("tc", "qdisc", "del", "dev", self.name, "root", check=False)

    def delete_helper(self):
        helpers = [name for name in self.here.links() if name.startswith(HELPERS)]
        for name in helpers[:1 + self.rng.randrange(2)]:
            self.note("delete", name)
            self.here.run("ip", "link", "del", name, check=False)

    def make_anew(self):
        """With the old name or another one, the old number or another one."""
        number = self.here.links()[self.name]["ifindex"]
        self.note("delete", self.name, number)
        self.remove()
        self.wait_for_the_end()
        if self.rng.random() < 0.3:
            self.name = self.rng.choice(NAMES)
        words = ("index", number) if self.rng.random() < 0.6 else ()
        self.note("make", self.name, *words)
        self.make(*words)

    def wait_for_the_end(self):
        """Of the peer, which is where the next one will be."""
        wait_until(lambda: "p" not in self.there.links(), "the peer is gone", SETTLE_SECONDS)

    def move(self):
        """There and back."""
        self.note("move")
        self.here.ip(f"link set {self.name} netns {self.away.name}")
        self.away.up(self.name)
        self.loader(*self.drawn_options(), space=self.away)
        if self.rng.random() < 0.5:
            self.loader("--unload", space=self.away)
        self.away.ip(f"link set {self.name} netns {self.here.name}")
        self.dress()

    def delete_space(self):
        role = self.rng.choice(self.DELETED)
        self.note("delete namespace", role)
        # Their sockets would keep it.
        self.pause()
        # Not Namespace.delete(), which would kill the loader.
        run("ip", "netns", "delete", getattr(self, role).name)
        if role == "away":
            self.make_space(role)
        else:
            self.replace_space(role)
        self.go()

    def replace_space(self, role):
        if role == "here":
            self.wait_for_the_end()
        else:
            wait_until(lambda: self.name not in self.here.links(), "the device is gone",
                       SETTLE_SECONDS)
            self.tidy()
        self.make_space(role)
        self.make()

    def tidy(self):
        """What is left of a place whose peer is gone."""

    def set_down_and_up(self):
        self.note("down and up")
        self.here.ip(f"link set {self.name} down")
        self.dress()

    DELETED = ("here", "there", "away")
    ROUGH = ("replace_by_tc", "delete_by_tc", "delete_helper", "make_anew", "move",
             "delete_space", "set_down_and_up", "rename")

    # -- rounds

    def act(self, action):
        self.tally[action] += 1
        getattr(self, action)()

    def gentle_round(self):
        """Every frame is accounted for."""
        begun = self.begin_account()
        self.go()
        for action in self.rng.choices(self.GENTLE, k=self.rng.randint(2, 5)):
            self.act(action)
        # A time that varies with all that goes on: what comes next meets another state.
        counts = [flow.sent for flow in self.flows]
        wait_until(lambda: all(flow.sent > count for flow, count in
                               zip(self.flows, counts, strict=True)),
                   "there is traffic", SETTLE_SECONDS)
        self.pause()
        self.settle()
        self.end_account(begun)
        self.tally["accounts"] += 1

    def rough_round(self):
        """A loader and something else at once; then the next load mends it all."""
        self.go()
        for action in self.rng.choices(self.ROUGH, k=self.rng.randint(2, 4)):
            options = [*self.drawn_options(), "--replace"]
            if self.rng.random() < 0.3:
                options = ["--unload"]
            delay = self.rng.uniform(0, 0.3)
            argv = self.command(self.name, *options)
            process = popen(argv)
            # So that the loader is met at any point of its work.
            time.sleep(delay)
            self.act(action)
            self.ended(argv, process)
        self.heal()

    def heal(self):
        """The next dualpi2-load mends all; an --unload leaves nothing."""
        self.mend()
        self.pause()
        self.settle()
        self.loader("--unload", must=0)
        # What --unload has put back.
        self.here.run("tc", "qdisc", "del", "dev", self.name, "root", check=False)
        self.check_no_helpers()
        self.draw_options()
        self.loader(*self.drawn_options(), must=0)

    def mend(self):
        self.loader("--replace", *self.least_options(), must=0)

    def draw_options(self):
        """Those that say what is attached where."""

    def check_no_helpers(self):
        left = [name for name in self.here.links() if name.startswith(HELPERS)]
        assert not left, f"left behind: {left}"

    # -- the account

    def figures(self):
        """Of each live qdisc of the place: what dualpi2-stats says, and tc."""
        for dev in self.qdisc_devices():
            shown = json.loads(self.here.run("tc", "-j", "-s", "qdisc", "show", "dev", dev).stdout)
            tc = {entry.get("parent", "root"): entry for entry in shown
                  if entry["kind"] == "bpf_dualpi2"}
            stats = json.loads(self.here.run(BIN / "dualpi2-stats", dev, "--json").stdout)
            ours = {entry.get("parent", "root"): entry for entry in stats
                    if entry["kind"] == "bpf_dualpi2"}
            assert set(tc) == set(ours), (tc, ours)
            for parent, entry in ours.items():
                yield entry, tc[parent]

    def figures_at_rest(self):
        """Nothing came while they were read: the kernel itself may send (ARP, a TCP reset)."""
        def unchanged():
            first, second = list(self.figures()), list(self.figures())
            return [tc for _, tc in first] == [tc for _, tc in second] and first

        return wait_until(unchanged, "nothing comes any more", SETTLE_SECONDS)

    def settle(self):
        """The queues are empty, and the law holds."""
        for flow in self.flows:
            flow.check()
        try:
            wait_until(lambda: not any(tc["qlen"] for _, tc in self.figures()),
                       f"the queues of {self.name} are empty", SETTLE_SECONDS)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.evidence()}") from None
        for stats, tc in self.figures_at_rest():
            check_law(stats, tc)
            self.tally["laws"] += 1

    def evidence(self):
        """Of queues that do not empty: whose fault it is, and whether they do later."""
        asked = (("tc", "-s", "qdisc", "show", "dev", self.name),
                 ("ip", "-d", "-s", "link", "show", "dev", self.name),
                 (BIN / "dualpi2-stats", self.name))
        return "\n".join(self.here.run(*argv, check=False).stdout for argv in asked * 2)

    def dropped_by_qdiscs(self):
        return sum(drops(stats[queue]) for stats, _ in self.figures()
                   for queue in ("l-queue", "c-queue"))

    def dropped_by_devices(self):
        """Where no qdisc sees it: by a device under test, and its helpers. An ifb counts as
        received what others send through it."""
        links = [*self.here.links("-s").values(), *self.there.links("-s").values()]
        return sum(link["stats64"]["tx"]["dropped"] for link in links) + sum(
            link["stats64"]["rx"]["dropped"] for link in links if link["ifname"].startswith("in-"))

    def begin_account(self):
        """Nothing is on its way."""
        return {"sent": self.sent(), "by qdiscs": self.dropped_by_qdiscs(),
                "by devices": self.dropped_by_devices(), "counters": self.counters()}

    def end_account(self, begun):
        """sent = received + dropped by qdiscs + dropped by devices."""
        sent = self.sent() - begun["sent"]
        figures = {}

        def missing():
            figures["received"] = sum(counter.read() for counter in begun["counters"])
            figures["by qdiscs"] = self.dropped_by_qdiscs() - begun["by qdiscs"]
            figures["by devices"] = self.dropped_by_devices() - begun["by devices"]
            return sent - sum(figures.values())

        def is_right():
            # Drops of others' packets are among those that were counted.
            least = 0 if self.is_exact else -figures["by qdiscs"] - figures["by devices"]
            return least <= missing() <= 0 and figures["received"] <= sent

        missing()
        # A frame may still be on its way from the qdisc to the counter.
        with contextlib.suppress(AssertionError):
            wait_until(is_right, "all is accounted for", 20)
        assert is_right(), (f"{self.number}: {sent} frames sent, {figures}: {missing()} are not "
                            "accounted for")
        for counter in begun["counters"]:
            counter.close()
        self.tally["frames"] += sent

    # -- begin and end

    def live(self, seconds):
        end = time.monotonic() + seconds
        self.draw_options()
        self.loader(*self.drawn_options(), must=0)
        while time.monotonic() < end:
            self.gentle_round()
            if time.monotonic() < end:
                self.rough_round()
        self.loader("--unload", must=0)
        self.check_no_helpers()
        # What was left there goes with the next dualpi2-load there.
        self.loader(*self.least_options(), dev="left", space=self.away, must=0)
        self.loader("--unload", dev="left", space=self.away, must=0)
        assert set(self.away.links()) == {"lo", "left"}, set(self.away.links())

    def end(self):
        for flow in self.flows:
            flow.pause()
            flow.over = True
        for role in ROLES:
            getattr(self, role).delete()


class Cabled(Place):
    """A cable, or a bridge with one as its port; raw frames, and GSO packets that are split."""

    def __init__(self, number, rng):
        self.is_bridge = False
        super().__init__(number, rng)
        self.start(raw_frames(lambda: self.here, lambda: self.name),
                   gso_packets(lambda: self.here, "10.9.0.2"))

    def make(self, *words):
        self.is_bridge = self.rng.random() < 0.4
        if self.is_bridge:
            self.here.run("ip", "link", "add", self.name, *words, "type", "bridge")
            veth(self.here, "port", self.there, "p")
            self.here.ip(f"link set port master {self.name}")
            self.dress()
        else:
            super().make(*words)

    def dress(self):
        super().dress()
        self.here.ip(f"addr replace 10.9.0.1/24 dev {self.name}")
        self.here.ip(f"neigh replace 10.9.0.2 lladdr 02:00:00:00:00:02 dev {self.name}")

    def move(self):
        if not self.is_bridge:  # they stay where they are
            super().move()

    def remove(self):
        super().remove()
        if self.is_bridge:
            self.here.ip("link del port")

    def replace_space(self, role):
        if self.is_bridge and role == "there":
            wait_until(lambda: "port" not in self.here.links(), "the port is gone",
                       SETTLE_SECONDS)
            self.here.ip(f"link del {self.name}")
        super().replace_space(role)

    def counters(self):
        return [Counter(self.there, "p", protocol) for protocol in (RAW, UDP)]


class Streaming(Place):
    """TCP in GSO packets, and raw frames beside it. What is dropped may be TCP's."""

    is_exact = False

    def __init__(self, number, rng):
        super().__init__(number, rng)
        self.start(raw_frames(lambda: self.here, lambda: self.name),
                   Stream(lambda: self.here, lambda: self.there, "10.9.0.2"))

    def make(self, *words):
        veth(self.here, self.name, self.there, "p", offload=True, words=words)
        self.there.ip("addr replace 10.9.0.2/24 dev p")
        self.there.ip("neigh replace 10.9.0.1 lladdr 02:00:00:00:00:01 dev p")
        self.dress()

    def dress(self):
        super().dress()
        self.here.ip(f"addr replace 10.9.0.1/24 dev {self.name}")
        self.here.ip(f"neigh replace 10.9.0.2 lladdr 02:00:00:00:00:02 dev {self.name}")


class ManyQueues(Place):
    """A dummy device with four queues, with --mq and without. What it has sent is received."""

    DELETED = ("here", "away")

    def __init__(self, number, rng):
        super().__init__(number, rng)
        self.start(raw_frames(lambda: self.here, lambda: self.name))

    def make(self, *words):
        dummy(self.here, self.name, *words, "numtxqueues", 4)

    def wait_for_the_end(self):
        pass

    def draw_options(self):
        self.options = self.rng.choice(((), ("--mq",)))

    def mend(self):
        """One at the root that tc made has to go first, and it says so."""
        if self.loader("--replace"):
            assert any("first `dualpi2-load" in text for text in self.messages), self.messages

    def counters(self):
        return [Transmitted(self.here, self.here.links()[self.name]["ifindex"])]


class Arriving(Place):
    """--ingress: raw frames from the peer, through an ifb."""

    options = ("--ingress",)
    rates = RATES

    def __init__(self, number, rng):
        super().__init__(number, rng)
        self.start(raw_frames(lambda: self.there, lambda: "p"))

    def counters(self):
        return [Counter(self.here, self.name, RAW)]

    def qdisc_devices(self):
        """It keeps the name that it was made with."""
        return [name for name, link in self.here.links().items() if name.startswith("in-")]

    def least_options(self):
        return ("--rate", self.rng.choice(RATES))

    def mend(self):
        """A program that came along from another namespace is that one's to take away: with
        the next dualpi2-load there (docs/reliability.md)."""
        self.loader(*self.least_options(), dev="left", space=self.away, must=0)
        self.loader("--unload", dev="left", space=self.away, must=0)
        super().mend()

    def drawn_options(self):
        return [option for option in super().drawn_options()
                if option not in SPLITS]


PLACES = (Cabled, Streaming, ManyQueues, Arriving)


def popen(argv):
    return subprocess.Popen([str(arg) for arg in argv], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def live(number, seconds, report):
    """The life of a place, in a process of its own."""
    rng = random.Random(f"{SEED} {number}")
    place, finding = None, None
    try:
        place = PLACES[number](number, rng)
        place.live(seconds)
    except Exception:  # told by the parent
        finding = traceback.format_exc()
        finding += "\n".join(place.said[-25:]) if place else ""
    finally:
        if place and not finding:
            place.end()
    report.send((finding, place and dict(place.tally), place and dict(place.messages)))
    report.close()
    sys.stdout.flush()
    os._exit(0)  # threads or not


def ends(processes, seconds):
    """(number, what it reported) of each place."""
    for number, (process, results) in enumerate(processes):
        assert results.poll(seconds + 5 * HANG_SECONDS), f"place {number} hangs"
        yield number, results.recv()
        process.join(HANG_SECONDS)


def run_places(seconds):
    """All of them at once; what each did."""
    context = multiprocessing.get_context("fork")
    processes = []
    for number in range(len(PLACES)):
        results, report = context.Pipe(duplex=False)
        process = context.Process(target=live, args=(number, seconds, report), daemon=True)
        process.start()
        processes.append((process, results))
    findings, tallies, messages = [], [], collections.Counter()
    for number, (finding, tally, said) in ends(processes, seconds):
        print(f"{PLACES[number].__name__}: {tally}", flush=True)
        if finding:
            findings.append(f"seed {SEED}, {PLACES[number].__name__}:\n{finding}")
        tallies.append(tally)
        messages.update(said)
    for text, count in messages.most_common():
        print(f"  {count} x {text}")
    assert not findings, "\n\n".join(findings)
    return tallies


@pytest.fixture
def deep_backlog():
    """What comes through a cable waits for a CPU, which may stand still; dropped there, it would
    be counted twice."""
    with written(BACKLOG, "1000000"):
        yield


@pytest.fixture
def unpatched_code(foreign_program, new_space):
    """The kernel patches its code when the first program is attached at a hook of tcx, and when
    the last one goes. QEMU before 8.1 may go on with half of a patch, on another CPU, which ends
    in a panic ("int3") that no machine has (tests/lab/README.md). So there is always one."""
    space = new_space("unpatched")
    dummy(space, "hold0")
    for hook in ("tcx_ingress", "tcx_egress"):
        space.run("bpftool", "net", "attach", hook, "pinned", foreign_program, "dev", "hold0")


def test_soak(deep_backlog, unpatched_code, long):
    seconds = float(SECONDS or (LONG if long else SHORT))
    print(f"\nseed {SEED}, {seconds:.0f} s")
    run("modprobe", "ifb")  # it brings devices of its own
    objects, links = bpf_objects(), set(os.listdir("/sys/class/net"))
    tallies = run_places(seconds)
    assert all(tally["accounts"] and tally["laws"] and tally["loader: 0"] for tally in tallies)

    # What belonged to namespaces that are gone goes with the next dualpi2-load.
    last = Namespace("last")
    dummy(last, "last0")
    last.run(LOADER, "last0")
    last.run(LOADER, "last0", "--unload")
    assert set(last.links()) == {"lo", "last0"}
    last.delete()
    assert not PIN_DIR.exists() and not PUBLIC_PIN_DIR.exists()
    assert [line.split()[0] for line in run("ip", "netns", "list").stdout.splitlines()] == [
        "unpatched"]
    assert set(os.listdir("/sys/class/net")) == links
    # Freed after grace periods, and when what waited in a namespace that is gone has left.
    wait_until(lambda: all(now <= objects[kind] for kind, now in bpf_objects().items()),
               "the kernel has freed all BPF objects", SETTLE_SECONDS)
