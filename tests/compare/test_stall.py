# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A device that takes nothing for seconds, and what is left of p' after that and after
overload."""

import time

import frames
from netns import wait_until
from sides import PROB_MAX

STALL = 5  # s
PACKETS = 200
SMALLEST_GAIN = 1  # 1/256 Hz


def send(side, count):
    side.send([frames.ipv4_frame(serial, frames.NOT_ECT) for serial in range(count)])


def percent(prob):
    return f"{100 * prob / PROB_MAX:.0f} %"


def stall(side):
    """p' at the end of it, what was dropped when the device went on, and p' a second later."""
    send(side, PACKETS)
    time.sleep(STALL)
    prob = side.stats()["prob"]
    dropped = PACKETS - len(side.let())
    time.sleep(1)
    return prob, dropped, side.stats()["prob"]


def test_stalled_device(pair, report):
    """The age of the head drives p' to 1, and its fall takes p' back to 0 at once."""
    native, ours = pair.both(stall)
    report.equal("device stopped for 5 s: p'", percent(native[0]), percent(ours[0]))
    report.equal(f"device goes on: dropped/{PACKETS}", native[1], ours[1])
    report.equal("device goes on: p' a second later", percent(native[2]), percent(ours[2]))


def overload_and_rest(side):
    """p' a second after a queue that was too long has gone."""
    send(side, PACKETS)
    wait_until(lambda: side.stats()["prob"] > 0.9 * PROB_MAX, "p' is near 1", step=0.02)
    side.let()
    time.sleep(1)
    return side.stats()["prob"]


def test_after_overload(pair, report):
    """With so small a beta the empty queue does not take it down at once."""
    native, ours = pair.both(overload_and_rest, beta=SMALLEST_GAIN)
    report.differs("a second after overload: p'", percent(native), percent(ours), "recovery",
                   native > PROB_MAX * 0.7 and ours < PROB_MAX * 0.1)
