# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""CoDel's law `mainline` against the kernel's sch_codel: the same packets, the same drops."""

import struct
import time

import frames
import pytest
from frames import ECT_1, NOT_ECT
from netns import run, wait_until
from rtnetlink import attribute
from sides import Native, Ours

TCA_CODEL_TARGET, TCA_CODEL_LIMIT, TCA_CODEL_INTERVAL, TCA_CODEL_ECN = 1, 2, 3, 4
LENGTH = 1000


class KernelCodel(Native):
    """sch_codel. Times are in microseconds."""

    def start(self, target, interval):
        run("modprobe", "sch_codel")
        options = {TCA_CODEL_TARGET: target, TCA_CODEL_LIMIT: 10_000,
                   TCA_CODEL_INTERVAL: interval, TCA_CODEL_ECN: 0}
        self.qdiscs.add(self.dev, "codel", b"".join(
            attribute(number, struct.pack("=I", value)) for number, value in options.items()),
            handle=0x10000)


class OurCodel(Ours):
    def start(self, target, interval):
        self.load("--aqm", "codel", "--codel-law", "mainline",
                  "--codel-target", f"{target}us", "--codel-interval", f"{interval}us")


@pytest.fixture(name="codels")
def codels_of(pair):
    """Both, on devices of their own."""
    assert pair, "it has loaded the modules"
    sides = KernelCodel("codel0"), OurCodel("codel1")
    yield sides
    for side in sides:
        side.close()


def let(side, count):
    """What passes until so many have, or the queue is empty."""
    passed = []

    def is_done():
        passed.extend(side.passed())
        return len(passed) >= count or not side.counters()["qlen"]

    side.gate(count)
    wait_until(is_done, "the packets have passed the gate", step=0.001)
    side.gate(0)
    return passed + side.passed()


def batch(side, first, count):
    """Frames to send. The kernel takes the first packet out of an empty codel before the device
    asks for it, so that the law never sees it. Ours does not ask the law about an L4S packet."""
    is_first = side.counters()["qlen"] == 0
    return [frames.ipv4_frame(first + i, ECT_1 if is_first and i == 0 else NOT_ECT, LENGTH)
            for i in range(count)]


def departures(side, step, script, **options):
    """Packets come and go at fixed times, `step` seconds apart: (the serials that passed, the
    counted drops)."""
    serial, passed = 0, []
    side.start(**options)
    began = time.monotonic()
    for number, (arrive, leave) in enumerate(script):
        time.sleep(max(0, began + number * step - time.monotonic()))
        side.send(batch(side, serial, arrive))
        serial += arrive
        if leave and side.counters()["qlen"]:
            passed += let(side, leave)
    passed += let(side, serial)
    dropped = side.counters()["drops"]
    side.stop()
    return [packet.serial for packet in passed], dropped


# Each with the time between its steps, s. It is one at which the law says the same in a simulation
# whose steps come up to 150 us late: with most others a packet leaves just when a drop is due, and
# then the two sides differ by who was a moment later.
SCRIPTS = {
    "a standing queue": (0.00758, [(200, 0)] + [(1, 1)] * 250),
    "it comes back": (0.00815, [(80, 0)] + [(1, 1)] * 120 + [(0, 3)] * 50 + [(40, 0)] +
                      [(1, 1)] * 120),
    "bursts": (0.0063, [(30, 0), (0, 10), (0, 4), (0, 2), (0, 2)] * 50),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_same_drops(codels, report, name):
    native, ours = (departures(side, *SCRIPTS[name], target=5000, interval=100_000)
                    for side in codels)
    assert native[1] > 5, "it drops"
    report.equal(f"codel, mainline: {name}: drops", native[1], ours[1])
    report.equal(f"codel, mainline: {name}: which packets", native[0], ours[0],
                 shown=f"{len(native[0])} pass")
