# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What is played on both qdiscs, and options and statistics that the scripts go with."""

import random

import frames
from frames import CE, ECT_0, ECT_1, NOT_ECT

SEED = 9332
# Nothing is marked or dropped by an AQM: native keeps the step in 32 bits of ns.
CALM = {"target": 4_000_000_000, "step": 4_000_000}
# Statistics that depend on the moment of asking.
CLOCK = ("delay-c", "delay-l")


def chosen(side, frame, minor=None):
    """The queue that a frame is put in."""
    before = side.stats()
    side.send([frame], minor)
    after = side.stats()
    return "".join(queue for queue in "LC" if after[f"pkts-in-{queue.lower()}"] >
                   before[f"pkts-in-{queue.lower()}"])


def random_frame(dice, serial):
    length = dice.randint(80, 1514)
    ecn = dice.choice((NOT_ECT, ECT_1, ECT_0, CE))
    kind = dice.random()
    if kind < 0.1:
        return frames.other_frame(serial, length)
    return (frames.ipv4_frame if kind < 0.55 else frames.ipv6_frame)(serial, ecn, length)


def packet_script(rounds, most_in, most_out):
    """Bursts, and how many packets may leave after each: the same at every run."""
    dice = random.Random(SEED)
    serial, script = 0, []
    for _ in range(rounds):
        burst = [random_frame(dice, serial + i) for i in range(dice.randint(0, most_in))]
        serial += len(burst)
        script.append((burst, dice.randint(0, most_out)))
    return script


def play(side, script):
    """(serials in the order of the wire, statistics after each step)."""
    order, seen = [], []
    for burst, leave in script:
        side.send(burst)
        seen.append(side.stats())
        order += side.let(min(leave, seen[-1]["qlen"]))
        seen.append(side.stats())
    order += side.let()
    seen.append(side.stats())
    return [packet.serial for packet in order], seen


def without(stats, *keys):
    return [{key: value for key, value in at.items() if key not in keys} for at in stats]
