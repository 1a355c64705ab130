# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Nothing is left behind: neither kernel memory nor BPF objects, pins or devices.

What is counted is objects of the kernel's allocator, by cache (/proc/slabinfo): a leak of one a
turn would show as one more for each turn, so less than half of that, or of noise, is none. All has
happened as many times before counting begins, so that what is only kept for reuse is there.

BPF's allocator keeps up to 96 objects of a size for each CPU (kernel/bpf/memalloc.c), so where
frames wait, which takes blocks of it, there are more turns than that.
"""

import contextlib
import json
import re
from pathlib import Path

import pytest
from conftest import LOADER, PIN_DIR
from frames import ECT_1, NOT_ECT, ipv4_frame, raw_sender
from netns import run, wait_until
from steady import steadily

# Objects of a cache that come and go by themselves: on 6.17.13 kmalloc-96 moves by up to 420, in
# whole slabs of 42, and is no higher after 2000 turns than before.
NOISE = 450
# Freed when there is much of it: lazy_max_pages() of mm/vmalloc.c.
LAZY = ("vmap_area",)

# Frames wait: those that are there when a qdisc goes are thrown away.
SLOW = ("--rate", "100kbit", "--target", "4000s", "--limit", 50)


def slabs():
    """Objects in use, by cache."""
    readings = [shrunk()]

    def is_settled():
        """What shrinking frees after a grace period is freed."""
        readings.append(shrunk())
        return sum(readings[-1].values()) >= sum(readings[-2].values())

    wait_until(is_settled, "shrinking the caches frees no more")
    return readings[-1]


def shrunk():
    """Unless shrunk, a cache counts what a CPU keeps at hand."""
    for cache in Path("/sys/kernel/slab").iterdir():
        if not cache.is_symlink():
            (cache / "shrink").write_text("1")
    return {name: int(active) for name, active in
            re.findall(r"^(\S+) +(\d+) +\d+ +\d+ ", Path("/proc/slabinfo").read_text(), re.M)
            if name not in LAZY}


def percpu_bytes():
    return 1024 * int(re.search(r"^Percpu: +(\d+) kB", Path("/proc/meminfo").read_text(), re.M)[1])


def bpf_objects():
    """The ids of all maps, programs and links of this host."""
    return {kind: {entry["id"] for entry in json.loads(run("bpftool", "-j", kind, "show").stdout)}
            for kind in ("map", "prog", "link")}


class Sender:
    """Frames of both queues to a device, some at a time."""

    def __init__(self, space, dev):
        self.socket = raw_sender(space, dev)
        self.frames = [ipv4_frame(serial, ecn, 200)
                       for serial in range(8) for ecn in (NOT_ECT, ECT_1)]

    def send(self):
        for frame in self.frames:
            with contextlib.suppress(OSError):  # dropped at once
                self.socket.send(frame)

    def close(self):
        self.socket.close()


@pytest.fixture
def sender(box):
    sender = Sender(box, "one")
    yield sender
    sender.close()


def check_nothing_grows(turns, times):
    """`turns(n)` does something n times. How much each cache has grown by `times` of them."""
    turns(times)
    before, percpu_before = slabs(), percpu_bytes()
    turns(times)

    def growth():
        now = slabs()
        return {name: now[name] - before.get(name, 0) for name in now}

    def leaking():
        return {name: count for name, count in growth().items() if count >= max(times / 2, NOISE)}

    # Freed after grace periods of RCU, some by way of a worker.
    with contextlib.suppress(AssertionError):
        wait_until(lambda: not leaking(), "nothing has grown")
    assert not leaking()
    grown = growth()
    print(f"\n{times} turns: most grown",
          sorted(((count, name) for name, count in grown.items()), reverse=True)[:5],
          f"skbuff {grown['skbuff_head_cache']:+}, percpu {percpu_bytes() - percpu_before:+} bytes")
    assert percpu_bytes() - percpu_before < max(times * 4, 1 << 16)


def test_loader_leaves_nothing(box, long):
    """The kind is registered and unregistered each time."""
    objects, links = bpf_objects(), set(box.links())

    def turns(count):
        for _ in range(count):
            box.run(LOADER, "one", *SLOW)
            box.run(LOADER, "one", "--unload")

    check_nothing_grows(turns, 100 if long else 4)
    assert not PIN_DIR.exists()
    assert set(box.links()) == links
    # Of those that were there some may go, too: a test before has just unloaded.
    wait_until(lambda: all(now <= objects[kind] for kind, now in bpf_objects().items()),
               "the kernel has freed all BPF objects")


def test_instances_leave_nothing(space, sender, long):
    """tc replaces qdiscs, with frames in them, as fast as it can."""
    space.run(LOADER, "one", *SLOW)  # these parameters wait for each of them
    objects = bpf_objects()

    def turns(count):
        batch = ("qdisc replace dev one root handle 5: pfifo\n"
                 "qdisc replace dev one root handle 6: bpf_dualpi2\n") * count
        with steadily(sender.send):
            space.run("tc", "-batch", "-", input=batch)

    check_nothing_grows(turns, 10_000 if long else 1000)
    assert bpf_objects() == objects


def test_traffic_leaves_nothing(space, sender, long):
    """Every frame that passes, waits, or is dropped at a limit or by the AQM, is freed."""
    space.run(LOADER, "one", "--rate", "1mbit", "--limit", 200)

    def turns(count):
        for _ in range(count // len(sender.frames)):
            sender.send()

    check_nothing_grows(turns, 200_000 if long else 4000)
