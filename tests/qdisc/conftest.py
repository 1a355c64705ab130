# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Fixtures: two namespaces on a cable, the qdisc on the sender's end.

Every test that uses `cable` ends in a check of the conservation law, to the packet
and byte, for each queue, against `tc -s` and against what was sent and received.
"""

import contextlib
import errno
import gc
import itertools
import json
import os
import re
import select
import socket
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "traffic")]
import frames  # noqa: E402
from iproute import add_dummies, root_statistics  # noqa: E402
from netns import Namespace, has_modules, run, veth, wait_until  # noqa: E402
from subscriber_maps import one_subscriber  # noqa: E402

BIN = Path(os.environ.get("DUALPI2_BIN", ".output")).resolve()
PIN_DIR = Path("/sys/fs/bpf/dualpi2")
PI2_PINS = PIN_DIR / "pi2"
PUBLIC_PIN_DIR = Path("/sys/fs/bpf/dualpi2-public")
LOADER = BIN / "dualpi2-load"
WITHOUT_CMPXCHG = BIN / "without_cmpxchg.so"  # for LD_PRELOAD
# The kind of the qdiscs of each AQM.
KINDS = dict(re.search(r'AQM_NAME "([\w-]+)"\n#define AQM_KIND "(\w+)"', path.read_text()).groups()
             for path in sorted((TESTS.parent / "include/aqm").glob("*.h")))


def kinds_of(variant):
    """Of those that can be another variant, by the names of their registrations."""
    return {f"{name}-{variant}": kind
            for path in sorted((TESTS.parent / "include/aqm").glob("*.h"))
            for name, kind in re.findall(
                rf'AQM_NAME "([\w-]+)"\n(?:.*\n)*?#define AQM_{variant.upper()}_KIND "(\w+)"',
                path.read_text())}


# And where each host, or each subscriber, has a DualQ.
HOSTS_KINDS = kinds_of("hosts")
SUBSCRIBERS_KINDS = kinds_of("subscribers")
MANY_KINDS = HOSTS_KINDS | SUBSCRIBERS_KINDS
# And of those that can be where several queues share a rate.
SHARED_KINDS = [kind for path in sorted((TESTS.parent / "include/aqm").glob("*.h"))
                for kind in re.findall(r'#define AQM_SHARED_KIND "(\w+)"', path.read_text())]
# Those of them that are there: one that has to be asked for may not have been built.
OPT_IN = {re.search(r'AQM_NAME "([\w-]+)"', text)[1]
          for path in (TESTS.parent / "include/aqm").glob("*.h")
          if "#define AQM_OPT_IN" in (text := path.read_text())}
AQMS = tuple(name for name in KINDS
             if name not in OPT_IN or f"\nAQM {name}: " in run(LOADER, "--help", "all").stdout)


def needs(*modules):
    """The cloud flavour of a kernel has not all of them."""
    for module in modules:
        if run("modprobe", "-q", module, check=False).returncode:
            pytest.skip(f"this kernel has no module {module}")


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true",
                     help="tests that have a long version run that one (make test-long)")
    parser.addoption("--without-cmpxchg", action="store_true",
                     help="on a machine without a compare-and-exchange of two words, or as if on "
                     "one: BPF programs can have no timers")


def pytest_configure(config):
    config.addinivalue_line("markers", "oldest_kernel: meets only our own tools, or our own "
                            "arithmetic, so no kernel can make it come out differently "
                            "(tests/run)")
    config.addinivalue_line("markers", "newest_kernel: likewise, TCP Prague among them")
    if config.getoption("--without-cmpxchg"):
        os.environ["LD_PRELOAD"] = str(WITHOUT_CMPXCHG)


@pytest.fixture(scope="session")
def long(pytestconfig):
    """Whether the long version of a test was asked for."""
    return pytestconfig.getoption("--long")


def drops(queue):
    """Packets, by whatever cause."""
    return sum(queue[key] for key in queue if key.startswith("drop-") and key != "drop-bytes")


def check_law(stats, tc):
    """arrived = forwarded + dropped by cause + queued, and tc agrees."""
    queues = stats["l-queue"], stats["c-queue"]
    for queue in queues:
        assert queue["packets-in"] == (queue["packets-out"] + drops(queue) +
                                       queue["backlog-packets"]), stats
        assert queue["bytes-in"] == (queue["bytes-out"] + queue["drop-bytes"] +
                                     queue["backlog-bytes"]), stats
    assert tc["packets"] == sum(queue["packets-out"] for queue in queues), (tc, stats)
    assert tc["bytes"] == sum(queue["bytes-out"] for queue in queues), (tc, stats)
    assert tc["drops"] == sum(drops(queue) for queue in queues), (tc, stats)
    assert tc["backlog"] == sum(queue["backlog-bytes"] for queue in queues), (tc, stats)
    assert tc["qlen"] == sum(queue["backlog-packets"] for queue in queues), (tc, stats)
    assert tc["overlimits"] == sum(queue["drop-limit"] + queue["drop-memlimit"]
                                   for queue in queues), (tc, stats)
    if not tc["qlen"]:
        assert stats["memory-used"] == 0, stats


class Qdisc:
    """A qdisc of ours on one device, through its tools."""

    def __init__(self, space, dev):
        self.space = space
        self.dev = dev

    def load(self, *options, check=True):
        return self.space.run(LOADER, self.dev, *options, check=check)

    def stats(self):
        return json.loads(self.space.run(BIN / "dualpi2-stats", self.dev, "--json").stdout)[0]

    def table(self):
        return self.space.run(BIN / "dualpi2-stats", self.dev).stdout

    def tc(self):
        return root_statistics(self.space, self.dev)

    def tcx_pin(self, aqm="pi2"):
        """Of the link that has our program on the device."""
        with self.space.entered():
            index = socket.if_nametoindex(self.dev)
        return PIN_DIR / aqm / f"tcx-{self.space.cookie()}-{index}"

    def lose_program(self, aqm="pi2"):
        """Its link is no longer pinned; the kernel ends it some time after that."""
        self.tcx_pin(aqm).unlink()
        wait_until(lambda: "dualpi2_mark" not in [program["name"] for program in
                                                  self.space.programs(self.dev)],
                   "the program is detached")

    def is_attached(self):
        return self.tc()["kind"] in {*KINDS.values(), *MANY_KINDS.values()}

    def check_conservation(self):
        """The law holds now; the statistics."""
        stats = self.stats()
        check_law(stats, self.tc())
        return stats


class Cable:
    """A sender and a receiver of raw frames, and the qdisc between them. Made once;
    every test starts anew with start()."""

    def __init__(self):
        self.tx, self.rx = Namespace("tx"), Namespace("rx")
        veth(self.tx, "d0", self.rx, "p0")
        self.qdisc = Qdisc(self.tx, "d0")
        self.sender = frames.raw_sender(self.tx, "d0")
        self.receiver = frames.raw_receiver(self.rx, "p0")
        self.arrived = 0

    def start(self):
        assert not self.qdisc.is_attached()
        self.receive()
        self.serials = itertools.count(1)
        self.sent = self.arrived = 0

    def load(self, *options):
        return self.qdisc.load(*options)

    def send(self, *batch):
        """Hand frames to the kernel; those that it dropped at once count as sent."""
        for data in batch:
            self.sent += 1
            try:
                self.sender.send(data)
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise

    def burst(self, ecn, count, length=1514):
        """`count` IPv4 frames of one codepoint, as fast as they go; their serials."""
        serials = list(itertools.islice(self.serials, count))
        self.send(*(frames.ipv4_frame(serial, ecn, length) for serial in serials))
        return serials

    def receive(self):
        """What has arrived since the last call."""
        arrived = [frames.parse(*arrival) for arrival in frames.received(self.receiver)]
        self.arrived += len(arrived)
        return arrived

    def drain(self, seconds=60):
        """Wait until the queues are empty and all is received; what has arrived."""
        wait_until(lambda: self.qdisc.tc()["qlen"] == 0, "the queues are empty", seconds)
        forwarded = self.qdisc.tc()["packets"]
        arrived = []
        wait_until(lambda: arrived.extend(self.receive()) or self.arrived >= forwarded,
                   f"{forwarded} frames have arrived")
        return arrived

    def finish(self):
        """The conservation law from end to end, of all that still waits as well."""
        if self.qdisc.is_attached():
            if self.qdisc.tc()["qlen"]:
                self.load("--rate", 0)
                self.drain()
            stats = self.qdisc.check_conservation()
            self.receive()
            queues = stats["l-queue"], stats["c-queue"]
            assert self.sent == sum(queue["packets-in"] for queue in queues), stats
            assert self.arrived == sum(queue["packets-out"] for queue in queues), stats

    def stop(self):
        if self.qdisc.is_attached():
            self.qdisc.load("--unload")

    def close(self):
        self.sender.close()
        self.receiver.close()
        self.tx.delete()
        self.rx.delete()


def root(space, dev):
    """The root qdisc of a device, as tc shows it."""
    return json.loads(space.run("tc", "-j", "qdisc", "show", "dev", dev, "root").stdout)[0]


def one_line(done, status):
    """A refusal: the exit status, one line on stderr, nothing on stdout. The line."""
    assert done.returncode == status, done
    assert done.stdout == "", done
    assert done.stderr.count("\n") == 1 and done.stderr.endswith("\n"), done
    return done.stderr


def next_line(follower):
    """Of `dualpi2-stats --events`; waits for it, for a bounded time."""
    wait_until(lambda: select.select([follower.stdout], [], [], 0)[0], "it tells of an event")
    return follower.stdout.readline()


def follows(process):
    """Does a dualpi2-stats that goes on until a signal wait for one?"""
    return any("signalfd" in os.readlink(fd) for fd in Path(f"/proc/{process.pid}/fd").iterdir())


@contextlib.contextmanager
def following(space, *argv):
    """dualpi2-stats as a process that goes on, and has begun to follow."""
    follower = space.popen(*argv)
    try:
        wait_until(lambda: follows(follower), "it follows")
        yield follower
    finally:
        follower.terminate()
        follower.communicate(timeout=60)


def published(dev):
    """The public statistics of a device as the timer left them, by bpftool: nothing
    refreshes them here."""
    [value] = [entry["formatted"]["value"] for pin in PIN_DIR.glob("*/dualpi2_stats")
               for entry in json.loads(run("bpftool", "-j", "map", "dump", "pinned", pin).stdout)
               if entry["formatted"]["value"]["ifname"] == dev]
    return value


def chosen(aqm):
    """Options that ask for it."""
    if aqm in HOSTS_KINDS:
        return "--aqm", aqm.removesuffix("-hosts"), "--per-host", "dst"
    if aqm in SUBSCRIBERS_KINDS:
        return ("--aqm", aqm.removesuffix("-subscribers"), "--per-host", "dst",
                "--subscribers", one_subscriber())
    return "--aqm", aqm


class Registrations:
    """Kinds of qdiscs that stay registered while tests come and go, for loading the programs of one
    takes a second of the guest's time. A kind is registered while there is a qdisc of it: so each
    has a device with one. The devices' numbers are ones that no other test needs, for an instance
    takes the number of its device if that is free."""

    def __init__(self):
        self.space = None
        self.devices = {}  # by AQM

    def keep(self, aqms):
        """Exactly these."""
        for aqm in set(self.devices) - set(aqms):
            self.space.run(LOADER, self.devices[aqm], "--unload")
            self.space.ip(f"link del {self.devices.pop(aqm)}")
        if self.space and not aqms:
            self.space.delete()
            self.space = None
            assert not PIN_DIR.exists(), "the last --unload leaves nothing behind"
        if aqms and not self.space:
            self.space = Namespace("anchor")
        for aqm in [aqm for aqm in aqms if aqm not in self.devices]:
            dev = "anchor" if aqm == "pi2" else aqm[:15]
            self.space.ip(f"link add {dev} index {200 + [*KINDS, *MANY_KINDS].index(aqm)} "
                          f"type {'dummy' if has_modules() else 'netkit'}")
            self.devices[aqm] = dev
            self.space.run(LOADER, dev, *chosen(aqm))

    def renew(self, aqm):
        """Its programs and maps are new ones."""
        self.space.run(LOADER, self.devices[aqm], "--unload")
        assert not (PIN_DIR / aqm).exists(), "no other qdisc holds what is spent"
        self.space.run(LOADER, self.devices[aqm], *chosen(aqm))


REGISTRATIONS = Registrations()


def aqms_of(module):
    """Those that stay registered for tests of a file that want any: PI2, and what the file has in
    ALSO_REGISTERED."""
    return ("pi2", *getattr(module, "ALSO_REGISTERED", ()))


def wanted_by(item):
    return aqms_of(item.module) if "registered" in item.fixturenames else ()


def pytest_collection_modifyitems(items):
    """Those of one wish follow each other, and the first load on a host comes first."""
    items.sort(key=wanted_by)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if not wanted_by(item):
        REGISTRATIONS.keep(())


@pytest.fixture(scope="module")
def registered(request):
    """The kinds that a file wants are registered, and stay so. The namespace in which they are:
    PI2 on its device `anchor`."""
    REGISTRATIONS.keep(aqms_of(request.module))
    return REGISTRATIONS.space


@pytest.fixture(scope="module")
def registered_link(registered):
    """The kind of qdisc of queues that share a rate is registered, and stays so: there is one in
    another place. (Its number is one that no other test needs, as of Registrations.)"""
    space = Namespace("anchored")
    space.ip("link add anchored index 220 numtxqueues 2 type dummy")
    space.run(LOADER, "anchored", "--mq", "--rate", "1gbit")
    yield
    space.run(LOADER, "anchored", "--unload")
    space.delete()


@pytest.fixture
def spent(registered):
    """PI2's registration is of no use after the test. Comes before `cable`, which holds it."""
    yield
    REGISTRATIONS.renew("pi2")


@pytest.fixture(scope="session")
def wire():
    cable = Cable()
    yield cable
    cable.close()


@pytest.fixture
def cable(registered, wire):
    wire.start()
    try:
        yield wire
        wire.finish()
    finally:
        wire.stop()


@pytest.fixture
def box():
    """A namespace with two dummy devices."""
    space = Namespace("box")
    add_dummies(space, "one", "two")
    yield space
    space.delete()


def unload(box):
    for name in sorted({"one", "two"} & set(box.links())):
        box.run(LOADER, name, "--unload", "--if-attached")


@pytest.fixture
def new_space():
    """Makes network namespaces, which go with the test."""
    with contextlib.ExitStack() as stack:
        def make(name):
            space = Namespace(name)
            stack.callback(space.delete)
            return space
        yield make


@pytest.fixture
def bare(box):
    """The box on a host where no AQM is registered; what a test attaches there is unloaded."""
    yield box
    unload(box)


@pytest.fixture
def space(registered, box):
    """The same on a host where the AQMs are registered that the file asks for."""
    yield box
    unload(box)


@pytest.fixture
def pair():
    """A sender for tcp-prague and a receiver."""
    from prague_pair import prague_pair  # which wants BIN of this file

    yield from prague_pair()


@contextlib.contextmanager
def written(path, text):
    """A setting of the kernel, which comes back."""
    before = path.read_text()
    path.write_text(text)
    try:
        yield
    finally:
        path.write_text(before)


@contextlib.contextmanager
def pinned_program(name, pinned_as=None):
    pin = PIN_DIR.parent / (pinned_as or name)
    run("bpftool", "prog", "load", BIN / f"{name}.bpf.o", pin)
    yield pin
    pin.unlink()


@pytest.fixture
def foreign_program():
    """A tcx program that is not ours, pinned."""
    with pinned_program("foreign") as pin:
        yield pin


DEFAULT_QDISC = Path("/proc/sys/net/core/default_qdisc")
# With the tunnels' modules each new namespace gets devices like gre0, unless this is 1.
FALLBACK_TUNNELS = Path("/proc/sys/net/core/fb_tunnels_only_for_init_net")


@pytest.fixture(scope="module", autouse=True)
def short_pauses():
    """A test that sends by itself sends nothing while Python's collector looks through all objects
    there are: at the end of a long session for 25 ms. So those of former files are left out."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def modules():
    """What nearly all tests take, so that the first of them is not late; the kernel loads others
    when somebody asks for them."""
    with written(FALLBACK_TUNNELS, "1"):
        run("modprobe", "-a", "veth", "dummy", check=False)
        yield


def loaded_modules():
    return {line.split()[0] for line in Path("/proc/modules").read_text().splitlines()}


@pytest.fixture(scope="module", autouse=True)
def modules_go(modules):
    """Those that a file has brought. 6.18 looks through the types of each for a type of ours: with
    twenty of them the first load of an AQM takes twice as long (docs/performance.md)."""
    before = loaded_modules()
    yield
    if brought := loaded_modules() - before:
        run("modprobe", "-ra", *brought, check=False)


@pytest.fixture(scope="session", autouse=True)
def registrations_end(modules):
    """With the last test."""
    yield
    REGISTRATIONS.keep(())


def left_behind():
    """What a test might leave: pins, network namespaces."""
    places = PIN_DIR, PUBLIC_PIN_DIR, Path("/run/netns")
    return sorted(str(path) for place in places if place.exists() for path in place.rglob("*"))


@pytest.fixture(autouse=True)
def leaves_nothing():
    """A test that leaves something behind fails itself, not its neighbour."""
    before = left_behind()
    yield
    assert left_behind() == before


@pytest.fixture(scope="session", autouse=True)
def neighbours_stay():
    """A neighbour once found is not asked again: ARP would come between two looks at what one
    device has sent. (New interfaces take these values over, in any namespace.)"""
    v4, v6 = (Path(f"/proc/sys/net/{ip}/neigh/default/delay_first_probe_time")
              for ip in ("ipv4", "ipv6"))
    with written(v4, "86400"), written(v6, "86400"):  # seconds
        yield
