# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A flow by the functions of include/prague.h, on a path that marks with a fixed likelihood."""

import random
from collections import deque

import prague_model as model
from clib import C, new

PACKET = 2**20  # in the unit of windows


def flow(window=40, **members):
    """`window`: packets."""
    return new("prague", window=int(window * PACKET), **members)


def mean_rate(p, rtt, begin, acks, mtu=1500):
    """Bytes/s of a flow whose packets leave as it paces them and are marked with likelihood `p`,
    over the last 9 of 10 ACKs. It begins with the rate `begin`."""
    chance = random.Random(f"{p} {rtt}")
    prague = flow(begin * rtt / model.SECOND / mtu, rounds=4)
    minimum = C.prague_window_min(rtt, mtu)
    sent_us, on_their_way, delivered_ce, began_us = 0.0, deque(), 0, 0
    for delivered in range(1, acks + 1):
        while not on_their_way or sent_us <= on_their_way[0]:
            on_their_way.append(sent_us + rtt)
            rate = C.prague_pacing(prague, 0, mtu, rtt, int(sent_us), False)
            sent_us += mtu * model.SECOND / rate
        now_us = int(on_their_way.popleft())
        if now_us - prague.round_us >= C.prague_virtual_rtt(prague, rtt):
            C.prague_round(prague, now_us, delivered, delivered_ce, False)
        if chance.random() < p:
            delivered_ce += 1
            C.prague_ce(prague, 1, now_us, rtt, minimum)
        else:
            C.prague_increase(prague, 1, C.prague_gain(prague, rtt), mtu)
        if delivered == acks // 10:
            began_us = now_us
    return acks * 9 // 10 * mtu * model.SECOND / (now_us - began_us)
