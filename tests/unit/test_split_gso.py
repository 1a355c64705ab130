# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Which GSO packets are split: include/split_gso.h."""

import pytest
from clib import C, new

MS = 1_000_000
MBIT, GBIT = 125_000, 125_000_000  # bytes/s
FRAME, ETHERNET = 1514, 14  # ETHERNET: bytes in front of the IP header
U32_MAX = 2**32 - 1
RAMP = {"l_aqm": C.DUALPI2_L_RAMP}


def packets(step):
    return {"step_in_packets": 1, "step_packets": step}


@pytest.mark.parametrize("members, rate, size", [
    # A quarter of the threshold at the rate
    ({"step_ns": MS}, 100 * MBIT, 3125),
    ({"step_ns": MS}, GBIT, 31250),
    ({"step_ns": MS}, 2500 * MBIT, 78125),
    ({"step_ns": 4 * MS}, 40 * MBIT, 5000),
    (RAMP | {"step_ns": MS}, GBIT, 25000),
    (RAMP | packets(8), GBIT, 25000),  # the step is not in force, in whatever unit
    # rounded down: a byte takes 8 ns, and 2 ns
    ({"step_ns": 4 * 7}, GBIT, 0),
    ({"step_ns": 4 * 8}, GBIT, 1),
    ({"step_ns": 4 * 15}, GBIT, 1),
    # all are split
    ({"step_ns": MS}, 0, 0),
    ({"step_ns": 0}, GBIT, 0),
    ({"step_ns": MS}, C.DUALPI2_RATE_MIN, 0),
    # none is
    ({"step_ns": C.DUALPI2_TIME_MAX}, C.DUALPI2_RATE_MAX, U32_MAX),
    ({"step_ns": C.DUALPI2_TIME_MAX}, U32_MAX * MBIT, U32_MAX),
    # A threshold in packets needs no rate.
    (packets(5), 0, 5 * FRAME // 4),
    (packets(5), GBIT, 5 * FRAME // 4),
    (packets(0), GBIT, 0),
    (packets(U32_MAX), 0, U32_MAX * FRAME // 4),
])
def test_split_above(members, rate, size):
    assert C.gso_split_above(new("dualpi2_params", **members), rate, FRAME, ETHERNET) == size


@pytest.mark.parametrize("overhead, frame, header, size", [
    (38, FRAME, ETHERNET, 31250 * FRAME // 1538),
    (38, 1500, 0, 31250 * 1500 // 1538),
    (C.DUALPI2_OVERHEAD_MIN, FRAME, ETHERNET, 31250 * FRAME // 1436),
    # a device without an MTU: a frame takes nothing
    (C.DUALPI2_OVERHEAD_MIN, ETHERNET, ETHERNET, 31250 * ETHERNET),
])
def test_frames_are_those_of_the_link(overhead, frame, header, size):
    """31250 bytes on the link are fewer of the qdisc layer's, or more."""
    params = new("dualpi2_params", step_ns=MS, framing=C.DUALPI2_FRAMING_NETWORK,
                 overhead=overhead)
    assert C.gso_split_above(params, GBIT, frame, header) == size
